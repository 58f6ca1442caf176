"""A cell taken over the steps of a batch, the sequences of which may end at different ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.ops.indices.index import slice_
from autograd_core.ops.shaping.joining import cat
from autograd_core.tensor import Tensor


def each(state: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Return ``function`` of a state: one tensor, several, or none."""
    if isinstance(state, tuple):
        return tuple(function(t) for t in state)
    return None if state is None else function(state)


def over_steps(
    cell: Callable[[Tensor, Any], Any], steps: Sequence[Tensor], state: Any, backwards: bool
) -> tuple[list[Tensor], Any]:
    """Return the outputs of all steps, and the last state of every sequence.

    The longest sequences come first, so that a step of n rows belongs to the first n of them.
    """
    outputs: list[Tensor] = []
    first, over = state, []
    if backwards:
        state = _rows(state, 0, len(steps[-1]))
    for given in reversed(steps) if backwards else steps:
        count, known = len(given), len(_hidden(state))
        if count < known:
            over.append(_rows(state, count, known))
            state = _rows(state, 0, count)
        elif count > known:
            state = _joined([state, _rows(first, known, count)])
        state = cell(given, state)
        outputs.append(_hidden(state))
    if over:
        state = _joined([state, *reversed(over)])
    return outputs[::-1] if backwards else outputs, state


def _hidden(state: Any) -> Tensor:
    hidden: Tensor = state[0] if isinstance(state, tuple) else state
    return hidden


def _rows(state: Any, start: int, end: int) -> Any:
    if (start, end) == (0, len(_hidden(state))):
        return state
    return each(state, lambda t: slice_(t, 0, start, end, 1))


def _joined(states: list[Any]) -> Any:
    if isinstance(states[0], tuple):
        return tuple(cat(list(parts)) for parts in zip(*states, strict=True))
    return cat(states)
