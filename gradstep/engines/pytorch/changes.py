"""Changes in place, by the memory that was changed, so that a node whose saved value was changed
can name the line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import signature
from typing import Any, Final

import torch

from gradstep.engines.pytorch.private import (
    StorageWeakRef,
    TensorBase,
    memory_of,
    unseen,
    version_counter,
)
from gradstep.graph.model import Source

_MOST: Final = 1000
"""Changes of one tensor that are remembered, as training changes parameters for as long as it runs;
and memories that are remembered at once."""


class Changes:
    """The versions that tensors had before each change, and the lines that changed them."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, deque[tuple[int, Source]]]] = {}

    def note(self, tensor: torch.Tensor, version: int, line: Source | None) -> None:
        """Note that ``line`` changed ``tensor``, which had ``version`` before."""
        place = memory_of(tensor)
        if place is None or line is None or StorageWeakRef is None:
            return
        if place not in self._of:
            if len(self._of) >= _MOST:
                self._make_room()
            # while it is there, no other memory has this identity
            with unseen():
                memory = StorageWeakRef(TensorBase.untyped_storage(tensor))
            self._of[place] = memory, deque(maxlen=_MOST)
        self._of[place][1].append((version, line))

    def since(self, memory: int | None, version: int) -> tuple[Source, ...]:
        """Return the lines that changed a ``memory`` since its tensor had ``version``."""
        known = () if memory is None or memory not in self._of else self._of[memory][1]
        return tuple(line for before, line in known if before >= version)

    def _make_room(self) -> None:
        """Forget what is gone; where that is too little, the older half of all."""
        kept = [item for item in self._of.items() if not item[1][0].expired()]
        self._of = dict(kept if len(kept) <= _MOST // 2 else kept[len(kept) // 2 :])


@lru_cache(maxsize=4096)
def may_change(function: Callable[..., Any]) -> bool:
    """Return whether a torch function may change its first argument in place, by its name and its
    parameters.

    >>> may_change(torch.Tensor.mul_), may_change(torch.nn.functional.relu), may_change(torch.mul)
    (True, True, False)
    """
    name = getattr(function, "__name__", "")
    if name.startswith("__"):
        return (name.startswith("__i") and name != "__invert__") or name == "__setitem__"
    if name.endswith("_"):
        return True
    try:
        return "inplace" in signature(function).parameters
    except (TypeError, ValueError):  # one of C
        return False


def version_of(given: Sequence[Any]) -> int | None:
    """Return the version of the first of some arguments, None of what is no plain tensor."""
    if not given or type(given[0]) not in _PLAIN:
        return None
    try:
        with unseen():
            return int(version_counter(given[0]))
    except RuntimeError:  # made in inference mode
        return None


_PLAIN: Final = (torch.Tensor, torch.nn.Parameter)
