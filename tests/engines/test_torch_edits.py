"""Changes in passes of PyTorch: what follows is what a hook that did the same would have made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.debugger.errors import EditError  # noqa: E402
from gradstep.debugger.session import Session  # noqa: E402
from gradstep.engines.pytorch.engine import PYTORCH  # noqa: E402
from gradstep.engines.pytorch.tensors import same_bits  # noqa: E402
from gradstep.program.calls import InterceptedCall, intercepting  # noqa: E402
from tests.engines.test_torch_graphs import EVERY_CALL  # noqa: E402  # imports torch

pytestmark = pytest.mark.torch
Gradients = list[Any]


class Split(torch.autograd.Function):
    """Two outputs; one of them is often not used."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor, x.sin()

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        (x,) = ctx.saved_tensors
        return first * ctx.factor + second * x.cos(), None


UNARY: list[Callable[[Any], Any]] = [
    lambda x: x.sin(),
    lambda x: x.t().exp().t(),
    lambda x: x[1:].sum(0, keepdim=True).expand(3, 3),
    lambda x: torch.cat(x.unbind(0)).reshape(3, 3),
    lambda x: Split.apply(x, 0.5)[0],
    lambda x: sum(Split.apply(x, 1.5)),
    lambda x: x.clone().mul_(0.7),
    lambda x: x.clone().index_fill_(0, torch.tensor([1]), 0.25),
    lambda x: x.max(0, keepdim=True).values + x,
    lambda x: x.double().tanh().float(),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x @ y,
    lambda x, y: x - y[0],
    lambda x, y: torch.where(x > y, x, y),
    lambda x, y: x.clone().add_(y),
]
programs = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.booleans()),
    min_size=2, max_size=9,
)  # fmt: skip


def build(program: list[tuple[int, int, int, bool]]) -> tuple[Any, Gradients]:
    """A random graph over shared leaves, some tensors with hooks: its loss, and the leaves."""
    generator = torch.Generator().manual_seed(len(program))
    leaves = [torch.randn(3, 3, generator=generator, requires_grad=True) for _ in range(3)]
    leaves[0].grad = torch.ones(3, 3)
    values = list(leaves)
    for kind, first, second, hooked in program:
        x, y = values[first % len(values)], values[second % len(values)]
        which = kind % (len(UNARY) + len(BINARY))
        made = UNARY[which](x) if which < len(UNARY) else BINARY[which - len(UNARY)](x, y)
        if hooked:
            made.register_hook(lambda g: g * 0.9)
        values.append(made)
    return sum(value.sum() for value in values[3:]), leaves


def gradients(leaves: Gradients) -> Gradients:
    return [leaf.grad for leaf in leaves]


def all_same(one: Gradients, other: Gradients) -> bool:
    return all(map(same_bits, one, other))


def plainly(program: Any, change: Callable[[list[Any]], None] = lambda nodes: None) -> Gradients:
    """The gradients of PyTorch alone; ``change`` may register hooks on the nodes of the plan."""
    loss, leaves = build(program)
    change([node.origin for node in PYTORCH.plan(PYTORCH.tensors([loss])).order])
    loss.backward()
    return gradients(leaves)


@given(programs, st.integers(0, 60), st.integers(0, 60))
def test_going_to_and_fro_comes_to_the_same(program: Any, there: int, back: int) -> None:
    loss, leaves = build(program)
    session = Session(loss, names={})
    session.next(there % session.length + 1)
    session.back(back % session.length)
    session.continue_()
    shown = {index: session.detail(index).incoming for index in range(session.length)}
    session.restart()
    session.continue_()
    assert {index: session.detail(index).incoming for index in range(session.length)} == shown
    session.finish()
    assert all_same(gradients(leaves), plainly(program))


@given(programs, st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_a_scaled_sum_flows_on_as_if_a_hook_had_scaled_it(
    program: Any, ran: int, at: int, finish: bool
) -> None:
    loss, leaves = build(program)
    session = Session(loss, names={})
    index = at % session.length
    session.next(max(index, ran % session.length + 1))
    session.jump(index)
    if session.cursor.driver.pending.get(session.order[index]) is None:
        session.abort()  # a node with several outputs, or one to which nothing undefined came
        return
    session.edit.scale(index, 0.5)
    if not finish:
        session.continue_()
    session.finish()

    def scaled(nodes: list[Any]) -> None:
        hook = lambda given: tuple(None if g is None else g * 0.5 for g in given)  # noqa: E731
        first = nodes[index]
        if hasattr(first, "variable"):
            first.variable.register_hook(lambda g: g * 0.5)
        else:
            first.register_prehook(hook)

    # what is scaled waits before the hooks of the program, which scale as well
    found, wanted = gradients(leaves), plainly(program, scaled)
    assert all(
        (a is None) == (b is None) and (a is None or torch.allclose(a, b, rtol=1e-5, atol=1e-6))
        for a, b in zip(found, wanted, strict=True)
    )


@given(programs, st.integers(0, 60), st.integers(0, 60))
def test_an_undone_change_leaves_the_plain_pass(program: Any, ran: int, at: int) -> None:
    loss, leaves = build(program)
    session = Session(loss, names={})
    index = at % session.length
    session.next(max(index, ran % session.length + 1))
    session.jump(index)
    try:
        session.edit.zero(index)
    except EditError:
        session.abort()
        return
    session.next(2)
    session.edit.undo()
    session.finish()
    assert all_same(gradients(leaves), plainly(program))


@given(programs, st.integers(0, 60))
def test_an_aborted_pass_has_changed_no_gradient(program: Any, ran: int) -> None:
    loss, leaves = build(program)
    before = gradients(leaves)
    numbers = [None if g is None else g.clone() for g in before]
    session = Session(loss, names={})
    session.next(ran % session.length + 1)
    session.abort()
    assert all(a is b for a, b in zip(gradients(leaves), before, strict=True))
    assert all_same(before, numbers)


@given(programs, st.integers(0, 60))
def test_a_muted_edge_sends_nothing(program: Any, at: int) -> None:
    loss, leaves = build(program)
    session = Session(loss, names={})
    index = at % session.length
    session.jump(index)
    edges = [nr for nr, edge in enumerate(session.order[index].edges) if edge is not None]
    if not edges:
        session.abort()
        return
    session.edit.mute_edge(index, edges[0])
    session.continue_()
    assert session.detail(index).outgoing[edges[0]].value is None
    session.finish()

    def muted(nodes: list[Any]) -> None:
        def hook(sent: Any, arrived: Any) -> Any:
            nr = edges[0]
            if nr >= len(sent) or sent[nr] is None:
                return None
            return (*sent[:nr], torch.zeros_like(sent[nr]), *sent[nr + 1 :])

        nodes[index].register_hook(hook)

    def numbers(found: Gradients) -> Gradients:
        return [torch.zeros(3, 3) if g is None else g for g in found]

    found, wanted = numbers(gradients(leaves)), numbers(plainly(program, muted))
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_what_a_hook_changed_is_shown_at_its_node() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: g * 3)
    session = Session(y.sum(), names={"x": x, "y": y})
    session.continue_()
    (index,) = session.breakpoints.locate("exp")
    assert [phase.kind for phase in session.phases(index)][:2] == ["hook", "formula"]
    session.finish()
    assert torch.equal(x.grad, 3 * x.detach().exp())


def test_a_difference_needs_no_second_run_of_what_was_seen() -> None:
    calls = []
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: calls.append(1))
    session = Session((x * 2).sum(), names={"x": x})
    session.continue_()
    session.restart()
    session.edit.scale(0, 2.0)
    session.continue_()
    (found,) = session.edit.difference()
    assert (found.name, found.relative) == ("x", 1.0)
    assert len(calls) == 2
    session.finish()


def test_the_unedited_run_that_was_never_seen_runs_for_the_difference() -> None:
    x = torch.ones(2, requires_grad=True)
    session = Session((x * 2).sum(), names={"x": x})
    session.edit.scale(0, 2.0)
    session.continue_()
    (found,) = session.edit.difference()
    assert (found.name, found.relative) == ("x", 1.0)
    assert torch.equal(x.grad, torch.full((2,), 4.0))
    session.finish()
    assert torch.equal(x.grad, torch.full((2,), 4.0))


def test_the_grad_of_a_leaf_can_be_set() -> None:
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    session = Session((x * 2).sum(), names={"x": x})
    session.continue_()
    session.edit.set(session.length - 1, 7, grad=True)
    session.finish()
    assert torch.equal(x.grad, torch.full((2,), 7, dtype=torch.bfloat16))


def test_what_grad_returns_and_only_some_inputs_get_follow_a_change() -> None:
    def of(call: Callable[[Any, Any, Any], Any], scaled: bool) -> Any:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        z = (y * y).sum()

        def handle(found: InterceptedCall) -> Any:
            session = Session.of_call(found.call, names=found.names, call=1)
            session.next(2)
            session.back()
            if scaled:
                session.edit.scale(1, 2.0)
            session.finish()
            return session.gradients if found.call.is_grad else True

        with intercepting(handle, EVERY_CALL):
            return call(x, y, z)

    def backward(x: Any, y: Any, z: Any) -> Any:
        z.backward(inputs=[x])
        return x.grad

    for call in (
        backward,
        lambda x, y, z: torch.autograd.grad(z, x)[0],
        lambda x, y, z: torch.autograd.grad(z, [y, x])[0],
    ):
        assert torch.equal(of(call, True), 2 * of(call, False))


def test_a_pass_that_makes_a_graph_is_not_edited() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session((x * x).exp().sum(), names={"x": x}, create_graph=True)
    session.next()
    with pytest.raises(EditError, match="it makes a graph"):
        session.edit.scale(1, 2.0)
    session.finish()
