"""Size, the type of shapes; and dimensions as users number them, counted from the front."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex, overload

import numpy as np


class Size(tuple[int, ...]):
    """The shape of a tensor, as ``Tensor.shape`` returns it.

    >>> from autograd_core import Size
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
        sizes = super().__getitem__(key)
        return Size(sizes) if isinstance(sizes, tuple) else sizes

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size(super().__add__(tuple(other)))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(other).__add__(self)

    def __mul__(self, count: SupportsIndex) -> Size:
        return Size(super().__mul__(count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def wrapped(dim: int, rank: int, *, of_scalars: bool = True) -> int:
    """Return ``dim`` of a tensor with ``rank`` dimensions, counted from the front.

    A tensor without dimensions is taken as a vector of one element, if ``of_scalars``.

    Raises:
        IndexError: there is no such dimension.
    """
    if not (rank or of_scalars):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    count = rank or 1
    if -count <= dim < count:
        return dim + count if dim < 0 else dim
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got "
        f"{dim})"
    )


def wrapped_all(dims: Iterable[int], rank: int, *, of_scalars: bool = True) -> tuple[int, ...]:
    """:func:`wrapped` of several dimensions.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is given twice.
    """
    places: list[int] = []
    for dim in dims:
        place = wrapped(dim, rank, of_scalars=of_scalars)
        if place in places:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")
        places.append(place)
    return tuple(places)
