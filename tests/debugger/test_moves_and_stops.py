"""Every command that moves stops where a walk from node to node would: forwards and backwards, on
random programs with random stops, on both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from gradstep import trace
from gradstep.console.session import Session

# fmt: off
MOVES = (
    "next", "back", "step", "step", "step_back", "over", "back_over", "out", "back_out", "until",
    "continue_", "reverse_continue", "jump",
)
STOPS = (
    "break mul", "break sin", "break #2", "break #5", "break inner", "break x1", "tbreak add",
    "break #4 if hits > 1", "break mul if rms > 1", "break if rms > 2", "break if rms >= 0",
    "catch nan", "catch rms > 3", "watch x0", "watch x1", "watch mul", "logpoint add rms {rms}",
    "logpoint inner at {rms}",
    "ignore 1 2", "disable 2", "delete 1",
)


STOPS_INSIDE = (
    "break tanh", "break #2", "break #4", "watch x", "catch rms > 1", "logpoint tanh {rms}",
    "tbreak mul", "break x", "break if rms > 3",
)
# fmt: on
SEEDS = 3 * settings().max_examples


class Move(NamedTuple):
    """A command of :data:`MOVES`, and its count or its place."""

    word: str
    number: int


def program(torch: Any, seed: int) -> tuple[Any, dict[str, Any]]:
    """Build a graph with modules, hooks, shared leaves and a NaN on some ways back."""
    nn, chance = torch.nn, Random(seed)

    class Inner(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return (x * y).sin() + x

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: Any, y: Any) -> Any:
            return self.inner(x * 2, y) * self.inner(y, x)

    outer = Outer()
    leaves = [torch.tensor([float(number), 1.5], requires_grad=True) for number in range(3)]
    pool = list(leaves)
    with trace():
        for _ in range(chance.randint(2, 7)):
            one, two = chance.choice(pool), chance.choice(pool)
            made = chance.choice(
                [
                    lambda a, b: a * b,
                    lambda a, b: a + b,
                    lambda a, b: a.sin(),
                    lambda a, b: a.abs().sqrt() * 0,
                    outer,
                    outer.inner,
                ]
            )(one, two)
            if chance.random() < 0.3:
                made.register_hook(lambda g: g * 2)
            pool.append(made)
        return sum(pool[3:]).sum(), {f"x{number}": leaf for number, leaf in enumerate(leaves)}


class Found(NamedTuple):
    """Where a session stands, what it said on the way, and what became of its stops."""

    place: tuple[int, int, int]
    reached: int | None
    messages: list[str]
    stops: list[tuple[int, int, int]]


def found(session: Session) -> Found:
    stops = session.breakpoints
    reached = stops.take_reached()
    return Found(
        (len(session.frames), session.position, session.cursor.phase),
        None if reached is None else reached.point.number,
        stops.take_messages(),
        [(each.number, each.hits, each.ignore) for each in stops.points],
    )


def make(session: Session, move: Move) -> None:
    if move.word in ("continue_", "reverse_continue"):
        getattr(session, move.word)()
    elif move.word == "until":
        session.until(f"#{1 + move.number % session.length}")
    else:
        getattr(session, move.word)(move.number)


def walk(session: Session, move: Move) -> None:
    """Make the same move from node to node, and ask at each arrival."""
    scopes, length = session._view.scopes, session.length
    if move.word == "jump":
        session.jump(move.number)
        return
    if move.word in ("step", "step_back"):
        for _ in range(move.number):
            if not getattr(session.cursor, move.word)():
                return
            if not session.cursor.phase and is_stop(session):
                return
        return
    here = session.position
    ways: dict[str, Callable[[], Iterator[int]]] = {
        "next": lambda: iter([here + move.number]),
        "back": lambda: iter([here - move.number + (session.cursor.phase > 0)]),
        "until": lambda: iter([move.number % length]),
        "continue_": lambda: iter([length]),
        "reverse_continue": lambda: iter([0]),
        "over": lambda: (scopes.over(session.position) for _ in range(move.number)),
        "back_over": lambda: (scopes.back_over(session.position) for _ in range(move.number)),
        "out": lambda: (scopes.out(session.position) for _ in range(move.number)),
        "back_out": lambda: (scopes.back_out(session.position) for _ in range(move.number)),
    }
    end = 0 if "back" in move.word else length
    targets = ways[move.word]()
    counted = move.word in ("over", "back_over", "out", "back_out")
    while not (counted and session.position == end):
        target = next(targets, None)
        if target is None or not reaches(session, max(0, min(length, target))):
            return


def reaches(session: Session, target: int) -> bool:
    """Go to ``target``; whether no stop came before, or there."""
    if session.cursor.phase:
        session.jump(session.position)
        if target <= session.position and is_stop(session):
            return False
    while session.position != target:
        session.jump(session.position + (1 if target > session.position else -1))
        if is_stop(session):
            return False
    return True


def is_stop(session: Session) -> bool:
    return session.breakpoints.at(session.inspector, session.position) is not None


def lines(chance: Random) -> list[Move | str]:
    """Return some stops, and then moves among which more stops are set."""
    typed: list[Move | str] = [chance.choice(STOPS) for _ in range(chance.randint(0, 4))]
    for _ in range(14):
        number = chance.randint(1, 3) if chance.random() < 0.7 else chance.randint(1, 40)
        word = chance.choice(MOVES)
        typed.append(chance.choice(STOPS) if chance.random() < 0.15 else Move(word, number))
    return typed


@pytest.mark.sampled(30)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_move_is_a_walk_that_asks_at_each_node(torch: Any, seed: int) -> None:
    sessions = []
    for _ in range(2):
        loss, names = program(torch, seed)
        sessions.append(Session(loss, names=names))
    moved, walked = sessions
    for line in lines(Random(seed)):
        if isinstance(line, str):
            assert moved.reply(line) == walked.reply(line)
            continue
        make(moved, line)
        said = found(moved)
        walk(walked, line)
        assert said == found(walked), line
    for session in sessions:
        session.finish()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_a_long_move_stops_in_the_passes_inside_as_continue_does(
    torch: Any, once: Any, seed: int
) -> None:
    stops = Random(seed).choices(STOPS_INSIDE, k=3)
    for word in ("next", "step"):
        long, plain = (with_passes_inside(torch, once, stops) for _ in range(2))
        ahead = [visits(long, word, 10**6), visits(plain, "continue_")]
        assert ahead[0] == ahead[1]
        back = [
            visits(long, {"next": "back", "step": "step_back"}[word], 10**6),
            visits(plain, "reverse_continue"),
        ]
        assert back[0] == back[1]


def visits(session: Session, word: str, *count: int) -> list[Found]:
    """Make a move again and again, and leave every pass inside in which it stops."""
    seen = []
    for _ in range(30):
        getattr(session, word)(*count)
        seen.append(found(session))
        while session.leave():
            pass
    return seen


def with_passes_inside(torch: Any, once: Any, stops: list[str]) -> Session:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session((once.apply(once.apply(x.exp())) * x).sum(), names={"x": x})
    for line in stops:
        session.reply(line)
    return session
