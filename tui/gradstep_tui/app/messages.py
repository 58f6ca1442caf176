"""Messages of the widgets to their screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from gradstep_tui.app.sections.page import Target


@dataclass(eq=False)
class NodeClicked(Message):
    """A row of the execution list was clicked, ``twice`` for a double click."""

    index: int
    twice: bool


@dataclass(eq=False)
class TargetClicked(Message):
    """A line of a pane was clicked that speaks of something; ``pane`` is the pane's id."""

    pane: str
    target: Target
    twice: bool


@dataclass(eq=False)
class SectionChosen(Message):
    """A tab was clicked."""

    name: str


@dataclass(eq=False)
class PositionChosen(Message):
    """A place of the timeline was clicked."""

    position: int


@dataclass(eq=False)
class HintClicked(Message):
    """A key in the bottom line was clicked."""

    action: str
