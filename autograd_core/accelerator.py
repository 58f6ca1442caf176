"""What scripts ask about accelerators, which there is none of."""

from __future__ import annotations


def is_available() -> bool:
    """No."""
    return False


def device_count() -> int:
    """None."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""
