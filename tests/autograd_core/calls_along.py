"""Calls that take a dimension, as texts: ``t`` stands for the library, ``x`` for a tensor, ``d``
for a dimension. What else they name is in :func:`helpers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def helpers(t: Any, x: Any, d: int) -> dict[str, Any]:
    """Tensors that go with ``x``."""
    axis = d % max(x.ndim, 1)

    def along(size: int) -> Any:
        shape = [size if place == axis else n for place, n in enumerate(x.shape)]
        return t.ones(shape, dtype=x.dtype)

    return {
        "zero": t.tensor([0]),  # the first slice, which an empty dimension has not
        "none": t.tensor([], dtype=t.int64),
        "zeros": t.zeros(tuple(x.shape), dtype=t.int64),
        "ones": t.ones(tuple(x.shape), dtype=x.dtype),
        "one_slice": along(1),
        "no_slice": along(0),
        "number": t.tensor(3.0, dtype=x.dtype),
        "shares": t.tensor([0.3, 0.5], dtype=x.dtype),
        "inf": float("inf"),
    }


def _words(text: str) -> list[str]:
    return text.split()


OVER_SOME = _words(
    "sum mean amax amin nansum nanmean std var all any logsumexp norm var_mean std_mean "
    "count_nonzero"
)
OVER_ONE = _words("prod argmax argmin max min median nanmedian mode")


def _texts() -> Iterator[str]:
    for name in (*OVER_SOME, *OVER_ONE):
        yield f"t.{name}(x, dim=d)"
        if name != "count_nonzero":
            yield f"t.{name}(x, dim=d, keepdim=True)"
    for name in OVER_SOME:
        yield f"t.{name}(x, dim=(d,))"
    for name in _words("sum mean nansum all any norm"):
        yield f"t.{name}(x, dim=(d, d))"
    for order in _words("0 1 3 0.5 inf -inf"):
        yield f"t.linalg.vector_norm(x, {order}, dim=d)"
    for name in _words("argsort cumsum cumprod logcumsumexp softmax log_softmax squeeze unsqueeze"):
        yield f"t.{name}(x, dim=d)"
    for name in _words("cumsum_ cumprod_ squeeze_ unsqueeze_"):
        yield f"x.clone().{name}(d)"
    for call in ("scatter_reduce(x, d, zeros, ones", "index_reduce(x, d, zero, one_slice"):
        for reduce in _words("sum prod mean amax amin"):
            if (reduce, call[:1]) != ("sum", "i"):
                yield f"t.{call}, '{reduce}')"
                yield f"t.{call}, '{reduce}', include_self=False)"
    for name in _words("softmin softmax log_softmax glu"):
        yield f"t.nn.functional.{name}(x, d)"
    for name in _words("softmax log_softmax logsumexp"):
        yield f"t.special.{name}(x, d)"
    for name in _words("irfft hfft fftshift ifftshift"):
        yield f"t.fft.{name}(x, dim=d)"
    for name in _words("irfft2 hfft2"):
        yield f"t.fft.{name}(x, dim=(0, d))"
    for name in _words("irfftn hfftn"):
        yield f"t.fft.{name}(x, dim=(d,))"
    yield from ALONG.strip().split("\n")


ALONG = """
t.std(x, dim=d, correction=0)
t.var(x, dim=d, correction=0)
t.aminmax(x, dim=d)
t.aminmax(x, dim=d, keepdim=True)
t.kthvalue(x, 1, d)
t.kthvalue(x, 1, d, True)
t.kthvalue(x, 2, d)
t.topk(x, 0, d)
t.topk(x, 1, d)
t.topk(x, 2, d, largest=False)
t.sort(x, dim=d)
t.sort(x, stable=True, dim=d, descending=True)
t.cummax(x, d)
t.cummin(x, d)
t.squeeze(x, (d,))
t.squeeze(x, (d, d))
t.squeeze_copy(x, d)
t.unsqueeze_copy(x, d)
t.unbind(x, d)
t.unbind_copy(x, d)
t.flip(x, (d,))
t.flip(x, (d, d))
t.roll(x, 1, d)
t.quantile(x, 0.3, d)
t.quantile(x, shares, d, True)
t.nanquantile(x, 0.3, d)
t.cat([x, x], dim=d)
t.concat([x, x], dim=d)
t.concatenate([x, x], dim=d)
t.stack([x, x], dim=d)
t.chunk(x, 2, d)
t.unsafe_chunk(x, 2, d)
t.split(x, 1, d)
t.split(x, [1], d)
t.unsafe_split(x, 1, d)
t.split_with_sizes(x, [0], d)
t.split_with_sizes_copy(x, [1], d)
t.tensor_split(x, 2, d)
t.tensor_split(x, (1,), d)
t.narrow(x, d, 0, 1)
t.narrow(x, d, 0, 0)
t.narrow_copy(x, d, 0, 0)
t.select(x, d, 0)
t.select(x, d, -1)
t.select_scatter(x, number, d, 0)
t.slice_scatter(x, ones, d)
t.transpose(x, d, 0)
t.transpose(x, -1, d)
t.swapaxes(x, d, -1)
t.swapdims(x, d, 0)
t.transpose_copy(x, d, -1)
x.clone().transpose_(d, 0)
t.movedim(x, d, 0)
t.movedim(x, 0, d)
t.permute(x, (d,))
t.permute_copy(x, (d,))
t.flatten(x, d)
t.flatten(x, 0, d)
t.unflatten(x, d, (1, -1))
t.unflatten(x, d, (1,))
t.unflatten(x, d, (2, 0))
t.unflatten(x, d, (-1, 0))
x.unfold(d, 1, 1)
x.unfold(d, 0, 1)
x.unfold(d, 2, 1)
t.unfold_copy(x, d, 1, 1)
t.diagonal(x, 0, 0, d)
t.diagonal_copy(x, 0, 0, d)
t.diagonal_scatter(x, number, 0, 0, d)
t.linalg.diagonal(x, dim1=0, dim2=d)
t.diag_embed(x, 0, 0, d)
t.gather(x, d, zeros)
t.gather(x, d, zero)
t.gather(x, d, zero[0])
t.gather(x, d, none)
t.take_along_dim(x, zeros, d)
t.scatter(x, d, zeros, ones)
t.scatter(x, d, zeros, 3.0)
t.scatter(x, d, zero, one_slice)
t.scatter(x, d, none, ones)
t.scatter_add(x, d, zeros, ones)
t.scatter_add(x, d, none, ones)
t.scatter_reduce(x, d, none, ones, 'sum')
x.clone().scatter_(d, zeros, ones)
x.clone().scatter_add_(d, zeros, ones)
x.clone().scatter_reduce_(d, zeros, ones, 'amax')
t.index_select(x, d, zero)
t.index_select(x, d, zero[0])
t.index_select(x, d, none)
t.index_add(x, d, zero, one_slice)
t.index_add(x, d, zero[0], one_slice)
t.index_copy(x, d, zero, one_slice)
t.index_fill(x, d, zero, 3.0)
t.index_fill(x, d, zero[0], number)
t.index_fill(x, d, none, 3.0)
x.clone().index_add_(d, zero, one_slice)
x.clone().index_copy_(d, zero, one_slice)
x.clone().index_fill_(d, zero, 2.0)
x.clone().index_reduce_(d, zero, one_slice, 'amax')
t.repeat_interleave(x, 2, d)
t.repeat_interleave(x, zero + 2, d)
t.diff(x, dim=d)
t.diff(x, n=3, dim=d)
t.trapezoid(x, dim=d)
t.trapezoid(x, ones, dim=d)
t.trapz(x, dim=d)
t.cumulative_trapezoid(x, dim=d)
t.cumulative_trapezoid(x, ones, dim=d)
t.gradient(x, dim=d)
t.renorm(x, 2, d, 1.0)
x.clone().renorm_(2, d, 1.0)
t.unique(x.detach(), dim=d)
t.unique(x.detach(), return_inverse=True, return_counts=True, dim=d)
t.unique_consecutive(x.detach(), dim=d)
t.unique_consecutive(x.detach(), return_inverse=True, return_counts=True, dim=d)
t.cross(x, x * 2, dim=d)
t.linalg.cross(x, x * 2, dim=d)
t.linalg.vecdot(x, x * 2, dim=d)
t.rot90(x, 1, (0, d))
t.tensordot(x, x, ([d], [d]))
t.linalg.norm(x, dim=d)
t.linalg.norm(x, 1, dim=(d,))
t.linalg.matrix_norm(x, dim=(0, d))
t.linalg.matrix_norm(x, 1, dim=(d, 0))
t.nn.functional.normalize(x, dim=d)
t.nn.functional.cosine_similarity(x, x * 2 + 1, dim=d)
t.nn.Flatten(d)(x)
t.nn.Unflatten(d, (1, -1))(x)
x.size(d)
x.stride(d)
"""

CALLS = list(_texts())
