"""From which item of which data each number of a value comes, as far as ops only move numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.op_records import IN_PLACE, OpRecord, Origin, Record, reachable
from gradstep.findings.facts.repeated import is_data, numbers_at, shape_of
from gradstep.recording.look import Look

Places = NDArray[np.int64]
"""Of each number of a value, the number of the record that it comes from, and its place there;
-1 where it comes from several."""
_MOST: Final = 1 << 21
_BITS: Final = 32
_SAME_ORDER: Final = (
    "view", "reshape", "_unsafe_view", "unsafe_view", "squeeze", "unsqueeze", "flatten", "clone",
    "to", "cast", "_to_copy", "detach", "alias", "contiguous", "lift_fresh",
)  # fmt: skip


class Items(NamedTuple):
    """The rows of a value as items of ``data``, which is so ``long``."""

    data: Record
    long: int
    rows: Places


def inputs_of(look: Look) -> list[Origin]:
    """Return the data that ops with a gradient are given."""
    given: dict[Origin, None] = {}
    for record in look.records:
        for each in record.inputs if isinstance(record, OpRecord) and record.requires_grad else ():
            if isinstance(each, tuple) and is_data(each) and shape_of(each):
                given[each] = None
    return list(given)


def places(look: Look, origin: Origin) -> Places | None:
    """Return where the numbers of a value come from, None where there are too many."""
    known: dict[Origin, Places | None] = look.kept.setdefault("places", {})
    if origin not in known:
        by_record = look.kept.setdefault("records of places", {})
        for record in reachable([origin[0]]):
            by_record[record.number] = record
            for nr in range(len(record.shapes) if isinstance(record, OpRecord) else 1):
                if (record, nr) not in known:
                    known[record, nr] = _places(look, (record, nr), known)
    return known[origin]


def items(look: Look, origin: Origin) -> Items | None:
    """Return the rows of a value as items of the data that they are all of, None where a row has
    numbers of several, or what it has is no data with more than one row."""
    here = places(look, origin)
    if here is None or here.ndim == 0 or not here.size or here.min() < 0:
        return None
    numbers = here >> _BITS
    data: Record = look.kept["records of places"][int(numbers.flat[0])]
    shape = shape_of((data, 0))
    if not shape or shape[0] < 2 or (numbers != numbers.flat[0]).any():
        return None
    each = max(1, int(np.prod(shape[1:], dtype=np.int64)))
    rows = (here & ((1 << _BITS) - 1)).reshape(len(here), -1) // each
    return Items(data, shape[0], rows[:, 0]) if (rows == rows[:, :1]).all() else None


def _places(look: Look, origin: Origin, known: Mapping[Origin, Places | None]) -> Places | None:
    record, nr = origin
    shape = shape_of(origin)
    size = int(np.prod(shape, dtype=np.int64))
    if size > _MOST:
        return None
    if isinstance(record, OpRecord) and not record.requires_grad:
        given = [known.get(each) for each in record.inputs if isinstance(each, tuple)]
        try:
            moved = _moved(look, record, nr, given)
        except (KeyError, IndexError, TypeError, ValueError):  # called in a way not known here
            moved = None
        if moved is not None and moved.shape == shape:
            return moved
    return (np.arange(size, dtype=np.int64) + (record.number << _BITS)).reshape(shape)


def _moved(look: Look, record: OpRecord, nr: int, given: Sequence[Places | None]) -> Places | None:
    """Return where the numbers of a result come from, None where it is not one of an op that only
    moves them."""
    at, first = record.attributes, given[0] if given else None
    if first is None or any(each is None for each in given):
        return None
    if record.name in _SAME_ORDER:
        return first.reshape(record.shapes[nr])
    if record.name in _MOVES:
        return _MOVES[record.name](first, at)
    if record.name in ("stack", "cat"):
        join = np.stack if record.name == "stack" else np.concatenate
        return join(list(given), int(at.get("dim", 0)))  # type: ignore[arg-type]
    if record.name == "expand":
        return np.broadcast_to(first, record.shapes[nr])
    if record.name == "unbind":
        return np.asarray(first.take(nr, int(at.get("dim", 0))))
    if record.name in ("index", "index_select") and len(given) == 2 and not record.gaps:
        chosen = numbers_at(look, record.inputs[1])
        dim = int(at.get("dim", 0))
        if chosen is None or chosen.dtype.kind not in "iub":
            return None
        return first[chosen] if chosen.dtype.kind == "b" else first.take(chosen, dim, mode="wrap")
    if record.name in CHANGING and any(map(at.get, IN_PLACE)):
        return first  # the items are others now, and stand where they stood
    if record.pointwise and record.name in _SCALING:
        return _scaled(look, record, given)
    return None


def _scaled(look: Look, record: OpRecord, given: Sequence[Places | None]) -> Places | None:
    """Return the places of what is shifted and scaled by fewer numbers, none of them 0."""
    large = [each for each in given if each is not None and each.shape == record.shapes[0]]
    if len(large) != 1:
        return None
    for origin in record.inputs:
        if isinstance(origin, tuple) and shape_of(origin) != record.shapes[0]:
            numbers = numbers_at(look, origin)
            if numbers is None or (record.name == "mul" and not numbers.all()):
                return None
    return large[0]


CHANGING: Final = ("add", "sub", "mul", "div", "clamp", "pow", "neg", "abs", "exp", "log", "sqrt")
"""Ops that, in place, make other numbers of those that were there."""
_SCALING: Final = ("add", "sub", "rsub", "mul", "div", "gt", "lt", "ge", "le", "eq", "ne", "neg")
_MOVES: Final[Mapping[str, Callable[[Places, Mapping[str, Any]], Places]]] = {
    "t": lambda first, at: first.T,
    "transpose": lambda first, at: first.swapaxes(at["dim0"], at["dim1"]),
    "permute": lambda first, at: first.transpose(at["dims"]),
    "select": lambda first, at: first.take(at["index"], at["dim"]),
    "slice": lambda first, at: _sliced(first, at),
    "flip": lambda first, at: np.flip(first, at["dims"]),
}
"""Ops that move numbers, by their attributes."""


def _sliced(first: Places, at: Mapping[str, Any]) -> Places:
    dim = int(at.get("dim", 0)) % first.ndim
    which = slice(at.get("start"), at.get("end"), at.get("step", 1))
    return first[(slice(None),) * dim + (which,)]
