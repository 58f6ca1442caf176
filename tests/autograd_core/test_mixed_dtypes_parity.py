"""Tensors of several dtypes in one call: the dtypes of results and gradients, or the refusal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core import operator_cases as cases
from tests.autograd_core.side_by_side import Outcome, assert_same_outcome, outcome, with_gradients

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# PyTorch refuses the backward pass of the first where the divisor, which gets no gradient, is of
# whole numbers; of the second its gradient is that of other places, and of the third 2 to the power
# of -1 is 0 in it for whole numbers.
WRONG_IN_PYTORCH = {"addcdiv", "as_strided_scatter", "ldexp"}

FUNCTIONS = {
    "prelu(a, b)": ((2, 3), (1,)),
    "linear(a, b)": ((2, 3), (4, 3)),
    "linear(a, b, c)": ((2, 3), (4, 3), (4,)),
    "linear(a, b, c)  # of a batch of matrices": ((2, 2, 3), (4, 3), (4,)),
    "layer_norm(a, (3,), b, c)": ((2, 3), (3,), (3,)),
    "layer_norm(a, (3,), b)": ((2, 3), (3,)),
    "group_norm(a, 1, b, c)": ((1, 2, 4, 4), (2,), (2,)),
    "batch_norm(a, None, None, b, c, True)": ((1, 2, 4, 4), (2,), (2,)),
    "batch_norm(a, b, c)": ((1, 2, 4, 4), (2,), (2,)),
    "batch_norm(a, b.detach(), c.detach() ** 2)": ((1, 2, 4, 4), (2,), (2,)),
    "batch_norm(a, b.detach(), b.detach(), c, c, True)": ((1, 2, 4, 4), (2,), (2,)),
    "instance_norm(a, weight=b, bias=c)": ((1, 2, 4), (2,), (2,)),
    "conv1d(a, b, c)": ((1, 2, 4), (2, 2, 2), (2,)),
    "conv2d(a, b, c)": ((1, 2, 4, 4), (2, 2, 2, 2), (2,)),
    "conv_transpose1d(a, b, c)": ((1, 2, 4), (2, 2, 2), (2,)),
    "conv_transpose2d(a, b, c)": ((1, 2, 4, 4), (2, 2, 2, 2), (2,)),
    "grid_sample(a, b, align_corners=False)": ((1, 2, 4, 4), (1, 2, 2, 2)),
    "scaled_dot_product_attention(a, b, c)": ((2, 3),) * 3,
    "scaled_dot_product_attention(a, a, a, b)": ((2, 3), (2, 2)),
    "scaled_dot_product_attention(a, b, c)  # of images": ((1, 2, 4, 4),) * 3,
    "cosine_similarity(a, b)": ((2, 3), (2, 3)),
}


def leaves_among(value: Any) -> int:
    """How many tensors that need a gradient there are in lists of arguments."""
    if isinstance(value, cases.Leaf):
        return 1
    return sum(map(leaves_among, value)) if isinstance(value, (list, tuple)) else 0


def mixtures(number: int) -> Iterator[tuple[str, ...]]:
    """Dtypes for so many tensors: all that differ among the first three of them."""
    for kinds in itertools.product(("float32", "float64", "int64"), repeat=min(number, 3)):
        if len(set(kinds)) > 1:
            yield kinds + kinds[-1:] * (number - 3)


def leaf(namespace: Any, array: Any, kind: str) -> Any:
    return namespace.tensor(np.asarray(array).astype(kind), requires_grad=kind != "int64")


def made(namespace: Any, value: Any, kinds: Iterator[str], leaves: list[Any]) -> Any:
    """An argument as ``namespace`` takes it; leaves have the next dtypes and are noted."""
    if isinstance(value, cases.Leaf):
        leaves.append(leaf(namespace, value.array, next(kinds)))
        return leaves[-1]
    if isinstance(value, cases.Constant):
        return namespace.tensor(np.asarray(value.array))
    if isinstance(value, (list, tuple)):
        return type(value)(made(namespace, each, kinds, leaves) for each in value)
    return value


def of_operator(namespace: Any, name: str, call: Any, kinds: tuple[str, ...]) -> Outcome:
    left, leaves = iter(kinds), list[Any]()
    args = [made(namespace, each, left, leaves) for each in call.args]
    kwargs = {key: made(namespace, each, left, leaves) for key, each in call.kwargs.items()}
    function = getattr(namespace, name, None) or getattr(namespace.Tensor, name)
    return outcome(lambda: with_gradients(namespace, function(*args, **kwargs), leaves))


CALLS = [
    pytest.param(name, call, number, id=f"{name}-{place}")
    for name, calls in cases.CALLS.items()
    for place, call in enumerate(calls[:3])
    if (number := leaves_among([call.args, *call.kwargs.values()])) > 1
    and name not in WRONG_IN_PYTORCH
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("name", "call", "number"), CALLS)
def test_an_operator_takes_mixed_dtypes_as_in_pytorch(name: str, call: Any, number: int) -> None:
    for kinds in mixtures(number):
        mine, theirs = (
            of_operator(namespace, name, call, kinds) for namespace in (autograd_core, torch)
        )
        assert_same_outcome(mine, theirs, 1e-4, 1e-5)


def of_function(namespace: Any, text: str, shapes: Any, kinds: tuple[str, ...]) -> Outcome:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1.6, 1.6, shape) for shape in shapes]
    leaves = [leaf(namespace, array, kind) for array, kind in zip(arrays, kinds, strict=True)]
    values = dict(zip("abc", leaves, strict=False))
    source = f"F.{text}"
    return outcome(
        lambda: with_gradients(
            namespace, eval(source, {"F": namespace.nn.functional, **values}), leaves
        )
    )


@pytest.mark.parametrize(("text", "shapes"), FUNCTIONS.items(), ids=list(FUNCTIONS))
def test_a_function_of_networks_takes_mixed_dtypes_as_in_pytorch(text: str, shapes: Any) -> None:
    for kinds in mixtures(len(shapes)):
        mine, theirs = (
            of_function(namespace, text, shapes, kinds) for namespace in (autograd_core, torch)
        )
        assert_same_outcome(mine, theirs, 1e-4, 1e-5)
