"""The law: whatever is set, looked at and moved, a program ends as it does plainly."""

from __future__ import annotations

import gc
import random
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple
from unittest import mock

from gradstep.console.console import DEFECT
from gradstep.console.session import Session
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.snapshot.timeline import Timeline
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting
from tests.laws.programs import Program, random_program, run
from tests.laws.walks import KINDS, Walk, is_move, random_walk
from tests.waiting import LIMIT

EVERY_CALL = CallSelector(None, ("backward", "grad"))


class Case(NamedTuple):
    """A program, and how it is debugged."""

    program: Program
    walk: Walk
    kind: str

    @classmethod
    def of(cls, seed: int, kind: str) -> Case:
        """The case of a seed."""
        rng = random.Random(seed)
        # a pass that goes on in another way runs hooks again, whose effects PyTorch cannot undo
        repeats = KINDS[kind].edits or KINDS[kind].certifies
        pure = repeats and KINDS[kind].library == "torch"
        program = random_program(rng, counts=not repeats, pure=pure)
        return cls(program, random_walk(rng, KINDS[kind]), kind)

    def text(self) -> str:
        """The case for people: a program to save, and what to do in it."""
        walk = self.walk._replace(lines=())
        lines = "\n".join(f"# call {n}: {'; '.join(ls)}" for n, ls in enumerate(self.walk.lines, 1))
        return f"# {self.kind}: {walk}\n{lines}\n{self.program.shown(KINDS[self.kind].library)}"


class Found(NamedTuple):
    """What came of a case: the moves that were made, and what is wrong, "" for nothing."""

    moves: int
    wrong: str = ""


def check(case: Case) -> Found:
    """Run the program plainly and debugged, and compare."""
    library, edits = KINDS[case.kind].library, KINDS[case.kind].edits
    plain = run(case.program, library)
    debugger = _Debugger(case)
    before = set(threading.enumerate())
    debugged = run(case.program, library, debugger.around)
    if debugger.wrong:
        return Found(debugger.moves, debugger.wrong)
    if any(sign in debugged.told for sign in ("not shown:", "is not what was shown")):
        return Found(debugger.moves, f"told: {debugged.told}")
    if edits:  # hooks ran again, and noted it
        plain, debugged = (each._replace(events=()) for each in (plain, debugged))
    wrong = plain.difference(debugged)
    if not wrong:
        left = _threads_left(before)
        wrong = f"threads are left: {left}" if left else ""
    return Found(debugger.moves, wrong)


def _threads_left(before: set[threading.Thread]) -> set[str]:
    """The threads that a program's sessions have left, once nothing holds them any more."""
    left = set(threading.enumerate()) - before
    if left:
        gc.collect()
        for each in left:
            each.join(LIMIT)
    return {each.name for each in left if each.is_alive()}


class _Debugger:
    """Walks in each call of a program."""

    def __init__(self, case: Case) -> None:
        self.case, self.walk = case, case.walk
        self.text = case.program.text("torch")
        self.moves = 0
        self.calls = 0
        self.wrong = ""
        self.breakpoints, self.timeline = Breakpoints(), Timeline()

    def around(self, body: Callable[[], None]) -> None:
        """Run ``body``, a program."""
        with intercepting(self.handle, EVERY_CALL):
            body()

    def handle(self, found: InterceptedCall) -> Any:
        """Debug one call of it."""
        self.calls += 1
        if self.walk.beside:
            self._drop_one_beside()
        session = Session.of_call(
            found.call,
            names=found.names,
            call=found.number,
            breakpoints=self.breakpoints,
            timeline=self.timeline,
            history_bytes=self.walk.budget,
            keep_graph=self.walk.keeps_graph,
        )

        def body() -> bool:
            lines = self.walk.lines[(self.calls - 1) % len(self.walk.lines)]
            self._walk(session, lines)
            if self.calls in self.walk.aborts:
                session.abort()
                return False
            session.finish()
            return True

        with self._slow() if self.walk.is_slow else nullcontext():
            finished = session.host(body) if self.walk.hosted else body()
        if not finished:
            return False
        return session.gradients if found.call.is_grad else True

    @staticmethod
    def _slow() -> AbstractContextManager[Any]:
        """Within it, each node takes longer than a session waits to hear of the engine."""
        return mock.patch("gradstep.engines.pytorch.stepping.observed_engine._SLICE", -1.0)

    def _drop_one_beside(self) -> None:
        """Open a session in another graph, and leave it in the middle."""
        from importlib import import_module

        torch = import_module(KINDS[self.case.kind].library)
        x = torch.ones(3, requires_grad=True)
        other = Session((x.sin() * x).sum(), names={"x": x})
        other.reply("next 2")

    def _walk(self, session: Session, lines: tuple[str, ...]) -> None:
        shown: dict[Any, Any] = {}
        edited: dict[int, bool] = {}  # by depth, whether the pass there is
        for line in lines:
            if self.wrong:
                return
            reply = session.reply(line)
            if DEFECT in reply.text:
                self._fail(f"{line}: {reply.text}")
            if reply.open_block:
                session.reply("end")
            self.moves += is_move(line)
            snapshot = session.snapshot
            depth = len(snapshot.frames)
            edited[depth] = bool(session.edit.records or snapshot.edits)
            if snapshot.error or any(edited.get(each) for each in range(1, depth + 1)):
                continue
            positions = tuple((f.position, f.length) for f in snapshot.frames)
            place = (positions, snapshot.phase, id(session.graph))  # a node may run two passes
            facts = [
                (each.name, repr_of(each.before), repr_of(each.now)) for each in snapshot.leaves
            ]
            if KINDS[self.case.kind].library == "autograd_core":  # PyTorch's cost too much
                facts += [("waits", repr(each)) for each in snapshot.pending]
                near = range(
                    max(0, session.position - 2), min(session.position + 2, session.length)
                )
                details = map(session.detail, near)
                facts += [
                    (d.status, repr((d.incoming, d.outgoing, d.phases, d.terms, d.hooks, d.saved)))
                    for d in details
                ]
            if shown.setdefault(place, facts) != facts:
                pairs = [p for p in zip(shown[place], facts) if p[0] != p[1]]
                self._fail(f"after {line}, at {place} this was shown, and is now: {pairs}")
        if self.case.walk.certifies:
            while session.leave():
                pass
            session.jump(session.length)
            if not session.snapshot.error:
                certificate = session.certificate()
                # what a hook behind a node made of what it sends cannot be told from what it sent
                if certificate.different and "for g in sent" not in self.text:
                    self._fail(certificate.text(session.graph))
        if KINDS[self.case.kind].edits:
            self._undo(session)

    def _undo(self, session: Session) -> None:
        while session.leave():
            pass
        while session.edit.records:
            reply = session.reply("undo")
            if reply.error:
                self._fail(f"undo: {reply.text}")
                break
        session.reply("delete")

    def _fail(self, text: str) -> None:
        self.wrong = self.wrong or text


def repr_of(value: Any) -> str:
    """The elements of a value that is shown."""
    return "None" if value is None else repr(value.array.tolist())


# waiting no longer than patience says


def watched(case: Case, patience: float = LIMIT) -> Found:
    """Check ``case`` in a thread; one that takes too long is reported, with what each thread
    does."""
    found: list[Found] = []

    def work() -> None:
        try:
            found.append(check(case))
        except BaseException:
            found.append(Found(0, traceback.format_exc()))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(patience)
    if found:
        return found[0]
    frames = sys._current_frames()
    stacks = [
        f"{each.name}:\n{''.join(traceback.format_stack(frames[each.ident])[-12:])}"
        for each in threading.enumerate()
        if each.ident in frames and each is not threading.current_thread()
    ]
    return Found(0, "it waits for ever\n" + "\n".join(stacks))


# making it shorter


def shrink(case: Case, found: Found, tries: int = 400) -> tuple[Case, Found]:
    """Drop lines and statements as long as something is wrong, though not for a missing name."""
    progress = True
    while progress and tries:
        progress = False
        for smaller in _smaller(case):
            if not tries:
                break
            tries -= 1
            if _lacks_names(smaller):
                continue
            other = watched(smaller, 5.0)
            if other.wrong and _sort(other) == _sort(found):
                case, found, progress = smaller, other, True
                break
    return case, found


def _sort(found: Found) -> str:
    """What kind of wrong it is, so that a shorter case shows the same."""
    for sort in (
        "waits for ever",
        DEFECT,
        "_asyncio",
        "Traceback",
        "this was shown",
        "threads are",
    ):
        if sort in found.wrong:
            return sort
    first = found.wrong.partition(":")[0]
    return first if first in ("told", "printed", "raised", "calls of hooks") else "state"


def _lacks_names(case: Case) -> bool:
    plain = run(case.program, KINDS[case.kind].library)
    told = plain.raised + plain.printed
    return any(word in told for word in ("NameError", "UnboundLocalError", "IndentationError",
                                         "SyntaxError", "AttributeError"))  # fmt: skip


def _smaller(case: Case) -> Iterator[Case]:
    program, walk = case.program, case.walk
    for number in range(len(walk.lines)):
        if len(walk.lines) > 1:
            lines = (*walk.lines[:number], *walk.lines[number + 1 :])
            yield case._replace(walk=walk._replace(lines=lines))
    for changed in (
        walk._replace(beside=False), walk._replace(aborts=frozenset()), walk._replace(budget=2**30),
        walk._replace(hosted=True), walk._replace(certifies=False), walk._replace(is_slow=False),
    ):  # fmt: skip
        if changed != walk:
            yield case._replace(walk=changed)
    for number, lines in enumerate(walk.lines):
        for size in (8, 4, 2, 1):
            for start in range(0, len(lines), size):
                fewer = (*lines[:start], *lines[start + size :])
                if fewer != lines and size <= max(1, len(lines)):
                    all_lines = (*walk.lines[:number], fewer, *walk.lines[number + 1 :])
                    yield case._replace(walk=walk._replace(lines=all_lines))
    if program.form != "plain":
        yield case._replace(program=program._replace(form="plain"))
    for number, section in enumerate(program.sections):
        before, after = program.sections[:number], program.sections[number + 1 :]
        if section.times > 1:
            yield case._replace(
                program=program._replace(sections=(*before, section._replace(times=1), *after))
            )
        for size in (8, 4, 2, 1):
            for start in range(0, len(section.statements), size):
                if size > len(section.statements):
                    continue
                kept = (*section.statements[:start], *section.statements[start + size :])
                yield case._replace(
                    program=program._replace(
                        sections=(*before, section._replace(statements=kept), *after)
                    )
                )
