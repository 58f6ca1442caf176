"""Every operator on the same inputs in PyTorch and here: values, dtypes, gradients, graphs."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

_spec = importlib.util.spec_from_file_location(
    "operator_cases", Path(__file__).with_name("operator_cases.py")
)
assert _spec is not None
assert _spec.loader is not None
cases: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

# Of these the values and gradients agree, and the graph is another composition of ops.
OTHER_GRAPH = {
    "combinations", "cumulative_trapezoid", "einsum", "gradient", "nanquantile", "quantile",
    "split_with_sizes_copy", "trapezoid", "trapz", "unbind_copy", "unsafe_chunk", "unsafe_split",
}  # fmt: skip
# Here PyTorch's gradient of the input is that of the places which were overwritten; ours is held
# to finite differences.
WRONG_IN_PYTORCH = {"as_strided_scatter"}

EVERY = [
    pytest.param(name, call, id=f"{name}-{number}")
    for name, calls in cases.CALLS.items()
    for number, call in enumerate(calls)
]
METHODS = [each for each in EVERY if hasattr(torch.Tensor, each.values[0])]


def made(namespace: Any, value: Any, leaves: list[Any]) -> Any:
    """An argument as ``namespace`` takes it; leaves are noted."""
    if isinstance(value, cases.Leaf):
        leaf = namespace.tensor(np.asarray(value.array), requires_grad=True)
        leaves.append(leaf)
        return leaf
    if isinstance(value, cases.Constant):
        return namespace.tensor(np.asarray(value.array))
    if isinstance(value, (list, tuple)):
        return type(value)(made(namespace, each, leaves) for each in value)
    if isinstance(value, str) and value.startswith(("float", "int")):
        return getattr(namespace, value)
    return value


def run(namespace: Any, name: str, call: Any, method: str = "") -> tuple[list[Any], list[Any]]:
    """The leaves and the results, as two lists."""
    leaves: list[Any] = []
    args = [made(namespace, each, leaves) for each in call.args]
    kwargs = {key: made(namespace, each, leaves) for key, each in call.kwargs.items()}
    function = getattr(namespace, name, None)
    if method or function is None:
        if method.endswith("_"):
            args[0] = args[0].clone()
        function = getattr(namespace.Tensor, method or name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*args, **kwargs)
    return leaves, list(result) if isinstance(result, (tuple, list)) else [result]


def tensors(namespace: Any, results: list[Any]) -> list[Any]:
    return [each for each in results if isinstance(each, namespace.Tensor)]


def assert_same(mine: Any, theirs: Any) -> None:
    assert (mine is None) == (theirs is None)
    if isinstance(theirs, torch.Tensor):
        assert repr(mine.dtype) == repr(theirs.dtype)
        assert tuple(mine.shape) == tuple(theirs.shape)
        ours, reference = mine.detach().numpy(), theirs.detach().numpy(force=True)
        single = theirs.dtype is torch.float32
        np.testing.assert_allclose(ours, reference, 1e-5 if single else 1e-7, 1e-12)
    else:
        assert mine == theirs


def differentiated(namespace: Any, leaves: list[Any], results: list[Any]) -> list[Any]:
    """First derivatives of the results, weighted, and of the sum of their squares."""
    total = 0
    for result in tensors(namespace, results):
        if result.requires_grad:
            weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape))
            total = total + (result * namespace.tensor(weights)).sum() ** 2
    if isinstance(total, int):
        return []
    first = namespace.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    curvature = sum((g**2).sum() for g in first if g is not None)
    second = [None] * len(leaves)
    if isinstance(curvature, namespace.Tensor) and curvature.requires_grad:
        try:
            second = namespace.autograd.grad(curvature, leaves, allow_unused=True)
        except NotImplementedError:  # PyTorch does not know it
            return [leaf * 0 if g is None else g for g, leaf in zip(first, leaves, strict=True)]
    both = [*first, *second]
    # a derivative that is zero everywhere may be left undefined
    return [leaf * 0 if g is None else g for g, leaf in zip(both, leaves * 2, strict=True)]


def described(node: Any) -> Any:
    """The graph behind a node as nested tuples, leaves as one word."""
    if node is None:
        return None
    if "AccumulateGrad" in node.name():
        return "leaf"
    return (node.name(), *((described(each), number) for each, number in node.next_functions))


@pytest.mark.sampled(120)
@pytest.mark.parametrize(("name", "call"), EVERY)
def test_values_and_derivatives_are_those_of_pytorch(name: str, call: Any) -> None:
    (leaves, mine), (others, theirs) = run(autograd_core, name, call), run(torch, name, call)
    for result, other in zip(mine, theirs, strict=True):
        assert_same(result, other)
    if name in WRONG_IN_PYTORCH:
        return
    ours = differentiated(autograd_core, leaves, mine)
    reference = differentiated(torch, others, theirs)
    assert len(ours) >= len(reference) > 0 or not ours
    for gradient, expected in zip(ours, reference, strict=False):
        assert_same(gradient, expected)


@pytest.mark.sampled(80)
@pytest.mark.parametrize(("name", "call"), EVERY)
def test_graphs_are_those_of_pytorch(name: str, call: Any) -> None:
    (_, mine), (_, theirs) = run(autograd_core, name, call), run(torch, name, call)
    for result, other in zip(tensors(autograd_core, mine), tensors(torch, theirs), strict=True):
        assert result.requires_grad == other.requires_grad
        if name not in OTHER_GRAPH:
            assert described(result.grad_fn) == described(other.grad_fn)
            assert result.output_nr == other.output_nr


def test_other_graphs_are_indeed_others() -> None:
    for name in OTHER_GRAPH:
        graphs = [
            [
                [described(t.grad_fn) for t in tensors(each, run(each, name, call)[1])]
                for each in (autograd_core, torch)
            ]
            for call in cases.CALLS[name]
        ]
        assert any(mine != theirs for mine, theirs in graphs), f"{name} has PyTorch's graph"


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("name", "call"), METHODS)
def test_methods_do_what_the_functions_do(name: str, call: Any) -> None:
    if not isinstance(call.args[0], (cases.Leaf, cases.Constant)) or name in ("where", "real"):
        pytest.skip("the first argument is no tensor")
    (_, mine), (_, theirs) = (
        run(namespace, name, call, name) for namespace in (autograd_core, torch)
    )
    for result, other in zip(mine, theirs, strict=True):
        assert_same(result, other)


@pytest.mark.sampled(40)
@pytest.mark.parametrize(
    ("name", "call"), [each for each in METHODS if hasattr(torch.Tensor, f"{each.values[0]}_")]
)
def test_in_place_forms_are_those_of_pytorch(name: str, call: Any) -> None:
    if not isinstance(call.args[0], (cases.Leaf, cases.Constant)):
        pytest.skip("the first argument is no tensor")
    try:
        others, theirs = run(torch, name, call, f"{name}_")
    except (RuntimeError, TypeError):
        with pytest.raises((RuntimeError, TypeError)):
            run(autograd_core, name, call, f"{name}_")
        return
    leaves, mine = run(autograd_core, name, call, f"{name}_")
    for result, other in zip(mine, theirs, strict=True):
        assert_same(result, other)
    ours = differentiated(autograd_core, leaves, mine)
    try:
        reference = differentiated(torch, others, theirs)
    except NotImplementedError:  # PyTorch knows the derivative of the other form only
        return
    assert len(ours) >= len(reference) > 0 or not ours
    for gradient, expected in zip(ours, reference, strict=False):
        assert_same(gradient, expected)


# Of these the rule uses another value than PyTorch's does.
SAVED_HERE_ALONE = {
    "AsStridedBackward0": {"_saved_self_stride"},
    "AsStridedBackward0_copy": {"_saved_self_stride"},
    "AsStridedScatterBackward0": {"_saved_self_stride"},
    "ErfinvBackward0": {"_saved_result"},
    "NarrowCopyBackward0": {"_saved_end", "_saved_step"},
    "SincBackward0": {"_saved_result"},
}


@pytest.mark.sampled(80)
@pytest.mark.parametrize(("name", "call"), EVERY)
def test_saved_values_are_called_as_in_pytorch(name: str, call: Any) -> None:
    """Where a rule needs no more than the shape of an input, only that is saved here."""
    saved = []
    for namespace in (autograd_core, torch):
        _, results = run(namespace, name, call)
        node = getattr(results[0], "grad_fn", None) if results else None
        saved.append(
            (node and node.name(), {each for each in dir(node) if each.startswith("_saved_")})
        )
    (own_node, own), (node, theirs) = saved
    if own_node == node and node is not None:
        strange = {each for each in own - theirs if not each.endswith("_sym_sizes")}
        assert strange == SAVED_HERE_ALONE.get(node, set())
