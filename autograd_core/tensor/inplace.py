"""In-place forms, derived from their ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from autograd_core.autograd.dual import copy_tangent, update_tangent
from autograd_core.autograd.grad_mode import WITHOUT_GRADIENTS, builds_graph, current_mode, tracer
from autograd_core.autograd.memory import check_overlap, make_writeable, spreads
from autograd_core.autograd.saved import Since
from autograd_core.autograd.version import INFERENCE, check_changeable
from autograd_core.dtype import dtype
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.views import (
    check_change,
    check_view,
    rebase_history,
    regenerate_views,
    snapshot,
)


def inplace(
    call: Callable[..., Tensor], name: str, converts: bool = False
) -> Callable[..., Tensor]:
    """Return the method ``name`` (with its underscore) that stores the result of ``call`` in its
    first argument and moves that tensor to its new place in the graph; ``converts``, a result of
    any dtype.

    Raises:
        RuntimeError: the tensor is a leaf that requires a gradient, a view of one, or a view
            that may not be changed; in PyTorch's words.
    """

    ufunc = _UFUNCS.get(name)
    overlap = None if name in _READING_FIRST else name in _SCATTERING
    deprecated = _ON_EXPANDED.get(name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if (
            ufunc is not None
            and current_mode() is WITHOUT_GRADIENTS
            and len(args) == 1
            and _written(ufunc, self, args[0], kwargs)
        ):
            return self
        check_changeable(self.version)
        if builds_graph():
            check_change(self)
        if overlap is not None:
            version = self.version
            for other in (*args, *kwargs.values()) if kwargs else args:
                if (
                    type(other) is Tensor
                    and (other.version is version is not None or other is self)
                    and not (other.array.size == 1 and _reads_number(name, args))
                ):
                    check_overlap(self.array, other.array, overlap)
        before = _before(self)
        result = call(before, *args, **kwargs)
        _check_result(self, result, converts)
        node: Any = result.edge
        if node is not None:
            check_view(self)
            if node.inplace_node:
                kind: Any = type(node)
                node.__class__ = inplace_class(kind)
            _settle(self, before, node)
        by_tensor = name == "fill_" and Tensor in map(
            type, (*args, *kwargs.values())
        )  # which PyTorch refuses
        if deprecated is None or not spreads(self.array) or by_tensor:
            make_writeable(self.array)
            self.bump()
            np.copyto(self.array, result.array, casting="unsafe")
        else:
            self.bump()
            _write_expanded(self.array, result.array, deprecated)
        if (traces := tracer()) is not None:
            self.record = result.record
            traces.in_place(self)
        if node is not None:
            _watch_result(self, node)
            rebase_history(self, node)
        else:
            regenerate_views(self)
        if type(result) is not Tensor:
            update_tangent(self, result)
        return self

    method.__name__ = method.__qualname__ = name
    method.__wrapped__ = call  # type: ignore[attr-defined]  # so it has the signature of `call`
    method.__doc__ = f"In-place form of :func:`{name.rstrip('_')}`."
    return method


# fmt: off
_UFUNCS: Final[Mapping[str, Any]] = {
    "add_": np.add, "sub_": np.subtract, "mul_": np.multiply, "div_": np.true_divide,
}

# Those that PyTorch lets read a part of what they write to, most of them a number, and those that
# may not even read the very elements.
_READING_FIRST: Final = {
    "masked_fill_", "masked_scatter_", "index_fill_", "fill_", "addmv_", "addmm_", "baddbmm_",
    "ldexp_", "logit_", "nan_to_num_", "cauchy_", "exponential_", "log_normal_", "normal_",
    "uniform_",
}
_SCATTERING: Final = {
    "index_put_", "_assign_", "index_copy_", "index_add_", "index_reduce_", "scatter_",
    "scatter_add_", "scatter_reduce_", "put_", "addr_",
}
# fmt: on


def _reads_number(name: str, args: tuple[Any, ...]) -> bool:
    """Return whether an element among ``args`` is a number, which is read before anything is
    written: where a mask picks, say."""
    if name not in ("_assign_", "index_put_"):
        return name == "bernoulli_"
    parts = [part for each in args if isinstance(each, (tuple, list)) for part in each]
    arrays = [getattr(part, "array", part) for part in parts if not isinstance(part, slice)]
    return len(arrays) == 1 and arrays[0].dtype == np.bool_


def _deprecated(name: str, example: str) -> str:
    return (
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before "
        f"performing this operation. This also applies to advanced indexing e.g. tensor{example}"
    )


# What may be written to an expanded tensor, and what PyTorch says of it.
_ON_EXPANDED: Final[Mapping[str, str]] = {
    "fill_": "",
    "zero_": "",
    "masked_fill_": _deprecated("masked_fill_", "[mask] = scalar"),
    "index_fill_": _deprecated("index_fill_", "[mask] = scalar"),
    "index_put_": _deprecated("index_put_", "[indices] = tensor"),
    "_assign_": _deprecated("index_put_", "[indices] = tensor"),
}

_SCALED: Final = (np.add, np.subtract)  # which take ``alpha``


def _written(ufunc: Any, x: Tensor, y: Any, options: dict[str, Any]) -> bool:
    """Let NumPy write the result into ``x``, a float tensor that is no view, as an update by hand
    does under ``no_grad``: 2 us instead of 7.

    Where it says no, nothing has happened, and the usual way will tell why.
    """
    array, kind, version = x.array, x.dtype, x.version
    if (
        type(x) is not Tensor
        or not kind.is_floating_point
        or version is INFERENCE
        or getattr(x, "_view_of", None) is not None  # not by the property: 0.1 us less
    ):
        return False
    if type(y) is Tensor and y.dtype is kind and (version is None or y.version is not version):
        other = y.array
    elif type(y) is float:
        other = _number(y, kind)
    else:
        return False
    if options:
        alpha = options.get("alpha") if ufunc in _SCALED and len(options) == 1 else None
        if type(alpha) is not float:
            return False
        other = other * _number(alpha, kind)
    try:
        ufunc(array, other, array)
    except ValueError:  # shapes, or memory that is only to be read
        return False
    if version is None:
        x.version = [1]
    else:
        version[0] += 1
    if getattr(x, "_views", None):
        regenerate_views(x)
    return True


@cache
def inplace_class(node_class: type[Any]) -> type[Any]:
    """Return the class of an op's nodes under the name that PyTorch gives to those of its in-place
    form."""
    name = node_class.inplace_node
    body = {"__slots__": (), "__module__": node_class.__module__, "name": lambda self: name}
    return type(name, (node_class,), body)


_numbers: dict[tuple[float, dtype], Any] = {}


def _number(value: float, kind: dtype) -> Any:
    """Return ``value`` as a 0-d array, kept: NumPy takes half as long as with a number."""
    array = _numbers.get((value, kind))
    if array is None:
        array = np.array(value, kind.dtype)
        if value != 0 and len(_numbers) < 256:  # 0.0 and -0.0 are equal keys
            _numbers[value, kind] = array
    return array


def _before(x: Tensor) -> Tensor:
    """Return ``x`` as it is now, as a tensor of its own that a node may save."""
    before = snapshot(x)
    before.version = None
    if type(x) is not Tensor:
        copy_tangent(x, before)
    return before


def _write_expanded(array: Any, result: Any, deprecated: str) -> None:
    """Write ``result`` to ``array``, one place of which stands for several elements: what did not
    change must not undo what did."""
    if deprecated:
        warn(deprecated)
    changed = result != array
    array.flags.writeable = True
    np.copyto(array, result, casting="unsafe", where=changed)
    array.flags.writeable = False  # to anything else


def _check_result(x: Tensor, result: Tensor, converts: bool) -> None:
    if result._shape != x._shape:
        raise RuntimeError(
            f"output with shape {list(x._shape)} doesn't match the broadcast shape "
            f"{list(result._shape)}"
        )
    if not converts and result.dtype.category > x.dtype.category:
        raise RuntimeError(
            f"result type {result.dtype.scalar_name} can't be cast to the desired output type "
            f"{x.dtype.scalar_name}"
        )


def _settle(x: Tensor, before: Tensor, node: Any) -> None:
    """Keep a copy of the data from before the change, where the rule needs it."""
    if any(getattr(node, name) is before for name in node.op.saved):
        before.array = x.array.copy()


def _watch_result(x: Tensor, node: Any) -> None:
    """Watch the changes of ``x``, where the rule needs the result, which now lives there."""
    for name in node.op.outputs:
        if name in node.op.saved and isinstance(getattr(node, name), np.ndarray):
            assert x.version is not None
            setattr(node, name, x.array)
            setattr(node, f"{name}_version", Since(x.version))
