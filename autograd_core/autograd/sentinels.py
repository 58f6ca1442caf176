"""What stands where a saved value is not there, and why."""

from __future__ import annotations

from typing import Final


class _Mark:
    """A value that is not there, and why."""

    __slots__ = ("_why",)

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return f"<{self._why}>"


FREED: Final = _Mark("freed")
NOT_SAVED: Final = _Mark("not saved: the inputs whose rules need it need no gradient")
