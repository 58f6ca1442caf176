"""How tensors print and how dtypes combine, held to PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
INF, NAN = float("inf"), float("nan")

PRINTED: dict[str, Callable[[Any], Any]] = {
    "empty": lambda t: t.tensor([]),
    "no rows": lambda t: t.zeros(0, 3),
    "no integers": lambda t: t.tensor([], dtype=t.int64),
    "no columns": lambda t: t.zeros(2, 0, dtype=t.float64),
    "scalar": lambda t: t.tensor(2.5),
    "integer": lambda t: t.tensor(2),
    "bools": lambda t: t.tensor([[True], [False]]),
    "integers": lambda t: t.tensor([1, -20, 300]),
    "large integers": lambda t: t.tensor([10**12, 1]),
    "whole": lambda t: t.tensor([1.0, 200.0, -3.0]),
    "whole, not finite": lambda t: t.tensor([1.0, INF, NAN]),
    "not finite": lambda t: t.tensor([1.5, INF, NAN, -INF]),
    "wide": lambda t: t.tensor([1e-5, 1.0, 1000.5]),
    "wide, not finite": lambda t: t.tensor([1e-5, INF, 1000.5]),
    "tiny": lambda t: t.tensor([1e-5, 2e-5]),
    "large": lambda t: t.tensor([1e9, 2e9]),
    "zeros of both signs": lambda t: t.tensor([0.0, -0.0]),
    "nan": lambda t: t.tensor(NAN),
    "large scalar": lambda t: t.tensor(123456789.0),
    "tiny scalar": lambda t: t.tensor(1.23e-7),
    "float64": lambda t: t.tensor([1.0, 2.5], dtype=t.float64),
    "float16": lambda t: t.tensor([1.0, 2.5], dtype=t.float16),
    "uint8": lambda t: t.tensor([[1, 2], [3, 4]], dtype=t.uint8),
    "matrix": lambda t: t.tensor([[1.0, -2.5], [3, 4]]),
    "three dimensions": lambda t: t.arange(24.0).reshape(2, 3, 4),
    "four dimensions": lambda t: t.arange(16.0).reshape(2, 2, 2, 2) / 7,
    "several lines": lambda t: t.arange(100.0),
    "summarised": lambda t: t.arange(2000.0),
    "summarised integers": lambda t: t.arange(2000),
    "summarised rows": lambda t: t.arange(2000.0).reshape(40, 50) / 7,
    "summarised column": lambda t: t.arange(1500.0).reshape(1500, 1),
    "summarised cube": lambda t: t.arange(3000.0).reshape(10, 20, 15),
    "leaf": lambda t: t.tensor([1.0, 2.0], requires_grad=True),
    "computed": lambda t: t.tensor([1.0, 2.0], requires_grad=True) * 2,
    "computed, broken line": lambda t: (t.arange(12.0) / 3).requires_grad_() * 2,
    "computed matrix": lambda t: (t.arange(12.0) / 3).reshape(3, 4).requires_grad_() * 2,
    "parameter": lambda t: t.nn.Parameter(t.ones(2, 3)),
    "size": lambda t: t.zeros(2, 3).shape,
    "dtype": lambda t: t.zeros(2).dtype,
    "largest with indices": lambda t: t.max(t.tensor([[1.0, 2.0], [3.0, 1.0]]), 1),
    "model": lambda t: t.nn.Sequential(
        t.nn.Conv2d(1, 4, 3, padding=1), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
        t.nn.Linear(64, 8, bias=False), t.nn.LayerNorm(8), t.nn.Dropout(0.25),
        t.nn.ModuleList([t.nn.Tanh(), t.nn.Tanh(), t.nn.Sigmoid()]), t.nn.Softmax(dim=1),
        t.nn.Embedding(3, 2), t.nn.Conv2d(2, 4, (3, 2), 2, groups=2, bias=False),
        t.nn.CrossEntropyLoss(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_it_prints_as_pytorch_prints_it(name: str) -> None:
    assert repr(PRINTED[name](autograd_core)) == repr(PRINTED[name](torch))


NUMBERS = st.one_of(
    st.floats(width=32),
    st.sampled_from([0.0, 1.0, -2.0, 1e8, 1e-4, 0.5, 100.0]),
    st.integers(-2000, 2000).map(float),
)


@given(st.lists(NUMBERS, max_size=12), st.booleans())
def test_any_floats_print_as_pytorch_prints_them(numbers: list[float], column: bool) -> None:
    def printed(t: Any) -> str:
        made = t.tensor(numbers, dtype=t.float64)
        return repr(made.unsqueeze(1) if column and numbers else made)

    assert printed(autograd_core) == printed(torch)


# --- dtypes ------------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda t, x, y: x + y,
    "*": lambda t, x, y: x * y,
    "/": lambda t, x, y: x / y,
    "<": lambda t, x, y: x < y,
    "where": lambda t, x, y: t.where(t.tensor([True, False]), x, y),
}


def outcome(run: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """The dtype and values that come out, or the kind of error."""
    try:
        made = run(*arguments)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, None
    return repr(made.dtype), made.tolist()


def operand(t: Any, dtype: str, scalar: bool) -> Any:
    values = 3 if scalar else [1, 2]
    return t.tensor(values, dtype=getattr(t, dtype))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("left", DTYPES)
def test_dtypes_combine_as_in_pytorch(operation: str, left: str) -> None:
    def combined(t: Any, right: str, scalars: tuple[bool, bool]) -> Any:
        run = OPERATIONS[operation]
        return run(t, operand(t, left, scalars[0]), operand(t, right, scalars[1]))

    for right in DTYPES:
        for scalars in ((False, False), (True, False), (False, True), (True, True)):
            mine = outcome(combined, autograd_core, right, scalars)
            assert mine == outcome(combined, torch, right, scalars), (right, scalars)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [2, 2.5, True, -1])
def test_python_numbers_combine_as_in_pytorch(dtype: str, number: float) -> None:
    programs: list[Callable[[Any, Any], Any]] = [
        lambda t, x: x + number, lambda t, x: number + x, lambda t, x: x * number,
        lambda t, x: x / number, lambda t, x: number / x, lambda t, x: x < number,
        lambda t, x: x**number, lambda t, x: number**x, lambda t, x: x - number,
        lambda t, x: number - x, lambda t, x: t.where(x > 1, x, number),
    ]  # fmt: skip
    for position, program in enumerate(programs):
        for scalar in (False, True):
            mine, theirs = (
                outcome(program, t, operand(t, dtype, scalar)) for t in (autograd_core, torch)
            )
            # what PyTorch refuses, such as to subtract bools, may work here
            assert theirs[1] is None or mine == theirs, (position, scalar)


UNARY = ["exp", "sqrt", "tanh", "sigmoid", "abs", "neg", "relu", "sin", "log", "sign"]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*UNARY, "sum", "mean", "max", "argmax", "clone"])
def test_unary_results_have_the_dtype_of_pytorch(name: str, dtype: str) -> None:
    mine, theirs = (
        outcome(lambda x: getattr(x, name)(), operand(t, dtype, False))
        for t in (autograd_core, torch)
    )
    if theirs[1] is not None:
        assert mine[0] == theirs[0]
        np.testing.assert_allclose(mine[1], theirs[1], rtol=2e-3 if dtype == "float16" else 1e-6)
