"""Random walks: lines for the debugger, and how each call of a program is debugged."""

from __future__ import annotations

import random
from typing import NamedTuple

# fmt: off
MOVES = (
    "next", "next 3", "step", "step 4", "over", "finish", "continue", "continue 2", "back",
    "back 3", "reverse-step", "reverse-step 3", "reverse-over", "reverse-finish",
    "reverse-continue", "reverse-continue 2", "until {place}", "advance {place}", "jump {place}",
    "jump #{number}", "jump #{number}", "jump end", "enter", "enter #{number}", "leave",
    "restart",
)
STOPS = (
    "break {place}", "break {place} if {condition}", "break if {condition}", "tbreak {place}",
    "catch {condition}", "catch nan", "watch {leaf}", "watch {place} if {condition}",
    "logpoint {place} rms {{rms}}", "delete", "delete 1", "disable 1", "enable 1", "ignore 1 2",
    "condition 1 {condition}", "break",
)
LOOKS = (
    "info leaves", "info node", "info node {place}", "info pending", "info saved {place}",
    "info hooks", "info phases {place}", "info contributions {place}", "info calls",
    "info calls {leaf}", "info frames", "info pass", "info history", "print in", "print rms",
    "print {leaf}.grad", "print saved.self", "display rms", "where", "up", "down", "order",
    "list", "frame {place}", "lint", "check", "why {leaf}", "certify", "difference", "mark here",
    "help next", "no such command",
)
REFUSED = frozenset([
    "enter", "leave", "delete 1", "disable 1", "enable 1", "ignore 1 2", "no such command",
    "certify", "check", "print in", "print rms", "print saved.self", "display rms", "up", "down",
])
"""What is refused in some places, and what runs code of the program's again."""
EDITS = (
    "scale {place} 2", "scale 0.5", "set {place} 0.5", "zero {place}", "clip 0.1", "mute",
    "mute {place} out.0", "unmute", "scale {leaf}.grad 3", "zero {leaf}.grad", "undo",
)
PLACES = (
    "#1", "#2", "#3", "#5", "#8", "mul", "add", "sin", "tanh", "addmm", "sum", "x0", "x1", "x2",
    "net.weight", "mul:1", "TwiceBackward", "clone",
)
CONDITIONS = (
    "nan", "rms > 0.5", "rms > 1e-3", "zero, undefined", "ratio > 1", "hits < 2", "op ~ 'm*'",
    "x0.grad.rms > 0",
)
# fmt: on
LEAVES = ("x0", "x1", "x2", "net.weight", "net.bias")
BUDGETS = (2**30, 2**30, 0, 3_000)
MOVING = frozenset(each.split()[0] for each in MOVES)


class Walk(NamedTuple):
    """How the calls of one program are debugged.

    Attributes:
        lines: of each call, from the first on; then from the first on again.
        budget: bytes of history.
        keeps_graph: whether a pass of PyTorch can go on in another way.
        hosted: whether the engine runs in the program's thread.
        aborts: the calls that are aborted after their lines, and then run plainly; hooks of theirs
            run twice.
        certifies: whether each call is certified at its end.
        beside: whether another session is opened before each walk, and dropped in the middle.
        is_slow: whether each node takes so long that a session hears of it at once.
    """

    lines: tuple[tuple[str, ...], ...]
    budget: int = 2**30
    keeps_graph: bool = True
    hosted: bool = True
    aborts: frozenset[int] = frozenset()
    certifies: bool = False
    beside: bool = False
    is_slow: bool = False


class Kind(NamedTuple):
    """A way to debug; ``edits`` are undone before the end of the pass."""

    library: str
    edits: bool = False
    keeps_graph: bool = True
    certifies: bool = False


KINDS = {
    "core": Kind("autograd_core"),
    "core edited": Kind("autograd_core", edits=True),
    "live": Kind("torch"),
    "replay": Kind("torch", edits=True),
    "certify": Kind("torch", certifies=True),
    "no replay": Kind("torch", keeps_graph=False),
}


def random_walk(rng: random.Random, kind: Kind) -> Walk:
    """Make a walk of a kind."""
    return Walk(
        tuple(tuple(_lines(rng, kind.edits)) for _ in range(rng.randint(1, 3))),
        rng.choice(BUDGETS),
        kind.keeps_graph,
        rng.random() < 0.5,
        frozenset([rng.randint(1, 3)]) if kind.edits and rng.random() < 0.2 else frozenset(),
        kind.certifies,
        rng.random() < 0.1,
        kind.library == "torch" and rng.random() < 0.2,
    )


def random_lines(rng: random.Random) -> list[str]:
    """Make lines for any program, which run nothing of it again."""
    menu = [each for each in (*MOVES, *STOPS, *LOOKS) if "{" not in each and each not in REFUSED]
    return [rng.choice(menu) for _ in range(rng.choice([1, 2, 8]))]


def _lines(rng: random.Random, edits: bool) -> list[str]:
    lines = []
    for _ in range(rng.choice([0, 2, 8, 20, 40])):
        kind = rng.random()
        menu = MOVES if kind < 0.6 else STOPS if kind < 0.8 else LOOKS
        if edits and kind > 0.85:
            menu = EDITS
        lines.append(
            rng.choice(menu).format(
                place=rng.choice(PLACES),
                condition=rng.choice(CONDITIONS),
                leaf=rng.choice(LEAVES),
                number=rng.randint(1, 15),
            )
        )
    return lines


def is_move(line: str) -> bool:
    """Whether a line moves."""
    return line.split()[0] in MOVING
