"""Indices and masks of every form, read and written, held to PyTorch: values, errors, warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core
from tests.autograd_core.side_by_side import Outcome, assert_same_outcome, evaluated, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def tensors(t: Any) -> dict[str, Any]:
    """Short names for tensors of each dtype, to be used in the texts below."""
    return {
        "u8": lambda *data: t.tensor(data, dtype=t.uint8),
        "i8": lambda *data: t.tensor(data, dtype=t.int8),
        "i16": lambda *data: t.tensor(data, dtype=t.int16),
        "i32": lambda *data: t.tensor(data, dtype=t.int32),
        "i64": lambda *data: t.tensor(data),
        "mask": lambda *data: t.tensor(data, dtype=t.bool),
        "f64": lambda *data: t.tensor(data, dtype=t.float64),
    }


def both(text: str) -> tuple[Outcome, Outcome]:
    return tuple(evaluated(t, text, **tensors(t)) for t in (autograd_core, torch))  # type: ignore[return-value]


# x[key] and x[key] = value

# fmt: off
KEYS: dict[str, list[str]] = {
    "t.arange(3.)": [
        "u8(1, 0, 1)", "u8(2, 0, 1)", "u8(2, 0)", "u8(0, 0, 0)", "mask(1, 0, 1)", "mask(1, 0)",
        "i8(2, 0)", "i16(2, 0)", "i32(2, 0)", "i64(2, 0)", "t.tensor([2., 0.])",
        "t.tensor(2, dtype=t.uint8)", "t.tensor(0, dtype=t.uint8)", "t.tensor(True)",
        "t.tensor(False)", "t.tensor(2, dtype=t.int8)", "t.tensor(2)", "t.tensor(2.)", "2.",
        "np.array([1, 0, 1], dtype=np.uint8)", "np.array([1, 0, 1])",
        "np.array([True, False, True])", "np.int64(1)", "np.uint8(1)", "np.bool_(True)",
        "np.array(1)", "np.array(True)", "np.array([1.])", "np.array(1, dtype=np.uint8)",
        "np.array(1.5)", "[1, 0, 1]", "[True, False, True]", "[1., 0.]", "[]", "()", "[[]]",
        "[1, True]", "[1, 2.5, True]", "[np.bool_(True), np.bool_(False), np.bool_(True)]",
        "[np.uint8(1), np.uint8(0)]", "[None]", "[object()]", "[1, 'a']", "'abc'", "''", "b'a'",
        "type", "lambda: 1", "{1}", "range(2)", "3", "-4", "t.tensor(3)", "[3]", "i64(0, -4)",
        "t.zeros(2, 2).bool()", "(0, t.zeros(2).bool())", "slice(-9, None)", "slice(3, 1)",
        "slice(None, None, -1)",
    ],
    "t.tensor(5.)": [
        "True", "False", "...", "None", "()", "t.tensor(True)", "t.tensor(1, dtype=t.uint8)", "0",
        "[0]", "i64(0)", "t.tensor(0)", "slice(None)", "slice(0, 1)", "(0, 0)", "(0,)",
        "(slice(None),)", "1.5", "(None, 0)", "(None, None)", "(..., None)",
    ],
    "t.arange(6.).reshape(2, 3)": [
        "u8(1, 0)", "(slice(None), u8(1, 0, 1))", "u8([1, 0, 1], [0, 0, 1])", "(u8(1, 0), i64(0))",
        "t.tensor(1, dtype=t.uint8)", "(u8(1, 0), u8(1, 0, 0))", "True", "False", "(0, True)",
        "(True, 0)", "(True, [0, 1])", "(slice(None), True)", "(False, 0)", "(0, False)",
    ],
    "t.arange(16.).reshape(4, 4)": [
        "[[0, 1], [2, 3]]", "([[0, 1], [2, 3]],)", "[[[0, 1], [2, 3]]]", "[[1, 1], [0]]",
        "[[1, 1], 0]", "[0, [1, 1]]", "[slice(0, 2), 1]", "[slice(0, 2)]", "[None, 1]", "[1, None]",
        "[..., 1]", "[1, ...]", "[(0, 1), (2, 3)]", "((0, 1), (2, 3))", "((0, 1),)", "(0, (0, 1))",
        "[i64(0, 1), i64(2, 3)]", "[t.tensor(0), t.tensor(2)]", "[t.tensor(0), 2]",
        "[2, t.tensor(0)]", "[np.array([0, 1]), np.array([2, 3])]", "[np.array([0, 1])]",
        "[np.int64(0), np.int64(1)]", "[mask(1, 0, 1, 0)]", "[0] * 31", "[0] * 32", "[0] * 33",
        "[[0]] * 2", "[[0]] * 32", "range(2)", "(range(2), range(2))", "[range(2), range(2)]",
        "'a'", "['a']", "{}", "1j", "(0, 1.5)", "(0, 'a')", "(0, object())", "object()",
        "(0, 1, 2)", "(..., ...)", "(..., 0, ...)", "4", "(0, 4)", "-5", "t.tensor(4)", "[4]",
        "i64(0, 4)", "([0, 1], [0, 1, 2])", "i64(0, -5)", "slice(None, None, 0)",
        "slice(0, 2, 'a')", "slice('a', None)", "slice(1., 2)", "slice(t.tensor(1), t.tensor(3))",
        "slice(i64(1), None)", "slice(np.int64(1), None)", "slice(True, 3)",
        "(slice(None), slice(0, 3))", "(slice(None), slice(0, 4))", "(slice(None), slice(0, 9))",
        "(..., slice(None, 4))", "(slice(None), slice(-4, None))", "(slice(None), slice(4, None))",
        "(slice(0, 2), 1)", "t.ones(4, 4) > 0", "t.ones(4) > 0", "t.ones(4, 3) > 0",
        "t.ones(3) > 0", "(mask(1, 0, 0, 1), mask(1, 0, 0, 1))", "(mask(1, 0, 0, 1), i64(1))",
        "(mask(1, 0, 0, 1), 0)", "([1, 0], [True, False, True, True])", "(slice(None), [0, 1])",
        "(slice(None), ((0, 1), (1, 2)))", "(slice(None), [t.tensor(0), 1])",
        "(slice(None), [[0, 1], [1]])", "(slice(None), [[0, 1], 1])", "(slice(None), [])",
        "(slice(None), [[], []])", "([0, 1], [])", "([0], [])", "t.zeros(0)", "i64()",
    ],
    "t.arange(24.).reshape(2, 3, 4)": [
        "([0, 1], slice(None), [0, 1])", "(slice(None), [0, 1], [0, 1])",
        "(0, slice(None), [0, 1])", "([0, 1], ..., 0)", "([0, 1], 0)",
        "(slice(None), u8([1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]))",
        "(slice(None), u8([1, 0, 0, 1], [1, 0, 0, 0]))", "(u8(1, 0), slice(None), u8(1, 0, 0, 1))",
        "(..., u8(1, 0, 0, 1))", "(None, u8(1, 0))", "(0, u8(1, 0, 1))", "[u8(1, 0), 0]",
        "(t.ones(2, 3).bool(), slice(0, 2))", "(t.ones(2, 3).bool(), None)",
        "(t.ones(2, 3).bool(), 1)", "(..., t.ones(3, 4).bool())", "(t.ones(2, 3).bool(), ..., 1)",
        "(t.ones(2, 3).bool(), [0] * 6)", "(..., ..., 1)", "([0, 1], None, [0, 1])",
        "([0, 1], None, ..., None, [0, 1])", "([True, False], None, ..., None, [0, 1])",
        "(True, False)", "(True, 1, False)", "(True, None, False)", "(True, ..., True)", "(True,)",
    ],
    "t.zeros(0, 4)": ["t.zeros(0, dtype=t.bool)", "[]", "i64()", "slice(None)"],
}
VALUES = [
    "7.", "7", "True", "t.tensor(7.)", "t.tensor(7)", "t.tensor([7.])", "f64(7.)",
    "t.ones_like(x[{key}])", "t.ones_like(x[{key}]).unsqueeze(0)", "t.ones(5, 5)", "None", "'a'",
    "[7.]", "(7.,)", "np.array([7.])", "np.float32(7)", "np.float64(7)", "np.int32(7)", "1j",
    "{{}}",
]
# fmt: on
PAIRS = [(x, key) for x, keys in KEYS.items() for key in keys]


@pytest.mark.sampled(50)
@pytest.mark.parametrize(("x", "key"), PAIRS)
def test_what_a_key_picks_is_what_pytorch_picks(x: str, key: str) -> None:
    assert_same_outcome(*both(f"{x}[{key}]"))
    assert_same_outcome(*both(f"({x} * 1).requires_grad_()[{key}]"))


@pytest.mark.sampled(50)
@pytest.mark.parametrize(("x", "key"), PAIRS)
def test_what_a_key_sets_is_what_pytorch_sets(x: str, key: str) -> None:
    def assigned(t: Any, text: str) -> Outcome:
        def run() -> Any:
            values: dict[str, Any] = {"t": t, "np": np, **tensors(t)}
            made = values["x"] = eval(x, values)
            value = eval(text.format(key=key), values)
            made[eval(key, values)] = value
            return made

        return outcome(run)

    no_such_places = evaluated(torch, f"{x}[{key}]", **tensors(torch)).error is not None
    for value in VALUES:
        mine, theirs = assigned(autograd_core, value), assigned(torch, value)
        if no_such_places and value in ("t.tensor(7)", "f64(7.)", "t.ones(5, 5)"):
            # of two mistakes either may be told of
            assert mine.error
            assert theirs.error
        else:
            assert_same_outcome(mine, theirs)


# fmt: off
NUMBERS = [
    "-1", "255", "256", "-255", "-256", "1.9", "-1.9", "-0.5", "127", "128", "-128", "-129",
    "127.5", "2**31", "3e9", "1e19", "1e38", "1e39", "1e300", "float('inf')", "float('nan')",
    "True", "1j",
]
WAYS = {
    "a number": "x.__setitem__(0, {}) or x", "a place": "x.__setitem__([0], {}) or x",
    "a mask": "x.__setitem__(mask(1, 0), {}) or x", "fill_": "x.fill_({})",
    "full": "t.full((2,), {}, dtype=x.dtype)", "masked_fill": "x.masked_fill(mask(1, 0), {})",
    "index_fill": "x.index_fill(0, i64(0), {})", "scatter": "x.scatter(0, i64(0), {})",
}
# fmt: on


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "int64", "bool", "float16", "float32"])
def test_numbers_beyond_a_dtype_are_refused_as_by_pytorch(kind: str, way: str) -> None:
    for number in NUMBERS:
        if number == "1j" and way == "index_fill":  # whose words are others
            continue
        text = f"(lambda x: {WAYS[way].format(number)})(t.zeros(2, dtype=t.{kind}))"
        assert_same_outcome(*both(text))


# Functions that take an index or a mask

CALLS = [
    *(
        f"t.index_put(t.zeros(3), {rest})"
        for rest in (
            "(u8(1, 0, 1),), t.ones(2)", "(u8(1, 0, 1),), t.ones(2), accumulate=True",
            "[u8(1, 0, 1)], t.ones(2)", "(u8(1, 0, 1),), t.ones(1)", "(i8(1),), t.ones(1)",
            "(i16(1),), t.ones(1)", "(i32(1),), t.ones(1)", "(t.ones(1),), t.ones(1)",
            "(i64(1, 0), i64(1)), t.ones(1)", "(i64(1, 5),), t.ones(1)", "(i64(1, 2),), t.ones(3)",
            "(i64(1, 2),), t.ones(3), accumulate=True", "(i64(1, 2),), i64(1, 2)",
            "(i64(1, 2),), t.tensor(1)", "(i64(1, 2),), f64(1.)", "(mask(1, 0, 1),), i64(7)",
            "(mask(1, 0, 1),), i64(7), accumulate=True", "(i64(1, 2),), 1.",
            "(np.array([1]),), t.ones(1)", "([1, 2],), t.ones(1)", "(1,), t.ones(1)",
            "i64(1), t.ones(1)", "(None, i64(1)), t.ones(1)",
        )
    ),
    *(
        f"t.masked_fill({rest})"
        for rest in (
            "t.zeros(3), u8(1, 0, 1), 1.", "t.zeros(3), i64(1, 0, 1), 1.",
            "t.zeros(3), i32(1, 0, 1), 1.", "t.zeros(3), u8(1, 0, 1), t.tensor(1.)",
            "t.zeros(3), t.ones(3), t.tensor(1.)", "t.zeros(3), mask(1, 0, 1), t.ones(1)",
            "t.zeros(3), mask(1, 0, 1), t.tensor(1., dtype=t.float64)",
            "i64(0, 0), mask(1, 0), t.tensor(1.5, dtype=t.float64)", "i64(0, 0), mask(1, 0), 1.5",
            "mask(0, 0), mask(1, 0), 2", "i64(0, 0), mask(1, 0), t.tensor(float('nan'))",
            "u8(0, 0), mask(1, 0), t.tensor(300.)", "t.zeros(3), t.tensor(True), t.tensor(3)",
            "t.zeros(3), mask([1], [0]), 1.", "t.zeros(3), mask([1], [0]), t.tensor(1.)",
        )
    ),
    "t.zeros(3).masked_fill_(u8(1, 0, 1), 1.)", "i64(0, 0).masked_fill_(mask(1, 0), t.tensor(1.5))",
    "t.zeros(3).masked_fill_(mask([1], [0]), 1.)", "t.zeros(3).masked_fill_(mask([1, 0, 1]), 1)",
    "t.masked_select(t.arange(3.), u8(1, 0, 1))", "t.masked_select(t.arange(3.), i64(1, 0, 1))",
    "t.masked_select(t.zeros(3), mask(1, 0))",
    "t.masked_scatter(t.zeros(3), i64(1, 0, 1), t.ones(2))",
    "t.masked_scatter(t.zeros(3), mask(1, 0, 1), i64(1, 2))",
    "t.masked_scatter(t.zeros(3), mask(1, 0, 1), f64(1., 2.))",
    "t.masked_scatter(t.zeros(3), mask(1, 0, 1), t.ones(1))",
    "t.masked_scatter(t.zeros(3), mask(1, 0), t.ones(3))", "t.where(u8(1, 0, 1))",
    "t.where(i64(1, 0, 1), t.tensor(1.), t.tensor(0.))", "t.where(t.ones(3), t.ones(1), t.ones(1))",
    *(
        f"t.gather({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1)", "t.arange(3.), 0, i32(1)", "t.arange(3.), 0, i8(1)",
            "t.arange(3.), 0, mask(1)", "t.arange(3.), 0, t.zeros(0)",
            "t.arange(3.), 0, t.tensor(1)", "t.tensor(3.), 0, t.tensor(0)",
            "t.tensor(3.), 0, i64(0, 0)", "t.ones(2, 3), 1, i64([1, -1])",
            "t.ones(2, 3), 1, i64([1], [1], [1])", "t.ones(2, 3), 1, i64(1)",
            "t.ones(2, 3), 1, [[1]]",
        )
    ),
    *(
        f"t.scatter({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1), 2.", "t.arange(3.), 0, i32(1), 2.",
            "t.arange(3.), 0, i8(1), 2.", "t.arange(3.), 0, mask(1), 2.",
            "t.arange(3.), 0, t.ones(1), 2.", "t.zeros(3), 0, t.zeros(0), 1.5",
            "t.zeros(3), 0, u8(), t.zeros(0)", "t.zeros(3), 0, i64(1), i64(1)",
            "t.zeros(3), 0, i64(1), f64(1.)", "i64(0, 0), 0, i64(1), 1.5",
            "t.zeros(3), 0, t.tensor(1), 5.", "t.zeros(3), 0, t.tensor(1), t.tensor(5.)",
            "t.zeros(3), 0, t.tensor(1), t.ones(2)", "t.zeros(3), 0, i64(1), t.tensor(5.)",
            "t.tensor(3.), 0, t.tensor(0), 4.", "t.tensor(3.), 0, i64(0), 4.",
            "t.tensor(3.), 0, i64(0), t.ones(1)", "t.tensor(3.), 0, i64(0), t.tensor(4.)",
            "t.zeros(2, 3), 1, i64([1, 5]), 1.", "t.zeros(2, 3), 1, i64([1, -1]), 1.",
            "t.zeros(2, 3), 1, i64([1], [1], [1]), 1.", "t.zeros(2, 3), 1, i64([1]), t.zeros(0, 1)",
        )
    ),
    *(
        f"t.scatter_{rest}"
        for rest in (
            "add(t.arange(3.), 0, u8(1), t.ones(1))", "add(t.arange(3.), 0, i32(1), t.ones(1))",
            "add(t.zeros(3), 0, i64(1), i64(1))", "add(t.zeros(3), 0, t.tensor(1), t.tensor(5.))",
            "add(t.zeros(3), 0, t.tensor(1), t.ones(1))",
            "add(t.tensor(3.), 0, i64(0, 0), t.ones(2))",
            "reduce(t.arange(3.), 0, u8(1), t.ones(1), 'sum')",
            "reduce(t.arange(3.), 0, i32(1), t.ones(1), 'prod')",
            "reduce(t.zeros(3), 0, i64(1), i64(1), 'prod')",
            "reduce(t.zeros(3), 0, t.tensor(1), t.tensor(5.), 'sum')",
        )
    ),
    *(
        f"t.index_select({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1)", "t.arange(3.), 0, i32(1)", "t.arange(3.), 0, i8(1)",
            "t.arange(3.), 0, t.ones(1)", "t.arange(3.), 0, mask(1)", "t.arange(3.), 0, i64(-1)",
            "t.zeros(2, 3), 0, i64([0])", "t.zeros(2, 3), 0, t.tensor(0)",
            "t.zeros(2, 3), 0, i64(5)", "t.zeros(2, 3), 0, t.tensor([])",
        )
    ),
    *(
        f"t.index_add({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1), t.ones(1)", "t.arange(3.), 0, i32(1), t.ones(1)",
            "t.arange(3.), 0, i64(1), i64(1)", "t.zeros(2, 3), 0, i64([0]), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, i64(0, 1), t.zeros(1, 3)", "t.zeros(2, 3), 0, i64(0), t.zeros(1, 2)",
            "t.zeros(2, 3), 0, i64(0), t.zeros(3)", "t.zeros(2, 3), 0, i64(5), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, i64(-1), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, t.tensor(0), t.zeros(1, 3)",
            "t.zeros(3), 0, t.tensor(1), t.tensor(2.)", "t.zeros(2, 3), 0, i64(1), t.tensor(2.)",
            "t.zeros(2, 3), 1, i64(0, 1), t.zeros(2, 1)", "t.zeros(2, 3), 1, i64(0, 1), t.zeros(2)",
            "t.zeros(2, 3), -1, i64(0, 1), t.zeros(2, 1)",
            "t.zeros(2, 3), -1, i64(0, 7), t.zeros(2, 2)",
        )
    ),
    *(
        f"t.index_copy({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1), t.ones(1)", "t.arange(3.), 0, i32(1), t.ones(1)",
            "t.arange(3.), 0, i64(1), i64(1)", "t.zeros(2, 3), 0, i64(5), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, i64(-1), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, i64(0, 1), t.zeros(1, 3)",
            "t.zeros(2, 3), 0, i64([0]), t.zeros(1, 3)", "t.zeros(2, 3), 0, i64(0), t.zeros(1, 2)",
            "t.zeros(3), 0, t.tensor(1), t.tensor(2.)", "t.zeros(3), 0, i64(1, 2), t.tensor(2.)",
            "t.zeros(2, 3), 0, i64(1), t.tensor(2.)", "t.zeros(2, 3), 0, t.tensor(1), t.zeros(3)",
            "t.zeros(2, 3), 1, i64(0, 1), t.zeros(2, 1)",
            "t.zeros(2, 3), -1, i64(0, 1), t.zeros(1, 2)",
            "t.zeros(2, 3, 4), 1, i64(0, 1), t.zeros(1, 2, 4)",
        )
    ),
    *(
        f"t.index_fill({rest})"
        for rest in (
            "t.arange(3.), 0, u8(1), 5.", "t.arange(3.), 0, i32(1), 5.",
            "t.arange(3.), 0, mask(1), 5.", "t.arange(3.), 0, i64(1), t.tensor(5)",
            "t.arange(3.), 0, i64(-1), 5.",
            "t.arange(3.), 0, i64(1), t.tensor(5., dtype=t.float64)",
            "t.zeros(2, 3), 0, i64(5), 1.", "t.zeros(2, 3), 0, i64(-3), 1.",
            "t.zeros(2, 3), 0, i64([0]), 1.", "t.zeros(2, 3), 0, i64(0), t.ones(1)",
            "i64(0, 0), 0, i64(0), t.tensor(1.7)",
        )
    ),
    "t.index_reduce(t.arange(3.), 0, u8(1), t.ones(1), 'prod')",
    "t.index_reduce(t.arange(3.), 0, i64(1), i64(1), 'prod')",
    "t.index_reduce(t.zeros(2, 3), 0, i64([0]), t.zeros(1, 3), 'prod')",
    "t.index_reduce(t.zeros(2, 3), 0, i64(0, 1), t.zeros(1, 3), 'prod')",
    "t.index_reduce(t.zeros(2, 3), 0, i64(0), t.zeros(1, 2), 'prod')",
    *(
        f"t.take(t.arange(6.).reshape(2, 3), {index})"
        for index in ("u8(1)", "i32(1)", "mask(1)", "i64(-1)", "i64(6)", "i64(-7)", "i64([1, 2])")
    ),
    "t.take(t.zeros(0), i64(0))",
    *(
        f"t.zeros(2, 3).put({rest})"
        for rest in (
            "u8(1), t.ones(1)", "i32(1), t.ones(1)", "i64(1), i64(1)", "i64(1), t.ones(2)",
            "i64(7), t.ones(1)", "i64(-1), t.ones(1)", "i64([1, 2]), t.ones(2)",
        )
    ),
    *(
        f"t.take_along_dim(t.ones(2, 3), {rest})"
        for rest in ("u8([1]), 1", "i32([1]), 1", "i64(1), 1", "i64(-1)", "t.ones(1, 1), 1")
    ),
    *(
        f"t.lerp({rest})"
        for rest in (
            "t.zeros(2), f64(1., 1.), 0.5", "t.zeros(2), i64(1, 1), 0.5",
            "i64(1, 1), i64(1, 1), 0.5", "t.zeros(2), t.ones(2), f64(0.5, 1.)",
            "t.zeros(2), t.ones(2), t.tensor(1)", "i64(1, 1), i64(1, 1), i64(1, 1)",
            "t.zeros(2), t.tensor(1., dtype=t.float64), 0.5",
        )
    ),
    "t.zeros(2).lerp_(f64(1., 1.), 0.5)",
]  # fmt: skip


@pytest.mark.sampled(40)
@pytest.mark.parametrize("text", CALLS)
def test_indices_of_functions_are_taken_and_refused_as_by_pytorch(text: str) -> None:
    assert_same_outcome(*both(text))


def test_a_condition_of_uint8_is_warned_of() -> None:
    """PyTorch says so once in the life of a process."""
    message = "where received a uint8 condition tensor"
    with pytest.warns(UserWarning, match=message):
        found = autograd_core.where(
            autograd_core.tensor([2, 0], dtype=autograd_core.uint8), 1.0, 0.0
        )
    assert found.tolist() == [1.0, 0.0]


# Gradients

GRADIENTS = [
    "x[u8(1, 0, 1)]", "x.index_put((u8(1, 0, 1),), y[:2])", "x.scatter(0, t.tensor(1), y[0])",
    "x.scatter(0, i64(1), y[0])", "x[0].scatter(0, i64(0), y[0])",
    "x.scatter_add(0, t.tensor(1), y[0])", "x.gather(0, t.tensor(1))", "x[0].gather(0, i64(0, 0))",
    "x.masked_fill(mask(1, 0, 1), y[0])", "x.masked_fill(mask(1, 0, 1), y[0].double())",
    "x[0].masked_fill(t.tensor(True), y[0].double())", "x.index_fill(0, i64(1), y[0].double())",
    "x.where(u8(1, 0, 1) != 0, y)", "x[True]", "x[[[0, 1]]]",
    "x.scatter_reduce(0, t.tensor(1), y[0], 'prod')",
    "x.scatter_reduce(0, t.tensor(1), y[0], 'amax')",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:indexing with dtype", "ignore:Using a non-tuple")
@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients_go_to_the_places_that_were_picked(text: str) -> None:
    found = []
    for t in (autograd_core, torch):
        x = t.tensor([1.5, -2.0, 3.0], requires_grad=True)
        y = t.tensor([0.5, 4.0, 2.0], requires_grad=True)
        result = eval(text, {"t": t, "x": x, "y": y, **tensors(t)})
        (result * result).sum().backward()
        found.append([None if leaf.grad is None else leaf.grad.tolist() for leaf in (x, y)])
    assert found[0] == found[1]


# Any key at all

SIZES = (2, 3, 2)
PARTS = st.one_of(
    st.integers(-3, 3).map(repr),
    st.sampled_from(["None", "...", "True", "False", "slice(None)", "slice(1,None)", "slice(0,2)"]),
    st.lists(st.integers(-2, 1), min_size=1, max_size=3).map(lambda each: f"i64{tuple(each)}"),
    st.lists(st.integers(0, 2), min_size=2, max_size=3).map(lambda each: f"u8{tuple(each)}"),
    st.lists(st.booleans(), min_size=2, max_size=3).map(repr),
    st.lists(st.integers(-1, 1), min_size=1, max_size=2).map(repr),
    st.sampled_from(["t.tensor(1)", "t.tensor(1, dtype=t.uint8)", "mask([1, 0, 1], [0, 1, 1])"]),
)


@settings(max_examples=300)
@given(st.lists(PARTS, max_size=4), st.booleans())
def test_any_key_picks_what_it_picks_in_pytorch(parts: list[str], as_list: bool) -> None:
    inside = ", ".join(parts)
    key = f"[{inside}]" if as_list else f"({inside},)" if parts else "()"
    mine, theirs = both(f"t.arange(12.).reshape{SIZES}[{key}]")
    if mine.error and theirs.error:  # which of several mistakes is told of may differ
        assert mine.error[0] == theirs.error[0]
    else:
        assert_same_outcome(mine, theirs)
