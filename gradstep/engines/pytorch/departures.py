"""Values that became arrays or numbers, and so left the graph: where, and from which leaves."""

from __future__ import annotations

from collections import deque
from typing import Any, Final
from weakref import ref

import torch

from gradstep.contract.op_records import Departure, LeafRecord, Record, next_number, reachable
from gradstep.graph.model import Source

TAKING_OUT: Final = {
    torch.Tensor.numpy: "numpy()",
    torch.Tensor.__array__: "numpy()",
    torch.Tensor.item: "item()",
    torch.Tensor.__float__: "float()",
    torch.Tensor.tolist: "tolist()",
}
"""Functions that make something else of a tensor, as users call them."""
_MOST: Final = 100


class Departures:
    """The last values that left, by the records that they had."""

    def __init__(self) -> None:
        self._known: deque[tuple[int, str, Source | None, Record]] = deque(maxlen=_MOST)

    def note(self, function: Any, source: Source | None, record: Record) -> None:
        """Note that ``function`` took a value with ``record`` out of the graph."""
        self._known.append((next_number(), TAKING_OUT[function], source, record))

    def of(self, leaf: torch.Tensor) -> Departure | None:
        """Return the last one that was computed from ``leaf``."""
        for number, how, source, record in reversed(self._known):
            for maker in reachable([record]):
                if isinstance(maker, LeafRecord) and maker.requires_grad:
                    seen = maker.tensor()
                    if seen is not None and seen.origin is leaf:
                        return Departure(number, how, source, (ref(leaf),))
        return None
