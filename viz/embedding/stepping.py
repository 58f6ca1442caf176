"""The graph as it stands in the middle of its backward pass."""

from __future__ import annotations

from typing import Any

from autograd_core.autograd.call import make_call
from autograd_core.dag import Graph, Names, capture
from autograd_core.debug.recording.observed_pass import ObservedPass
from viz.errors import CodeFailed


def graph_at(roots: Any, names: Names, step: int | None, title: str = "") -> Graph:
    """The graph behind ``roots`` with the gradients that have flowed after ``step`` nodes ran;
    -1 is the end of the pass, None shows none.

    Afterwards every ``.grad`` is as it was, and nothing has been freed.

    Raises:
        CodeFailed: the pass has fewer nodes.
    """
    if step is None:
        return capture(roots, names=names, title=title)
    with ObservedPass(make_call(roots, None, None, False), names) as observed:
        length = len(observed.order)
        if not -1 <= step <= length:
            raise CodeFailed(f"there is no step {step}", remedy=f"this pass has {length} steps")
        observed.run(None if step == -1 else step)
        return observed.graph("both", title)
