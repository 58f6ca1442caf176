"""What the widgets tell their screen."""

from __future__ import annotations

from textual.message import Message

from tui.app.sections.page import Target


class NodeClicked(Message):
    """A row of the execution list was clicked, ``twice`` for a double click."""

    def __init__(self, index: int, twice: bool) -> None:
        super().__init__()
        self.index = index
        self.twice = twice


class TargetClicked(Message):
    """A line of a pane was clicked that speaks of something; ``pane`` is the pane's id."""

    def __init__(self, pane: str, target: Target, twice: bool) -> None:
        super().__init__()
        self.pane = pane
        self.target = target
        self.twice = twice


class SectionChosen(Message):
    """A tab was clicked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class PositionChosen(Message):
    """A place of the timeline was clicked."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position


class HintClicked(Message):
    """A key in the bottom line was clicked."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action
