"""Fourier transforms with real results, under the names of ``torch.fft``.

Complex tensors are out of scope here; a real one is taken as a spectrum without imaginary part.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.dtype import get_default_dtype
from autograd_core.fallback import answer_missing_names
from autograd_core.op.public import NAMESPACES, public
from autograd_core.ops.fourier import signal
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.ops.shaping.rearrange import roll
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

Dims = int | Sequence[int] | None
# `hfft` is `irfft` with the other normalization, as long as nothing is complex
_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@public(name="fft.irfft", out="cast")
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the real signal of ``n`` elements whose spectrum's first half is ``input``.

    ``norm`` says where to divide by ``n``: "backward" (here, the default), "forward" (not here),
    or "ortho" (by the root, here and there).
    """
    return irfftn(input, None if n is None else (n,), (dim,), norm)


@public(name="fft.irfft2", out="cast")
def irfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """:func:`irfft` in two dimensions."""
    return irfftn(input, s, dim, norm)


@public(name="fft.irfftn", out="cast")
def irfftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Dims = None, norm: str | None = None
) -> Tensor:
    """:func:`irfft` over several dimensions, the last of which is the halved one."""
    x, size, dims = _prepared(input, s, dim)
    return signal(x, size, dims, _known(norm))


@public(name="fft.hfft", out="cast")
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Return the spectrum, which is real, of a signal whose first half is ``input``."""
    return hfftn(input, None if n is None else (n,), (dim,), norm)


@public(name="fft.hfft2", out="cast")
def hfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """:func:`hfft` in two dimensions."""
    return hfftn(input, s, dim, norm)


@public(name="fft.hfftn", out="cast")
def hfftn(
    input: Tensor, s: Sequence[int] | None = None, dim: Dims = None, norm: str | None = None
) -> Tensor:
    """:func:`hfft` over several dimensions, the last of which is the halved one."""
    x, size, dims = _prepared(input, s, dim)
    return signal(x, size, dims, _OTHER[_known(norm)])


def _known(norm: str | None) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return norm or "backward"


def _prepared(
    x: Tensor, s: Sequence[int] | None, dim: Dims
) -> tuple[Tensor, tuple[int, ...], tuple[int, ...]]:
    """Return the input as floats, the size of the result along each dimension, and these."""
    if not x.dtype.is_floating_point:
        x = to_dtype(x, get_default_dtype())
    if x.dtype.name == "float16":
        raise RuntimeError("Unsupported dtype Half")
    if dim is None:
        wrapped(-1, x.ndim, of_scalars=False)
    else:
        given = (dim,) if isinstance(dim, int) else tuple(dim)
        dim = tuple(wrapped(axis, x.ndim, of_scalars=False) for axis in given)
        if len(set(dim)) < len(dim):
            raise RuntimeError("FFT dims must be unique")
    if s is not None and len(s) > x.ndim:
        raise RuntimeError(
            f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions."
        )
    if dim is None:
        dims = tuple(range(x.ndim if s is None else len(s)))
        dims = tuple(d + x.ndim - len(dims) for d in dims)
    else:
        dims = dim
    if s is not None and len(s) != len(dims):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    size = [x._shape[d] for d in dims]
    size[-1] = 2 * (size[-1] - 1)
    size = [have if want == -1 else want for have, want in zip(size, s or size, strict=True)]
    if min(size) < 1:
        raise RuntimeError(f"Invalid number of data points ({min(size)}) specified")
    return x, tuple(size), dims


@public(name="fft.fftshift")
def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Frequency 0, which stands first, in the middle."""
    dims = _all_or(dim, input)
    return roll(input, tuple(input._shape[d] // 2 for d in dims), dims)


@public(name="fft.ifftshift")
def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Return what :func:`fftshift` did, undone."""
    dims = _all_or(dim, input)
    return roll(input, tuple((input._shape[d] + 1) // 2 for d in dims), dims)


def _all_or(dim: Dims, x: Tensor) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(x.ndim))
    given = (dim,) if isinstance(dim, int) else dim
    return tuple(wrapped(axis, x.ndim, of_scalars=False) for axis in given)


globals().update(NAMESPACES["fft"])

__all__ = sorted(NAMESPACES["fft"])

answer_missing_names(__name__)
