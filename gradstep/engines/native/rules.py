"""Saved values and rules of the core's own nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.copy_slices import CopySlices
from autograd_core.autograd.node import Node as GradFn
from autograd_core.autograd.packed import Packed
from autograd_core.autograd.saved import SavedNode, rules_of
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor
from gradstep.capturing.formula import Constant, formula_text
from gradstep.capturing.names import Names
from gradstep.contract.protocol import Rule
from gradstep.engines.native.trace.origins import is_number
from gradstep.records import Extent, KeptValue


def extent(value: Any) -> Extent | None:
    """Return the extent of what a node keeps: a tensor, an array, or what stands for one that was
    packed; None of a number."""
    if isinstance(value, Tensor):
        array: Any = value.array
        if not array.shape and isinstance(value.record, (int, float)):
            return None
    elif isinstance(value, Packed):
        return Extent(value.shape, dtype_name(value.dtype), value.nbytes)
    else:
        array = value
    # an array that owns its memory is known by itself: to ask where that begins takes 2 us
    nbytes: int = array.nbytes
    storage, memory = id(array), (id(array), nbytes)
    if array.base is not None:
        storage, memory = _storage(array)
    # 0.3 us less than by its own constructor
    return tuple.__new__(Extent, (array.shape, dtype_name(array.dtype), nbytes, storage, memory))


def _storage(array: NDArray[Any]) -> tuple[int, tuple[int, int]]:
    """Return a number for where the memory of a view begins, that of the array that owns it if both
    begin there; and that array, by its number and its bytes."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    memory = id(owner), owner.nbytes
    begin: int = array.__array_interface__["data"][0]
    if owner.base is None and owner.__array_interface__["data"][0] == begin:
        return id(owner), memory
    return begin, memory


@lru_cache(maxsize=64)
def dtype_name(kind: np.dtype[Any]) -> str:
    """Return the name of a dtype; NumPy spells it out anew each time, which takes 4 us."""
    return kind.name


def formula(node: GradFn, kept: Iterable[KeptValue], names: Names) -> str:
    """Return the rules of the inputs that need a gradient, with this node's names and numbers."""
    if isinstance(node, CopySlices):
        part = formula(node.inner, kept, names)
        return f"{part} in the view, g elsewhere" if part else ""
    if not isinstance(node, SavedNode):
        return ""
    called: list[tuple[str, str]] = []
    constants: list[tuple[str, Constant]] = []
    for name, value, _ in kept:
        if is_number(value):
            constants.append((name, value.record))
        else:
            known = names.of(value) if isinstance(value, Tensor) else ""
            called.append((name, known or names.placeholder(name)))
    constants.extend(_plain_constants(node))
    needed = tuple([edge is not None for edge in node.edges])
    return _formula(node.op, needed, tuple(called), tuple(constants))


@lru_cache(maxsize=4096)
def _formula(
    op: Op,
    needed: tuple[bool, ...],
    called: tuple[tuple[str, str], ...],
    constants: tuple[tuple[str, Constant], ...],
) -> str:
    """Return the formula of all nodes that are alike in this."""
    wanted = {edge for edge, is_needed in zip(op.edges, needed, strict=False) if is_needed}
    return ", ".join(
        formula_text(rule, dict(called), dict(constants))
        for name, rule in rules_of(op)
        if name in wanted or op.joint is not None or op.variadic
    )


def _plain_constants(node: SavedNode) -> Iterator[tuple[str, Constant]]:
    for name in node.op.saved_plain:
        value = getattr(node, name)
        if isinstance(value, (bool, int, float)) or value is None:
            yield name, value


def rules_with_names(node: GradFn) -> Iterator[Rule]:
    """Yield the rules that a node runs for the inputs that need a gradient."""
    if not isinstance(node, SavedNode):
        return
    op = node.op
    constants: dict[str, Constant] = {}
    saved = set()
    for name, value, _ in node.saved():
        if is_number(value):
            constants[name] = value.record
        else:
            saved.add(name)
    constants.update(_plain_constants(node))
    for name, rule in rules_of(op):
        nr = op.edges.index(name) if name in op.edges else len(node.edges)
        is_needed = nr < len(node.edges) and node.edges[nr] is not None
        if not is_needed and op.joint is None:
            continue
        read = saved.intersection(op.rule(name).names)
        gradients = [f"g[{nr}]" for nr in range(node.output_count)] if node.ported else ["g"]
        text = partial(_with_texts, rule, constants)
        yield Rule(name, nr if is_needed else None, {*gradients, *read}, text)


def _with_texts(rule: str, constants: dict[str, Constant], texts: Mapping[str, str]) -> str:
    return formula_text(rule, texts, constants)
