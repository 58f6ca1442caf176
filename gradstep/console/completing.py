"""Completion: offers for the word under the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.console.console import Command, Operand
from gradstep.console.helping import TOPICS as HELP_TOPICS
from gradstep.console.info import TOPICS
from gradstep.debugger.breakpoints.predicate import WORDS
from gradstep.debugger.pass_session import PassSession
from gradstep.graph.addresses import vocabulary

_MOST = 60  # offers; more than that helps nobody
_COMMANDS = [command for _, commands in HELP_TOPICS for command in commands]


def complete(session: PassSession, line: str, column: int) -> list[str]:
    """Return the words that may stand where the word before ``column`` stands, sorted.

    >>> import autograd_core as torch
    >>> from gradstep.console.session import Session
    >>> session = Session(torch.tensor(2.0, requires_grad=True).tanh())
    >>> complete(session, "unt", 3), complete(session, "break ta", 8)
    (['until'], ['tanh', 'tanh:1'])
    """
    before = line[:column]
    words = before.split()
    part = words.pop() if words and not before[-1].isspace() else ""
    if not words:
        return _beginning(part, (command.word for command in _COMMANDS))
    command = command_of(before)
    if command is None:
        return []
    return _beginning(part, _offers(session, command.operand, words[1:]))


def command_of(line: str) -> Command | None:
    """Return the command that the first word of ``line`` names, or begins alone.

    >>> command_of("set #3 in * 2").usage, command_of("se").word, command_of("")
    ('set [PLACE] VALUE', 'set', None)
    """
    word = line.split(maxsplit=1)[:1]
    named = [c for c in _COMMANDS if word and word[0] in (c.word, *c.short)]
    begins = [c for c in _COMMANDS if word and c.word.startswith(word[0])]
    return named[0] if named else begins[0] if len(begins) == 1 else None


def _offers(session: PassSession, operand: Operand, before: list[str]) -> Iterable[str]:
    match operand:
        case "expression":
            return _expression_words(session)
        case "condition":
            if "if" in before:
                return _expression_words(session)
            return [*_places(session), "if"] if not before else ["if"]
        case "place":
            return _places(session) if not before else ()
        case "leaf":
            return [f"{leaf.name}.grad" for leaf in session.snapshot.leaves] if not before else ()
        case "point":
            return [str(point.number) for point in session.breakpoints.points]
        case "topic":
            return [topic.word for topic in TOPICS] if not before else _places(session)
        case "word":
            return [*(command.word for command in _COMMANDS), "expressions", "places"]
    return ()


def _places(session: PassSession) -> Iterable[str]:
    return vocabulary(session.graph, session.length)


def _expression_words(session: PassSession) -> list[str]:
    leaves = [f"{leaf.name}.grad" for leaf in session.snapshot.leaves]
    return [*WORDS, "and", "or", "not", *leaves]


def _beginning(part: str, offers: Iterable[str]) -> list[str]:
    return sorted({offer for offer in offers if offer.startswith(part)})[:_MOST]
