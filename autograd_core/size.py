"""Shapes as users see them."""

from __future__ import annotations

import numpy as np


class Size(tuple[int, ...]):
    """A shape, as ``Tensor.shape`` gives it.

    >>> Size((2, 3)), Size((2, 3)).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> int:
        return int(np.prod(self, dtype=np.int64))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"
