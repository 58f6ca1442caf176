"""Apple's GPU: not here."""

from __future__ import annotations


def is_available() -> bool:
    """No."""
    return False


def is_built() -> bool:
    """No."""
    return False
