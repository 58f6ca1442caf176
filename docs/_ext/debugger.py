"""The debugger's language and keys, as the program itself lists them.

``debugger-commands``   the commands, with their help
``debugger-topic``      a topic of that help: ``places``, ``expressions``
``screen-keys``         the keys of the full screen, and its marks
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generated import Generated, escaped, heading, sentence, table
from sphinx.application import Sphinx

import autograd_core as torch
from gradstep.console.helping import TOPICS
from gradstep.console.session import Session
from gradstep_tui.app.keys import KEY_GROUPS
from gradstep_tui.app.widgets.help import MARKS


class DebuggerCommands(Generated):
    """A section for each topic, in it each command with what ``help`` says."""

    def lines(self) -> Iterator[str]:
        for title, commands in TOPICS:
            yield from heading(title.capitalize())
            for command in commands:
                also = ", ".join(f"``{short}``" for short in command.short)
                yield f"``{command.usage}``" + (f" (also {also})" if also else "")
                yield f"    {escaped(sentence(command.summary))}"
                yield from _details(command.details)
                yield ""


def _details(details: str) -> Iterator[str]:
    """Prose as prose, a list that is indented already as it stands."""
    for paragraph in details.splitlines():
        if paragraph.startswith("  "):
            yield f"    | ``{paragraph.split()[0]}`` {escaped(' '.join(paragraph.split()[1:]))}"
        else:
            yield ""
            yield f"    {escaped(paragraph)}"
            yield ""


class DebuggerTopic(Generated):
    """What ``help TOPIC`` says, as it stands."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        x = torch.tensor(1.0, requires_grad=True)
        text = Session(x * x).do(f"help {self.arguments[0]}").text
        yield from [".. code-block:: none", "", *(f"    {line}" for line in text.splitlines())]


class ScreenKeys(Generated):
    """A table for each group of keys, and one for the marks."""

    def lines(self) -> Iterator[str]:
        for group in KEY_GROUPS:
            rows = [
                (" ".join(f":kbd:`{key}`" for key in _names(binding)), escaped(binding.tooltip))
                for binding in group.bindings
            ]
            yield from heading(group.title.capitalize())
            yield from table(("key", "what it does"), rows)
        marks = [(f"``{mark}``", escaped(meaning)) for mark, meaning in MARKS]
        yield from heading("Marks")
        yield from table(("mark", "meaning"), marks)


def _names(binding: Any) -> list[str]:
    return str(binding.key_display or binding.key.split(",")[0]).split()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives with Sphinx."""
    app.add_directive("debugger-commands", DebuggerCommands)
    app.add_directive("debugger-topic", DebuggerTopic)
    app.add_directive("screen-keys", ScreenKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
