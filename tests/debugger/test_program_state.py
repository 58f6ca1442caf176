"""What user code changes while a pass is debugged is undone by going back, and done again,
once, by going on: whatever it is that it changes, and wherever it runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core import nn, optim
from autograd_core.autograd.call import make_call
from gradstep.capturing import Names
from gradstep.console.console import DEFECT
from gradstep.console.session import Session
from gradstep.debugger.history.observed_pass import ObservedPass


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("seen", torch.tensor([1.0, 2.0]))
        self.calls = 0


class Program:
    """Three leaves, of which two have a ``.grad`` from before, and what a hook may get hold of."""

    def __init__(self) -> None:
        torch.manual_seed(7)
        np.random.seed(7)  # noqa: NPY002
        random.seed(7)
        self.x = torch.tensor([2.0, 3.0], requires_grad=True)
        self.w = torch.tensor([[1.0, -1.0], [0.5, 2.0]], requires_grad=True)
        self.v = torch.tensor([0.5, 0.25], requires_grad=True)
        self.x.grad = torch.tensor([1.0, 1.0])
        self.w.grad = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.plain = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.empty = torch.tensor([])
        self.model = Model()
        for p in self.model.parameters():
            p.grad = torch.ones_like(p)
        self.sgd = optim.SGD([self.w], lr=0.1, momentum=0.9)
        self.adam = optim.Adam(self.model.parameters(), lr=0.1)
        self.generator = torch.Generator()
        self.handle: Any = None
        self.saved: dict[str, Any] = {}

    def loss(self, place: str, change: Callable[[Program], object]) -> Any:
        """A loss whose backward pass runs ``change`` once, at a ``place``."""

        def hook(*given: Any) -> None:
            change(self)

        y = self.x * self.v
        match place:
            case "tensor hook":
                self.handle = y.register_hook(hook)
            case "pre hook":
                self.handle = y.grad_fn.register_prehook(hook)
            case "post hook":
                self.handle = y.grad_fn.register_hook(hook)
            case "accumulate hook":
                self.handle = self.v.register_post_accumulate_grad_hook(hook)
            case "function":
                y = _calling(hook).apply(y)
            case "inner pass":
                y = _calling(hook, inside=True).apply(y)
            case "unpack hook":
                with torch.autograd.graph.saved_tensors_hooks(
                    lambda t: t, lambda t: (hook(), t)[1]
                ):
                    y = y.exp()
        return (y @ self.w).sum()

    def state(self) -> list[Any]:
        """All that :meth:`loss` may have changed."""
        every = [self.x, self.w, self.v, self.plain, self.empty, *self.model.parameters()]
        every += self.model.buffers()
        for optimizer in (self.sgd, self.adam):
            for remembered in optimizer.state.values():
                every += [t for t in remembered.values() if isinstance(t, torch.Tensor)]
        hooks = [
            [node.hooks.names() if node is not None and node.hooks is not None else ()]
            for node in (leaf.edge for leaf in (self.x, self.w, self.v))
        ]
        return [
            [(t.array.tobytes(), t.shape, t.requires_grad, t._version) for t in every],
            [None if t.grad is None else (t.grad.array.tobytes(), t.grad._version) for t in every],
            sorted(name for name in vars(self.model) if not name.startswith("_")),
            list(self.model._buffers), self.model.calls, self.model.training, hooks,
            torch.get_rng_state().tolist(), self.generator.get_state().tolist(),
            random.getstate(), np.random.get_state()[1].tolist(),  # noqa: NPY002
        ]  # fmt: skip


def _calling(hook: Callable[..., None], inside: bool = False) -> Any:
    class Calling(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.left = [hook]
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            call = ctx.left
            del ctx.left  # as programs do, to free memory
            if inside:
                with torch.enable_grad():
                    inner = (x.detach().requires_grad_(True) * 2).sum()
                    inner.register_hook(call[0])
                    inner.backward()
            else:
                call[0]()
            return g * 2

    return Calling


def no_grad(change: Callable[[Program], object]) -> Callable[[Program], object]:
    def changed(p: Program) -> None:
        with torch.no_grad():
            change(p)

    return changed


def assign(holder: Any, name: str, value: Any) -> None:
    setattr(holder, name, value)


def by_numpy(p: Program) -> None:
    p.x.grad.numpy()[...] *= 3
    np.asarray(p.w.detach())[0, 1] = 9


def backward_inside(p: Program) -> None:
    with torch.enable_grad():
        (p.w * p.w).sum().backward()


CHANGES: dict[str, Callable[[Program], object]] = {
    ".grad in place": lambda p: p.x.grad.mul_(0.5),
    ".grad replaced": lambda p: assign(p.x, "grad", p.x.grad * 2),
    ".grad taken away": lambda p: assign(p.w, "grad", None),
    ".grad by its .data": lambda p: p.x.grad.data.clamp_(-0.5, 0.5),
    ".grad by a view": lambda p: p.w.grad[1].zero_(),
    ".grad by an index": lambda p: p.w.grad.__setitem__((0, 1), 7.0),
    ".grad clipped": lambda p: nn.utils.clip_grad_norm_([p.x, p.w], 0.1),
    ".grad clipped by value": lambda p: nn.utils.clip_grad_value_([p.x, p.w], 0.1),
    "data in place": no_grad(lambda p: p.w.add_(1)),
    "data by .data": lambda p: p.w.data.mul_(3),
    "data replaced": lambda p: assign(p.w, "data", torch.zeros(2, 2)),
    "data by NumPy": by_numpy,
    "data by an init": no_grad(lambda p: nn.init.normal_(p.w)),
    "a buffer in place": lambda p: p.model.seen.add_(1),
    "a buffer replaced": lambda p: assign(p.model, "seen", p.model.seen * 2),
    "a buffer added": lambda p: p.model.register_buffer("late", torch.ones(1)),
    "running statistics": no_grad(lambda p: p.model.norm(torch.rand(4, 2))),
    "an attribute": lambda p: assign(p.model, "calls", p.model.calls + 1),
    "an attribute added": lambda p: assign(p.model, "note", "here"),
    "an attribute deleted": lambda p: delattr(p.model, "seen"),
    "the mode of a module": lambda p: p.model.eval(),
    "a state dict": lambda p: p.model.load_state_dict(Model().state_dict()),
    "a step of SGD": lambda p: p.sgd.step(),
    "two steps of SGD": lambda p: (p.sgd.step(), p.sgd.step()),
    "a step of Adam": lambda p: p.adam.step(),
    "gradients forgotten": lambda p: (p.sgd.zero_grad(), p.adam.zero_grad(set_to_none=False)),
    "random numbers": lambda p: torch.rand(3),
    "random numbers of a generator": lambda p: torch.rand(3, generator=p.generator),
    "random numbers of NumPy": lambda p: np.random.randn(3),  # noqa: NPY002
    "random numbers of Python": lambda p: random.random(),
    "a seed": lambda p: (torch.manual_seed(1), p.generator.manual_seed(2)),
    "a plain tensor": lambda p: p.plain.exp_(),
    "a result": lambda p: torch.add(torch.ones(2, 3), 1.0, out=p.plain),
    "a size": lambda p: p.plain.resize_(2, 2),
    "a resized result": lambda p: torch.mul(torch.ones(2), 2.0, out=p.empty),
    "a view of itself": lambda p: p.plain.t_(),
    "whether a gradient is needed": lambda p: p.plain.requires_grad_(True),
    "a hook removed": lambda p: None if p.handle is None else p.handle.remove(),
    "a hook added": lambda p: p.w.register_hook(lambda g: g * 2),
    "a gradient accumulated inside": backward_inside,
}
PLACES = (
    "tensor hook", "pre hook", "post hook", "accumulate hook", "function", "inner pass",
    "unpack hook",
)  # fmt: skip


def plain_state(place: str, change: Callable[[Program], object]) -> list[Any]:
    program = Program()
    program.loss(place, change).backward()
    return program.state()


@pytest.mark.sampled(50)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_going_back_undoes_what_code_of_the_users_changed(
    place: str, change: Callable[[Program], object]
) -> None:
    program = Program()
    loss = program.loss(place, change)
    session = Session(loss, history_bytes=0)
    before = program.state()
    session.continue_()
    done = program.state()
    for _ in range(2):
        session.restart()
        assert program.state() == before
        session.continue_()
        assert program.state() == done
    session.jump(2)
    session.edit.scale(2, 2.0)
    session.continue_()
    session.edit.undo()
    session.restart()
    assert program.state() == before
    session.finish()
    assert program.state() == done == plain_state(place, change)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_pass_that_is_aborted_or_only_drawn_leaves_no_trace(
    place: str, change: Callable[[Program], object]
) -> None:
    program = Program()
    loss = program.loss(place, change)
    before = program.state()
    session = Session(loss)
    session.continue_()
    session.abort()
    assert program.state() == before

    program = Program()
    loss = program.loss(place, change)
    with ObservedPass(make_call(loss, None, None, False), Names({})) as seen:
        seen.run()
    assert program.state() == before


def exp(x: Any) -> Any:
    return x.exp()


def at_one(x: Any) -> Any:
    return x[torch.tensor([1, 0])]


def raw_of(y: Any) -> Any:
    """What the node of ``y`` keeps, for hooks to be set on it."""
    node = y.grad_fn
    match node.name():
        case "ExpBackward0":
            return node._raw_saved_result
        case "IndexBackward0":
            return node._raw_saved_indices[0]
    return node._raw_saved_tensors[0]


@pytest.mark.parametrize("op", [exp, at_one, _calling(lambda: None).apply])
@pytest.mark.parametrize("late", [False, True])
def test_reading_a_value_that_was_packed_by_itself_is_code_of_the_users(
    op: Callable[[Any], Any], late: bool
) -> None:
    def built(log: Any) -> tuple[Any, Any]:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = op(x)

        def pack(*given: Any) -> None:
            raw_of(y).register_hooks(lambda t: t.clone(), lambda t: (log.add_(1), t)[1])

        z = y * 1.0
        if late:  # while the pass is recorded
            z.register_hook(pack)
        else:
            pack()
        return x, z.sum()

    counted, counted_again = torch.zeros(()), torch.zeros(())
    x, loss = built(counted)
    loss.backward()
    assert counted.item() == 1
    other, loss = built(counted_again)
    session = Session(loss, history_bytes=0)
    for _ in range(2):
        session.continue_()
        assert counted_again.item() == 1
        session.restart()
        assert counted_again.item() == 0
    session.edit.scale(0, 2.0)
    session.continue_()
    assert not session.snapshot.error
    session.edit.undo()
    session.finish()
    assert counted_again.item() == 1
    assert other.grad.tolist() == x.grad.tolist()


# -- what is shown of it ------------------------------------------------------------------------


def halving() -> tuple[Session, Any, Any]:
    """A pass in which a hook halves the ``.grad`` of a leaf that is yet to come."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0], requires_grad=True)
    x.grad = torch.ones(2)
    y = x * 1.0
    y.register_hook(lambda g: (x.grad.mul_(0.5), None)[1])
    return Session((y * w).sum(), names={"x": x, "w": w}), x, w


def test_the_grad_that_is_shown_is_the_one_that_is_there() -> None:
    session, x, _ = halving()
    place = next(i for i in range(session.length) if session.graph.address(i) == "x")
    seen = []
    for move in [*[session.next] * session.length, *[session.back] * session.length]:
        move()
        leaf = session.leaf(place)
        rows = {each.name: each for each in session.snapshot.leaves}
        assert rows["x"] == leaf
        assert leaf.now.array.tolist() == x.grad.array.tolist()
        seen.append(leaf.now.text())
    assert seen == ["[1, 1]"] * 3 + ["[0.5, 0.5]", "[1.5, 1.5]", "[0.5, 0.5]"] + ["[1, 1]"] * 4


def test_the_difference_an_edit_makes_is_that_of_two_whole_runs() -> None:
    session, _, _ = halving()
    session.reply("scale 2")
    session.continue_()
    found = {each.name: each.norm for each in session.edit.difference()}
    assert found["x"] == pytest.approx(np.sqrt(2))  # 2.5 instead of 1.5, twice
    assert found["w"] == pytest.approx(np.linalg.norm([2.0, 3.0]))
    assert session.edit.called_for_difference == (3,)


def test_a_leaf_that_was_first_seen_from_inside_its_node_is_shown_with_what_waits() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    session = Session((x * 3.0).sum(), names=Names({"x": x}))
    session.next(session.length - 1)
    (expected,) = session.snapshot.leaves
    session = Session((x * 3.0).sum(), names=Names({"x": x}))
    session.next(session.length)
    assert session.snapshot.leaves[0].now is not None
    session.step_back()
    assert session.snapshot.leaves[0].pending is None
    session.step_back()
    assert (session.position, session.snapshot.phase) == (session.length - 1, 0)
    assert session.snapshot.leaves == (expected,)


def test_a_leaf_is_shown_with_what_a_hook_elsewhere_made_of_what_waits_for_it() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = (x * 2.0).exp()
    z.register_hook(lambda g: (g.mul_(2.0), None)[1])
    session = Session(((x + z) * 1.0).sum(), names=Names({"x": x}))
    totals = []
    for _ in range(session.length):
        (leaf,) = session.snapshot.leaves
        totals.append(leaf.pending and leaf.pending.text())
        session.next()
    assert "[1, 1]" in totals
    assert totals[totals.index("[1, 1]") + 1] == "[2, 2]"


@pytest.mark.parametrize(
    ("lines", "called"),
    [
        (["continue", "restart", "scale 2"], "are called again"),
        (["continue", "scale x.grad 2", "restart", "scale 2", "undo"], ""),
        (["scale 2", "continue", "restart", "undo"], "are called again"),
        (["scale 2", "continue", "difference"], "were called for this"),
        (["continue", "abort"], "have run"),
        (["abort"], ""),
    ],
)
def test_what_is_not_put_back_is_said_where_it_matters(lines: list[str], called: str) -> None:
    session, _, _ = halving()
    for line in lines:
        reply = session.reply(line)
    assert not reply.error
    said = (
        f"the hooks or Functions of #4 {called}: .grad, tensors, modules, optimizers and random "
        f"state are restored; other changes (Python objects, files, NumPy arrays) are not"
    )
    assert ("restored" in reply.text) == bool(called)
    assert not called or said in reply.text


def test_a_run_without_edits_that_raises_is_an_error_message() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3

    def hook(g: Any) -> None:
        if g.item() < 2:
            raise ValueError("too small")

    y.register_hook(hook)
    session = Session(y * 1.0)
    session.reply("scale 5")
    session.reply("continue")
    reply = session.reply("difference")
    assert reply.error
    assert reply.text.splitlines()[-1].endswith(
        "the run without changes cannot be compared: #2 raised ValueError: too small"
    )
    assert DEFECT not in reply.text
    session.finish()
    assert x.grad.item() == 15


class Scratch(torch.autograd.Function):
    """Doubles; its backward hands out one and the same buffer each time, which is a mistake."""

    buffer = torch.zeros(2)

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return Scratch.buffer.copy_(g * 2)


def test_a_gradient_that_another_node_overwrites_is_seen_to_change() -> None:
    def built() -> tuple[Any, Any]:
        x, y = (torch.tensor([n, n], requires_grad=True) for n in (1.0, 2.0))
        a, b = x * 3.0, y * 5.0
        one, two = Scratch.apply(a), Scratch.apply(b)
        return (one * 7.0 + two).sum(), (x, y)

    loss, plain = built()
    loss.backward()
    loss, leaves = built()
    session = Session(loss)
    rounds = []
    for _ in range(2):
        seen = []
        while session.position < session.length:
            session.next()
            address, shown = session.graph.address, session.snapshot
            waiting = {address(each.index): each.total.text() for each in shown.pending}
            seen.append(waiting)
        rounds.append(seen)
        session.restart()
    assert rounds[0] == rounds[1]
    assert [each.get("mul:2") for each in rounds[0]][3:6] == ["[2, 2]", "[14, 14]", None]
    session.finish()
    for mine, expected in zip(leaves, plain, strict=True):
        assert mine.grad.array.tolist() == expected.grad.array.tolist()


# -- gradients that cannot be written to --------------------------------------------------------


def test_an_expanded_gradient_is_gone_back_over() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    session = Session(x.sum(), create_graph=True)
    session.next(2)
    assert x.grad.array.strides == (0,)
    session.back(2)
    assert x.grad is None
    session.next(2)
    session.finish()
    assert x.grad.tolist() == [1, 1, 1]


def test_an_expanded_leaf_with_a_hook_is_gone_back_over() -> None:
    x = torch.tensor(1.0).expand(3).detach().requires_grad_(True)
    x.register_post_accumulate_grad_hook(lambda leaf: assign(leaf, "grad", leaf.grad * 2))
    session = Session((x * x).sum())
    session.next(9)
    session.back(9)
    assert x.grad is None
    session.finish()
    assert x.grad.tolist() == [4, 4, 4]


def test_an_element_that_is_a_leaf_is_gone_back_over() -> None:
    x = torch.tensor([3.0, 2.0]).unbind(0)[0].requires_grad_(True)
    x.register_post_accumulate_grad_hook(lambda leaf: assign(leaf, "data", leaf.data * 2))
    session = Session(x * x)
    session.next(9)
    session.back(9)
    assert (x.item(), x.grad) == (3, None)
    session.finish()
    assert (x.item(), x.grad.item()) == (6, 6)


@pytest.mark.parametrize("lines", [[], ["continue"], ["next", "next"], ["jump 3", "restart"]])
def test_a_hook_that_raises_is_called_once_and_what_it_did_stays(lines: list[str]) -> None:
    def ended(stepped: bool) -> list[Any]:
        torch.manual_seed(2)
        x, buffer, calls = torch.ones(2, requires_grad=True), torch.zeros(2), []

        def hook(g: Any) -> None:
            calls.append(g.tolist())
            buffer.add_(torch.rand(2))
            if len(calls) == 1:
                raise ValueError("once")

        y = x * 2
        y.register_hook(hook)
        loss = y.sum()
        session = Session(loss, names={}) if stepped else None
        for line in lines if session else ():
            session.reply(line)
            assert buffer.tolist() == [0, 0]  # as before the node, where the session stands
        with pytest.raises(ValueError, match="once") as raised:
            session.finish() if session else loss.backward()
        assert raised.traceback[-1].name == "hook"
        return [calls, buffer.tolist(), x.grad, torch.get_rng_state().tolist()]

    assert ended(stepped=True) == ended(stepped=False)


def test_a_hook_that_raised_is_called_again_once_something_has_changed() -> None:
    x, buffer = torch.ones(2, requires_grad=True), torch.zeros(2)

    def hook(g: Any) -> None:
        buffer.add_(1)
        if g[0] == 1:
            raise ValueError("one")

    y = x * 2
    y.register_hook(hook)
    session = Session(y.sum(), names={})
    assert "raised ValueError" in session.reply("continue").text
    session.edit.scale(session.position, 3.0)
    session.finish()
    assert x.grad.tolist() == [6, 6]
    assert buffer.tolist() == [1, 1]


@pytest.mark.parametrize("place", ["tensor", "post"])
@pytest.mark.parametrize("lines", [[], ["next"], ["continue"], ["continue", "restart"]])
def test_a_pass_that_raises_has_freed_what_ran_as_a_plain_one(place: str, lines: list[str]) -> None:
    def freed(stepped: bool) -> list[bool]:
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        z = y.tanh()

        def refuse(*given: Any) -> None:
            raise ValueError("no")

        z.register_hook(refuse) if place == "tensor" else z.grad_fn.register_hook(refuse)
        w = z.sin()
        session = Session(w.sum(), names={}) if stepped else None
        for line in lines if session else ():
            session.reply(line)
        with pytest.raises(ValueError, match="no"):
            session.finish() if session else w.sum().backward()
        return [each.grad_fn.is_freed for each in (w, z, y)]

    assert freed(stepped=True) == freed(stepped=False) == [True, place == "post", False]


def test_moving_in_a_pass_inside_that_raised_calls_no_hook_again() -> None:
    x, calls = torch.ones(2, requires_grad=True), []

    def refuse(g: Any) -> None:
        calls.append(g)
        raise ValueError("no")

    def hook(g: Any) -> None:
        with torch.enable_grad():
            y = x.exp()
            y.register_hook(refuse)
            y.sum().backward()

    z = x * 2
    z.register_hook(hook)
    session = Session(z.sum(), names={})
    for line in ("continue", "enter", "next", "continue", "leave", "next"):
        session.reply(line)
    with pytest.raises(ValueError, match="no"):
        session.finish()
    assert len(calls) == 1


def test_a_pass_that_makes_a_graph_is_certified_though_code_wrote_over_its_gradients() -> None:
    buffer = torch.zeros(2)

    class Buffered(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.no_grad():
                return buffer.copy_(g * 2)

    x = torch.ones(2, requires_grad=True)
    y = Buffered.apply(x.exp())
    session = Session(Buffered.apply(y * y).sum(), create_graph=True, names={})
    session.continue_()
    assert session.certificate().different == ()
    session.finish()
