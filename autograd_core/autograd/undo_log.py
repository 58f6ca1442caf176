"""The undo log: what user code changes, so that it can be undone and redone.

While a log is in the mode (:mod:`.grad_mode`), whoever is about to change something tells it: the
values of a tensor, its ``.grad``, its place in the graph, attributes of a module, hooks, random
numbers.  An entry holds what was there before.  To undo, that is exchanged with what is there now,
and to redo, once more; so of everything that changes there is one copy, and of what stays, none.

Out of reach are other objects of Python, files, and memory that the program changes through arrays
of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Protocol, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.memory import address, memory_of

T = TypeVar("T")
Array = NDArray[Any]
UNSET: Final = object()  # stands for the value of an attribute that has none


class UndoEntry(Protocol):
    """Something that changes: what it was, or, while that is undone, what it became."""

    def swap(self) -> None:
        """Exchange what is held with what is there."""

    def is_idle(self) -> bool:
        """Return whether nothing came of it: it is as it was, or nobody can see it any more."""

    @property
    def nbytes(self) -> int:
        """How much memory is kept for it."""


class UndoLog:
    """The changes of one backward pass in their order, and how many of them are in effect.

    A place in it is a number of entries.  New ones are added at the end, so with all in effect.
    """

    def __init__(self) -> None:
        self._entries: list[UndoEntry] = []
        self._in_effect = 0
        self._known: set[tuple[Any, int]] = set()  # what has an entry since the last place
        self._open = 0  # from here on, entries may be dropped
        self._random_state: Any = None  # as of the last look, which takes 0.1 ms

    # what is about to change

    def keep(self, entry: Callable[[T], UndoEntry], thing: T) -> None:
        """Note that ``thing`` will change: keep an ``entry`` of it, if it has none since the last
        place."""
        key = (entry, id(thing))
        if key not in self._known:
            self._known.add(key)
            self._entries.append(entry(thing))
            self._in_effect += 1

    def keep_fields(self, tensor: Any) -> None:
        """Note that ``tensor`` will get another ``.grad``, other data or place in the graph."""
        self.keep(_Fields, tensor)

    def keep_values(self, tensor: Any) -> None:
        """Note that ``tensor`` will be changed in place."""
        self.keep(_Fields, tensor)
        if tensor.version is not None:
            self.keep(_Versions, tensor)
        memory = memory_of(tensor.array)
        if memory is not None:
            self.keep(_Values, memory)

    def keep_gradient(self, leaf: Any) -> None:
        """Something will be added to the ``.grad`` of ``leaf``."""
        self.keep(_Fields, leaf)
        gradient = getattr(leaf, "_grad", None)
        if gradient is not None:
            self.keep_values(gradient)

    def keep_items(self, mapping: MutableMapping[Any, Any]) -> None:
        """Note that ``mapping`` will have other items."""
        self.keep(_Items, mapping)

    def keep_attributes(self, thing: Any, names: tuple[str, ...]) -> None:
        """Note that the attributes ``names`` of ``thing`` will have other values."""
        self.keep(partial(_Attributes, names=names), thing)

    def keep_random_state(self) -> None:
        """Random numbers may be drawn from Python's generator, and from NumPy's global one."""
        self.keep(_RandomState, self)

    def random_state(self) -> Any:
        """Return where random numbers stand, as of the last look."""
        if self._random_state is None:
            import random  # as late as NumPy imports its own: most programs draw from neither

            python, numpy = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
            self._random_state = python, numpy
        return self._random_state

    def forget_random_state(self) -> None:
        """Numbers may have been drawn since the last look."""
        self._random_state = None

    # places

    def place(self) -> int:
        """Return where the log ends now; what changes from here on can be undone by itself."""
        self._known.clear()
        self._open = len(self._entries)
        return self._open

    def settle(self, results: Sequence[Any] = ()) -> int:
        """Drop the entries since the last place of which nothing came; where the log ends now.

        Among these is what was made meanwhile: the memory of ``results`` (tensors, or arrays) that
        no tensor shows which changed.  It stays as it is, however often all else is undone.
        """
        fresh = self._entries[self._open :]
        arrays = [getattr(result, "array", result) for result in results if result is not None]
        shown = {
            id(memory_of(tensor.array))
            for entry in fresh
            if isinstance(entry, _Fields) and (tensor := entry.tensor()) is not None
        }
        unreached = {id(memory_of(array)) for array in arrays} - shown
        self._entries[self._open :] = [
            entry
            for entry in fresh
            if not entry.is_idle()
            and not (isinstance(entry, _Values | _Versions) and id(entry.memory()) in unreached)
        ]
        self._in_effect = len(self._entries)
        return self.place()

    def go(self, place: int) -> None:
        """Undo or redo until just those entries are in effect that stand before ``place``."""
        entries = self._entries
        place = min(place, len(entries))
        while self._in_effect > place:
            self._in_effect -= 1
            entries[self._in_effect].swap()
        while self._in_effect < place:
            entries[self._in_effect].swap()
            self._in_effect += 1

    @contextmanager
    def at(self, place: int) -> Iterator[None]:
        """Restore the state at ``place`` for a while."""
        before = self._in_effect
        self.go(place)
        try:
            yield
        finally:
            self.go(before)

    def cut(self, place: int) -> None:
        """Forget what stands behind ``place``, which is not in effect."""
        del self._entries[place:]
        self._in_effect = min(self._in_effect, place)
        self.place()

    def as_of(self, array: Array, place: int) -> Array:
        """Return ``array`` as it is, or would be, at ``place``."""
        memory, entries, now = memory_of(array), self._entries, self._in_effect
        # What is in effect holds what was there before it, what is undone what came of it.
        between = entries[place:now] if place < now else reversed(entries[now:place])
        for entry in between:
            if isinstance(entry, _Values) and entry.memory() is memory:
                return entry.part(array)
        return array

    @property
    def end(self) -> int:
        """The place behind all entries."""
        return len(self._entries)

    def nbytes(self, start: int, stop: int) -> int:
        """Count how much memory the entries from ``start`` to ``stop`` keep."""
        return sum(entry.nbytes for entry in self._entries[start:stop])

    def changed(self, start: int) -> tuple[list[Any], list[Array]]:
        """Return the tensors that were given another ``.grad`` by the entries from ``start`` on,
        and the arrays the elements of which were changed."""
        entries = self._entries[start:]
        tensors = [
            entry.tensor() for entry in entries if isinstance(entry, _Fields) and entry.regraded
        ]
        memories = [entry.memory() for entry in entries if isinstance(entry, _Values)]
        return tensors, [memory for memory in memories if memory is not None]


class _Fields:
    """What a tensor is beside its values: its array, its ``.grad``, its place in the graph."""

    __slots__ = ("gradient", "held", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = ref(tensor)
        self.held: tuple[Any, ...] = tensor._fields()
        self.gradient = getattr(tensor, "_grad", None)

    def swap(self) -> None:
        tensor = self.tensor()
        if tensor is not None:
            now = tensor._fields()
            tensor._set_fields(self.held)
            self.held = now

    def is_idle(self) -> bool:
        return not self._others()

    @property
    def nbytes(self) -> int:
        # a view's class may have changed, which has a property of that name
        others = [other for other in self._others() if not isinstance(other, type)]
        return sum(getattr(other, "nbytes", 0) for other in others)

    @property
    def regraded(self) -> bool:
        """Whether the tensor was given another ``.grad``."""
        return getattr(self.tensor(), "_grad", None) is not self.gradient

    def _others(self) -> list[Any]:
        """Return those of the values held that are others now."""
        tensor = self.tensor()
        pairs = () if tensor is None else zip(self.held, tensor._fields(), strict=True)
        return [held for held, now in pairs if held is not now]


class _Versions:
    """The version counter of a tensor, which those share that look at the same memory."""

    __slots__ = ("counter", "held", "memory", "tensor")
    nbytes = 0

    def __init__(self, tensor: Any) -> None:
        memory = memory_of(tensor.array)
        self.tensor = ref(tensor)
        self.memory: Callable[[], Array | None] = (lambda: None) if memory is None else ref(memory)
        self.counter: list[Any] = tensor.version
        self.held = self.counter.copy()

    def swap(self) -> None:
        now = self.counter.copy()
        self.counter[:] = self.held
        self.held = now

    def is_idle(self) -> bool:
        is_in_use = self.tensor() is not None or self.memory() is not None
        return self.counter == self.held or not is_in_use


class _Values:
    """The elements of an array that owns its memory."""

    __slots__ = ("held", "memory")

    def __init__(self, memory: Array) -> None:
        self.memory = ref(memory)
        self.held = memory.copy("K")

    def swap(self) -> None:
        memory = self.memory()
        if memory is None:
            return
        now, writeable = memory.copy("K"), memory.flags.writeable
        memory.flags.writeable = True
        np.copyto(memory, self.held)
        memory.flags.writeable = writeable
        self.held = now

    def part(self, array: Array) -> Array:
        """Return what is held of ``array``, which looks at this memory."""
        memory = self.memory()
        offset = 0 if memory is None else address(array) - address(memory)
        return np.ndarray(array.shape, array.dtype, self.held.ravel("K"), offset, array.strides)

    def is_idle(self) -> bool:
        memory = self.memory()
        return memory is None or _same_bits(memory, self.held)

    @property
    def nbytes(self) -> int:
        return self.held.nbytes


def _same_bits(one: Array, other: Array) -> bool:
    flat, other_flat = (array.ravel("K").view(np.uint8) for array in (one, other))
    return np.array_equal(flat, other_flat)


class _Items:
    """What a dictionary holds: hooks, or the attributes of an object."""

    __slots__ = ("held", "mapping")
    nbytes = 0

    def __init__(self, mapping: MutableMapping[Any, Any]) -> None:
        self.mapping = mapping
        self.held = dict(mapping)

    def swap(self) -> None:
        now = dict(self.mapping)
        self.mapping.clear()
        self.mapping.update(self.held)
        self.held = now

    def is_idle(self) -> bool:
        mapping, held = self.mapping, self.held
        return len(mapping) == len(held) and all(
            mapping.get(key, UNSET) is value for key, value in held.items()
        )


class _Attributes:
    """Some attributes of an object."""

    __slots__ = ("held", "names", "thing")
    nbytes = 0

    def __init__(self, thing: Any, names: tuple[str, ...]) -> None:
        self.thing = thing
        self.names = names
        self.held = [getattr(thing, name) for name in names]

    def swap(self) -> None:
        now = [getattr(self.thing, name) for name in self.names]
        for name, value in zip(self.names, self.held, strict=True):
            setattr(self.thing, name, value)
        self.held = now

    def is_idle(self) -> bool:
        pairs = zip(self.names, self.held, strict=True)
        return all(getattr(self.thing, name) is value for name, value in pairs)


class _RandomState:
    """Where the random numbers of Python, and the global ones of NumPy, stand."""

    __slots__ = ("held", "log")
    nbytes = 0

    def __init__(self, log: UndoLog) -> None:
        self.log = log
        self.held = log.random_state()

    def swap(self) -> None:
        self.log.forget_random_state()
        now = self.log.random_state()
        import random  # loaded by what made `held`

        python, numpy = self.held
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002  # the user's hooks may draw from it
        self.log.forget_random_state()
        self.held = now

    def is_idle(self) -> bool:
        self.log.forget_random_state()
        (python, numpy), (python_now, numpy_now) = self.held, self.log.random_state()
        return python == python_now and _equal(numpy, numpy_now)


def _equal(one: Any, other: Any) -> bool:
    """Return whether two states agree: dictionaries of numbers, arrays and further dictionaries."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return np.array_equal(one, other)
