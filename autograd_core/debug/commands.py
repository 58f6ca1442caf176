"""The command language: gdb's words, for the prompt, for files and for ``Session.do``."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Final, NamedTuple

from autograd_core.dag.statistics import format_bytes, format_shape, format_statistics
from autograd_core.debug.locations import locate
from autograd_core.debug.protocol import Steered
from autograd_core.debug.snapshot import NodeDetail, Reply, Snapshot, Value


class CommandError(ValueError):
    """What was typed cannot be carried out; the text says why and what would."""


class Command(NamedTuple):
    """A word of the language: what it takes, what it does, who carries it out."""

    usage: str
    summary: str
    run: Callable[[Steered, str], str]
    short: tuple[str, ...] = ()


def carry_out(session: Steered, line: str) -> Reply:
    """Carry out ``line``; what is wrong with it comes back as an error, never as an exception."""
    word, _, argument = line.strip().partition(" ")
    if not word:
        return Reply("")
    command = _BY_WORD.get(word)
    if command is None:
        likely = get_close_matches(word, _BY_WORD, n=1)
        hint = f"; did you mean {likely[0]}?" if likely else ""
        return Reply(f"unknown command: {word}{hint} (help lists them)", error=True)
    try:
        return Reply(command.run(session, argument.strip()))
    except ValueError as error:
        return Reply(f"{word}: {error}", error=True)


def _count(argument: str) -> int:
    if not argument:
        return 1
    if not argument.isdecimal() or int(argument) == 0:
        raise CommandError(f"'{argument}' is no count: write a whole number from 1 on")
    return int(argument)


def _place(argument: str) -> str:
    if not argument:
        raise CommandError("where? A place is #12, an address, an op, a scope or a leaf's name")
    return argument


# moving


def _next(session: Steered, argument: str) -> str:
    session.next(_count(argument))
    return here(session)


def _back(session: Steered, argument: str) -> str:
    session.back(_count(argument))
    return here(session)


def _continue(session: Steered, argument: str) -> str:
    for _ in range(_count(argument)):
        session.continue_()
    return here(session)


def _reverse_continue(session: Steered, argument: str) -> str:
    for _ in range(_count(argument)):
        session.reverse_continue()
    return here(session)


def _until(session: Steered, argument: str) -> str:
    session.until(_place(argument))
    return here(session)


def _jump(session: Steered, argument: str) -> str:
    text = argument.removeprefix("#")
    if not text.isdecimal():
        raise CommandError(
            f"'{argument}' is no position: write a number from 0 to {session.length}"
        )
    session.jump(int(text))
    return here(session)


def _restart(session: Steered, argument: str) -> str:
    session.restart()
    return here(session)


# breakpoints


def _break(session: Steered, argument: str) -> str:
    point = session.break_(_place(argument))
    places = ", ".join(f"#{index}" for index in point.indices[:8])
    more = f" and {len(point.indices) - 8} more" if len(point.indices) > 8 else ""
    return f"breakpoint {point.number}: {point.text} ({places}{more})"


def _delete(session: Steered, argument: str) -> str:
    if not argument:
        session.delete()
        return "all breakpoints deleted"
    number = _count(argument)
    if not session.delete(number):
        raise CommandError(f"there is no breakpoint {number} (info breakpoints lists them)")
    return f"breakpoint {number} deleted"


# looking


def _info(session: Steered, argument: str) -> str:
    topic, _, rest = argument.partition(" ")
    snapshot = session.snapshot
    if topic in ("breakpoints", "b"):
        points = [
            f"{point.number}  {point.text}  "
            f"{_plural(len(point.indices), 'node')}, hit {_plural(point.hits, 'time')}"
            for point in snapshot.breakpoints
        ]
        return "\n".join(points) or "no breakpoints"
    if topic in ("leaves", "l"):
        return "\n".join(
            f"{leaf.name}.grad  {_shown(leaf.now, 'None')}  {leaf.arrived} of {leaf.expected} in"
            for leaf in snapshot.leaves
        )
    if topic in ("pending", "p"):
        return (
            "\n".join(
                f"#{each.index} {snapshot.graph.address(each.index)}  "
                f"{each.arrived} of {each.expected} in, sum {_shown(each.total, '')}"
                for each in snapshot.pending
            )
            or "nothing waits"
        )
    if topic in ("node", "n"):
        return _node_text(session, rest.strip())
    if topic in ("history", "h"):
        return (
            f"{snapshot.recorded} of {snapshot.length} nodes recorded, "
            f"{format_bytes(snapshot.bytes_recorded)}"
        )
    raise CommandError("info takes one of: node [PLACE], leaves, pending, breakpoints, history")


def _node_text(session: Steered, location: str) -> str:
    index = locate(session.graph, location, session.length)[0] if location else session.position
    if index >= session.length:
        raise CommandError("the pass is over: name a node, as in info node #0")
    detail = session.detail(index)
    lines = [node_line(session, index)]
    lines += _sums(session, detail)
    for sent in detail.outgoing:
        if sent.target is None:
            lines.append(f"  out {sent.output_nr}: no gradient needed")
            continue
        shown = _shown(sent.value, "undefined") if sent.sent else "not yet"
        lines.append(f"  out {sent.output_nr} to #{sent.target}: {shown}")
    for kept in detail.saved:
        lines.append(
            f"  saved {kept.name} {format_shape(kept.shape)} {kept.state} {_shown(kept.value, '')}"
        )
    lines += [f"  d/d{name}: {text}" for name, text in detail.formulas]
    if detail.source_line:
        lines.append(f"  {detail.source_line}")
    return "\n".join(lines)


def _sums(session: Steered, detail: NodeDetail) -> list[str]:
    lines = []
    for incoming in detail.incoming:
        lines.append(
            f"  in {incoming.input_nr}: {_shown(incoming.total, 'nothing yet')}, "
            f"{len(incoming.contributions)} of {incoming.expected} in"
        )
        for part in incoming.contributions:
            producer = "seed" if part.producer is None else f"#{part.producer}"
            lines.append(f"    + {_shown(part.value, 'undefined')} from {producer}")
    return lines


def _where(session: Steered, argument: str) -> str:
    return here(session)


def _list(session: Steered, argument: str) -> str:
    first = max(0, session.position - 5)
    rows = range(first, min(session.length, first + 11))
    return "\n".join(
        ("-> " if index == session.position else "   ") + node_line(session, index)
        for index in rows
    )


def _help(session: Steered, argument: str) -> str:
    if argument:
        command = _BY_WORD.get(argument)
        if command is None:
            raise CommandError(f"there is no command {argument}")
        return f"{command.usage}: {command.summary}"
    return "\n".join(
        f"{command.usage:<26}{command.summary}"
        + (f"  ({', '.join(command.short)})" if command.short else "")
        for command in COMMANDS
    )


def here(session: Steered) -> str:
    """One line on where the session stands."""
    snapshot: Snapshot = session.snapshot
    if snapshot.error:
        return f"#{snapshot.position} raised {snapshot.error}"
    if snapshot.position == snapshot.length:
        return snapshot.reason
    return node_line(session, snapshot.position)


def node_line(session: Steered, index: int) -> str:
    """A node in one line: position, address, name, formula."""
    node = session.graph.node(index)
    name = "" if node.name == node.address else node.name
    return "  ".join(part for part in (f"#{index} {node.address}", name, node.formula) if part)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _shown(value: Value | None, nothing: str) -> str:
    return nothing if value is None else format_statistics(value.statistics)


COMMANDS: Final = (
    Command("next [COUNT]", "run the next node", _next, ("n",)),
    Command("back [COUNT]", "take the last node back", _back, ("N", "rn", "reverse-next")),
    Command("continue [COUNT]", "go on to the next breakpoint", _continue, ("c",)),
    Command("reverse-continue [COUNT]", "go back to the last one", _reverse_continue, ("C", "rc")),
    Command("until PLACE", "go to just before that node", _until, ("u",)),
    Command("jump POSITION", "go to any position", _jump, ("j",)),
    Command("restart", "go back to before the first node", _restart, ("r",)),
    Command("break PLACE", "stop before those nodes", _break, ("b",)),
    Command("delete [NUMBER]", "delete a breakpoint, or all", _delete, ("d",)),
    Command("info TOPIC", "node [PLACE], leaves, pending, breakpoints, history", _info, ("i",)),
    Command("list", "the plan around here", _list, ("l",)),
    Command("where", "the node that runs next", _where, ("w", "bt")),
    Command("help [COMMAND]", "this list", _help, ("h",)),
)
_BY_WORD: Final = {
    word: command for command in COMMANDS for word in (command.usage.split()[0], *command.short)
}
