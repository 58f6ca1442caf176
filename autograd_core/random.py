"""The state of random numbers under the names of ``torch.random``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autograd_core.functions.generators import (
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip


@contextmanager
def fork_rng(devices: Sequence[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """Afterwards random numbers go on as if nothing had been drawn here.

    >>> from autograd_core import rand
    >>> _ = manual_seed(0)
    >>> with fork_rng():
    ...     first = rand(2)
    >>> rand(2).equal(first)
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
