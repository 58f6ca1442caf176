"""What PyTorch does not tell before 2.10 of a value that a node saved: the hook that unpacks it,
and its memory.

Without the hook nobody knows whether reading the value would run code of the program's.  The object
of C++ behind a ``SavedTensor`` has both, each in one of its words.  Which word, is found once, by
values whose hook and memory are known.  Where that does not find exactly one, nothing is read: each
value counts as packed, and no line is known that changed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_void_p, cast, py_object, sizeof
from typing import Any, Final, NamedTuple

_WORD: Final = sizeof(c_void_p)
# not more than these objects are large in any release
_OF_SAVED: Final = 10
_OF_HOOKS: Final = 4
_OF_TENSOR: Final = 4
_FIRST_PAGE: Final = 4096
"""Words below are no addresses."""


class Layout(NamedTuple):
    """Which word of a saved value, of its hooks, and of its tensor tells what.

    Attributes:
        hooks: of a saved value, 0 where it has none.
        unpack: of hooks.
        kind: the first word of hooks that are Python's.
        tensor: of a saved value, where it has no hooks.
        storage: of a tensor.
    """

    hooks: int
    unpack: int
    kind: int
    tensor: int
    storage: int

    def unpack_hook(self, raw: Any) -> Any:
        """Return the hook that unpacks a ``SavedTensor``, None where there is none."""
        hooks = _word(_address_of(raw), self.hooks)
        if hooks == 0:
            return None
        if _word(hooks, 0) != self.kind:
            return unknown_hook
        return cast(_word(hooks, self.unpack), py_object).value

    def memory(self, raw: Any) -> int:
        """Return the identity of the memory of a ``SavedTensor`` that has no hooks."""
        return _word(_word(_address_of(raw), self.tensor), self.storage)


def unknown_hook(_raw: Any) -> Any:
    """Stand for a hook that may be there, and may be any."""
    raise AssertionError("this hook is called by nobody")


def find_layout(saved: Sequence[Any], tensor: int, memory: int) -> Layout | None:
    """Find which word is what; None where that is not plain to see.

    Args:
        saved: values without hooks, which get some here; the first of them is a leaf.
        tensor: where the object of that leaf is.
        memory: the identity of its memory.
    """
    plain = [_words(_address_of(raw), _OF_SAVED) for raw in saved]
    for raw in saved:
        raw.register_hooks(_pack, _unpack)
    hooked = [_words(_address_of(raw), _OF_SAVED) for raw in saved]
    try:
        hooks = _only(
            number
            for number, words in enumerate(zip(*plain, *hooked, strict=True))
            if not any(words[: len(saved)]) and min(words[len(saved) :]) >= _FIRST_PAGE
        )
        in_hooks = _words(hooked[0][hooks], _OF_HOOKS)
        return Layout(
            hooks=hooks,
            unpack=_place_of(id(_unpack), in_hooks),
            kind=in_hooks[0],
            tensor=_place_of(tensor, plain[0]),
            storage=_place_of(memory, _words(tensor, _OF_TENSOR)),
        )
    except ValueError:
        return None


def _pack(value: Any) -> Any:
    return value


def _unpack(value: Any) -> Any:
    return value


def _only(numbers: Iterable[int]) -> int:
    (number,) = numbers
    return number


def _place_of(wanted: int, words: Sequence[int]) -> int:
    return _only(number for number, word in enumerate(words) if word == wanted)


def _address_of(raw: Any) -> int:
    """Return where the object is that a ``SavedTensor`` stands for."""
    return _word(id(raw) + object.__basicsize__, 0)


def _words(address: int, count: int) -> Sequence[int]:
    return [_word(address, number) for number in range(count)]


def _word(address: int, number: int) -> int:
    return c_void_p.from_address(address + _WORD * number).value or 0
