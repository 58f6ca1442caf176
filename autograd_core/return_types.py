"""What ops with several results return: tuples with names, as ``torch.return_types``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from autograd_core.tensor import Tensor


def _shown(self: Any) -> str:
    """Return a line for each field."""
    fields = ",\n".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
    return f"torch.return_types.{type(self).__name__}(\n{fields})"


class _ValuesAndIndices(NamedTuple):
    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _shown(self)


class max(_ValuesAndIndices):
    """The largest elements along a dimension, and where they are."""

    __slots__ = ()


class min(_ValuesAndIndices):
    """The smallest elements along a dimension, and where they are."""

    __slots__ = ()


class cummax(_ValuesAndIndices):
    """The largest elements so far, and where they are."""

    __slots__ = ()


class cummin(_ValuesAndIndices):
    """The smallest elements so far, and where they are."""

    __slots__ = ()


class kthvalue(_ValuesAndIndices):
    """The k-th smallest elements along a dimension, and where they are."""

    __slots__ = ()


class median(_ValuesAndIndices):
    """The middle elements along a dimension, and where they are."""

    __slots__ = ()


class mode(_ValuesAndIndices):
    """The most frequent elements along a dimension, and where they are."""

    __slots__ = ()


class nanmedian(_ValuesAndIndices):
    """The middle elements that are not NaN, and where they are."""

    __slots__ = ()


class sort(_ValuesAndIndices):
    """The elements in order, and where they were."""

    __slots__ = ()


class topk(_ValuesAndIndices):
    """The largest or smallest elements, and where they were."""

    __slots__ = ()


class aminmax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor

    def __repr__(self) -> str:
        return _shown(self)


class frexp(NamedTuple):
    """Numbers as ``mantissa * 2**exponent``."""

    mantissa: Tensor
    exponent: Tensor

    def __repr__(self) -> str:
        return _shown(self)
