"""Changes in random passes, on both engines: what follows is what a hook that did the same would
have made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep import Session
from gradstep.contract.lookup import engine_of
from gradstep.contract.protocol import Engine

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
UNARY: list[Callable[[Any, Any], Any]] = [
    lambda torch, x: x.sin(),
    lambda torch, x: x.t().exp().t(),
    lambda torch, x: x[1:].sum(0, keepdim=True).expand(3, 3),
    lambda torch, x: torch.cat(x.unbind(0)).reshape(3, 3),
    lambda torch, x: x.split(1)[0] + x,  # two of the three results are not used
    lambda torch, x: x.clone().mul_(0.7),
    lambda torch, x: x.clone().index_fill_(0, torch.tensor([1]), 0.25),
    lambda torch, x: x.max(0, keepdim=True).values + x,
    lambda torch, x: x.double().tanh().float(),
]
BINARY: list[Callable[[Any, Any, Any], Any]] = [
    lambda torch, x, y: x * y,
    lambda torch, x, y: x @ y,
    lambda torch, x, y: x - y[0],
    lambda torch, x, y: torch.where(x > y, x, y),
    lambda torch, x, y: x.clone().add_(y),
]
Program = list[tuple[int, int, int, bool]]
programs = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.booleans()),
    min_size=2,
    max_size=9,
)


def build(torch: Any, program: Program) -> tuple[Any, list[Any]]:
    """A random graph over shared leaves, some tensors with hooks: its loss, and the leaves."""
    torch.manual_seed(len(program))
    leaves = [torch.randn(3, 3).requires_grad_() for _ in range(3)]
    leaves[0].grad = torch.ones(3, 3)
    values = list(leaves)
    for kind, first, second, hooked in program:
        x, y = values[first % len(values)], values[second % len(values)]
        which = kind % (len(UNARY) + len(BINARY))
        if which < len(UNARY):
            made = UNARY[which](torch, x)
        else:
            made = BINARY[which - len(UNARY)](torch, x, y)
        if hooked:
            made.register_hook(lambda g: None if g is None else g * 0.9)
        values.append(made)
    return sum(value.sum() for value in values[3:]), leaves


def gradients(torch: Any, leaves: list[Any]) -> list[Any]:
    return [torch.zeros(3, 3) if leaf.grad is None else leaf.grad for leaf in leaves]


def plainly(torch: Any, program: Program, change: Callable[[list[Any]], None]) -> list[Any]:
    """The gradients without a debugger; ``change`` may register hooks on the nodes of the plan."""
    loss, leaves = build(torch, program)
    engine: Engine = engine_of([loss])
    change(
        [
            getattr(node, "origin", node)
            for node in engine.reading.plan(engine.reading.tensors([loss])).order
        ]
    )
    loss.backward()
    return gradients(torch, leaves)


@REUSED
@given(programs, st.integers(0, 60), st.integers(0, 60), st.booleans(), st.sampled_from([0, 2**30]))
def test_a_scaled_sum_flows_on_as_if_a_hook_had_scaled_it(
    torch: Any, program: Program, ran: int, at: int, finish: bool, budget: int
) -> None:
    loss, leaves = build(torch, program)
    session = Session(loss, names={}, history_bytes=budget)
    index = at % session.length
    session.next(max(index, ran % session.length + 1))
    session.jump(index)
    if session.cursor.driver.state.pending.get(session.order[index]) is None:
        session.abort()  # a node with several outputs, or one to which nothing undefined came
        return
    session.edit.scale(index, 0.5)
    session.next(ran)
    shown = [(each.incoming, each.outgoing) for each in map(session.detail, range(session.length))]
    session.back(at)
    session.next(at)
    session.jump(min(index + ran, session.length))
    again = [(each.incoming, each.outgoing) for each in map(session.detail, range(session.length))]
    assert again == shown
    if not finish:
        session.continue_()
    session.finish()

    def scaled(nodes: list[Any]) -> None:
        first = nodes[index]
        if hasattr(first, "variable"):
            first.variable.register_hook(lambda g: g * 0.5)
        else:
            first.register_prehook(
                lambda given: tuple(None if g is None else g * 0.5 for g in given)
            )

    # what is scaled waits before the hooks of the program, which scale as well
    found, wanted = gradients(torch, leaves), plainly(torch, program, scaled)
    assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(found, wanted))


@REUSED
@given(programs, st.integers(0, 60))
def test_a_muted_edge_sends_nothing(torch: Any, program: Program, at: int) -> None:
    loss, leaves = build(torch, program)
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

    found, wanted = gradients(torch, leaves), plainly(torch, program, muted)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))


@pytest.mark.parametrize("edited", [False, True])
def test_what_grad_returns_and_only_some_inputs_get_follow_a_change(
    torch: Any, edited: bool
) -> None:
    from gradstep.program.calls import CallSelector, InterceptedCall, intercepting

    def handle(found: InterceptedCall) -> Any:
        session = Session.of_call(found.call, names=found.names, call=1)
        session.next(2)
        session.back()
        if edited:
            session.edit.scale(1, 2.0)
        session.finish()
        return session.gradients if found.call.is_grad else True

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = (y * y).sum()
    plain = (2 * y * y).detach() * (2 if edited else 1)
    with intercepting(handle, CallSelector(None, ("backward", "grad"))):
        of_x = torch.autograd.grad(z, x, retain_graph=True)[0]
        of_both = torch.autograd.grad(z, [y, x], retain_graph=True)
        z.backward(inputs=[x])
    for each in (of_x, of_both[1], x.grad):
        assert torch.allclose(each, plain)
    assert torch.allclose(of_both[0] * y.detach(), plain)
