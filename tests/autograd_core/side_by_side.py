"""One call on PyTorch and on this core: values, graphs, gradients of both orders.

What is tried is a :class:`Case`: a function of the namespace and of leaves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_core


class Case(NamedTuple):
    """A function of a namespace and leaves, which are shapes, nested lists or arrays.

    Args:
        graph: whether the graph is held to PyTorch's.
        second: whether second derivatives are.
    """

    name: str
    leaves: tuple[Any, ...]
    run: Callable[..., Any]
    graph: bool = True
    second: bool = True


def each(cases: list[Case]) -> Any:
    """Parametrize a test over cases, by their names."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def _run(namespace: Any, case: Case) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(x) if isinstance(x, tuple) else np.array(x) for x in case.leaves]
    leaves = [namespace.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    found = case.run(namespace, *leaves)
    outputs = list(found) if isinstance(found, tuple) else [found]
    return [leaf for leaf in leaves if leaf.requires_grad], outputs


def _close(mine: Any, theirs: Any, rtol: float = 1e-9, atol: float = 1e-10) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape)
    assert repr(mine.dtype) == repr(theirs.dtype)
    np.testing.assert_allclose(mine.detach().numpy(), theirs.numpy(force=True), rtol, atol)


def _objective(namespace: Any, outputs: list[Any]) -> Any:
    total: Any = 0
    for output in outputs:
        if output.requires_grad:
            weights = np.cos(np.arange(output.numel())).reshape(tuple(output.shape))
            total = total + (output * namespace.tensor(weights)).sum()
    return total


def described(node: Any) -> Any:
    """The graph behind a node, as nested tuples of names and output numbers."""
    return node and (node.name(), tuple((described(n), nr) for n, nr in node.next_functions))


def compare(torch: Any, case: Case) -> None:
    """Hold this core to PyTorch."""
    mine, theirs = _run(autograd_core, case), _run(torch, case)
    for output, other in zip(mine[1], theirs[1], strict=True):
        _close(output, other)
        if case.graph:
            assert output.requires_grad == other.requires_grad
            assert described(output.grad_fn) == described(other.grad_fn)
            assert output.output_nr == other.output_nr
    if not any(output.requires_grad for output in mine[1]):
        return
    found = [
        derivatives(namespace, outputs, leaves, case.second)
        for namespace, (leaves, outputs) in ((autograd_core, mine), (torch, theirs))
    ]
    for order, (ours, reference) in enumerate(zip(*found, strict=True)):
        for g, other in zip(ours, reference, strict=True):
            _close(g, other, *((1e-6, 1e-7) if order else (1e-8, 1e-9)))


def derivatives(
    namespace: Any, outputs: list[Any], leaves: list[Any], second: bool = True
) -> tuple[list[Any], list[Any]]:
    """The gradients of a sum of the outputs, and those of the sum of the gradients' squares."""
    first = _gradients(namespace, _objective(namespace, outputs), leaves, second)
    squares = sum((g**2).sum() for g in first)
    if second and squares.requires_grad:
        return first, _gradients(namespace, squares, leaves)
    return first, [namespace.zeros_like(leaf) for leaf in leaves]


def _gradients(namespace: Any, total: Any, leaves: list[Any], graph: bool = False) -> list[Any]:
    """The gradients of the leaves; those that are zero everywhere may have been undefined."""
    found = namespace.autograd.grad(total, leaves, create_graph=graph, allow_unused=True)
    pairs = zip(leaves, found, strict=True)
    return [namespace.zeros_like(leaf) if g is None else g for leaf, g in pairs]


# What a call answers, errors and warnings included


class Outcome(NamedTuple):
    """What a call returned or raised, and what it warned of."""

    result: Any
    error: tuple[str, str] | None
    warnings: list[tuple[str, str]]


def outcome(call: Callable[[], Any]) -> Outcome:
    """Call it.  What NumPy says of numbers, PyTorch does not say."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result, error = call(), None
        except Exception as raised:
            result, error = None, (type(raised).__name__, str(raised))
    said = [(w.category.__name__, str(w.message).partition(" (Triggered")[0]) for w in found]
    return Outcome(result, error, said)


def assert_same_outcome(
    mine: Outcome, theirs: Outcome, rtol: float = 1e-5, atol: float = 1e-12
) -> None:
    """The same results, or the same error, word by word; and the same warnings."""
    assert mine.error == theirs.error
    assert mine.warnings == theirs.warnings
    _assert_same(mine.result, theirs.result, rtol, atol)


def _assert_same(mine: Any, theirs: Any, rtol: float, atol: float) -> None:
    if isinstance(theirs, (tuple, list)):
        for one, other in zip(mine, theirs, strict=True):
            _assert_same(one, other, rtol, atol)
    elif hasattr(theirs, "requires_grad"):
        _close(mine, theirs, rtol, atol)
        assert mine.requires_grad == theirs.requires_grad
        assert (mine.grad_fn and mine.grad_fn.name()) == (theirs.grad_fn and theirs.grad_fn.name())
    else:
        assert mine == theirs


def evaluated(namespace: Any, text: str, **values: Any) -> Outcome:
    """The outcome of the expression ``text``, in which ``t`` stands for ``namespace``."""
    return outcome(lambda: eval(text, {"t": namespace, "np": np, **values}))


def with_gradients(namespace: Any, result: Any, leaves: list[Any]) -> list[Any]:
    """The tensors of a result, and the gradients of their sum of squares."""
    results = [part for part in flat(result) if isinstance(part, namespace.Tensor)]
    differentiable = [each.double().square().sum() for each in results if each.requires_grad]
    if differentiable:
        sum(differentiable).backward()
    return [*map(_plain, results), *(_plain(each.grad) for each in leaves)]


def _plain(tensor: Any) -> Any:
    """The tensor without its graph, which other tests compare, of the dtype that it has."""
    if isinstance(tensor, autograd_core.Tensor):
        assert tensor.array.dtype == tensor.dtype.dtype
    return None if tensor is None else tensor.detach()


# A call and its derivatives, or its error


def flat(result: Any) -> list[Any]:
    """All results, of however many tuples, in one list."""
    if isinstance(result, (tuple, list)):
        return [part for each in result for part in flat(each)]
    return [result]


def called(
    namespace: Any, text: str, array: Any, names: Callable[[Any, Any], dict[str, Any]] | None = None
) -> tuple[Any, Outcome]:
    """``array`` as a leaf ``x``, and the outcome of the expression ``text``."""
    x = namespace.tensor(array, requires_grad=array.dtype.kind == "f")
    return x, outcome(
        lambda: eval(text, {"t": namespace, "x": x, **(names(namespace, x) if names else {})})
    )


def compare_call(
    torch: Any,
    text: str,
    array: Any,
    names: Callable[[Any, Any], dict[str, Any]] | None = None,
    words: bool = False,
    second: bool = True,
) -> None:
    """Hold one call to PyTorch: the same results with the same derivatives of both orders, or the
    same class of error, with the same ``words`` or not."""
    (x, mine), (y, theirs) = (called(t, text, array, names) for t in (autograd_core, torch))
    about = f"{text} of {array.dtype} {array.tolist() if array.size < 9 else list(array.shape)}"
    if theirs.error or mine.error:
        assert mine.error, f"{about}: {theirs.error}"
        assert theirs.error, f"{about}: {mine.error}"
        assert mine.error[0] == theirs.error[0], f"{about}: {mine.error}, {theirs.error}"
        assert not words or mine.error[1] == theirs.error[1], about
        return
    assert isinstance(mine.result, tuple) == isinstance(theirs.result, tuple), about
    ours, others = flat(mine.result), flat(theirs.result)
    for one, other in zip(ours, others, strict=True):
        if not hasattr(other, "dtype"):
            assert one == other, about
            continue
        assert one.requires_grad == other.requires_grad, about
        assert repr(one.dtype) == repr(other.dtype), about
        _alike(one, other, about)
    if not any(getattr(each, "requires_grad", False) for each in others):
        return
    for order, mine_of, theirs_of in zip(
        ("first", "second"),
        derivatives(autograd_core, ours, [x], second),
        derivatives(torch, others, [y], second),
        strict=True,
    ):
        for one, other in zip(mine_of, theirs_of, strict=True):
            _alike(one, other, f"{about}, {order} derivative")


def _alike(mine: Any, theirs: Any, about: str) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape), about
    mine, theirs = mine.detach().numpy(), theirs.numpy(force=True)
    np.testing.assert_allclose(mine, theirs, 1e-7, 1e-12, err_msg=about)
