"""The same programs on PyTorch and on this core: values, gradients of both orders, and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core
from autograd_core.autograd.engine import GraphTask
from autograd_core.tensor import Tensor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LABELS = np.array([2, 0, 1])


class Program(NamedTuple):
    """A function of a namespace and leaves; leaves given by shape, or as nested lists."""

    name: str
    leaves: tuple[Any, ...]
    run: Callable[..., Any]


def mlp(torch, x, w1, b1, w2, b2):
    F = torch.nn.functional
    hidden = torch.tanh(F.linear(x, w1, b1))
    return F.cross_entropy(F.linear(hidden, w2, b2), torch.tensor(LABELS))


def conv_net(torch, x, k1, b1, k2, w):
    F = torch.nn.functional
    x = F.max_pool2d(F.relu(F.conv2d(x, k1, b1, padding=1)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, k2)), 2)
    scores = F.log_softmax(torch.flatten(x, 1) @ w, dim=1)
    return F.nll_loss(scores, torch.tensor(LABELS))


def layer_norm_block(torch, x, gain, shift, w, b):
    F = torch.nn.functional
    normalized = F.layer_norm(x, (4,), gain, shift)
    return x + F.relu(F.linear(normalized, w, b))


def pieces(torch, x):
    a, b = torch.split(x, 2)
    c, d, e = (a * b).unbind(1)
    rows = x[torch.tensor([0, 2, 0])]
    return torch.cat([c, d * e, rows[1:, 0], x[-1, ::2]]), x[..., None, 1].squeeze(-1)


def attention(torch, x, q, k, v):
    F = torch.nn.functional
    scores = (x @ q) @ (x @ k).transpose(-2, -1) / 2.0
    return F.softmax(scores, dim=-1) @ (x @ v)


def scalars(torch, x, y):
    return (
        2 - x + 3 * y - (x - 0.5) * 4 + (1 / y) / 2 + x / y,
        -(x**2) + y**3 + y**-1.5 + y**0.5 + 2**x + y**y,
        (x + y * 2).sqrt() - abs(x) + x.clamp(min=0.7) + y.clamp(0.2, 1.5),
    )


def mixed_dtypes(torch, x, y):
    single = x.to(torch.float32)
    return single * y, torch.cat([single, y[0]]), single + torch.tensor([1, 2, 3]), single.double()


def shared(torch, w):
    state = torch.tensor(1.0, dtype=torch.float64)
    for x in (-1.0, 1.0, -1.0, 2.0):
        state = w * state + x
    return state


def in_place(torch, x, y):
    z = x * y
    z.add_(x)
    z *= 2
    z.tanh_()
    return z.exp() + y


PROGRAMS = [
    Program("mlp", ((3, 4), (5, 4), (5,), (3, 5), (3,)), mlp),
    Program("conv net", ((3, 1, 8, 8), (2, 1, 3, 3), (2,), (4, 2, 2, 2), (4, 3)), conv_net),
    Program("layer norm", ((2, 3, 4), (4,), (4,), (4, 4), (4,)), layer_norm_block),
    Program("pieces", ((4, 3),), pieces),
    Program("attention", ((2, 3, 4), (4, 4), (4, 4), (4, 4)), attention),
    Program("scalars", ([0.5, 1.5, 2.5], [[1.25], [0.75]]), scalars),
    Program("mixed dtypes", ([0.5, 1.5, 2.5], (2, 3)), mixed_dtypes),
    Program("shared weight", (2.0,), shared),
    Program("in place", ((3,), (3,)), in_place),
]
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


# --- running and comparing ---------------------------------------------------------------------


class Run(NamedTuple):
    leaves: list[Any]
    outputs: list[Any]


def run(namespace: Any, program: Program) -> Run:
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal(x) if isinstance(x, tuple) else np.array(x) for x in program.leaves
    ]
    leaves = [namespace.tensor(a, requires_grad=True) for a in arrays]
    outputs = program.run(namespace, *leaves)
    return Run(leaves, list(outputs) if isinstance(outputs, tuple) else [outputs])


def objective(namespace: Any, outputs: list[Any]) -> Any:
    """One number that depends on every element of the outputs in its own way."""
    total = 0
    for output in outputs:
        weights = np.cos(np.arange(output.numel())).reshape(tuple(output.shape))
        total = total + (output * namespace.tensor(weights)).sum()
    return total


def assert_close(mine: Any, theirs: Any) -> None:
    assert (mine is None) == (theirs is None)
    if mine is not None:
        assert tuple(mine.shape) == tuple(theirs.shape)
        assert repr(mine.dtype) == repr(theirs.dtype)
        single = mine.dtype is autograd_core.float32
        ours, reference = mine.detach().numpy(), theirs.detach().numpy()
        np.testing.assert_allclose(ours, reference, rtol=1e-5 if single else 1e-10, atol=1e-12)


def assert_same_graph(mine: Any, theirs: Any) -> None:
    """Walk both graphs in lockstep: names, edges, input numbers, and who is shared by whom."""
    partner = {mine: theirs}
    stack = [(mine, theirs)]
    while stack:
        a, b = stack.pop()
        assert a.name() == b.name()
        described = [(node and node.name(), number) for node, number in a.next_functions]
        assert described == [(node and node.name(), number) for node, number in b.next_functions]
        for (node, _), (other, _) in zip(a.next_functions, b.next_functions, strict=True):
            if node is None:
                continue
            if node in partner:
                assert partner[node] is other
            else:
                partner[node] = other
                stack.append((node, other))
    assert len(set(partner.values())) == len(partner)


@each_program
def test_values_and_graphs_are_those_of_pytorch(program: Program) -> None:
    mine, theirs = run(autograd_core, program), run(torch, program)
    for output, other in zip(mine.outputs, theirs.outputs, strict=True):
        assert_close(output, other)
        assert output.output_nr == other.output_nr
        assert_same_graph(output.grad_fn, other.grad_fn)


@each_program
def test_gradients_are_those_of_pytorch(program: Program) -> None:
    mine, theirs = run(autograd_core, program), run(torch, program)
    objective(autograd_core, mine.outputs).backward()
    objective(torch, theirs.outputs).backward()
    for leaf, other in zip(mine.leaves, theirs.leaves, strict=True):
        assert_close(leaf.grad, other.grad)


@each_program
def test_second_derivatives_are_those_of_pytorch(program: Program) -> None:
    found = []
    for namespace in (autograd_core, torch):
        made = run(namespace, program)
        total = objective(namespace, made.outputs) ** 2
        total.backward(create_graph=True)
        curvature = sum((leaf.grad**2).sum() for leaf in made.leaves)
        for leaf in made.leaves:
            leaf.grad = None
        curvature.backward()
        # a second derivative that is zero everywhere may be left undefined
        found.append([leaf.grad if leaf.grad is not None else leaf * 0 for leaf in made.leaves])
    for mine, theirs in zip(*found, strict=True):
        assert_close(mine, theirs)


def orders(mine: Any, theirs: Any) -> tuple[list[str], list[str]]:
    """In which order the nodes of two equal graphs run, each named by its place in a walk."""
    names: dict[Any, str] = {}
    stack = [(mine.grad_fn, theirs.grad_fn)]
    handles, ran = [], []

    def record(name: str) -> Callable[..., None]:
        return lambda *_: ran.append(name)

    while stack:
        a, b = stack.pop()
        if a in names:
            continue
        names[a] = f"{a.name()} {len(names)}"
        handles.append(b.register_prehook(record(names[a])))
        pairs = zip(a.next_functions, b.next_functions, strict=True)
        stack += [(x, y) for (x, _), (y, _) in pairs if x is not None]
    theirs.backward()
    task = GraphTask([mine.edge], [np.ones(())])
    return [names[node] for node in task.order], ran


@each_program
def test_nodes_run_in_the_order_of_pytorch(program: Program) -> None:
    mine, theirs = (
        objective(namespace, run(namespace, program).outputs)
        for namespace in (autograd_core, torch)
    )
    planned, ran = orders(mine, theirs)
    assert planned == ran


@given(
    st.integers(1, 4),
    st.lists(
        st.tuples(st.sampled_from(["mul", "add", "tanh", "where", "unbind"]), st.integers(0, 99),
                  st.integers(0, 99)),
        min_size=1, max_size=30,
    ),
)  # fmt: skip
def test_random_graphs_run_in_the_order_of_pytorch(
    leaves: int, steps: list[tuple[str, int, int]]
) -> None:
    def build(torch):
        made = [torch.tensor([0.5, float(i)], requires_grad=True) for i in range(leaves)]
        for kind, i, j in steps:
            x, y = made[i % len(made)], made[j % len(made)]
            if kind == "unbind":
                first, second = x.unbind()
                made.append(first * y if i % 2 else torch.stack([second, first]))
            elif kind == "where":
                made.append(torch.where(x > 0, x, y))
            else:
                made.append(torch.tanh(x) if kind == "tanh" else getattr(torch, kind)(x, y))
        return made[-1].sum()

    mine, theirs = build(autograd_core), build(torch)
    assert_same_graph(mine.grad_fn, theirs.grad_fn)
    planned, ran = orders(mine, theirs)
    assert planned == ran


def test_the_comparison_sees_a_difference() -> None:
    x, y = autograd_core.tensor(2.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    assert_same_graph((x * x).grad_fn, (y * y).grad_fn)
    with pytest.raises(AssertionError):
        assert_same_graph((x * x).grad_fn, (y * y.clone()).grad_fn)
    with pytest.raises(AssertionError):
        assert_close(Tensor.from_array(np.ones(2)), torch.ones(2))
