"""Changes in place, by the memory that was changed, so that a node whose saved value was changed
can name the line."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import torch

from gradstep.engines.pytorch.schema import gives_new_memory, memory_of, tensors_in
from gradstep.graph.model import Source

_MOST: Final = 1000
"""Changes of one tensor that are remembered: training changes parameters for as long as it runs."""


class Changes:
    """The versions that tensors had before each change, and the lines that changed them."""

    def __init__(self) -> None:
        self._of: dict[int, deque[tuple[int, Source]]] = {}

    def ran(
        self, op: Any, changed: list[tuple[torch.Tensor, int]], result: Any, line: Source | None
    ) -> None:
        """Note what ``op`` changed, and forget what was where its new results are."""
        for tensor, version in changed:
            place = memory_of(tensor)
            if place and line is not None:
                self._of.setdefault(place, deque(maxlen=_MOST)).append((version, line))
        if self._of and not changed and gives_new_memory(op):
            for each in tensors_in(result):
                self._of.pop(memory_of(each), None)

    def since(self, tensor: torch.Tensor, version: int) -> tuple[Source, ...]:
        """Return the lines that changed ``tensor`` since it had ``version``."""
        known = self._of.get(memory_of(tensor), ())
        return tuple(line for before, line in known if before >= version)
