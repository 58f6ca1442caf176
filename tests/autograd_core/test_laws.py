"""The laws of the design, each with a test that fails when it is broken."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import autograd_core as torch
from autograd_core import nn, optim
from autograd_core.autograd import step as observed_step
from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import make_call, pass_mode, start
from autograd_core.autograd.node import GENERAL, notes_of, resolve
from autograd_core.autograd.plan import make_plan
from autograd_core.autograd.reduce import reduce_gradient
from gradstep import capture, trace
from gradstep.console.session import Session
from tests.autograd_core.programs import Program, leaves_of, programs, run_program


def gradients(leaves: list[Any]) -> list[bytes | None]:
    """Every ``.grad``, to the bit."""
    return [None if leaf.grad is None else leaf.grad.array.tobytes() for leaf in leaves]


def plain(program: Program) -> list[bytes | None]:
    leaves = leaves_of(program, torch)
    run_program(program, torch, leaves).backward()
    return gradients(leaves)


# -- the debugger never lies ---------------------------------------------------------------


@given(programs())
def test_an_observed_pass_gives_the_gradients_of_a_plain_one(program: Program) -> None:
    leaves = leaves_of(program, torch)
    task = start(make_call(run_program(program, torch, leaves), None, None, False))
    with pass_mode(False):
        steps = list(task.observe())
    assert [step.node for step in steps] == list(task.order)
    assert gradients(leaves) == plain(program)


@given(programs())
def test_grad_gives_what_backward_accumulates(program: Program) -> None:
    leaves = leaves_of(program, torch)
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    found = torch.autograd.grad(run_program(program, torch, leaves), wanted, allow_unused=True)
    arrays = [None if g is None else g.array.tobytes() for g in found]
    expected = [g for g, leaf in zip(plain(program), leaves, strict=True) if leaf.requires_grad]
    assert arrays == expected


@given(programs())
def test_gradients_equal_those_of_a_recursive_oracle(program: Program) -> None:
    leaves = leaves_of(program, torch, torch.float64)
    root = run_program(program, torch, leaves)
    expected = oracle(root)
    root.backward()
    for leaf in leaves:
        if leaf.grad is not None:
            # it adds in another order, so rounding differs, also where terms cancel
            np.testing.assert_allclose(leaf.grad.array, expected[leaf.edge], rtol=1e-9, atol=1e-12)


def oracle(root: Any) -> dict[Any, Any]:
    """Sums over all paths, node by node, in no clever order: the definition."""
    totals: dict[Any, Any] = {}

    def walk(place: Any, g: Any) -> None:
        node, nr = resolve(place)
        if isinstance(node, AccumulateGrad):
            totals[node] = totals.get(node, 0) + g
            return
        assert node is not None
        if node.hooks is not None:  # those of the programs are linear, so they act on each path
            for output_nr, hook in node.hooks.tensor.values():
                g = hook(torch.from_numpy(np.asarray(g))).array if output_nr == nr else g
        incoming: Any = g
        if node.output_count > 1:
            incoming = [g if number == nr else None for number in range(node.output_count)]
        result = node.backward(incoming, True)
        sent = result if len(node.edges) > 1 or node.kind == GENERAL else (result,)
        for index, (edge, each) in enumerate(zip(node.edges, sent, strict=True)):
            if edge is not None and each is not None:
                to = None if node.to is None else node.to[index]
                walk(edge, reduce_gradient(each, to))

    walk(root.edge, np.ones((), root.array.dtype))
    return totals


@pytest.mark.torch
@given(programs(), programs())
def test_gradients_of_several_roots_are_pytorchs(one: Program, two: Program) -> None:
    reference = pytest.importorskip("torch")
    found = []
    for library in (torch, reference):
        leaves = leaves_of(one, library, library.float64)
        roots = [run_program(one, library, leaves), run_program(two, library, leaves)]
        library.autograd.backward(roots)
        found.append([None if x.grad is None else x.grad.numpy() for x in leaves])
    for mine, theirs in zip(*found, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_nothing_yet_is_not_zero() -> None:
    a = torch.tensor(0.0, requires_grad=True)
    session = Session(a * a)
    (leaf,) = session.snapshot.leaves
    assert leaf.now is None
    session.jump(session.length)
    (leaf,) = session.snapshot.leaves
    assert leaf.now is not None
    assert leaf.now.statistics.scalar == 0


def test_an_undefined_gradient_is_not_zero() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    y = a.tanh() * 3
    y.grad_fn.register_hook(lambda sent, received: (None, None))
    session = Session(y)
    session.jump(2)
    assert session.detail(1).incoming[0].total is None
    assert len(session.detail(1).incoming[0].contributions) == 1
    session.finish()
    assert a.grad is None


def test_a_derived_forward_graph_says_so() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    assert capture(a * a, "forward").derived_forward
    with trace():
        b = a * a
    assert not capture(b, "forward").derived_forward


# -- nothing observed, nothing paid -----------------------------------------------------------


def test_a_plain_pass_makes_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a plain pass recorded a step")

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (a * a + a.tanh()).sum()
    monkeypatch.setattr(observed_step, "Step", refuse)
    y.backward()
    assert a.grad is not None


def test_without_tracing_an_op_leaves_nothing_behind() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    y = a * a
    assert y.record is None
    assert y.grad_fn.record is None


# -- the plan ---------------------------------------------------------------------------------


@given(programs())
def test_the_plan_runs_young_nodes_first_and_leaves_at_once(program: Program) -> None:
    root = run_program(program, torch, leaves_of(program, torch))
    order = list(make_plan([root.edge]).order)
    inner = [node.sequence_nr for node in order if not isinstance(node, AccumulateGrad)]
    assert inner == sorted(inner, reverse=True)
    for index, node in enumerate(order):
        if isinstance(node, AccumulateGrad):
            last = max(
                i for i, other in enumerate(order) if any(edge is node for edge in other.edges)
            )
            between = order[last + 1 : index]
            assert all(isinstance(other, AccumulateGrad) for other in between)


def test_a_node_of_two_edges_takes_ten_slots() -> None:
    x = torch.ones(3, requires_grad=True)
    node, broadcast = (x * x).grad_fn, (x * torch.ones(2, 3)).grad_fn
    assert sys.getsizeof(node) <= 112  # with what the garbage collector keeps
    assert node.notes is None
    assert sys.getsizeof(broadcast) > sys.getsizeof(node)  # it knows what to reduce to
    assert type(broadcast).__name__ == type(node).__name__ == "MulBackward0"


# -- no recursion over graphs -----------------------------------------------------------------


@pytest.fixture
def shallow_stack() -> Any:
    limit = sys.getrecursionlimit()
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    sys.setrecursionlimit(depth + 120)
    yield
    sys.setrecursionlimit(limit)


def chain(length: int, x: Any) -> Any:
    y = x
    for _ in range(length):
        y = y * 1.0
    return y


def test_a_long_chain_needs_no_stack(shallow_stack: None) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    with trace():
        y = chain(20_000, x)
    graph = capture(y, "both", names={"x": x})
    assert len(graph) == 2 * 20_001 + 2
    session = Session(y, names=None)
    session.jump(15_000)
    session.back(10_000)
    session.finish()
    assert x.grad is not None
    assert x.grad.item() == 1
    del session, graph, y


@pytest.mark.slow
def test_a_million_nodes_are_built_run_and_freed(shallow_stack: None) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = chain(1_000_000, x)
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 1
    del y


def test_the_gradient_of_a_gradient_needs_no_stack(shallow_stack: None) -> None:
    x = torch.tensor([0.5], requires_grad=True)
    y = x
    for _ in range(3_000):
        y = y.tanh()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad is not None


# -- memory -----------------------------------------------------------------------------------


def test_graphs_die_with_their_last_reference() -> None:
    gc.disable()
    try:
        with trace():
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            first, second = (x.tanh() * x).unbind(0)
            y = first * second
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        watched = [weakref.ref(notes_of(t.grad_fn)) for t in (y, first, g)]
        session = Session(y)
        session.next(2)
        session.finish()
        watched.append(weakref.ref(notes_of(x.edge)))
        del session, first, second, y, g, x
        assert [each() for each in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_training_steps_leave_nothing_behind() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.tensor(np.ones((3, 4), np.float32))

    def step() -> None:
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        row = loss * 1
        row.add_(1)
        row.backward()
        optimizer.step()

    gc.disable()
    try:
        for _ in range(20):
            step()
        before = len(gc.get_objects())
        for _ in range(100):
            step()
        assert abs(len(gc.get_objects()) - before) < 100  # less than one object a step
    finally:
        gc.enable()


def test_leaves_share_no_memory() -> None:
    x = torch.tensor(np.ones(1000), requires_grad=True)
    y = torch.tensor(np.ones(1000), requires_grad=True)
    seed = torch.tensor(np.ones(1000))
    (x + y).backward(seed)
    assert x.grad is not None
    assert y.grad is not None
    arrays = [x.grad.array, y.grad.array, seed.array]
    for i, one in enumerate(arrays):
        for other in arrays[i + 1 :]:
            assert not np.shares_memory(one, other)


def test_a_large_gradient_is_taken_over_not_copied() -> None:
    x = torch.tensor(np.ones(1000), requires_grad=True)
    kept: list[Any] = []
    y = x * 2.0
    rule = type(y.grad_fn).backward

    def watched(node: Any, g: Any, keep: bool) -> Any:
        result = rule(node, g, keep)
        kept.append(result[0].ctypes.data)
        return result

    type(y.grad_fn).backward = watched
    try:
        y.sum().backward()
    finally:
        type(y.grad_fn).backward = rule
    assert x.grad is not None
    assert x.grad.array.ctypes.data == kept[0]


def test_the_gradient_of_a_layers_weight_lies_as_the_weight_does_and_is_not_copied() -> None:
    layer = torch.nn.Linear(30, 20)
    layer(torch.ones(5, 30)).sum().backward()
    gradient = layer.weight.grad
    assert gradient is not None
    assert gradient.array.flags.c_contiguous
    assert not gradient.array.flags.owndata  # what the product was stored in, turned round twice


def test_a_view_that_others_see_is_copied() -> None:
    x, seed = torch.tensor(np.ones((4, 3)), requires_grad=True), torch.tensor(np.ones((3, 4)))
    x.t().backward(seed)
    y = torch.tensor(np.ones(12), requires_grad=True)
    kept: list[Any] = []
    z = y.reshape(3, 4) * 2.0
    z.register_hook(kept.append)
    z.backward(seed)
    assert x.grad is not None
    assert y.grad is not None
    for g in (x.grad, y.grad):
        assert not np.shares_memory(g.array, seed.array)
        assert not any(np.shares_memory(g.array, each.array) for each in kept)


# -- the process is the user's ------------------------------------------------------------------


def test_no_global_setting_is_touched() -> None:
    def settings() -> tuple[Any, ...]:
        return (
            gc.isenabled(), gc.get_threshold(), np.geterr(), sys.getrecursionlimit(),
            list(warnings.filters), np.get_printoptions(),
        )  # fmt: skip

    before = settings()
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with trace():
        y = (x.log() * x).sum()
    session = Session(y)
    session.next(3)
    capture(y)
    session.finish()
    assert settings() == before


def test_division_by_zero_is_silent_as_in_pytorch() -> None:
    program = """
import autograd_core as torch
x = torch.tensor([0.0, -1.0, 3e38], requires_grad=True)
(x.log() + 1 / x + x.sqrt() + x**-0.5 + x * x * 1e10 - x.exp()).sum().backward()
"""
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (shown.returncode, shown.stderr) == (0, "")
