"""Images looked up at places, and places that affine maps give."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from autograd_core.ops.networks import grid as ops
from autograd_core.tensor import Tensor


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images (N, C, H, W) at the points ``grid`` (N, h, w, 2), or volumes at points (...,
    3).

    Args:
        grid: x, y (and z), from -1 at one end of the image to 1 at the other.
        mode: "nearest", "bilinear", or, for images, "bicubic".
        padding_mode: the values outside: "zeros", the "border", or a "reflection".
        align_corners: whether -1 and 1 are the centres of the outermost elements or their outer
            edges.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
            f"'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    align = _aligned(align_corners)
    _check(input, grid, mode)
    sampler = ops.grid_sampler_2d if input.ndim == 4 else ops.grid_sampler_3d
    return sampler(input, grid, mode, padding_mode, align)


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    sizes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input._shape[0] != grid._shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}"
        )
    if grid._shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        rank = f"{input.ndim}D" if input.ndim in (4, 5) else "4D or 5D"
        raise RuntimeError(
            f"grid_sampler(): expected {rank} input and grid with same number of dimensions, but "
            f"got {sizes}"
        )
    if 0 in input._shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(input.shape)} with dimension {input._shape.index(0, 2)} being empty"
        )
    if input.ndim == 5 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return a grid for :func:`grid_sample`: where the affine maps ``theta``, (N, 2, 3) or (N, 3,
    4), send the elements of images of ``size`` (N, C, ...)."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}."
        )
    if theta.ndim != 3 or theta._shape[1:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    if theta._shape[0] != size[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {dims + 1}] but got: [{theta._shape[0]}, {dims + 1}]."
        )
    align = _aligned(align_corners)
    return ops.affine_grid_generator(theta, tuple(size), align)
