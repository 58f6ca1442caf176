"""The console: commands, their replies, and what the script printed meanwhile."""

from __future__ import annotations

from gradstep.debugger.snapshot import Reply
from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView, sentence
from gradstep_tui.app.widgets.text import Line, Part, StyleName, wrapped

KEPT_LINES = 5_000
WRAPPED_LINES = 200  # the last ones
_ASKED = Part("> ", "muted")  # stands before a command


def page(view: ScreenView) -> Page:
    """Return the last lines that were said."""
    if not view.notes.transcript:
        return sentence(view, "press : and type a command, or help")
    last = view.notes.transcript[-WRAPPED_LINES:]
    lines = [*view.notes.transcript[:-WRAPPED_LINES]]
    lines += [row for line in last for row in wrapped(line, view.width)]
    asked = next((at for at in reversed(range(len(lines))) if lines[at][:1] == [_ASKED]), 0)
    # an answer that does not fit is read from its first line on
    return Page(lines, focus=min(len(lines) - 1, asked + max(1, view.height) - 1))


def add_command(transcript: list[Line], line: str, reply: Reply) -> None:
    """Write down a command and its answer; an error carries the word besides the colour."""
    transcript.append([_ASKED, Part(printable(line), "strong")])
    style: StyleName = "trouble" if reply.error else "text"
    transcript += [[Part("  " + printable(text), style)] for text in reply_text(reply).splitlines()]
    del transcript[:-KEPT_LINES]


def add_print(transcript: list[Line], text: str) -> None:
    """Write down what the script (a hook, most likely) printed."""
    transcript += [
        [Part("script: ", "muted"), Part(printable(line))]
        for line in text.splitlines()
        if line.strip()
    ]
    del transcript[:-KEPT_LINES]


def reply_text(reply: Reply) -> str:
    """Return the text of a reply; an error that points nowhere begins with the word."""
    if reply.error and "^" not in reply.text and not reply.text.lower().startswith("error"):
        return f"error: {reply.text}"
    return reply.text


def headline(reply: Reply) -> str:
    """Return the one line of a reply that says most: of an error that points, what is wrong."""
    lines = reply.text.splitlines() or [""]
    if not reply.error:
        return lines[0]
    for number, line in enumerate(lines):
        if line.lstrip().startswith("^"):
            message = line.lstrip()[1:].strip() or " ".join(lines[number + 1 :])
            return f"error: {message}"
    return reply_text(reply).splitlines()[0] if reply.text else "error"
