"""What is known of tensors, for as long as these live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

from gradstep.engines.pytorch.private import own_again


class _Key(ref[Any]):
    """Refers to a tensor that had this identity."""

    __slots__ = ("identity",)
    identity: int


class TensorTable:
    """Values by the identity of living tensors: as PyTorch's ``WeakTensorKeyDictionary``, which
    takes three times as long.

    >>> import torch
    >>> table = TensorTable()
    >>> x = torch.ones(2)
    >>> table[x] = "x"
    >>> table.get(x), x in table, torch.ones(2) in table
    ('x', True, False)
    >>> del x
    >>> len(table)
    0
    """

    __slots__ = ("__weakref__", "_entries", "_forget")

    def __init__(self) -> None:
        self._entries: dict[int, tuple[_Key, Any]] = {}
        self._forget = _forgetting(ref(self))

    def get(self, tensor: Any, default: Any = None) -> Any:
        """Return the value of ``tensor``."""
        key, value = self._entries.get(id(tensor), _NOTHING)
        return value if key() is tensor else default

    def __setitem__(self, tensor: Any, value: Any) -> None:
        identity = id(tensor)
        key, _ = self._entries.get(identity, _NOTHING)
        if key() is not tensor:
            key = _Key(tensor, self._forget)
            key.identity = identity
        self._entries[identity] = key, value

    def pop(self, tensor: Any) -> None:
        """Forget the value of ``tensor``."""
        if tensor in self:
            del self._entries[id(tensor)]

    def __contains__(self, tensor: Any) -> bool:
        return self._entries.get(id(tensor), _NOTHING)[0]() is tensor

    def __iter__(self) -> Iterator[Any]:
        for key, _ in list(self._entries.values()):
            if (tensor := key()) is not None:
                own_again(tensor)
                yield tensor

    def __len__(self) -> int:
        return len(self._entries)

    def forget(self, key: _Key) -> None:
        """Forget the value of a tensor that is gone; another one may have its identity by now."""
        if self._entries.get(key.identity, _NOTHING)[0] is key:
            del self._entries[key.identity]


def _forgetting(table: ref[TensorTable]) -> Callable[[Any], None]:
    """Return what a key calls when its tensor is gone; it keeps no table alive."""

    def forget(key: Any) -> None:
        known = table()
        if known is not None:
            known.forget(key)

    return forget


class _Nobody:
    pass


_NOTHING: tuple[_Key, Any] = _Key(_Nobody), None
"""In the place of an entry: that of no tensor."""
