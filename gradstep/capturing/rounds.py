"""The rounds of the program's loops in which ops run, told from where its frames stand.

No line of the program is traced.  When an op runs, each frame on the stack stands at an
instruction.  A loop has gone round since the op before where its variable has another value, or
where a frame stands at an earlier instruction than it did, or at the same one again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import CO_GENERATOR, CO_OPTIMIZED
from itertools import count, takewhile
from operator import itemgetter
from types import CodeType, FrameType

import numpy as np

from gradstep.capturing.frames import is_of_program, values_of
from gradstep.contract.loops import Loop, LoopRound, branches, loops_around
from gradstep.graph.entries import SharedEntries
from gradstep.graph.model import Round


class _Level:
    """A frame of the program when an op ran: where it stood, the loops around that, and the rounds
    of these."""

    __slots__ = ("around", "at", "code", "rounds")

    def __init__(
        self, code: CodeType, at: int, around: tuple[Loop, ...], rounds: list[LoopRound]
    ) -> None:
        self.code, self.at, self.around, self.rounds = code, at, around, rounds


class Rounds:
    """Tells in which round each op runs, asked in the order in which ops run.

    >>> import sys
    >>> rounds = Rounds()
    >>> def labels():
    ...     caller = sys._getframe(1)
    ...     now = rounds.at(caller, caller)
    ...     return "" if now is None else now.label
    >>> [labels() for letter in "abc"]
    ["letter = 'a'", "letter = 'b'", "letter = 'c'"]
    """

    def __init__(self) -> None:
        self._runs = count()
        self._levels: list[_Level] = []
        self._library: list[tuple[CodeType, int]] = []
        self._innermost: LoopRound | None = None
        self._may_skip = False  # a round may have begun though each frame only went on

    def at(self, caller: FrameType | None, frame: FrameType | None) -> LoopRound | None:
        """Return the round of the innermost loop in which an op runs that ``caller`` calls;
        ``frame`` is the program's innermost one, that or one further out."""
        library: list[tuple[CodeType, int]] = []
        while caller is not frame and caller is not None:
            library.append((caller.f_code, caller.f_lasti))
            caller = caller.f_back
        frames: list[FrameType] = []
        while frame is not None:
            code = frame.f_code
            if is_of_program(code):
                frames.append(frame)
                if code.co_name == "<module>":
                    break
            frame = frame.f_back
        frames.reverse()
        levels = self._levels
        both = min(len(levels), len(frames))
        same = 0  # so many stand where they stood
        while (
            same < both
            and levels[same].at == frames[same].f_lasti
            and levels[same].code is frames[same].f_code
        ):
            same += 1
        before, self._library = self._library, library
        if same == len(frames) < len(levels) and levels[same].code.co_flags & CO_GENERATOR:
            return self._innermost  # what sum adds to it belongs to the round that yielded
        if levels and len(levels) == len(frames) and same >= len(frames) - 1:
            # nearly always the innermost one has gone on, or its loop has gone round
            level, frame = levels[-1], frames[-1]
            code, at = frame.f_code, frame.f_lasti
            if level.code is code and loops_around(code, at) is level.around:
                if at > level.at:
                    if not self._may_skip or not _has_changed(levels, frames):
                        level.at = at
                        return self._innermost
                elif at == level.at and not _ran_again(before, library):
                    return self._innermost
                elif level.around and not _has_changed(levels[:-1], frames):
                    return self._next_round(level, frame)
        again = self._went_round(frames, same, before)
        self._enter(frames, same, again)
        return self._innermost

    def _next_round(self, level: _Level, frame: FrameType) -> LoopRound:
        """Note that a loop of the innermost frame has gone round, and return the round that runs
        now."""
        level.at = at = frame.f_lasti
        variables = _variables(frame, level.around)
        nr = _changed(level.rounds, variables)
        first = len(level.rounds) - 1 if nr is None else nr
        last = level.rounds[first]
        now = LoopRound(last.loop, last.run, last.number + 1, last.outer)
        rounds = [*level.rounds[:first], now]
        for loop in level.around[first + 1 :]:
            now = LoopRound(loop, next(self._runs), 1, now)
            rounds.append(now)
        for over in level.rounds[first:]:
            over.value = None
        for one in rounds[first:]:
            if at > one.loop.start:
                one.name(variables)
        level.rounds, self._innermost = rounds, now
        return now

    def _enter(self, frames: Sequence[FrameType], same: int, again: tuple[int, int] | None) -> None:
        """Note where the frames stand, of which so many stand where they stood; ``again`` is the
        loop that has gone round: the depth of its frame, and its number there."""
        levels, old = self._levels, self._levels
        first = same if again is None else min(same, again[0])
        self._levels = levels = levels[:first]
        innermost = next((one.rounds[-1] for one in reversed(levels) if one.rounds), None)
        is_same = True  # all so far: the calls, and the rounds of their loops
        for depth in range(first, len(frames)):
            code, at = frames[depth].f_code, frames[depth].f_lasti
            around = loops_around(code, at)
            known = old[depth] if is_same and depth < len(old) else None
            if known is not None and known.code is not code:
                known = None
            rounds: list[LoopRound] = []
            variables: Mapping[str, object] | None = None
            for nr, loop in enumerate(around):
                last = known.rounds[nr] if known is not None and nr < len(known.rounds) else None
                if not is_same or last is None or last.loop is not loop:
                    now = LoopRound(loop, next(self._runs), 1, innermost)
                elif again == (depth, nr):
                    now = LoopRound(loop, last.run, last.number + 1, innermost)
                else:
                    now = last
                is_same = is_same and now is last
                if now.value is None and loop.names and at > loop.start:
                    variables = (
                        _variables(frames[depth], around) if variables is None else variables
                    )
                    now.name(variables)
                rounds.append(now)
                innermost = now
            is_same = is_same and known is not None and known.at == at
            levels.append(_Level(code, at, around, rounds))
        self._innermost = innermost
        self._may_skip = any(
            any(loop.names for loop in one.around)
            and (
                any(loop.branches for loop in one.around)
                or any(branches(inner.code) for inner in levels[depth + 1 :])
            )
            for depth, one in enumerate(levels)
        )

    def _went_round(
        self, frames: Sequence[FrameType], same: int, library: Sequence[tuple[CodeType, int]]
    ) -> tuple[int, int] | None:
        """Return the outermost loop that has gone round since the op before, when the library that
        this program called stood as told: the depth of its frame, and its number among the loops
        there; None where none has."""
        levels = self._levels
        back, is_back = same - 1, True
        if same < min(len(levels), len(frames)) and levels[same].code is frames[same].f_code:
            back, is_back = same, frames[same].f_lasti < levels[same].at
        elif same == len(levels) == len(frames):
            is_back = _ran_again(library, self._library)
        if is_back or self._may_skip:
            for depth in range(back + 1):
                shared = _shared(levels[depth], frames[depth])
                variables = _variables(frames[depth], [one.loop for one in shared])
                nr = _changed(shared, variables)
                if nr is not None:
                    return depth, nr
        for depth in range(back, -1, -1) if is_back else ():
            shared = _shared(levels[depth], frames[depth])
            if shared:
                # a function that runs again inside one round was called by a library, as was one
                # that has ended while whoever called it stands where it stood
                ran = depth == same or same == len(frames) == len(levels)
                ran = ran or not shared[-1].loop.names
                return (depth, len(shared) - 1) if ran else None
        return None


def _has_changed(levels: Sequence[_Level], frames: Sequence[FrameType]) -> bool:
    """Return whether the variable of a loop has another value than it had."""
    for level, frame in zip(levels, frames, strict=False):
        if level.rounds and _changed(level.rounds, _variables(frame, level.around)) is not None:
            return True
    return False


def _changed(rounds: Sequence[LoopRound], variables: Mapping[str, object]) -> int | None:
    """Return the number of the outermost loop whose variable has another value than it had."""
    for nr, one in enumerate(rounds):
        if one.value is not None:
            for name in one.loop.names:
                if name in variables:
                    if id(variables[name]) != one.value:
                        return nr
                    break
    return None


def _shared(level: _Level, frame: FrameType) -> list[LoopRound]:
    """Return the rounds of the loops in which a frame stands now as before."""
    around = loops_around(frame.f_code, frame.f_lasti)
    if around is level.around:
        return level.rounds
    pairs = zip(level.rounds, around, strict=False)
    return [one for one, _ in takewhile(lambda pair: pair[0].loop is pair[1], pairs)]


def _ran_again(before: Sequence[tuple[CodeType, int]], now: Sequence[tuple[CodeType, int]]) -> bool:
    """Return whether a library that the program called for the op before was called anew for this
    one, which it was where it stands at the same instructions, or at earlier ones, in no loop of
    its own."""
    for (code, at), (other, there) in zip(reversed(before), reversed(now), strict=False):
        if code is not other or there > at:
            return False
        if there < at:
            break
    return len(before) >= len(now) and not any(loops_around(code, at) for code, at in now)


def _variables(frame: FrameType, loops: Sequence[Loop]) -> Mapping[str, object]:
    """Return the variables of loops, as far as they have values."""
    if not any(loop.names for loop in loops):
        return {}
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        return frame.f_locals
    return values_of(frame, [name for loop in loops for name in loop.names])


def rounds_of(
    recorded: Iterable[tuple[Sequence[int], Sequence[object]]],
) -> SharedEntries[tuple[Round, ...]]:
    """Return the rounds in which each node with a record ran, from the outermost on, of nodes and
    their records.

    A loop that went round once counts for nothing: of training, every graph is one round.
    """
    innermost: dict[LoopRound, int] = {}
    places = np.zeros(0, np.int32)
    for ids, records in recorded:
        rounds = [getattr(record, "round", None) for record in records]
        numbers = [
            -1 if one is None else innermost.setdefault(one, len(innermost)) for one in rounds
        ]
        longer = np.full(max(len(places), 1 + max(ids, default=-1)), -1, np.int32)
        longer[: len(places)] = places
        longer[np.array(ids, np.int64)] = numbers
        places = longer
    runs: dict[tuple[int, LoopRound | None], int | None] = {}  # None of several rounds
    for inner in innermost:
        for one in _chain(inner):
            key = one.run, one.outer
            if runs.setdefault(key, one.number) != one.number:
                runs[key] = None
    several = [run for run, number in runs.items() if number is None]
    loops = {loop: nr for nr, loop in enumerate(sorted(several, key=itemgetter(0)))}
    entries = [
        tuple([
            Round(loops[one.run, one.outer], one.number, one.label or f"round {one.number}")
            for one in _chain(inner)
            if (one.run, one.outer) in loops
        ])
        for inner in innermost
    ]  # fmt: skip
    is_in_some = np.array([*map(bool, entries), False])  # the last one stands for none
    return SharedEntries(np.where(is_in_some[places], places, -1), entries)


def _chain(one: LoopRound | None) -> list[LoopRound]:
    """Return a round and those around it, from the outermost on."""
    chain = []
    while one is not None:
        chain.append(one)
        one = one.outer
    chain.reverse()
    return chain
