"""Chains: shape ops sit inside the op that they serve.

``x @ w.t()`` is one thought, and two ops.  An op that only looks at its input in another shape
joins its producer, or, where it prepares a leaf, the one op that uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.graph.columns import int_column
from gradstep.graph.folding.units import Units
from gradstep.graph.model import Graph

SHAPE_OPS = frozenset(
    {
        "adjoint", "alias", "asstrided", "broadcastto", "clone", "contiguous", "expand",
        "expandas", "flatten", "h", "movedim", "mt", "permute", "ravel", "reshape",
        "reshapealias", "squeeze", "squeezedim", "swapaxes", "t", "to", "tocopy", "transpose",
        "unflatten", "unsafeview", "unsqueeze", "view", "viewas",
    }
)  # fmt: skip
"""Without underscores, so that they fit the names of ops and of PyTorch's nodes alike."""


def is_reshaping(stem: str) -> bool:
    """Return whether an op only looks at its input in another shape."""
    return stem.replace("_", "").lower() in SHAPE_OPS


@dataclass(frozen=True, slots=True)
class Heads:
    """``mains`` is for each unit the one in whose box it stands, mostly itself, which is then a
    head; ``joint`` are the units in the box of a head that has several, in order."""

    mains: Sequence[int]
    joint: dict[int, list[int]]

    def members(self, head: int) -> list[int]:
        """Return the units in the box of ``head``."""
        return self.joint.get(head) or [head]


def find_heads(graph: Graph, units: Units) -> Heads:
    """Put every shape op into the box of the op that it serves."""
    mains = _find_mains(graph, units)
    joint: dict[int, list[int]] = {main: [] for unit, main in enumerate(mains) if unit != main}
    for unit, main in enumerate(mains):
        if main in joint:
            joint[main].append(unit)
    return Heads(mains, joint)


def _find_mains(graph: Graph, units: Units) -> Sequence[int]:
    """Only edges that are the sole way in or out of a shape op are contracted, so that what was
    without cycles stays so, and the order of the heads is still one in which they can run.
    """
    mains = int_column(np.arange(len(units)))
    before: set[int] = set()  # these join the op that uses them
    kinds, stems = graph.kinds, units.stems
    reshaping = set(filter(is_reshaping, set(stems)))
    for unit, stem in enumerate(stems):
        if stem not in reshaping or kinds[units.node(unit)] != "op":
            continue
        sources, user = units.inputs[unit], units.last_users[unit]
        has_one_user = units.user_counts[unit] == 1 and unit not in units.final
        if len(sources) > 1:
            continue
        producer = sources[0] if sources else -1
        prepares = producer < 0 or producer in before
        if has_one_user and (prepares or _at_home(units, producer, unit, user)):
            before.add(unit)
            continue
        chain = [unit]  # what has several users has them look at what a chain of shape ops made
        while producer in before:
            chain.append(producer)
            producer = units.inputs[producer][0] if units.inputs[producer] else -1
        if producer >= 0:
            before.difference_update(chain)
            for one in chain:
                mains[one] = mains[producer]
    for unit in sorted(before, reverse=True):
        mains[unit] = mains[units.last_users[unit]]
    return mains


def _at_home(units: Units, producer: int, unit: int, user: int) -> bool:
    """Return whether a unit belongs to the scope of its user, and not to that of its producer."""
    scope = units.scopes[unit]
    return units.scopes[producer] != scope == units.scopes[user]
