"""The random numbers of the first run, for the second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograd_core.random import generator


def random_state() -> Any:
    """Return where random numbers stand."""
    return generator().bit_generator.state


@contextmanager
def random_numbers_from(state: Any) -> Iterator[None]:
    """Random numbers start from ``state``, unless that is None, and go on as before after it."""
    now = generator().bit_generator.state
    if state is not None:
        generator().bit_generator.state = state
    try:
        yield
    finally:
        if state is not None:
            generator().bit_generator.state = now
