"""Commands that read and write files of commands, and those that leave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from gradstep.console.console import Command, Console
from gradstep.console.language import Operands, choose
from gradstep.debugger.errors import CommandError
from gradstep.debugger.snapshot.breakpoint import Breakpoint
from gradstep.debugger.snapshot.wording import restore_text
from gradstep.text import listed, plural

if TYPE_CHECKING:
    from gradstep.recording.run import Run

_HEADER: Final = "# breakpoints, saved by gradstep"
_DEEPEST: Final = 10  # files that source files


def command_lines(path: str) -> list[str]:
    """Return the lines of a file of commands; those that start with # say nothing.

    Raises:
        OSError, UnicodeDecodeError: it cannot be read.
    """
    return uncommented(Path(path).read_text(encoding="utf-8-sig"))


def uncommented(text: str) -> list[str]:
    """Return the lines of ``text``, those that start with # empty."""
    return ["" if line.lstrip().startswith("#") else line.rstrip() for line in text.splitlines()]


def _source(console: Console, operands: Operands) -> str:
    path = operands.required("which file? source FILE").text
    if path in console.sourcing or len(console.sourcing) >= _DEEPEST:
        raise operands.error(f"{path} is being carried out already")
    try:
        lines = command_lines(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise operands.error(f"cannot read {path} ({reason.lower()})") from None
    console.sourcing.append(path)
    try:
        return _carry_out(console, path, lines)
    finally:
        console.sourcing.pop()


def _carry_out(console: Console, path: str, lines: list[str]) -> str:
    answers: list[str] = []
    for number, line in enumerate(lines, 1):
        if line and not console.leaving:
            try:
                console.carry_out(line, answers)
            except CommandError as error:
                error.place = error.place or f"{path}:{number}"
                raise
    if console.open_block:
        console.drop_block()
        raise CommandError(f"{path} ends inside a block of commands; add end")
    return "\n".join(answers)


def _save(console: Console, operands: Operands) -> str:
    what, file = operands.first()
    choose(what.required("save breakpoints FILE"), ["breakpoints"], "thing to save:")
    path = Path(file.required("to which file? save breakpoints FILE").text)
    points = console.session.breakpoints.points
    try:
        if path.exists() and not path.read_text(encoding="utf-8").startswith(_HEADER):
            raise file.error(f"{path} holds something else; save to another file")
        path.write_text("\n".join([_HEADER, *map(_script, points), ""]), encoding="utf-8")
    except UnicodeDecodeError:
        raise file.error(f"{path} holds something else; save to another file") from None
    except OSError as error:
        raise file.error(f"cannot write {path} ({(error.strerror or '').lower()})") from None
    return f"{plural(len(points), 'breakpoint')} saved; source {path} sets them again"


def _script(point: Breakpoint) -> str:
    """Return the commands that set ``point`` again."""
    word, _, rest = point.command.partition(" ")
    if point.text and not point.indices:
        rest = f"--pending {rest}"
    lines = [f"{word} {rest}"]
    if point.kind == "log" and point.condition:
        lines.append(f"condition $ {point.condition}")
    if point.ignore:
        lines.append(f"ignore $ {point.ignore}")
    if not point.enabled:
        lines.append("disable $")
    if point.commands:
        lines += ["commands $", *(f"  {line}" for line in point.commands), "end"]
    return "\n".join(lines)


def _quit(console: Console, operands: Operands) -> str:
    console.session.breakpoints.passing = operands.count() - 1
    console.leaving = "continue"
    return ""


def _detach(console: Console, operands: Operands) -> str:
    console.leaving = "detach"
    return ""


def _abort(console: Console, operands: Operands) -> str:
    console.leaving = "abort"
    session = console.session
    ran = [index for index, effect in session.effects.items() if effect.user_code]
    return restore_text(ran, "have run", session.cursor.driver.state.restore_note) if ran else ""


def _rank(console: Console, operands: Operands) -> str:
    ranks = console.session.ranks
    if ranks is None or len(ranks.numbers) == 1:
        raise operands.error("this is one process: gradstep debug run.rank*.gsr opens several")
    if not operands.text:
        return str(ranks)
    if not operands.text.isdecimal() or int(operands.text) not in ranks.numbers:
        raise operands.error(f"there is no rank '{operands.text}': {ranks}")
    ranks.wanted = int(operands.text)
    if ranks.wanted == ranks.current:
        return str(ranks)
    console.leaving = "rank"
    return ""


def _call(console: Console, operands: Operands) -> str:
    """Go to another call of the recording."""
    session = console.session
    run: Run | None = getattr(session.backward_call, "run", None)
    if run is None or session.ranks is None:
        raise operands.error(
            "only a recording can go to any call (gradstep record makes one); "
            "until CONDITION runs this program on"
        )
    here = next(c for c in run.calls() if (c.kind, c.number) == (session.kind, session.call))
    if not operands.text:
        return f"{here.title}; {plural(len(run.full), 'call')} in full: {_numbers(run)}"
    step = {"next": 1, "previous": -1}.get(operands.text)
    if step is not None:
        calls = [index for index in run.full if (index - here.index) * step > 0]
        if not calls:
            raise operands.error(f"there is no call in full {_SIDE[step]} {here.title}")
        there = run.call(calls[0 if step > 0 else -1])
    else:
        named = [call for call in run.calls() if call.option == operands.text]
        if not named:
            raise operands.error(f"call {operands.text} was not recorded; in full: {_numbers(run)}")
        there = named[0]
        if there.index not in run.full:
            from gradstep.recording.run import not_in_full  # what runs needs no recordings

            raise operands.error(str(not_in_full(run, there)))
    if there.index == here.index:
        return here.title
    session.ranks.call = there.kind, there.number
    console.leaving = "call"
    return ""


_SIDE: Final = {1: "after", -1: "before"}


def _numbers(run: Run) -> str:
    return listed([run.call(index).option for index in run.full], 8)


COMMANDS: Final = (
    Command("source FILE", "run the commands in FILE", _source, (), "file"),
    Command("save breakpoints FILE", "save breakpoints as commands for source", _save, (), "file"),
    Command(
        "quit [COUNT]",
        "close the debugger, continue the program",
        _quit,
        ("q",),
        details="COUNT chooses the next call to open: 3 skips two.",
    ),
    Command(
        "rank [NUMBER]",
        "show the same call of another process of the job",
        _rank,
        (),
        "word",
        details="For recordings of several processes: gradstep debug run.rank*.gsr. Without a "
        "number, it lists them.",
    ),
    Command(
        "call [K]",
        "go to another call of the recording",
        _call,
        (),
        "word",
        details="K is 320, grad:3, next or previous. Without one, it says which calls were "
        "recorded in full.",
    ),
    Command("detach", "leave, and do not open in later calls", _detach, ("D",)),
    Command("abort", "end the program, with .grad as before", _abort, ("Q", "kill")),
)
