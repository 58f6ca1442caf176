"""Tensors within an attribute of an op, such as indices: kept, watched, packed and freed as saved
inputs are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from autograd_core.autograd.node import FREED, Node, SavedState
from autograd_core.autograd.packed import Hooks, Packed
from autograd_core.autograd.saved import freed, modified
from autograd_core.tensor import Tensor


class Held(tuple[Any, ...]):
    """What kernels and rules take, arrays and slices, and the tensors that the arrays are from.

    ``versions``, of the tensors, are known from when a node keeps it.
    """

    tensors: Sequence[Tensor | Packed | None]
    versions: Sequence[int] | None

    def __new__(cls, parts: Iterable[Any], tensors: Sequence[Tensor | Packed | None]) -> Self:
        new = super().__new__(cls, parts)
        new.tensors, new.versions = tensors, None
        return new

    def packed(self, hooks: Hooks, only: int | None = None, *, detached: bool = False) -> Held:
        """Return the same with tensors, or ``only`` the one of that number, that ``hooks`` have
        taken away, arrays and all."""
        taken = [
            Packed(t, hooks, detached=detached)
            if isinstance(t, Tensor) and only in (None, number)
            else t
            for number, t in enumerate(self.tensors)
        ]
        pairs = zip(self, taken, strict=True)
        kept = Held([None if isinstance(t, Packed) else part for part, t in pairs], taken)
        kept.versions = self.versions
        return kept

    def each(self, name: str) -> Iterator[tuple[str, Any, SavedState]]:
        """Return the tensors, as a node that has them under ``name`` tells of what it saved."""
        for number, t in enumerate(self.tensors):
            if t is not None:
                yield f"{name}[{number}]", t, self.state(number)

    def state(self, number: int) -> SavedState:
        t = self.tensors[number]
        if isinstance(t, Packed):
            return "packed"
        assert self.versions is not None
        return "kept" if _version(t) == self.versions[number] else "changed"

    def unpacked(self) -> Held:
        """Return the same with arrays.

        Raises:
            RuntimeError: one of the tensors was changed in place.
        """
        assert self.versions is not None
        packed = False
        for t, version in zip(self.tensors, self.versions, strict=True):
            if type(t) is Packed:
                packed = True
            elif t is not None and _version(t) != version:
                raise modified(t.array, None, t.version or [0], version)
        if not packed:
            return self
        tensors = [t.tensor() if isinstance(t, Packed) else t for t in self.tensors]
        pairs = zip(self, tensors, strict=True)
        return Held([part if t is None else index_array(t) for part, t in pairs], tensors)


def index_array(t: Tensor) -> Any:
    """Return ``t`` as an index for NumPy: bytes are truth values."""
    return t.array != 0 if t.array.dtype == np.uint8 else t.array


def _version(t: Any) -> int:
    version: int = 0 if t is None or t.version is None else t.version[0]
    return version


def watched(value: Any) -> Any:
    """Return the value of an attribute, for a node to keep it.

    Raises:
        RuntimeError: it has an inference tensor in it.
    """
    if type(value) is Held and value.versions is None:
        value.versions = list(map(_version, value.tensors))
    return value


def held(node: Node, name: str) -> Any:
    """Return the attribute ``name`` that ``node`` has kept, for its rules."""
    value = getattr(node, name)
    if value is FREED:
        raise freed(node)
    return value.unpacked() if type(value) is Held else value
