"""Random programs with hooks and passes inside them, debugged by random lines of the language: a
position always shows the same, and the gradients in the end are those of a plain pass."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.dag import Names
from autograd_core.debug import Session

BUDGETS = st.sampled_from([0, 3_000, 2**30])
MOVES = (
    "next", "back", "step", "rs", "over", "out", "continue", "rc", "restart", "jump", "enter",
    "leave",
)  # fmt: skip
STOPS = (
    "break mul", "break sin", "break #2", "tbreak add", "break mul if rms > 1", "catch nan",
    "catch rms > 2", "watch x0", "logpoint add rms {rms}", "delete", "delete 1",
)  # fmt: skip
EDITS = (
    "scale 2", "set 0.5", "zero", "clip 0.1", "mute", "unmute", "scale x0.grad 3", "zero x1.grad",
)  # fmt: skip
OPS = ("mul", "add", "sin", "inner", "hooked", "in_place", "after", "drawn")
Built = list[tuple[str, int, int]]


class _Inner(torch.autograd.Function):
    """The sine, whose backward runs a pass of its own, also into a leaf that all share."""

    @staticmethod
    def forward(ctx: Any, x: Any, shared: Any) -> Any:
        ctx.save_for_backward(x, shared)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, shared = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_(True)
            (inner.sin() * g + shared * 0.5).sum().backward()
        return inner.grad, None


def halved(g: Any) -> None:
    g.mul_(0.5)


def apply(op: str, a: Any, b: Any, shared: Any) -> Any:
    match op:
        case "mul":
            return a * b
        case "add":
            return a + b
        case "sin":
            return a.sin()
        case "inner":
            return _Inner.apply(a, shared)
    y = a + b
    match op:
        case "hooked":
            y.register_hook(lambda g: g * 1.5)
        case "in_place":
            y.register_hook(halved)
        case "after":
            y.grad_fn.register_hook(lambda sent, received: tuple(s + 1.0 for s in sent))
        case "drawn":
            y.register_hook(lambda g: g + torch.rand(2))
    return y


def built(program: Built) -> tuple[Any, list[Any]]:
    """The loss of a program over three leaves, and these; the last one belongs to inner passes."""
    torch.manual_seed(5)
    leaves = [torch.tensor([0.5 + n, -1.0 - n], requires_grad=True) for n in range(3)]
    values = [leaf * 1.0 for leaf in leaves[:2]]
    for op, a, b in program:
        values.append(apply(op, values[a % len(values)], values[b % len(values)], leaves[2]))
    return (values[-1] * values[-2]).sum(), leaves


def started(program: Built, budget: int) -> tuple[Session, list[Any]]:
    root, leaves = built(program)
    names = Names({f"x{number}": leaf for number, leaf in enumerate(leaves)})
    return Session(root, names=names, history_bytes=budget), leaves


def bits(leaves: list[Any]) -> list[bytes | None]:
    return [None if leaf.grad is None else leaf.grad.array.tobytes() for leaf in leaves]


def plain(program: Built) -> list[bytes | None]:
    root, leaves = built(program)
    root.backward()
    return bits(leaves)


def facts(session: Session) -> list[Any]:
    """All that may not depend on the way that led here."""
    shown = session.snapshot
    details = [session.detail(index) for index in range(session.length)]
    told = [
        (d.status, d.incoming, d.outgoing, d.phases, d.terms, d.hooks, d.saved) for d in details
    ]
    return [shown.leaves, shown.pending, told]


programs = st.lists(
    st.tuples(st.sampled_from(OPS), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7
)
moves = st.tuples(st.sampled_from(MOVES), st.integers(1, 9)).map(
    lambda pair: pair[0] if pair[0] in ("restart", "enter", "leave") else f"{pair[0]} {pair[1]}"
)


@settings(deadline=None, max_examples=60)
@given(programs, st.lists(moves | st.sampled_from(STOPS), max_size=16), BUDGETS)
def test_a_position_shows_the_same_on_every_visit(
    program: Built, lines: list[str], budget: int
) -> None:
    session, leaves = started(program, budget)
    seen: dict[tuple[Any, ...], list[Any]] = {}
    for line in lines:
        session.do(line)
        shown = session.snapshot
        # a pass inside another one is known by where the ones around it stand, and by its plan
        place = (tuple((f.position, f.length) for f in shown.frames), shown.phase)
        if len(shown.frames) == 1:
            known = facts(session)
            assert seen.setdefault(place, known) == known
    session.do("delete")
    session.finish()
    assert bits(leaves) == plain(program)


@settings(deadline=None, max_examples=60)
@given(
    programs,
    st.lists(moves | st.sampled_from(STOPS) | st.sampled_from(EDITS), max_size=16),
    BUDGETS,
)
def test_edits_that_are_undone_leave_a_plain_pass(
    program: Built, lines: list[str], budget: int
) -> None:
    session, leaves = started(program, budget)
    for line in lines:
        session.do(line)
    while session.leave():
        pass
    while session.edit.records:
        assert not session.do("undo").error
    session.do("delete")
    session.finish()
    assert bits(leaves) == plain(program)
