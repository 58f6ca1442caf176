"""Tensors without dimensions, which have dimensions 0 and -1 all the same, and without elements."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.op_grid import ALL
from tests.autograd_core.side_by_side import called, flat


def helpers(t: Any, x: Any, d: int) -> dict[str, Any]:
    """Tensors that go with ``x``."""
    axis = d % max(x.ndim, 1)

    def along(size: int) -> Any:
        shape = [size if place == axis else n for place, n in enumerate(x.shape)]
        return t.ones(shape, dtype=x.dtype)

    return {
        "zero": t.tensor([0]),  # the first slice, which an empty dimension has not
        "none": t.tensor([], dtype=t.int64),
        "zeros": t.zeros(tuple(x.shape), dtype=t.int64),
        "ones": t.ones(tuple(x.shape), dtype=x.dtype),
        "one_slice": along(1),
        "no_slice": along(0),
        "number": t.tensor(3.0, dtype=x.dtype),
        "shares": t.tensor([0.3, 0.5], dtype=x.dtype),
        "inf": float("inf"),
    }


def beside(d: int) -> Any:
    """What the texts name, for the dimension ``d``."""
    return lambda t, x: {"d": d, **helpers(t, x, d)}


# a call of 2.5 along its one dimension: the results, and the gradient of their sum
OF_A_NUMBER: list[tuple[str, list[Any], float]] = [
    ("t.sum(x, dim=d)", [2.5], 1),
    ("t.mean(x, dim=d, keepdim=True)", [2.5], 1),
    ("t.mean(x, dim=(d,))", [2.5], 1),
    ("t.prod(x, dim=d)", [2.5], 1),
    ("t.max(x, dim=d)", [2.5, 0], 1),
    ("t.median(x, dim=d, keepdim=True)", [2.5, 0], 1),
    ("t.kthvalue(x, 1, d)", [2.5, 0], 1),
    ("t.mode(x, dim=d)", [2.5, 0], 1),
    ("t.topk(x, 1, d)", [2.5, 0], 1),
    ("t.sort(x, dim=d)", [2.5, 0], 1),
    ("t.cummax(x, d)", [2.5, 0], 1),
    ("t.var(x, dim=d, correction=0)", [0.0], 0),
    ("t.logsumexp(x, dim=d)", [2.5], 1),
    ("t.logcumsumexp(x, dim=d)", [2.5], 1),
    ("t.softmax(x, dim=d)", [1.0], 0),
    ("t.quantile(x, 0.3, d, True)", [2.5], 1),
    ("t.linalg.vector_norm(x, 3, dim=d)", [2.5], 1),
    ("t.transpose(x, d, 0)", [2.5], 1),
    ("t.squeeze(x, d)", [2.5], 1),
    ("t.movedim(x, d, 0)", [2.5], 1),
    ("x.unfold(d, 1, 1)", [[2.5]], 1),
    ("t.gather(x, d, zero)", [[2.5]], 1),
    ("t.scatter_add(x, d, zeros, ones)", [3.5], 1),
    ("t.scatter(x, d, zero, one_slice)", [1.0], 0),
    ("t.index_select(x, d, zero)", [2.5], 1),
    ("t.index_add(x, d, zero, one_slice)", [3.5], 1),
    ("t.index_fill(x, d, zero, 3.0)", [3.0], 0),
    ("t.index_reduce(x, d, zero, one_slice, 'mean')", [1.75], 0.5),
]


@pytest.mark.parametrize(("text", "results", "gradient"), OF_A_NUMBER)
@pytest.mark.parametrize("d", [0, -1])
def test_a_number_is_reduced_moved_and_indexed_as_a_vector_of_one(
    text: str, results: list[Any], gradient: float, d: int
) -> None:
    x, (result, error, _) = called(autograd_core, text, np.array(2.5), beside(d))
    assert error is None
    found = flat(result)
    assert [each.tolist() for each in found] == results
    sum(each.sum() for each in found if each.requires_grad).backward()
    assert x.grad.tolist() == pytest.approx(gradient, abs=1e-12)
    _, (result, error, _) = called(autograd_core, text, np.array(2.5), beside(d + 1 or 1))
    if d == 0:
        assert error is not None
        assert error[0] == "IndexError"
        assert error[1].startswith(("Dimension out of range", "cummax(): Expected reduction dim"))


# a call of zeros of a shape, along a dimension: the results, or the class of error
OF_NOTHING: list[tuple[str, tuple[int, ...], int, Any]] = [
    ("t.logsumexp(x, dim=d)", (3, 0), 1, [[-np.inf] * 3]),
    ("t.softmax(x, dim=d)", (0, 2), 0, [[]]),
    ("t.log_softmax(x, dim=d)", (2, 0), 1, [[[], []]]),
    ("t.prod(x, dim=d)", (2, 0), 1, [[1, 1]]),
    ("t.max(x, dim=d)", (0, 2), 0, "IndexError"),
    ("t.max(x, dim=d)", (0, 2), 1, [[], []]),
    ("t.median(x)", (0,), 0, [np.nan]),
    ("t.kthvalue(x, 1, d)", (2, 0), 1, "IndexError"),
    ("t.quantile(x, 0.5, d)", (0, 2), 1, "RuntimeError"),
    ("t.linalg.vector_norm(x, inf, dim=d)", (2, 0), 1, "RuntimeError"),
    ("t.unbind(x, d)", (0, 2), 0, []),
    ("t.chunk(x, 2, d)", (0,), 0, [[], []]),
    ("t.cat([x, ones[0]], dim=d)", (2, 0), 1, [[[], []]]),
    ("t.unflatten(x, d, (2, 0))", (0,), 0, [[[], []]]),
    ("t.unflatten(x, d, (-1, 0))", (0,), 0, "RuntimeError"),
    ("t.gather(x, d, none)", (2, 0), 1, [[]]),
    ("t.repeat_interleave(x, 2, d)", (0, 1), 1, [[]]),
    ("t.trapezoid(x, dim=d)", (2, 0), 1, [[0, 0]]),
    ("t.linalg.matrix_norm(x, 1, dim=(0, d))", (3, 0), 1, [0]),
]


@pytest.mark.parametrize(("text", "shape", "d", "expected"), OF_NOTHING)
def test_a_call_of_an_empty_tensor(
    text: str, shape: tuple[int, ...], d: int, expected: Any
) -> None:
    x, (result, error, _) = called(autograd_core, text, np.zeros(shape), beside(d))
    if isinstance(expected, str):
        assert error is not None
        assert error[0] == expected
        return
    assert error is None
    found = flat(result)
    np.testing.assert_equal([each.tolist() for each in found], expected)
    total = sum((each.sum() for each in found if each.requires_grad), x.sum())
    total.backward()
    assert x.grad.shape == x.shape


NAMES = {"dim", "dims", "dim0", "dim1", "dim2", "start_dim", "dimension"}
# Random; calls that are no functions of one tensor; what takes sizes, which it calls dims.
APART = {"gumbel_softmax", "multi_head_attention_forward", "tensorsolve", "tile", "index_put"}
PARTS = ("", "nn.functional", "linalg", "special", "fft")


def test_every_function_that_takes_a_dimension_is_tried() -> None:
    missing = []
    for part in PARTS:
        space: Any = autograd_core
        for name in part.split(".") if part else ():
            space = getattr(space, name)
        for name in space.__all__:
            function = getattr(space, name)
            if name in APART or inspect.isclass(function) or not callable(function):
                continue
            takes = NAMES.intersection(inspect.signature(function).parameters)
            if takes and f"{part}.{name}".removeprefix(".") not in ALL:
                missing.append(f"{part}.{name}")
    assert not missing, missing
