"""Which calls of a script are meant: what ``--call`` and ``--grad`` say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the parser of the command waits for nothing else of that floor
    from autograd_core.autograd.call import CallKind

WORDS: dict[CallKind, str] = {"backward": "backward()", "grad": "autograd.grad()"}


class Wanted(NamedTuple):
    """Which calls of a script are meant: number ``number`` of its kind, None for each.

    >>> Wanted(2, ("grad",)).means(2, "grad"), Wanted(2, ("grad",)).means(2, "backward")
    (True, False)
    """

    number: int | None = None
    kinds: tuple[CallKind, ...] = ("backward",)

    def means(self, number: int, kind: CallKind) -> bool:
        """Whether call ``number`` of ``kind`` is one of them."""
        return kind in self.kinds and self.number in (None, number)


def call_title(kind: CallKind, number: int) -> str:
    """What to call a call: ``backward() call 2``, ``autograd.grad() call 1``."""
    return f"{WORDS[kind]} call {number}"
