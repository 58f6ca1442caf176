"""Random numbers, and their state under the names of ``torch.random``.

They are NumPy's, not PyTorch's: equal seeds give equal runs of this package, and other numbers
than PyTorch's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final

import numpy as np

from autograd_core.autograd.grad_mode import undo_log
from autograd_core.tensor import Tensor
from autograd_core.tensor.device import device as device_type

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

_SEED_AT_START = 67280421310721  # PyTorch's
_refused: ContextVar[bool] = ContextVar("autograd_core_random_refused", default=False)
_making: Final = Lock()
_WORD = 16  # bytes of each of the two numbers that the state of NumPy's generator consists of


class Generator:
    """A separate random number generator, for functions with an argument ``generator``."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device_type(device)
        self._rng: np.random.Generator | None = None
        self._seed = _SEED_AT_START

    @property
    def rng(self) -> np.random.Generator:
        """NumPy's generator behind this one, from which the caller is about to draw."""
        if _refused.get():
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use "
                "the 'same' or 'different' randomness flags on vmap or perform the randomness "
                "operation out of vmap"
            )
        if (log := undo_log()) is not None:
            log.keep(_State, self)
        return self.made()

    @rng.setter
    def rng(self, rng: np.random.Generator) -> None:
        if (log := undo_log()) is not None:
            log.keep(_State, self)
        self._rng = rng

    def manual_seed(self, seed: int) -> Generator:
        """Seed the random number generator, and return it."""
        seed = int(seed) % 2**64
        if (log := undo_log()) is not None:
            log.keep(_State, self)
        self._rng, self._seed = None, seed
        return self

    def made(self) -> np.random.Generator:
        """NumPy's generator behind this one, to be looked at only.

        It is made when it is first needed: the import of ``numpy.random`` takes 20 ms.
        """
        if (rng := self._rng) is None:
            with _making:  # or two threads would draw the same numbers
                if (rng := self._rng) is None:
                    rng = self._rng = np.random.default_rng(self._seed)
        return rng

    def seed(self) -> int:
        """Seed the random number generator with a new random seed, and return that."""
        self.manual_seed(int.from_bytes(os.urandom(8)) >> 1)
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed of the random number generator."""
        return self._seed

    def get_state(self) -> Tensor:
        """Return the state of the random number generator, as a tensor of bytes."""
        return Tensor.from_array(np.frombuffer(_packed(self.rng), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that :meth:`get_state` gave.

        Raises:
            RuntimeError: it is none.
        """
        _unpack(self.rng, new_state)


class _State:
    """Where the numbers of a generator stand, in an undo log."""

    __slots__ = ("generator", "held")
    nbytes = 0

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.held = self._now()

    def _now(self) -> tuple[Any, ...]:
        g = self.generator
        rng = g.made()
        return g._seed, rng, rng.bit_generator.state

    def swap(self) -> None:
        now, g = self._now(), self.generator
        g._seed, rng, state = self.held
        g._rng, rng.bit_generator.state = rng, state
        self.held = now

    def is_idle(self) -> bool:
        return self._now() == self.held


class Draws:
    """What calls of a function that stand for one call of a batch do about random numbers.

    Args:
        randomness: they draw the "same" numbers each, or "different" ones; or it is an "error".
    """

    def __init__(self, randomness: str) -> None:
        if randomness not in ("error", "different", "same"):
            raise RuntimeError(
                "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
                f"{randomness}"
            )
        self._randomness = randomness
        self._start: Any = None

    @contextmanager
    def call(self) -> Iterator[None]:
        """One of the calls."""
        if self._randomness == "same":
            numbers = generator().bit_generator
            if self._start is None:
                self._start = numbers.state
            numbers.state = self._start
        token = _refused.set(_refused.get() or self._randomness == "error")
        try:
            yield
        finally:
            _refused.reset(token)


_default = Generator()
_default.seed()


def generator() -> np.random.Generator:
    """NumPy's generator that random numbers come from now."""
    return _default.rng


def use_generator(generator: np.random.Generator) -> None:
    """Draw random numbers from ``generator`` from now on."""
    _default.rng = generator


@contextmanager
def drawing_from(own: Generator | None) -> Iterator[None]:
    """Within this, random numbers come from ``own``."""
    if own is None:
        yield
        return
    before = _default.rng
    _default.rng = own.rng
    try:
        yield
    finally:
        _default.rng = before


manual_seed, seed, initial_seed = _default.manual_seed, _default.seed, _default.initial_seed
get_rng_state, set_rng_state = _default.get_state, _default.set_state


@contextmanager
def fork_rng(devices: Sequence[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """Afterwards random numbers go on as if nothing had been drawn here.

    >>> import autograd_core as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     first = torch.rand(2)
    >>> torch.rand(2).equal(first)
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def _packed(rng: np.random.Generator) -> bytes:
    whole: Any = rng.bit_generator.state
    numbers = whole["state"]
    words = [numbers["state"], numbers["inc"], whole["has_uint32"] << 32 | whole["uinteger"]]
    return b"".join(int(word).to_bytes(_WORD, "little") for word in words)


def _unpack(rng: np.random.Generator, packed: Tensor) -> None:
    data = packed.array.astype(np.uint8).tobytes()
    if len(data) != 3 * _WORD:
        raise RuntimeError("RNG state is wrong size")
    state, inc, rest = (
        int.from_bytes(data[start : start + _WORD], "little")
        for start in range(0, len(data), _WORD)
    )
    rng.bit_generator.state = {
        "bit_generator": type(rng.bit_generator).__name__,
        "state": {"state": state, "inc": inc},
        "has_uint32": rest >> 32,
        "uinteger": rest & 0xFFFFFFFF,
    }


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
