"""What scripts ask about the GPU, which there is none of: ``cuda.is_available()`` is False."""

from __future__ import annotations


def is_available() -> bool:
    """No."""
    return False


def device_count() -> int:
    """None."""
    return 0


def is_initialized() -> bool:
    """No."""
    return False


def manual_seed(seed: int) -> None:
    """Nothing to do without a GPU, as in PyTorch."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing to do without a GPU, as in PyTorch."""
