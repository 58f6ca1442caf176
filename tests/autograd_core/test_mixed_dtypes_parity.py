"""Tensors of several dtypes in one call of a function of networks: the dtypes of results and
gradients, or the refusal. Those of operators are in the grid (``test_op_grid.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import Outcome, assert_same_outcome, outcome, with_gradients

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

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


def mixtures(number: int) -> Iterator[tuple[str, ...]]:
    """Dtypes for so many tensors: all that differ among the first three of them."""
    for kinds in itertools.product(("float32", "float64", "int64"), repeat=min(number, 3)):
        if len(set(kinds)) > 1:
            yield kinds + kinds[-1:] * (number - 3)


def leaf(namespace: Any, array: Any, kind: str) -> Any:
    return namespace.tensor(np.asarray(array).astype(kind), requires_grad=kind != "int64")


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
