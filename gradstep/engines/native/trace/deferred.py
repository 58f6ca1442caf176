"""Ops whose records are deferred: most programs that are only watched never need one.

To make records takes as long as the ops of a small net; to note what one would be made of, a
tenth of that.  Whoever reads a record, or changes a tensor other than by an op, has them made first
(:func:`~autograd_core.autograd.grad_mode.settle`), so that they are as if they had been made at
once, with one exception: what a function called its constants is unknown once it has returned.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType
from typing import Any, Final

from autograd_core.autograd.grad_mode import Line
from autograd_core.autograd.node import Node, notes_of
from autograd_core.tensor import Tensor
from gradstep.capturing.scopes import Scope
from gradstep.contract.module_paths import OUTSIDE
from gradstep.contract.op_records import OpRecord

Instruction = tuple[CodeType, int]
Note = tuple[
    str, tuple[Any, ...], Mapping[str, Any], tuple[Tensor, ...], Node | None, Instruction | None,
    Scope | None, bool,
]  # fmt: skip
"""Of an op: its name, inputs, attributes, outputs and node; the place in the program, the scope,
and whether gradients were on."""

_OUTPUTS: Final = 3  # the places of these in it
_NODE: Final = 4
_MOST: Final = 1 << 25
NOTE: Final = 100
"""Bytes that a note itself counts for."""


class Deferred:
    """The ``notes`` on ops, in their order; the bytes that they keep from being freed, and the
    ``most`` that these may be."""

    def __init__(self, most: int) -> None:
        self.notes: list[Note] = []
        self.nbytes = 0
        self.most = min(most, _MOST)

    def take_all(self) -> list[Note]:
        """Return the notes, and forget them."""
        notes, self.notes, self.nbytes = self.notes, [], 0
        return notes

    def take_rest(self, line: Line) -> list[Note]:
        """Forget the notes, and return those that may still be used after the backward pass
        begun at ``line``: neither what that has freed, nor what only notes lead to."""
        taken = self.take_all()
        rest = []
        while taken:  # from the end on: what is left of those after it refers to what they read
            note = taken.pop()
            if _are_held(note[_OUTPUTS]):
                node = note[_NODE]
                if node is None or not node.is_freed:
                    rest.append(note)
                else:  # to which a later pass may still come
                    name, _, attributes, _, _, place, scope, grads = note
                    notes, within = notes_of(node), OUTSIDE if scope is None else scope.place
                    notes.freed_at = line
                    notes.record = OpRecord(name, (), attributes, within, place, True, grads)
        return rest[::-1]


def _are_held(outputs: tuple[Tensor, ...]) -> bool:
    """Return whether anything but ``outputs`` refers to one of these."""
    for number in range(len(outputs)):  # noqa: SIM110  # a generator takes twice as long
        if sys.getrefcount(outputs[number]) > _ONLY_THERE:
            return True
    return False


_ALONE = (Tensor(),)
_ONLY_THERE: Final = sys.getrefcount(_ALONE[0])  # it differs between versions of Python
