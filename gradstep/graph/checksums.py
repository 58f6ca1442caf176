"""Checksums of tensors: 64 bits that tell whether two of them agree to the bit.

They are no proof against whoever wants two to agree. Equal bytes have equal ones, on whichever
device and machine: the bytes are read as little-endian words, the last one filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.room import PART, room

Words = NDArray[np.uint64]
MIX: Final = 0xFF51AFD7ED558CCD
STEP: Final = 0x9E3779B97F4A7C15
_SHORT: Final = 1 << 11
"""Words of an array that is read together with others."""


def checksums(arrays: Sequence[NDArray[np.generic]]) -> list[int]:
    """Return the checksum of each array; small ones are read together.

    >>> ones, twos = np.ones(3, np.float32), np.array([1, 1, 2], np.float32)
    >>> one, same, other = checksums([ones, ones.copy(), twos])
    >>> one == same, one == other
    (True, False)
    """
    sums = [0] * len(arrays)
    together: list[tuple[int, Words]] = []
    length = 0
    for at, array in enumerate(arrays):
        words = words_of(array)
        sums[at] = words.size  # else zeros of any number would agree
        if words.size > _SHORT:
            sums[at] = _wrapped(sums[at] + _of_long(words))
        elif words.size:
            if length + words.size > PART:
                _of_short(together, sums)
                together, length = [], 0
            together.append((at, words))
            length += words.size
    _of_short(together, sums)
    return sums


def words_of(array: NDArray[np.generic]) -> Words:
    """Return the bytes of an array, in the order of its elements, as words."""
    flat: NDArray[Any] = np.ascontiguousarray(array).reshape(-1)
    if not flat.nbytes % 8:
        return flat.view("<u8")
    flat = flat.view(np.uint8)
    rest = flat.size % 8
    if rest:
        flat = np.concatenate([flat, np.zeros(8 - rest, np.uint8)])
    return flat.view("<u8")


def weights(start: int, length: int) -> Words:
    """Return an odd factor for each place from ``start`` on."""
    return _weights(start, length)


@lru_cache(maxsize=64)
def _weights(start: int, length: int) -> Words:
    places = np.arange(start, start + length, dtype=np.uint64)
    return (places * np.uint64(STEP)) | np.uint64(1)


def _mixed(words: Words) -> Words:
    """Return words of which each bit has changed others: round floats differ in few bits only, the
    high ones, which a product would push out."""
    mixed: Words = np.multiply(words, np.uint64(MIX), out=room(words.size, np.uint64))
    mixed ^= np.right_shift(mixed, np.uint64(32), out=room(words.size, np.uint64, 1))
    return mixed


def _of_long(words: Words) -> int:
    total = 0
    for start in range(0, words.size, PART):
        mixed = _mixed(words[start : start + PART])
        mixed *= weights(start, mixed.size)
        total += int(np.add.reduce(mixed))
    return total


def _of_short(together: list[tuple[int, Words]], checksums: list[int]) -> None:
    if not together:
        return
    sizes = tuple([words.size for _, words in together])
    factors, starts = _layout(sizes)
    mixed = _mixed(np.concatenate([words for _, words in together]))
    mixed *= factors
    sums = np.add.reduceat(mixed, starts).tolist()
    for (at, _), total in zip(together, sums, strict=True):
        checksums[at] = _wrapped(checksums[at] + total)


@lru_cache(maxsize=64)
def _layout(sizes: tuple[int, ...]) -> tuple[Words, NDArray[np.intp]]:
    """Return the factors of several arrays, one behind the other, and where each begins."""
    lengths = np.array(sizes)
    return np.concatenate([weights(0, size) for size in sizes]), np.cumsum(lengths) - lengths


def _wrapped(number: int) -> int:
    """Return the low 64 bits of a number."""
    return number & 0xFFFFFFFFFFFFFFFF
