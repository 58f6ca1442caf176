"""The variables of loops: what a ``for`` gives a name to, while it runs and after."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import NamedTuple


class _Loop(NamedTuple):
    """The instructions of a loop, and the variables that it gives values."""

    start: int
    stop: int
    names: frozenset[str]


def loop_variables(frame: FrameType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that ``for`` statements of a frame alone give values: of those that do not
    run now, and of those that do.

    A name that the code assigns elsewhere, too, is a variable as any other.
    """
    loops, assigned = _loops_of(frame.f_code)
    running = [loop for loop in loops if loop.start <= frame.f_lasti < loop.stop]
    runs = frozenset[str]().union(*(loop.names for loop in running)) - assigned
    ran = frozenset[str]().union(*(loop.names for loop in loops)) - assigned - runs
    return ran, runs


@lru_cache(maxsize=1024)
def _loops_of(code: CodeType) -> tuple[tuple[_Loop, ...], frozenset[str]]:
    """Return the loops of some code, and the names that it assigns outside of their heads."""
    instructions = list(dis.get_instructions(code))
    heads: set[int] = set()
    loops = []
    for at, each in enumerate(instructions):
        if each.opname == "FOR_ITER" and isinstance(each.argval, int):
            stores = list(_targets(instructions, at))
            heads.update(stores)
            names = frozenset(name for nr in stores for name in _stored(instructions[nr]))
            loops.append(_Loop(each.offset, each.argval, names))
    elsewhere = {
        name for at, each in enumerate(instructions) if at not in heads for name in _stored(each)
    }
    return tuple(loops), frozenset(elsewhere) | frozenset(code.co_varnames[: _arguments(code)])


def _targets(instructions: list[dis.Instruction], at: int) -> Iterator[int]:
    """Yield the instructions by which a loop assigns to its variables, which come first in it: as
    many as it takes apart."""
    wanted, at = 1, at + 1
    while wanted and at < len(instructions):
        each = instructions[at]
        if each.opname == "UNPACK_SEQUENCE":
            wanted += each.argval - 1
        elif each.opname == "UNPACK_EX":
            wanted += (each.argval & 0xFF) + (each.argval >> 8)
        elif names := _stored(each):
            yield at
            wanted -= len(names)
        elif each.opname in ("STORE_ATTR", "STORE_SUBSCR", "POP_TOP"):
            wanted -= 1
        elif not each.opname.startswith(("LOAD_", "CACHE", "EXTENDED_ARG", "NOP")):
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
