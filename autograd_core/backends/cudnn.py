"""NVIDIA's library: not here; what scripts set is kept and changes nothing."""

from __future__ import annotations

enabled = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """No."""
    return False
