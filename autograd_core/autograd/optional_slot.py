"""Slots that few objects ever fill."""

from __future__ import annotations

from typing import Any


def optional_slot(slot: str, default: Any = None) -> Any:
    """Return a property over ``slot``, which is left unset until somebody stores into it.

    Storing None into every object costs each op 10 ns per slot, and a ``__getattr__`` that
    knows the default would cost every other attribute of the class its fast path.
    """

    def get(self: Any) -> Any:
        return getattr(self, slot, default)  # 0.2 us; catching the error took 0.5

    def set_(self: Any, value: Any) -> None:
        setattr(self, slot, value)

    return property(get, set_)
