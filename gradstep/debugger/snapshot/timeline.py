"""The backward passes of a program in order, and the effect of each on every leaf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics
from gradstep.records import CallKind


class LeafCall(NamedTuple):
    """The effect of one call on the ``.grad`` of a leaf: its value before, the addition, and its
    value after.

    ``kept`` means that the value before came from an earlier call and was not cleared.
    """

    name: str
    before: Statistics | None
    added: Statistics | None
    after: Statistics | None
    kept: bool = False


class CallRecord(NamedTuple):
    """A finished call of ``backward`` or ``grad``; ``number`` counts those of its ``kind``.

    ``source`` is the line of the call, known while tracing, and ``nodes`` is the length of its
    plan.
    """

    number: int
    title: str
    source: Source | None
    nodes: int
    create_graph: bool
    retain_graph: bool
    leaves: tuple[LeafCall, ...]
    kind: CallKind = "backward"

    @property
    def label(self) -> str:
        """``call 2`` for one of ``backward``, ``grad 2`` for one of ``grad``."""
        return f"{'call' if self.kind == 'backward' else self.kind} {self.number}"


class Timeline:
    """The calls of a program. Each session adds its call when it finishes.

    >>> import autograd_core as torch
    >>> from gradstep.console.session import Session
    >>> from gradstep.debugger import Timeline
    >>> w, timeline = torch.tensor(2.0, requires_grad=True), Timeline()
    >>> for call in (1, 2):
    ...     Session(w * w, names={"w": w}, call=call, timeline=timeline).finish()
    >>> [(call.number, leaf.kept) for call, leaf in timeline.of_leaf("w")]
    [(1, False), (2, True)]
    >>> timeline.magnitudes("w")
    [4.0, 4.0]
    """

    def __init__(self) -> None:
        self._calls: list[CallRecord] = []
        self._last: dict[str, Statistics | None] = {}

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The finished calls, in order."""
        return tuple(self._calls)

    def add(self, call: CallRecord) -> None:
        """Add a finished call."""
        leaves = tuple(self._judged(call.leaves))
        self._calls.append(call._replace(leaves=leaves))
        self._last.update({leaf.name: leaf.after for leaf in leaves})

    def _judged(self, leaves: Iterable[LeafCall]) -> Iterable[LeafCall]:
        for leaf in leaves:
            kept = leaf.before is not None and self._last.get(leaf.name) == leaf.before
            yield leaf._replace(kept=kept)

    def of_leaf(self, name: str) -> list[tuple[CallRecord, LeafCall]]:
        """Return the history over all calls of the ``.grad`` of one leaf, named in full or, where
        no other ends so, without the variable in front."""
        leaves = [(call, leaf) for call in self._calls for leaf in call.leaves]
        names = {leaf.name for _, leaf in leaves}
        ending = [known for known in names if known.endswith(f".{name}")]
        if name not in names and len(ending) == 1:
            (name,) = ending
        return [(call, leaf) for call, leaf in leaves if leaf.name == name]

    def magnitudes(self, name: str) -> list[float | None]:
        """Per call, the root mean square of its addition to the leaf's ``.grad``; None if it added
        nothing."""
        sizes: list[float | None] = []
        for call in self._calls:
            added = next((leaf.added for leaf in call.leaves if leaf.name == name), None)
            sizes.append(None if added is None else added.rms)
        return sizes
