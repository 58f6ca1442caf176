"""``help``: the commands by topic, one command, or a topic of its own."""

from __future__ import annotations

from textwrap import wrap
from typing import Final

from gradstep.console import changing, checking, files, info, inspecting, moving, stopping
from gradstep.console.console import Command, Console
from gradstep.console.language import Operands
from gradstep.debugger.breakpoints.predicate import help_text
from gradstep.text import WIDTH

_PLACES: Final = """\
A place is one of
  #12                 the twelfth node to run
  encoder.0/addmm:2   an address: module, op and number
  mul, MulBackward0   every node of that op
  encoder.0           every node of that module
  weight              the leaf of that name
  train.py:12         every node created by this line of the forward pass"""
_LANGUAGE: Final = """\
You can shorten a command as long as it stays unique. An empty line repeats the
last command, and lines that start with # are comments. For more, type help
WORD, help expressions or help places."""


def _help(console: Console, operands: Operands) -> str:
    word, _ = operands.first()
    if not word.text:
        return _overview()
    if len(word.text) > 3 and "expressions".startswith(word.text):
        return help_text()
    if len(word.text) > 2 and "places".startswith(word.text):
        return _PLACES
    command = console.find(word)
    also = f"  (also: {', '.join(command.short)})" if command.short else ""
    text = f"{command.usage}: {command.summary}{also}\n{command.details}"
    return "\n".join(part for line in text.splitlines() for part in wrap(line, WIDTH))


def _overview() -> str:
    lines = []
    for title, commands in TOPICS:
        lines.append(title)
        for command in commands:
            short = f"  ({', '.join(command.short)})" if command.short else ""
            lines.append(f"  {command.usage:<30}{command.summary}{short}")
    return "\n".join([*lines, "", _LANGUAGE])


COMMANDS: Final = (
    Command("help [WORD]", "show this list, or more about a word", _help, ("h",), "word"),
)
TOPICS: Final = (
    ("moving", moving.COMMANDS),
    ("stopping", stopping.COMMANDS),
    ("inspecting", (*inspecting.COMMANDS, *info.COMMANDS, *checking.COMMANDS)),
    ("changing", changing.COMMANDS),
    ("files, help, and leaving", (*files.COMMANDS, *COMMANDS)),
)
