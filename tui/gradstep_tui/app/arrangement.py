"""The panes of the screen, by the size of the terminal, and what each of them offers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from gradstep_tui.app.sections import SECTIONS
from gradstep_tui.app.sections.page import Section

NEEDED_WIDTH, NEEDED_HEIGHT = 60, 16
WIDE_WIDTH, WIDE_HEIGHT = 110, 26
HUGE_WIDTH, HUGE_HEIGHT = 180, 50

OTHER_RUN = "other run"
"""The section that is there only where two passes are compared."""
OF_THE_NODE = ("gradient", "report", "why", "contributions", "values")
OF_THE_PASS = (
    "leaves",
    "graph",
    "flow",
    "run",
    "modules",
    "breakpoints",
    "changes",
    "backward calls",
)
# in the order in which a grid places them; the execution list comes after "modules"
PANES = ("modules", "node", "breakpoints", "pass", "graph", "console", "source")


class Arrangement(NamedTuple):
    """A name, which is a class of the screen in app.tcss, and the sections of each pane."""

    name: str
    panes: Mapping[str, tuple[str, ...]]

    def sections(self, pane: str) -> tuple[Section, ...]:
        return tuple(SECTIONS[name] for name in self.panes.get(pane, ()))


TINY = Arrangement("tiny", {})
# the strips above the timeline show two lines of source, and the leaves
NARROW = Arrangement(
    "narrow", {"node": (*OF_THE_NODE, *OF_THE_PASS, "source", "console", OTHER_RUN)}
)
WIDE = Arrangement(
    "wide",
    {"node": (*OF_THE_NODE, OTHER_RUN), "pass": (*OF_THE_PASS, "console"), "source": ("source",)},
)
_OWN_PANES = {
    "modules": ("modules",),
    "breakpoints": ("breakpoints", "changes"),
    "graph": ("graph",),
    "console": ("console",),
    "source": ("source",),
}
_APART = frozenset(chain.from_iterable(_OWN_PANES.values()))
_PASS = tuple(name for name in OF_THE_PASS if name not in _APART)
HUGE = Arrangement("huge", {"node": (*OF_THE_NODE, OTHER_RUN), "pass": _PASS, **_OWN_PANES})
# where there are no modules, the program takes their place
PLAIN = Arrangement(
    "plain",
    {
        "node": (*OF_THE_NODE, OTHER_RUN),
        "pass": _PASS,
        **_OWN_PANES,
        "modules": ("source",),
        "source": (),
    },
)
ARRANGEMENTS = (TINY, NARROW, WIDE, HUGE, PLAIN)


def arrangement(width: int, height: int, modules: bool = True) -> Arrangement:
    """Choose the panes that fit a terminal, and a program with ``modules`` or without.

    >>> [arrangement(*size).name for size in ((40, 10), (80, 24), (120, 36), (200, 60))]
    ['tiny', 'narrow', 'wide', 'huge']
    """
    if width < NEEDED_WIDTH or height < NEEDED_HEIGHT:
        return TINY
    if width < WIDE_WIDTH or height < WIDE_HEIGHT:
        return NARROW
    if width < HUGE_WIDTH or height < HUGE_HEIGHT:
        return WIDE
    return HUGE if modules else PLAIN
