"""Gradients of gradients where the first ones are piecewise constant: one node, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_core
from autograd_core.op import OPS
from gradstep.console.session import Session
from tests.autograd_core.op_samples import samples_of

VALUES = (np.arange(12.0).reshape(3, 4) - 5.3) / 2
WEIGHTS = np.cos(np.arange(12.0)).reshape(3, 4)


class Case(NamedTuple):
    """A function, the name of its gradient's node, and that of the second node behind this."""

    run: Callable[..., Any]
    node: str
    source: str = "torch::autograd::AccumulateGrad"


def images(x: Any) -> Any:
    return x[None, None]


CASES: dict[str, Case] = {
    "relu": Case(lambda F, x: F.relu(x), "ThresholdBackward", "ReluBackward0"),
    "relu6": Case(lambda F, x: F.relu6(x), "HardtanhBackward"),
    "threshold": Case(lambda F, x: F.threshold(x, 0.5, 20.0), "ThresholdBackward"),
    "leaky_relu": Case(lambda F, x: F.leaky_relu(x, 0.2), "LeakyReluBackward"),
    "hardtanh": Case(lambda F, x: F.hardtanh(x), "HardtanhBackward"),
    "hardshrink": Case(lambda F, x: F.hardshrink(x), "HardshrinkBackward"),
    "softshrink": Case(lambda F, x: F.softshrink(x), "SoftshrinkBackward"),
    "max_pool2d": Case(
        lambda F, x: F.max_pool2d(images(x), 2, 1, 1),
        "MaxPool2DWithIndicesBackward",
        "UnsqueezeBackward0",
    ),
    "max_pool1d": Case(
        lambda F, x: F.max_pool1d(x[None], 2),
        "MaxPool2DWithIndicesBackward",
        "UnsqueezeBackward0",
    ),
    "max_pool3d": Case(
        lambda F, x: F.max_pool3d(images(x)[None], (1, 2, 2)),
        "MaxPool3DWithIndicesBackward",
        "UnsqueezeBackward0",
    ),
    "adaptive_max_pool2d": Case(
        lambda F, x: F.adaptive_max_pool2d(images(x), 2),
        "AdaptiveMaxPool2DBackward",
        "UnsqueezeBackward0",
    ),
    "adaptive_max_pool3d": Case(
        lambda F, x: F.adaptive_max_pool3d(images(x)[None], (1, 2, 2)),
        "AdaptiveMaxPool3DBackward",
        "UnsqueezeBackward0",
    ),
    "avg_pool2d": Case(
        lambda F, x: F.avg_pool2d(images(x), 2, 1), "AvgPool2DBackward", "UnsqueezeBackward0"
    ),
    "avg_pool3d": Case(
        lambda F, x: F.avg_pool3d(images(x)[None], (1, 2, 2)),
        "AvgPool3DBackward",
        "UnsqueezeBackward0",
    ),
    "adaptive_avg_pool2d": Case(
        lambda F, x: F.adaptive_avg_pool2d(images(x), 2),
        "AdaptiveAvgPool2DBackward",
        "UnsqueezeBackward0",
    ),
    "reflection_pad1d": Case(
        lambda F, x: F.pad(x[None], (1, 2), mode="reflect"),
        "ReflectionPad1DBackward",
        "UnsqueezeBackward0",
    ),
    "replication_pad2d": Case(
        lambda F, x: F.pad(images(x), (1, 2, 0, 1), mode="replicate"),
        "ReplicationPad2DBackward",
        "UnsqueezeBackward0",
    ),
}


def functional(torch: Any) -> Any:
    return torch.nn.functional


def leaf(torch: Any) -> Any:
    return torch.tensor(VALUES, requires_grad=True)


def node_of(gradient: Any) -> Any:
    """The node of a gradient, behind those that take dimensions away again."""
    node = gradient.grad_fn
    while node.name().startswith(("Squeeze", "View")):
        node = node.next_functions[0][0]
    return node


@pytest.mark.parametrize("name", CASES)
def test_a_gradient_leads_to_what_chose_its_piece(torch: Any, name: str) -> None:
    case = CASES[name]
    x = leaf(torch)
    (g,) = torch.autograd.grad(case.run(functional(torch), x).sum(), x, create_graph=True)
    node = node_of(g)
    assert node.name() == f"{case.node}Backward0"
    (nothing, _), (source, _) = node.next_functions
    assert nothing is None
    assert source.name() == case.source
    (second,) = torch.autograd.grad((g * g).sum(), x)
    assert second.tolist() == np.zeros_like(VALUES).tolist()


@pytest.mark.parametrize("name", CASES)
def test_its_derivative_by_what_came_in_is_the_same_linear_map(torch: Any, name: str) -> None:
    case = CASES[name]
    x = leaf(torch)
    y = case.run(functional(torch), x)
    seed = torch.ones_like(y, requires_grad=True)
    (g,) = torch.autograd.grad(y, x, seed, create_graph=True)
    by_seed, by_x = torch.autograd.grad((g * torch.tensor(WEIGHTS)).sum(), [seed, x])
    # the function is linear around x, so a step of 1e-7 finds its derivative along the weights
    step = 1e-7
    (moved,) = (case.run(functional(torch), torch.tensor(VALUES + step * WEIGHTS)),)
    slope = (moved.numpy() - y.detach().numpy()) / step
    np.testing.assert_allclose(by_seed.numpy(), slope, atol=1e-6)
    assert not by_x.numpy().any()
    assert not by_seed.requires_grad


def test_prelu_leads_to_its_weight_as_well(torch: Any) -> None:
    x, weight = leaf(torch), torch.tensor([0.25], dtype=torch.float64, requires_grad=True)
    y = functional(torch).prelu(x, weight)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.grad_fn.name() == "PreluKernelBackwardBackward0"
    by_x, by_weight = torch.autograd.grad(g.sum(), [x, weight])
    assert not by_x.numpy().any()
    assert by_weight.tolist() == [6.0]  # as many elements as are negative


def test_nll_loss_leads_to_its_input(torch: Any) -> None:
    x, target = leaf(torch), torch.tensor([2, 0, 1])
    loss = functional(torch).nll_loss(x, target)
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    assert g.grad_fn.name() == "NllLossBackwardBackward0"
    assert [node and node.name() for node, _ in g.grad_fn.next_functions] == [
        None,
        "torch::autograd::AccumulateGrad",
    ]


@pytest.mark.parametrize("form", ["ceil", "floor", "round", "trunc", "sign", "sgn"])
def test_a_gradient_that_is_zero_everywhere_has_no_graph(torch: Any, form: str) -> None:
    x = leaf(torch)
    seed = torch.full((3, 4), float("inf"), dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(getattr(x, form)(), x, seed, create_graph=True)
    assert not g.requires_grad
    assert (g + 0).tolist() == np.zeros_like(VALUES).tolist()


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_a_gradient_penalty_reaches_inputs_and_biases_with_zeros(torch: Any, slope: float) -> None:
    nn = torch.nn
    critic = nn.Sequential(nn.Linear(4, 5), nn.LeakyReLU(slope), nn.Linear(5, 1)).double()
    if not slope:
        critic[1] = nn.ReLU()
    x = leaf(torch)
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    ((g.norm(dim=1) - 1) ** 2).mean().backward()
    assert x.grad.tolist() == np.zeros_like(VALUES).tolist()
    assert critic[0].bias.grad.tolist() == [0.0] * 5
    assert critic[2].bias.grad is None
    assert critic[0].weight.grad.numpy().any()


def test_the_saved_input_is_freed_and_watched(torch: Any) -> None:
    F = functional(torch)
    for pool in (lambda x: F.avg_pool2d(x, 2), lambda x: F.max_pool2d(x, 2)):
        x = torch.ones(1, 1, 4, 4, requires_grad=True) * 1
        y = pool(x).sum()
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    y = F.avg_pool2d(torch.ones(1, 1, 4, 4, requires_grad=True), 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


# -- what is shown of it -----------------------------------------------------------------------


def test_the_formula_of_the_second_node_is_the_rule_that_runs() -> None:
    x = leaf(autograd_core)
    y = autograd_core.nn.functional.leaky_relu(x, 0.2)
    seed = autograd_core.ones_like(y).requires_grad_()
    (g,) = autograd_core.autograd.grad(y, x, seed, create_graph=True)
    assert dict(g.grad_fn.formulas()) == {
        "grad": "where(self > 0, g, g * negative_slope)",
        "self": "zeros_of(g)",
    }
    session = Session(g.sum())
    session.next(1)
    assert "where(x > 0, g, g · 0.2), 0" in session.do("info node").text


def test_both_modes_agree_through_it() -> None:
    torch = autograd_core
    forward_ad = torch.autograd.forward_ad
    x = leaf(torch)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.tensor(WEIGHTS))
        tangent = forward_ad.unpack_dual(torch.nn.functional.leaky_relu(dual, 0.2)).tangent
        (found,) = torch.autograd.grad((tangent**2).sum(), x, allow_unused=True)
    assert tangent.grad_fn.name() == "LeakyReluBackwardBackward0"
    assert not found.array.any()


SECOND = sorted(name for name, entry in OPS.items() if entry.second is not None)


@pytest.mark.parametrize("name", SECOND)
def test_the_gradient_with_a_graph_is_the_one_without_to_the_bit(name: str) -> None:
    entry = OPS[name]
    rng = np.random.default_rng(0)
    for sample in samples_of(entry):
        points = [
            rng.standard_normal(v) if isinstance(v, tuple) else np.array(v) for v in sample.values
        ]
        for kind in (np.float64, np.float32):
            found = []
            for graph in (False, True):
                inputs = [
                    autograd_core.tensor(p.astype(kind) if p.dtype.kind == "f" else p)
                    for p in points
                ]
                inputs[0].requires_grad_()
                result = entry.call(*inputs, **sample.attributes)
                first = result[0] if isinstance(result, tuple) else result
                (g,) = autograd_core.autograd.grad(first.sum(), inputs[0], create_graph=graph)
                found.append(g.array.tobytes())
            assert found[0] == found[1]
