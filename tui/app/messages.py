"""What the widgets tell their screen."""

from __future__ import annotations

from textual.message import Message


class NodeClicked(Message):
    """A row of the execution list was clicked."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class CommandEntered(Message):
    """A line was entered at the prompt."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line


class PromptClosed(Message):
    """The prompt was left without a command."""
