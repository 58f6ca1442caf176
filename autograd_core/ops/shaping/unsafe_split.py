"""Pieces of a temporary nobody else will see: what recurrent networks cut their gates from."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.shaping.joining import cat


@op(self=lambda g, dim: cat(g, dim=dim), view="each", linear=True)
def unsafe_split(self, /, split_size, dim=0):
    """Return pieces of ``split_size`` along ``dim``; the last may be shorter."""
    return tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))


def unsafe_chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    """Return ``chunks`` pieces along ``dim``, as equal as possible."""
    return unsafe_split(x, -(-x._shape[dim] // chunks), dim)
