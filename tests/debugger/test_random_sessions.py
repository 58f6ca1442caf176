"""Random programs, debugged by random lines of the language: a position always shows the same, with
the program in the same state, and in the end all is as after a plain pass.

The programs have hooks and custom Functions that do what such code may do: change gradients, also
those of other leaves, data, buffers, the state of optimizers and of hooks, draw random numbers,
start passes of their own, and raise.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core import nn, optim
from autograd_core.autograd.graph import saved_tensors_hooks
from autograd_core.utils.checkpoint import checkpoint
from gradstep.capturing import Names
from gradstep.debugger import Session
from gradstep.debugger.commands.console import DEFECT
from gradstep.debugger.snapshot import Value

EXAMPLES = settings().max_examples
BUDGETS = st.sampled_from([0, 3_000, 2**30])
MOVES = (
    "next", "back", "step", "rs", "over", "out", "continue", "rc", "restart", "jump", "enter",
    "enter", "leave",
)  # fmt: skip
STOPS = (
    "break mul", "break sin", "break #2", "tbreak add", "break mul if rms > 1", "catch nan",
    "catch rms > 2", "watch x0", "watch x1", "logpoint add rms {rms}", "delete", "delete 1",
)  # fmt: skip
EDITS = (
    "scale 2", "set 0.5", "zero", "clip 0.1", "mute", "unmute", "mute hook", "scale x0.grad 3",
    "zero x1.grad", "set x1.grad 2", "undo", "difference",
)  # fmt: skip


class Model(nn.Module):
    """What code in the pass may get hold of."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("seen", torch.tensor([1.0, 2.0]))
        self.calls = 0
        self.kept: Any = None  # a gradient


class Run:
    """One run of a program: its leaves, of which the last belongs to inner passes, and the rest."""

    def __init__(self) -> None:
        torch.manual_seed(5)
        np.random.seed(5)  # noqa: NPY002
        random.seed(5)
        self.leaves = [torch.tensor([0.5 + n, -1.0 - n], requires_grad=True) for n in range(3)]
        self.model = Model()
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1, momentum=0.5)
        self.leaf_optimizer = optim.Adam(self.leaves[:1], lr=0.1)
        self.constant = torch.tensor([1.0, 2.0])

    def state(self) -> list[Any]:
        """All that a pass may have changed, but for the versions of what it made itself."""
        held = [*self.leaves, self.constant, *self.model.parameters(), *self.model.buffers()]
        for each in (self.optimizer, self.leaf_optimizer):
            for remembered in each.state.values():
                held += [t for t in remembered.values() if isinstance(t, torch.Tensor)]
        nodes = (leaf.edge for leaf in self.leaves if leaf.edge is not None)
        return [
            [(t.array.tobytes(), t._version) for t in held],
            [None if t.grad is None else t.grad.array.tobytes() for t in held],
            [() if node.hooks is None else node.hooks.names() for node in nodes],
            self.model.calls, torch.get_rng_state().tolist(),
            random.getstate(), np.random.get_state()[1].tolist(), np.random.get_state()[2:],  # noqa: NPY002
        ]  # fmt: skip


# -- what hooks and custom Functions do ---------------------------------------------------------


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
            (inner.sin() * g.detach() + shared * 0.5).sum().backward()
        return inner.grad, None


class _Relu(torch.autograd.Function):
    """The tutorial's: its backward changes a tensor of its own in place."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        grad_input = g.clone()
        grad_input[x < 0] = 0
        return grad_input


def _scratch(run: Run) -> Any:
    """A Function whose backward hands out one and the same buffer each time."""
    buffer = torch.zeros(2)

    class Scratch(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.no_grad():
                return buffer.copy_(g.detach() * 2)

    return Scratch


def _doing(effect: Callable[[Run], object], run: Run) -> Any:
    """A Function that doubles, and has an ``effect`` beside that."""

    class Doing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.left = effect
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            ctx.left(run)
            del ctx.left  # as programs do, to free memory
            return g * 2

    return Doing


def _regrade(run: Run) -> None:
    for leaf in run.leaves:
        if leaf.grad is not None:
            leaf.grad = leaf.grad.detach() * 0.5 + 1


def _clip(run: Run) -> None:
    nn.utils.clip_grad_norm_([leaf for leaf in run.leaves if leaf.grad is not None], 0.5)


def _halve_grads(run: Run) -> None:
    with torch.no_grad():
        for leaf in run.leaves:
            if leaf.grad is not None and leaf.grad.array.flags.writeable:
                leaf.grad.mul_(0.5)


def _train(run: Run) -> None:
    with torch.enable_grad():
        run.model.layer(torch.ones(1, 2)).sum().backward()
    run.optimizer.step()
    run.optimizer.zero_grad()


def _attributes(run: Run) -> None:
    run.model.calls += 1
    run.model.seen = run.model.seen * 1.5


def _statistics(run: Run) -> None:
    run.model.norm(torch.rand(3, 2))


def _hook_the_last(run: Run) -> None:
    run.leaves[1].register_hook(lambda g: g * 1.25)


def _by_data(run: Run) -> None:
    run.leaves[0].data.add_(0.25)
    run.constant.data = run.constant.data * 2


def _in_place(run: Run) -> None:
    with torch.no_grad():
        run.constant.add_(1)
        run.model.seen.mul_(2)


def _by_numpy(run: Run) -> None:
    run.constant.numpy()[0] += 1


def _draw(run: Run) -> None:
    random.random()
    np.random.randn(1)  # noqa: NPY002
    torch.rand(1)


def _fail_at_times(run: Run) -> None:
    run.model.calls += 1
    if run.model.calls % 3 == 2:
        raise ValueError("two of three")


EFFECTS: dict[str, Callable[[Run], object]] = {
    "regrade": _regrade, "clip": _clip, "halve": _halve_grads, "train": _train,
    "attributes": _attributes, "statistics": _statistics, "data": _by_data, "change": _in_place,
    "numpy": _by_numpy, "draw": _draw, "hook": _hook_the_last, "fail": _fail_at_times,
    "forget": lambda run: run.leaf_optimizer.zero_grad(),
    "step": lambda run: run.leaf_optimizer.step(),
}  # fmt: skip
PLAIN_OPS = (
    "mul", "add", "sin", "constant", "leaf", "leaf", "buffer", "relu", "sum", "split", "retained",
)  # fmt: skip
CODE_OPS = (
    "inner", "hooked", "in_place", "after", "drawn", "once", "scratch", "packed", "packed alone",
    "packed late", "checkpoint", "reentrant", "keeps", "keeps", "changes", "changes",
)  # fmt: skip
EFFECT_OPS = tuple(
    f"{place} {name}" for place in ("tensor", "post", "pre", "do") for name in EFFECTS
)


def apply(op: str, a: Any, b: Any, run: Run) -> Any:
    place, _, effect = op.partition(" ")
    if effect and place == "do":
        return _doing(EFFECTS[effect], run).apply(a)
    match op:
        case "mul":
            return a * b
        case "add":
            return a + b
        case "sin":
            return a.sin()
        case "constant":
            return a * run.constant
        case "leaf":
            return a * run.leaves[0]
        case "buffer":
            return a * run.model.seen
        case "sum":
            return a + b.sum()
        case "split":
            first, second = a.split(1)
            return torch.cat([second, first * b[0]])
        case "relu":
            return _Relu.apply(a)
        case "inner":
            return _Inner.apply(a, run.leaves[2])
        case "scratch":
            return _scratch(run).apply(a) + _scratch(run).apply(b)
        case "packed":
            with saved_tensors_hooks(lambda t: t, lambda t: (_draw(run), t)[1]):
                return a.exp()
        case "packed alone":
            y = a.exp()
            _pack(y, run)
            return y
        case "packed late":  # by a hook, of the pass that will read it
            y = a.exp()
            z = y * 1.0
            z.register_hook(lambda g: _pack(y, run))
            return z
        case "checkpoint" | "reentrant":
            return checkpoint(
                lambda x: run.model.norm(torch.stack([x, x * 2])).sum(0) * torch.rand(2),
                a,
                use_reentrant=op == "reentrant",
            )
    y = a + b
    match op:
        case "retained":
            y.retain_grad()
        case "hooked":
            y.register_hook(lambda g: g * 1.5)
        case "keeps":
            y.register_hook(lambda g: setattr(run.model, "kept", g))
        case "changes":  # what another hook was given, perhaps for others, too
            y.register_hook(lambda g: None if run.model.kept is None else halved(run.model.kept))
        case "in_place":
            y.register_hook(halved)
        case "after":
            y.grad_fn.register_hook(lambda sent, received: tuple(s + 1.0 for s in sent))
        case "drawn":
            y.register_hook(lambda g: g + torch.rand(2))
        case "once":
            handle: Any = y.register_hook(lambda g: (handle.remove(), g * 3)[1])
    if effect:
        register = {
            "tensor": y.register_hook,
            "pre": y.grad_fn.register_prehook,
            "post": y.grad_fn.register_hook,
        }[place]
        register(lambda *given: (EFFECTS[effect](run), None)[1])
    return y


def _pack(y: Any, run: Run) -> None:
    """Let the node of ``y`` draw numbers when it reads what it has saved."""
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t.clone(), lambda t: (_draw(run), t)[1])


def halved(g: Any) -> None:
    with torch.no_grad():
        g.mul_(0.5)


class Program(NamedTuple):
    """Ops on values by their numbers; what ``.grad`` is at the start, and what leaves do after."""

    ops: tuple[tuple[str, int, int], ...]
    grads: tuple[str, ...]
    after: str
    create_graph: bool

    def built(self) -> tuple[Any, Run]:
        """The loss of a fresh run of it."""
        run = Run()
        for leaf, grad in zip(run.leaves, self.grads, strict=True):
            if grad == "ones":
                leaf.grad = torch.ones(2)
            elif grad == "expanded":
                leaf.grad = torch.tensor(1.0).expand(2)
        if self.after:
            effect = EFFECTS[self.after]
            run.leaves[0].register_post_accumulate_grad_hook(lambda p: (effect(run), None)[1])
        values = [leaf * 1.0 for leaf in run.leaves[:2]]
        for op, a, b in self.ops:
            values.append(apply(op, values[a % len(values)], values[b % len(values)], run))
        return (values[-1] * values[-2]).sum(), run

    def session(self, budget: int) -> tuple[Session, Run]:
        """A debugger of its pass."""
        root, run = self.built()
        names = Names({f"x{number}": leaf for number, leaf in enumerate(run.leaves)})
        session = Session(root, names=names, history_bytes=budget, create_graph=self.create_graph)
        return session, run

    def plain(self) -> tuple[str, list[Any]]:
        """What a plain pass raises, and leaves behind."""
        root, run = self.built()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ended(lambda: root.backward(create_graph=self.create_graph)), run.state()


def ended(run: Callable[[], object]) -> str:
    """What ``run`` raises, "" for nothing."""
    try:
        run()
    except Exception as error:  # whatever a program may raise
        return f"{type(error).__name__}: {error}"
    return ""


def repr_of(known: Any) -> str:
    """The same as text, with every element of the gradients."""
    if isinstance(known, Value):
        return f"{known.array.tolist()}"
    if isinstance(known, tuple | list):
        return f"[{', '.join(map(repr_of, known))}]"
    if is_dataclass(known):
        return repr_of([getattr(known, field.name) for field in fields(known)])
    return repr(known)


def facts(session: Session) -> list[Any]:
    """All that may not depend on the way that led here."""
    shown = session.snapshot
    details = [session.detail(index) for index in range(session.length)]
    told = [
        (d.status, d.incoming, d.outgoing, d.phases, d.terms, d.hooks, d.saved) for d in details
    ]
    return [shown.leaves, shown.pending, told]


programs = st.builds(
    Program,
    st.lists(
        st.tuples(
            st.sampled_from([*PLAIN_OPS, *CODE_OPS]) | st.sampled_from(EFFECT_OPS),
            st.integers(0, 9),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=7,
    ).map(tuple),
    st.tuples(*[st.sampled_from(["none", "ones", "expanded"])] * 3),
    st.sampled_from(["", "", *EFFECTS]),
    st.booleans(),
)
moves = st.tuples(st.sampled_from(MOVES), st.integers(1, 9)).map(
    lambda pair: (
        pair[0]
        if pair[0] in ("restart", "leave")
        else f"{pair[0]} #{pair[1]}"
        if pair[0] == "enter"
        else f"{pair[0]} {pair[1]}"
    )
)


@settings(deadline=None, max_examples=3 * EXAMPLES)
@given(programs, st.lists(moves | st.sampled_from(STOPS), max_size=16), BUDGETS)
def test_a_position_shows_the_same_on_every_visit(
    program: Program, lines: list[str], budget: int
) -> None:
    session, run = program.session(budget)
    seen: dict[tuple[Any, ...], list[Any]] = {}
    states: dict[int, list[Any]] = {}
    pictures: list[tuple[Any, str]] = []
    phase = 0  # of the outermost pass
    for line in lines:
        assert DEFECT not in session.do(line).text
        shown = session.snapshot
        # a pass inside another one is known by where the ones around it stand, and by its plan
        place = (tuple((f.position, f.length) for f in shown.frames), shown.phase)
        if len(shown.frames) == 1:
            phase = shown.phase
        if not phase:  # looking at a pass inside changes nothing
            state = run.state()
            assert states.setdefault(shown.frames[0].position, state) == state
        if not shown.error:
            known = facts(session)
            assert seen.setdefault(place, known) == known
            pictures.append((known, repr_of(known)))
    for known, told in pictures:
        assert repr_of(known) == told
    session.do("delete")
    assert (ended(session.finish), run.state()) == program.plain()


@settings(deadline=None, max_examples=3 * EXAMPLES)
@given(
    programs,
    st.lists(moves | st.sampled_from(STOPS) | st.sampled_from(EDITS), max_size=16),
    BUDGETS,
)
def test_edits_that_are_undone_leave_a_plain_pass(
    program: Program, lines: list[str], budget: int
) -> None:
    session, run = program.session(budget)
    for line in lines:
        assert DEFECT not in session.do(line).text
    while session.leave():
        pass
    while session.edit.records:
        assert not session.do("undo").error
    session.do("delete")
    assert (ended(session.finish), run.state()) == program.plain()


@settings(deadline=None, max_examples=2 * EXAMPLES)
@given(programs, st.lists(moves | st.sampled_from(EDITS), max_size=12), BUDGETS)
def test_a_pass_that_is_aborted_has_changed_nothing(
    program: Program, lines: list[str], budget: int
) -> None:
    session, run = program.session(budget)
    before = run.state()
    for line in lines:
        session.do(line)
    session.abort()
    assert run.state() == before
