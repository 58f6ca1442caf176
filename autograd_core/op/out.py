"""``out=``: which functions take it, in which dtypes, and how a result gets there.

PyTorch's functions differ in this, and no rule says how; the lists are what they do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from autograd_core.autograd.dual import tangent_of
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.tensor import Tensor


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NONE: Final = _names(
    "argsort argwhere as_strided as_strided_scatter as_tensor asarray atleast_1d "
    "atleast_2d atleast_3d bincount block_diag broadcast_tensors broadcast_to cartesian_prod "
    "cdist chunk clone combinations conj constant_pad_nd corrcoef count_nonzero cov "
    "cumulative_trapezoid diag_embed diagflat diagonal diagonal_scatter dist dsplit einsum "
    "empty_like fftshift fill flatten flip fliplr flipud full_like gradient hsplit ifftshift "
    "index_fill index_put isclose isfinite isinf isnan logdet masked_fill masked_scatter "
    "mH matrix_exp meshgrid movedim narrow ones_like permute pinverse positive put rand_like "
    "randint_like randn_like ravel real relu repeat_interleave reshape resolve_conj resolve_neg "
    "roll rot90 rsub select select_scatter split split_with_sizes squeeze std_mean swapaxes t "
    "tensor tensor_split tile trace transpose trapezoid tril_indices triu_indices unbind "
    "unflatten unfold unique unique_consecutive unsafe_chunk unsafe_split unsqueeze vander "
    "var_mean vsplit zeros_like"
)
_WITH_DIM: Final = _names("median nanmedian prod sum")  # with ``dim`` only
_WITH_TENSORS: Final = {"remainder": "self", "where": "y"}  # if this is no number
_ACTIVATIONS: Final = _names("hardshrink native_batch_norm threshold")  # of ``torch``, too
_MAKES: Final = _names(
    "arange empty eye full linspace logspace normal ones rand randint randn randperm zeros"
)
_ADDS: Final = _names("cumprod cumsum prod sum")  # in the dtype of ``out``
_SAME: Final = _names(
    "abs bitwise_not ceil clamp clamp_max clamp_min conj_physical floor frac hardshrink lerp "
    "neg round sgn sign trunc"
)
_RESULT: Final = _names(
    "addbmm addmm addmv alias_copy all amax amin aminmax any argmax argmin as_strided_copy "
    "baddbmm bmm bucketize cholesky_ex cross cummax cummin det diag diagonal_copy dot eigh "
    "eigvalsh expand_copy float_power frexp gather heaviside histc index_add index_copy "
    "index_reduce index_select inner inv inv_ex inverse isin isneginf isposinf kthvalue "
    "log_softmax logcumsumexp lu lu_factor lu_factor_ex lu_solve lu_unpack masked_select matmul "
    "matrix_norm matrix_power median mm mode msort multi_dot multinomial mv nan_to_num "
    "nanmedian nanquantile narrow_copy nonzero norm ormqr permute_copy qr quantile renorm "
    "scatter scatter_add scatter_reduce searchsorted signbit slice_scatter slogdet softmax "
    "solve solve_ex solve_triangular sort split_with_sizes_copy squeeze_copy svd svdvals t_copy "
    "take take_along_dim tensordot topk transpose_copy triangular_solve tril triu unbind_copy "
    "unfold_copy unsqueeze_copy vdot vecdot vector_norm view_copy where"
)
_BOUNDS: Final = ("min", "max", "weight")  # if they are tensors, ``out`` may have any dtype
_JOINS: Final = _names("cat column_stack dstack hstack stack vstack")
_FLAGS: Final = _names("all any")  # may be uint8, too


def check_out(
    function: Callable[..., Any], out: Any, args: tuple[Any, ...], given: dict[str, Any]
) -> None:
    """Refuse an ``out`` that the function does not take, or that no gradient could come from."""
    name = function.__name__
    needed = _WITH_TENSORS.get(name)
    if (
        name in _NONE
        or name.endswith("_")
        or (".nn.functional" in function.__module__ and name not in _ACTIVATIONS)
        or (name in _WITH_DIM and given.get("dim") is None)
        or (needed and not isinstance(given.get(needed), Tensor))
        or (name == "nonzero" and given.get("as_tuple"))
        or (name in ("std", "var") and isinstance(given.get("dim"), bool))
    ):
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    every = out if isinstance(out, (tuple, list)) else (out,)
    for each in every:
        if not isinstance(each, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(each).__name__}")
    tensors = [t for t in (*every, *_flat((*args, *given.values()))) if isinstance(t, Tensor)]
    if is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if any(tangent_of(t) is not None for t in tensors):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield the arguments, and what is in lists of them."""
    for argument in arguments:
        yield from argument if isinstance(argument, (tuple, list)) else (argument,)


def choose_dtype(name: str, out: Any, given: dict[str, Any]) -> None:
    """Compute in the dtype of ``out``, where the function goes by that."""
    chosen = given.get("dtype")
    if name in _MAKES:
        if chosen is not None and chosen is not out.dtype:
            raise RuntimeError(
                f"dtype {chosen.scalar_name} does not match dtype of out parameter "
                f"({out.dtype.scalar_name})"
            )
        given["dtype"] = out.dtype
    elif name in _ADDS and chosen is None:
        given["dtype"] = out.dtype


def check_dtype(function: Callable[..., Any], result: Any, out: Any, given: dict[str, Any]) -> None:
    """Refuse an ``out`` of another dtype than the result's, where only that will do."""
    if isinstance(result, (tuple, list)):
        for each, other in zip(result, out, strict=True):
            check_dtype(function, each, other, given)
        return
    name = function.__name__
    if out.dtype is result.dtype or (name in _FLAGS and out.dtype.name == "uint8"):
        return
    if name in _SAME and not any(isinstance(given.get(word), Tensor) for word in _BOUNDS):
        raise RuntimeError(
            f"Found dtype {out.dtype.scalar_name} but expected {result.dtype.scalar_name}"
        )
    if (
        name in _RESULT
        or (name in ("max", "min") and isinstance(given.get("dim"), int))
        or (name in _ADDS and given["dtype"] is not out.dtype)
    ):
        raise RuntimeError(
            f"Expected out tensor to have dtype {result.dtype.c_name}, but got "
            f"{out.dtype.c_name} instead"
        )


def stored(name: str, result: Any, out: Any) -> Any:
    """Return ``out``, one tensor or several, with the result in it."""
    if isinstance(out, (tuple, list)):
        made = [stored(name, *pair) for pair in zip(result, out, strict=True)]
        return getattr(type(result), "_make", tuple)(made)
    if result.dtype.category > out.dtype.category:
        if name in _JOINS:
            raise TypeError(
                "torch.cat(): input types can't be cast to the desired output type "
                + out.dtype.scalar_name
            )
        raise RuntimeError(
            f"result type {result.dtype.scalar_name} can't be cast to the desired output type "
            f"{out.dtype.scalar_name}"
        )
    out.bump()
    if out._shape != result._shape:
        if out.array.size:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0).",
                stacklevel=4,
            )
        out.array, out._shape = np.empty(result._shape, out.dtype.dtype), result._shape
    np.copyto(out.array, result.array, casting="unsafe")
    return out
