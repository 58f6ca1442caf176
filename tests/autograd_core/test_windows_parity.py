"""Convolution, pooling and resizing, held to PyTorch: values, graphs, gradients, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import Case, compare, each

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

X = {1: (2, 4, 9), 2: (2, 4, 6, 5), 3: (1, 4, 4, 3, 4)}


def case(name: str, *leaves: Any, graph: bool = True, second: bool = True, **options: Any) -> Case:
    def run(torch: Any, *x: Any) -> Any:
        return getattr(torch.nn.functional, name)(*x, **options)

    return Case(f"{name} {leaves} {options}", leaves, run, graph, second)


def unpool(dims: int) -> Case:
    def run(torch: Any, x: Any) -> Any:
        F = torch.nn.functional
        pooled, indices = getattr(F, f"max_pool{dims}d")(x, 2, return_indices=True)
        return getattr(F, f"max_unpool{dims}d")(pooled, indices, 2, output_size=X[dims][2:])

    return Case(f"max_unpool{dims}d", (X[dims],), run, graph=dims > 1)


def indices(name: str, dims: int, *arguments: Any, **options: Any) -> Case:
    def run(torch: Any, x: Any) -> Any:
        pool = getattr(torch.nn.functional, name)
        return tuple(pool(x, *arguments, return_indices=True, **options))

    return Case(f"{name} with indices {arguments} {options}", (X[dims],), run)


CONVOLUTIONS = [
    case("conv1d", X[1], (2, 4, 3), (2,)), case("conv1d", X[1][1:], (2, 4, 3)),
    case("conv1d", X[1], (4, 2, 3), stride=2, padding=1, dilation=2, groups=2),
    case("conv1d", X[1], (2, 4, 3), padding="same"),
    case("conv1d", X[1], (2, 4, 4), padding="same"),
    case("conv2d", X[2], (2, 4, 3, 3), padding="valid"),
    case("conv2d", X[2], (2, 4, 2, 3), padding="same"),
    case("conv2d", X[2], (4, 1, 3, 2), (4,), groups=4, stride=(2, 1)),
    case("conv3d", X[3], (2, 4, 3, 3, 3), (2,), padding=1),
    case("conv3d", X[3], (2, 2, 2, 1, 2), groups=2, stride=(1, 2, 1)),
    case("conv_transpose1d", X[1], (4, 2, 3), (2,)),
    case("conv_transpose1d", X[1], (4, 1, 3), stride=3, output_padding=2, padding=1, groups=2),
    case("conv_transpose2d", X[2], (4, 2, 3, 3), (2,), stride=2, padding=1),
    case("conv_transpose2d", X[2][1:], (4, 2, 3, 2), dilation=(1, 2)),
    case("conv_transpose3d", X[3], (4, 2, 2, 3, 2), (2,), stride=2),
]  # fmt: skip
POOLS = [
    case("avg_pool1d", X[1], kernel_size=2), case("avg_pool1d", X[1][1:], kernel_size=3, stride=2),
    case("avg_pool2d", X[2], kernel_size=2),
    *(case("avg_pool2d", X[2], kernel_size=3, stride=2, padding=1, ceil_mode=ceil,
           count_include_pad=include) for ceil in (False, True) for include in (False, True)),
    case("avg_pool2d", X[2], kernel_size=(2, 3), divisor_override=5),
    case("avg_pool3d", X[3], kernel_size=2, padding=1, ceil_mode=True),
    *(case(f"max_pool{n}d", X[n], kernel_size=2) for n in (1, 2, 3)),
    case("max_pool2d", X[2], kernel_size=3, stride=2, padding=1, ceil_mode=True),
    indices("max_pool1d", 1, 3, stride=2, padding=1), indices("max_pool2d", 2, (2, 3), padding=1),
    indices("max_pool2d", 2, 2, dilation=2, stride=1), indices("max_pool3d", 3, 2, ceil_mode=True),
    *(case(f"adaptive_avg_pool{n}d", X[n], output_size=size) for n in (1, 2, 3) for size in (2, 3)),
    case("adaptive_avg_pool2d", X[2], output_size=1),
    case("adaptive_avg_pool3d", X[3], output_size=1),
    case("adaptive_avg_pool2d", X[2], output_size=(None, 3)),
    *(case(f"adaptive_max_pool{n}d", X[n], output_size=2) for n in (1, 2, 3)),
    indices("adaptive_max_pool2d", 2, (4, 3)),
    *(unpool(n) for n in (1, 2, 3)),
]  # fmt: skip
SIZES = [
    *(case("interpolate", X[n], mode=mode, **size) for n, mode in [
        (1, "nearest"), (2, "nearest"), (3, "nearest"), (1, "nearest-exact"),
        (2, "nearest-exact"), (1, "linear"), (2, "bilinear"), (2, "bicubic"), (3, "trilinear"),
        (1, "area"), (2, "area"), (3, "area")]
      for size in ({"scale_factor": 2}, {"size": 3}, {"scale_factor": 1.7})),
    *(case("interpolate", X[n], mode=mode, size=7, align_corners=True)
      for n, mode in [(1, "linear"), (2, "bilinear"), (2, "bicubic"), (3, "trilinear")]),
    *(case("interpolate", X[2], mode=mode, size=size, antialias=True, second=False)
      for mode in ("bilinear", "bicubic") for size in (3, 8)),
    case("upsample_nearest", X[2], scale_factor=2), case("upsample_bilinear", X[2], scale_factor=2),
    case("pad", X[2], pad=(1, 2)), case("pad", X[2], pad=(1, -1, 0, 2), value=0.5),
    *(case("pad", X[n], pad=(1, 2, 0, 1, 2, 1)[:2 * n], mode=mode, graph=mode != "circular")
      for n in (1, 2, 3) for mode in ("reflect", "replicate", "circular")),
    case("pad", X[2][1:], pad=(1, 2, 0, 1), mode="reflect"),
    case("unfold", X[2], kernel_size=2), case("unfold", X[2][1:], kernel_size=(2, 3), padding=1),
    case("unfold", X[2], kernel_size=2, dilation=2, stride=2),
    case("fold", (2, 8, 9), output_size=(4, 4), kernel_size=2),
    case("fold", (8, 9), output_size=4, kernel_size=2),
    case("fold", (2, 8, 9), output_size=5, kernel_size=2, stride=2, padding=1, dilation=1),
    *(case("local_response_norm", X[n], size=size) for n in (1, 2, 3) for size in (2, 3)),
    case("pixel_shuffle", (2, 8, 2, 3), upscale_factor=2),
    case("pixel_unshuffle", (2, 2, 4, 6), downscale_factor=2),
    case("channel_shuffle", (2, 6, 2), groups=3),
]  # fmt: skip


@each(CONVOLUTIONS)
def test_convolutions_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


@each(POOLS)
def test_pools_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_output_padding_of_a_stride_or_more_is_no_window(dims: int, padding: int) -> None:
    """It is allowed where the dilation is larger, and kernels reach into it where there is
    padding."""
    for stride, dilation, groups in ((1, 2, 1), (1, 3, 2), (2, 3, 1), (2, 5, 1)):
        for extra in range(dilation):
            options = {"stride": stride, "dilation": dilation, "groups": groups}
            extras = (extra, 0, 1)[:dims] if dilation > 1 else extra
            name, image, kernel = f"conv_transpose{dims}d", (2, 2, 4, 3, 3), (2, 2, 3, 2, 2)
            leaves = (image[: dims + 2], kernel[: dims + 2], (2 * groups,))
            more = {"padding": padding, "output_padding": extras}
            compare(torch, case(name, *leaves, **options, **more))


@pytest.mark.filterwarnings("ignore:.*upsample:UserWarning", "ignore:.*upsample")
@each(SIZES)
def test_sizes_and_borders_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


ERRORS: list[Callable[[Any, Any], Any]] = [
    lambda t, F: F.conv1d(t.ones(2, 3, 4, 5), t.ones(2, 3, 2)),
    lambda t, F: F.conv2d(t.ones(1, 3, 4, 5), t.ones(2, 3, 2, 2), padding="same", stride=2),
    lambda t, F: F.conv2d(t.ones(1, 3, 4, 5), t.ones(2, 3, 2, 2), padding="some"),
    lambda t, F: F.conv3d(t.ones(1, 3, 4, 5, 5), t.ones(2, 2, 2, 2, 2)),
    lambda t, F: F.conv1d(t.ones(1, 3, 2), t.ones(2, 3, 3)),
    lambda t, F: F.conv_transpose1d(t.ones(1, 3, 4), t.ones(2, 3, 3)),
    lambda t, F: F.avg_pool2d(t.ones(1, 1, 4, 4), 2, padding=2),
    lambda t, F: F.avg_pool2d(t.ones(1, 1, 4, 4), 2, divisor_override=0),
    lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=2),
    lambda t, F: F.interpolate(t.ones(1, 1, 4), size=2, scale_factor=2),
    lambda t, F: F.interpolate(t.ones(1, 1, 4)),
    lambda t, F: F.interpolate(t.ones(1, 1, 4), size=2, mode="nearest", align_corners=True),
    lambda t, F: F.pad(t.ones(1, 1, 4), (1, 1), mode="some"),
    lambda t, F: F.pad(t.ones(1, 1, 4), (1, 1), mode="reflect", value=2.0),
    lambda t, F: F.pixel_shuffle(t.ones(1, 3, 2, 2), 2),
    lambda t, F: F.pixel_unshuffle(t.ones(1, 3, 3, 2), 2),
    lambda t, F: F.local_response_norm(t.ones(3, 3), 2),
]  # fmt: skip


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_in_the_words_of_pytorch(call: Callable[..., Any]) -> None:
    kinds = (RuntimeError, ValueError, NotImplementedError)
    with pytest.raises(kinds) as theirs:
        call(torch, torch.nn.functional)
    with pytest.raises(kinds) as mine:
        call(autograd_core, autograd_core.nn.functional)
    assert str(mine.value) == str(theirs.value)


def test_a_nan_stays_where_it_is_when_an_image_grows() -> None:
    x = autograd_core.tensor([[[1.0, float("nan"), 3.0]]])
    found = autograd_core.nn.functional.interpolate(x, scale_factor=2).numpy()
    np.testing.assert_array_equal(np.isnan(found[0, 0]), [False, False, True, True, False, False])
