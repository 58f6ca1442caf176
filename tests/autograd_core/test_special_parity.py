"""Special functions and Fourier transforms, held to PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_core
from tests.autograd_core.side_by_side import Case, compare, each

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

HALF = [0.1, 0.5, 0.85]


def special(name: str, *arguments: Any) -> Case:
    """``name`` of the leaf, after other arguments; fewer have a second derivative there."""
    return Case(name, (HALF,), lambda torch, x: getattr(torch.special, name)(*arguments, x))


SPECIAL = [
    special("entr"), special("erfcx"), special("i0e"), special("i1"), special("i1e"),
    special("log_ndtr"), special("ndtri"), special("polygamma", 2),
    special("xlog1py", 2.5),
    # PyTorch multiplies by numbers in nodes of their own here
    Case("ndtr", (HALF,), lambda torch, x: torch.special.ndtr(x), graph=False),
    Case("i1 and i1e at 0", ([0.0],), lambda torch, x: (
        torch.special.i1(x), torch.special.i1e(x)), second=False),
    Case("xlog1py", (HALF, HALF), lambda torch, x, y: torch.special.xlog1py(x, y)),
    Case("xlog1py number", (HALF,), lambda torch, x: torch.special.xlog1py(x, 2.0)),
]  # fmt: skip


def transform(name: str, shape: tuple[int, ...], **options: Any) -> Case:
    """PyTorch's graph has nodes that make the input complex; this core is never complex."""
    shifts = name.endswith("shift")
    return Case(f"{name} {shape} {options}", (shape,),
                lambda torch, x: getattr(torch.fft, name)(x, **options), graph=shifts)  # fmt: skip


FOURIER = [
    transform("fftshift", (3, 4)), transform("ifftshift", (5,)),
    transform("fftshift", (3, 4), dim=1), transform("ifftshift", (3, 4), dim=(0,)),
    *(transform(name, (3, 4), norm=norm) for name in ("irfft", "hfft", "irfft2", "hfft2",
      "irfftn", "hfftn") for norm in (None, "ortho", "forward")),
    transform("irfft", (4,), n=5), transform("irfft", (4,), n=9), transform("hfft", (4,), n=3),
    transform("irfft", (4, 2), dim=0), transform("irfftn", (3, 4, 2), dim=(0, 1)),
    transform("hfft2", (3, 3), s=(4, 7)), transform("irfftn", (3, 4, 2), s=(3, 5)),
    transform("hfftn", (3, 4, 5), s=(2, 4, 6), dim=(2, 0, 1)),
]  # fmt: skip


@each(SPECIAL)
def test_special_functions_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


@each(FOURIER)
def test_fourier_transforms_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


ERRORS: list[Callable[[Any], Any]] = [
    lambda t: t.fft.irfft(t.ones(3), norm="x"),
    lambda t: t.fft.irfft(t.ones(3), n=0),
    lambda t: t.fft.irfftn(t.ones(3, 3), s=(2, 2, 2)),
    lambda t: t.fft.irfftn(t.ones(3, 3), s=(2, 2), dim=(0,)),
    lambda t: t.fft.irfft(t.tensor(1.0)),
    lambda t: t.fft.irfft(t.ones(3).half()),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_in_the_words_of_pytorch(call: Callable[[Any], Any]) -> None:
    kinds = (RuntimeError, IndexError, ValueError)
    with pytest.raises(kinds) as theirs:
        call(torch)
    with pytest.raises(kinds) as mine:
        call(autograd_core)
    assert str(mine.value) == str(theirs.value)


def test_whole_numbers_transform_as_floats() -> None:
    assert autograd_core.fft.irfft(autograd_core.tensor([1, 2, 3])).dtype is autograd_core.float32
