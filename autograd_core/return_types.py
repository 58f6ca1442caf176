"""What ops with several results return: tuples with names, as ``torch.return_types``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from autograd_core.tensor import Tensor


class _ValuesAndIndices(NamedTuple):
    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = f"torch.return_types.{type(self).__name__}"
        return f"{name}(\nvalues={self.values!r},\nindices={self.indices!r})"


class max(_ValuesAndIndices):
    """The largest elements along a dimension, and where they are."""

    __slots__ = ()


class min(_ValuesAndIndices):
    """The smallest elements along a dimension, and where they are."""

    __slots__ = ()
