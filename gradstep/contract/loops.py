"""The loops of the program's code: where they stand, and what a ``for`` gives a name to, while it
runs and after."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType
from typing import Final, NamedTuple

from gradstep.guest.fence import text_of


class Loop(NamedTuple):
    """The instructions of a loop, from ``start`` to before ``stop``; the variables that a ``for``
    gives values, in their order; and whether a round may pass over some of the loop."""

    start: int
    stop: int
    names: tuple[str, ...]
    branches: bool = False


class LoopRound:
    """A round of a loop that the program runs: the ``number``-th, from 1 on, of the ``run``-th run
    of any loop; ``outer`` is the round of the loop around it."""

    __slots__ = ("_named", "_value", "loop", "number", "outer", "run", "value")

    value: int | None
    """While it runs, which object the loop's variable is: to have it would keep it alive."""

    def __init__(self, loop: Loop, run: int, number: int, outer: LoopRound | None) -> None:
        self.loop = loop
        self.run = run
        self.number = number
        self.outer = outer
        self.value = None
        self._named: str | None = None
        self._value: object = None

    @property
    def label(self) -> str:
        """The loop's variable and its value: ``i = 3``; "" where that is not known, or long."""
        return "" if self._named is None else f"{self._named} = {text_of(self._value)}"

    def name(self, variables: Mapping[str, object]) -> None:
        """Take the values of the loop's variables, which are known once its body has begun."""
        for name in self.loop.names:
            if name not in variables:
                continue
            value = variables[name]
            if self.value is None:
                self.value = id(value)
            plain = type(value) in _PLAIN and name != "_"
            if plain and self._named is None and len(text_of(value)) <= MOST_CHARACTERS:
                self._named, self._value = name, value  # a chain has a million such texts


MOST_CHARACTERS: Final = 40
"""Of the value of a loop's variable; of a longer one the round is told by its number."""


_PLAIN: Final = frozenset((int, str, float, bool))


class _Loops(NamedTuple):
    """The loops of some code, outer ones before those inside, what it assigns outside of their
    heads, and the instructions at which it may pass over others."""

    loops: tuple[Loop, ...]
    assigned: frozenset[str]
    branches: tuple[int, ...]


def loop_variables(frame: FrameType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that ``for`` statements of a frame alone give values: of those that do not
    run now, and of those that do.

    A name that the code assigns elsewhere, too, is a variable as any other.
    """
    loops, assigned, _ = _loops_of(frame.f_code)
    ran = {name for loop in loops for name in loop.names} - assigned
    runs = {
        name for loop in loops if loop.start <= frame.f_lasti < loop.stop for name in loop.names
    }
    return frozenset(ran - runs), frozenset(runs - assigned)


def loops_around(code: CodeType, at: int) -> tuple[Loop, ...]:
    """Return the loops around an instruction of ``code``, from the outermost on: the same tuple for
    all instructions in the same loops."""
    known = _known.get(id(code)) or _note(code)
    around = known.around.get(at)
    if around is None:
        loops = tuple(loop for loop in known.loops.loops if loop.start <= at < loop.stop)
        around = known.around[at] = known.same.setdefault(loops, loops)
    return around


def branches(code: CodeType) -> bool:
    """Return whether some of ``code`` may be passed over when it runs."""
    return bool((_known.get(id(code)) or _note(code)).loops.branches)


class _KnownLoops(NamedTuple):
    code: CodeType
    loops: _Loops
    around: dict[int, tuple[Loop, ...]]
    same: dict[tuple[Loop, ...], tuple[Loop, ...]]


def _note(code: CodeType) -> _KnownLoops:
    if len(_known) > MOST:
        _known.clear()
    known = _known[id(code)] = _KnownLoops(code, _loops_of(code), {}, {})
    return known


MOST: Final = 1 << 12
_known: Final[dict[int, _KnownLoops]] = {}
"""Of code, which this keeps, by its identity, as hashing it takes long."""


@lru_cache(maxsize=1024)
def _loops_of(code: CodeType) -> _Loops:
    instructions = list(dis.get_instructions(code))
    heads: set[int] = set()
    stops: dict[int, int] = {}
    names: dict[int, tuple[str, ...]] = {}
    jumps: list[int] = []
    prefixed: dict[int, int] = {}  # a jump to a long instruction leads to its prefix
    for one, following in pairwise(reversed(instructions)):
        if following.opname == "EXTENDED_ARG":
            prefixed[following.offset] = prefixed.get(one.offset, one.offset)
    for at, instruction in enumerate(instructions):
        if instruction.opname == "FOR_ITER" and isinstance(instruction.argval, int):
            stores = list(_targets(instructions, at))
            heads.update(stores)
            names[instruction.offset] = tuple(
                name for nr in stores for name in _stored(instructions[nr])
            )
            stops[instruction.offset] = instruction.argval
        elif "JUMP" not in instruction.opname or not isinstance(instruction.argval, int):
            continue
        elif instruction.argval > instruction.offset:
            jumps.append(instruction.offset)
        elif "NO_INTERRUPT" not in instruction.opname:  # which is of an await
            start = prefixed.get(instruction.argval, instruction.argval)
            if start not in names:
                stops[start] = max(stops.get(start, 0), instruction.offset + 1)
                if "IF" in instruction.opname:
                    jumps.append(instruction.offset)
    loops: list[Loop] = []
    for start, stop in sorted(stops.items(), key=lambda ends: (ends[0], -ends[1])):
        around = [one for one in loops if one.start <= start < one.stop]
        if around and around[-1].stop < stop:  # a `while` with its condition twice: at both ends
            loops[loops.index(around[-1])] = around[-1]._replace(stop=stop)
        else:
            loops.append(Loop(start, stop, names.get(start, ())))
    elsewhere = {
        name
        for at, instruction in enumerate(instructions)
        if at not in heads
        for name in _stored(instruction)
    }
    arguments = code.co_varnames[: _arguments(code)]
    return _Loops(
        tuple(
            one._replace(branches=any(one.start < at < one.stop for at in jumps)) for one in loops
        ),
        frozenset(elsewhere).union(arguments),
        tuple(jumps),
    )


def _targets(instructions: list[dis.Instruction], at: int) -> Iterator[int]:
    """Yield the instructions by which a loop assigns to its variables, which come first in it: as
    many as it takes apart."""
    wanted, at = 1, at + 1
    while wanted and at < len(instructions):
        instruction = instructions[at]
        if instruction.opname == "UNPACK_SEQUENCE":
            wanted += instruction.argval - 1
        elif instruction.opname == "UNPACK_EX":
            wanted += (instruction.argval & 0xFF) + (instruction.argval >> 8)
        elif names := _stored(instruction):
            yield at
            wanted -= len(names)
        elif instruction.opname in ("STORE_ATTR", "STORE_SUBSCR", "POP_TOP"):
            wanted -= 1
        elif not instruction.opname.startswith(("LOAD_", "CACHE", "EXTENDED_ARG", "NOP")):
            return  # no target such as `self.x`, whose object is loaded first, but the body
        at += 1


def _stored(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that an instruction assigns to."""
    match instruction.opname, instruction.argval:
        case "STORE_NAME" | "STORE_FAST" | "STORE_GLOBAL" | "STORE_DEREF", str() as name:
            return (name,)
        case "STORE_FAST_LOAD_FAST", (str() as name, _):
            return (name,)
        case "STORE_FAST_STORE_FAST", (str() as first, str() as second):
            return first, second
    return ()


def _arguments(code: CodeType) -> int:
    flags = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + flags
