"""A pass that is run for its graph: what is known after each node, and what stays as it was."""

from __future__ import annotations

import pytest

import autograd_core as torch
from autograd_core.autograd.call import make_call
from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of
from gradstep.debugger.history import observed_pass
from gradstep.debugger.history.observed_pass import ObservedPass, graph_of_call
from gradstep.debugger.pass_session import PassSession


def program():
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    return x, w, torch.exp(x * w) * w


def observe(y, inputs=()):
    call = make_call(y, None, None, False)
    return ObservedPass(call._replace(inputs=tuple(inputs)), Names({}))


def test_gradients_are_known_as_far_as_the_pass_has_run():
    *_, y = program()
    with observe(y) as observed:
        known = []
        for stop in range(len(observed.order) + 1):
            observed.run(stop)
            known.append(sorted(i for i in observed.graph("backward").statistics if i < 5))
    assert known == [list(range(stop)) for stop in range(len(known))]


def test_gradients_stand_at_their_nodes_when_only_a_part_runs():
    """Of a pass for some inputs only, other nodes run, in other places of the order."""
    _, w, y = program()
    with observe(y, inputs=[w]) as observed:
        observed.run()
        graph = observed.graph("backward")
        names = [node.name() for node in observed.order]
    known = {graph.names[id] for id in graph.orders if id in graph.statistics}
    assert known == {name.removeprefix("torch::autograd::") for name in names}


def test_release_frees_what_the_call_would_have_freed():
    *_, y = program()
    observed = observe(y)
    observed.run()
    observed.release()
    graph = observed.graph("backward")
    assert {value.state for saved in graph.saved.values() for value in saved} == {"freed"}


def test_steps_that_were_dropped_are_described_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    x = torch.ones(1000, requires_grad=True)
    y = x
    for _ in range(30):
        y = y * 2
    y = y.sum()
    session = PassSession(y, names={}, history_bytes=20_000)
    session.jump(session.length)
    assert session.cursor.history.usage.dropped > 10
    monkeypatch.setattr(observed_pass, "_HELD", 10_000)
    counts = []
    numbers = engine_of([y]).numbers
    usual = type(numbers).all_statistics
    monkeypatch.setattr(
        type(numbers), "all_statistics",
        lambda self, gradients: counts.append(len(gradients)) or usual(self, gradients),
    )  # fmt: skip
    graphs = [
        graph_of_call(session.backward_call, "backward", session.names, steps, session.order, {})
        for steps in (session.described(), session.steps)
    ]
    *parts, whole = counts
    assert whole > 30
    assert max(parts) < 10
    one, other = ([graph.statistics[id] for id in graph.orders] for graph in graphs)
    assert one == other
