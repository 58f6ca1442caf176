"""The two loops of the engine do what its reference implementation does, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.autograd import engine
from autograd_core.autograd.accumulate import add_large
from autograd_core.autograd.call import BackwardCall, gradients, make_call, pass_mode, start
from autograd_core.autograd.engine import GraphTask, run_reference
from autograd_core.autograd.node import resolve
from autograd_core.autograd.plan import make_plan
from tests.autograd_core.programs import Program, leaves_of, programs, run_program

Kind = Literal["tensor", "retain", "pre", "post", "accumulated", "several"]


class Hook(NamedTuple):
    """A hook on one of the program's values: what it changes, and whether it drops a gradient."""

    kind: Kind
    value: int
    factor: float | None
    drops: bool


class Pass(NamedTuple):
    """A pass through the graph of a program."""

    program: Program
    hooks: tuple[Hook, ...]
    roots: tuple[int, ...]
    inputs: tuple[int, ...]
    is_grad: bool
    create_graph: bool
    retain_graph: bool


@st.composite
def passes(draw: st.DrawFn) -> Pass:
    number = st.integers(0, 20)
    hooks = st.builds(
        Hook,
        st.sampled_from(["tensor", "retain", "pre", "post", "accumulated", "several"]),
        number,
        st.sampled_from([None, 0.3]),
        st.booleans(),
    )
    inputs = tuple(draw(st.lists(number, max_size=3)))
    return Pass(
        draw(programs(8)),
        tuple(draw(st.lists(hooks, max_size=5))),
        tuple(draw(st.lists(number, min_size=1, max_size=3))),
        inputs,
        bool(inputs) and draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
    )


class Forget(torch.autograd.Function):
    """Passes values on, and no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> None:
        return None


class State(NamedTuple):
    """All that a pass leaves behind, to the bit."""

    grads: list[Any]
    captured: list[Any]
    seen_by_hooks: list[Any]
    waiting: list[Any]
    graphs: list[Any]
    saved: list[Any]


def bits(g: Any) -> Any:
    if g is None:
        return None
    if isinstance(g, tuple):
        return tuple(map(bits, g))
    return (g.array.dtype.name, g.shape, g.array.tobytes())


def add_hook(hook: Hook, values: list[Any], seen: list[Any]) -> None:
    value = values[hook.value % len(values)]
    node = resolve(value.edge)[0]
    assert node is not None

    def changed(g: Any) -> Any:
        return g if g is None or hook.factor is None else g * hook.factor

    def changed_all(given: tuple[Any, ...]) -> Any:
        seen.append((hook.kind, bits(given)))
        if hook.factor is None and not hook.drops:
            return None
        return (*(None for _ in given[:1] if hook.drops), *map(changed, given[hook.drops :]))

    def changed_one(g: Any) -> Any:
        seen.append((hook.kind, bits(g)))
        return changed(g)

    if hook.kind == "tensor":
        value.register_hook(changed_one)
    elif hook.kind == "retain":
        value.retain_grad()
    elif hook.kind == "pre":
        node.register_prehook(changed_all)
    elif hook.kind == "post":
        node.register_hook(lambda sent, received: changed_all(sent))
    elif hook.kind == "several":
        torch.autograd.graph.register_multi_grad_hook(
            [value, values[0]], lambda given: seen.append(bits(tuple(given)))
        )
    elif value.is_leaf:
        value.register_post_accumulate_grad_hook(lambda leaf: seen.append(bits(leaf.grad)))


def carry_out(asked: Pass, run: Callable[[GraphTask], object]) -> State:
    leaves = leaves_of(asked.program, torch)
    inner: list[Any] = []
    total = run_program(asked.program, torch, leaves, inner)
    values = [t for t in (*leaves, *inner) if t.requires_grad]
    seen: list[Any] = []
    for hook in asked.hooks:
        add_hook(hook, values, seen)
    picked = [values[number % len(values)] for number in asked.roots]
    roots = [total]
    for t in picked:  # broadcast, of another dtype, without a gradient, and as it is
        roots += [(t.sum(0) * t.double()).sum(), Forget.apply(t).sum(), t.sum()]
    call: BackwardCall = make_call(roots, None, asked.retain_graph, asked.create_graph)
    places = tuple(values[number % len(values)] for number in asked.inputs)
    call = call._replace(inputs=places, is_grad=asked.is_grad)
    for place in () if asked.is_grad else places:
        place.retain_grad()
    task = start(call)
    nodes = list(task.order)
    with pass_mode(call.graph, task):
        run(task)
    found = gradients(call, task)
    kept = [t.grad for t in values if t.is_leaf or t.retains_grad]
    return State(
        [bits(g) for g in kept],
        [bits(g) for g in found],
        seen,
        # a pass that is restricted to inputs leaves gradients at nodes that are not planned
        sorted(str(bits(as_tensor(g))) for g in task.pending.values() if g is not None),
        [graph_of(g) for g in (*kept, *found) if g is not None],
        [[state for _, _, state in node.saved()] for node in nodes],
    )


def as_tensor(g: Any) -> Any:
    return g if isinstance(g, torch.Tensor) else torch.from_numpy(np.asarray(g))


def graph_of(g: Any) -> list[str]:
    return [node.name() for node in make_plan([g.edge]).order] if g.requires_grad else []


@given(passes())
def test_the_plain_loop_does_what_the_reference_does(asked: Pass) -> None:
    with every_sum_in_place():
        assert carry_out(asked, GraphTask.run) == carry_out(asked, run_reference)


def every_sum_in_place() -> Any:
    """Small gradients are added up where large ones are."""
    return patch.object(engine, "LARGE", 0)


@given(passes())
def test_the_observed_loop_does_what_the_reference_does(asked: Pass) -> None:
    assert carry_out(asked, lambda task: list(task.observe())) == carry_out(asked, run_reference)


@given(passes(), st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=12))
def test_the_loops_may_take_turns(asked: Pass, turns: list[tuple[bool, int]]) -> None:
    def run(task: GraphTask) -> None:
        start = 0
        for observed, count in turns:
            stop = min(start + count, len(task.order))
            if observed:
                list(task.observe(start, stop, copy_grads=False))
            else:
                task.run(start, stop)
            start = stop
        task.run(start)

    with every_sum_in_place():
        assert carry_out(asked, run) == carry_out(asked, run_reference)


def test_a_sum_is_added_to_in_place_unless_somebody_else_sees_it() -> None:
    one = np.ones((2, 3))

    def deliver(pending: dict[str, Any]) -> Any:
        present = pending["edge"]
        return add_large(present, one)

    pending = {"edge": np.zeros((2, 3))}
    memory = pending["edge"].ctypes.data
    assert deliver(pending).ctypes.data == memory
    for seen in (lambda array: array, lambda array: array[:1], lambda array: array.T):
        array = np.zeros((2, 3))
        pending, held = {"edge": array}, seen(array)
        del array
        assert np.array_equal(deliver(pending), one)
        assert not held.any()
