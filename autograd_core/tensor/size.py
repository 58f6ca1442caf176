"""Size: the type of shapes."""

from __future__ import annotations

from typing import SupportsIndex, overload

import numpy as np


class Size(tuple[int, ...]):
    """The shape of a tensor, as ``Tensor.shape`` returns it.

    >>> Size((2, 3)), Size((2, 3)).numel()
    (torch.Size([2, 3]), 6)
    >>> Size((2, 3))[1:], (1, *Size((2, 3))), (1,) + Size((2, 3))
    (torch.Size([3]), (1, 2, 3), torch.Size([1, 2, 3]))
    """

    __slots__ = ()

    def numel(self) -> int:
        return int(np.prod(self, dtype=np.int64))

    @overload  # parts of a size are sizes
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        found = super().__getitem__(key)
        return Size(found) if isinstance(found, tuple) else found

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size(super().__add__(tuple(other)))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(other).__add__(self)

    def __mul__(self, count: SupportsIndex) -> Size:
        return Size(super().__mul__(count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"
