"""The expression language: what it means, what it refuses, and where."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradstep.debugger.breakpoints.predicate import WORDS, help_text, parse, parse_predicate
from gradstep.debugger.errors import ExpressionError, Unanswerable
from gradstep.debugger.snapshot import Value


@dataclass
class Fake:
    """A gradient at a node, made up."""

    array: Any = None
    ratio: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Any] = field(default_factory=dict)

    @property
    def gradient(self) -> Value | None:
        return None if self.array is None else Value(np.asarray(self.array))

    def fact(self, word: str) -> Any:
        return self.facts.get(word)

    def tensor(self, path: str) -> Value | None:
        if path not in self.tensors:
            raise LookupError(f"nothing called {path}")
        array = self.tensors[path]
        return None if array is None else Value(np.asarray(array))


NAN, INF = float("nan"), float("inf")


@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    ("text", "array", "holds"),
    [
        ("nan", [1.0, NAN], True),
        ("nan", [1.0, INF], False),
        ("inf", [1.0, -INF], True),
        ("inf", [NAN], False),
        ("zero", [0.0, 0.0], True),
        ("zero", [0.0, 1.0], False),
        ("zero", [], False),
        ("denormal", [1.0, 1e-310], True),
        ("denormal", [1.0, 0.0], False),
        ("denormal", np.float32([1e-40]), True),
        ("undefined", None, True),
        ("undefined", [0.0], False),
        ("rms > 10", [10.0, 11.0], True),
        ("rms>1e1", [10.0, 11.0], True),
        ("rms>1E+1", [9.0], False),
        ("4.99 < norm < 5.01", [3.0, 4.0], True),
        ("mean == 2", [1.0, 3.0], True),
        ("min == -1 and max == 3", [-1.0, 3.0], True),
        ("absmax == 4", [-4.0, 3.0], True),
        ("zeros == 0.5", [0.0, 3.0], True),
        ("size == 2", [0.0, 3.0], True),
        ("shape == (2, 1)", [[0.0], [3.0]], True),
        ("shape == [2, 1]", [[0.0], [3.0]], True),
        ("shape == (2,)", [0.0, 3.0], True),
        ("shape[0] == 2", [0.0, 3.0], True),
        ("shape[-1] == 1", [[0.0], [3.0]], True),
        ("2 in shape", [0.0, 3.0], True),
        ("2 not in shape", [0.0, 3.0], False),
        ('dtype == "float64"', [0.0], True),
        ("dtype == 'float32'", [0.0], False),
        ("1 < rms < 3", [2.0], True),
        ("1 < rms < 2", [2.0], False),
        ("not nan", [2.0], True),
        ("not not nan", [2.0], False),
        ("nan or rms > 1 and rms < 3", [2.0], True),
        ("(nan or rms > 1) and rms > 3", [2.0], False),
        ("max - min >= 2 * abs(min)", [-1.0, 1.0], True),
        ("log10(rms) == 2", [100.0], True),
        ("sqrt(rms) ** 2 / 4 + 1 == 26", [100.0], True),
        ("-max == min", [-1.0, 1.0], True),
        ("+max == 1", [-1.0, 1.0], True),
        ("nan, inf, rms>1e3", [2e3], True),
        ("nan, inf, rms>1e3", [2.0], False),
        ("nan,inf", [INF], True),
    ],
)
def test_a_condition_holds(text: str, array: Any, holds: bool) -> None:
    assert parse_predicate(text).holds(Fake(array)) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('op == "mul"', True),
        ('op in ("mul", "div")', True),
        ('op not in ("mul", "div")', False),
        ('op in ["div"]', False),
        ('scope ~ "encoder.*"', True),
        ('scope~"encoder.*"', True),
        ('not scope ~ "decoder.*" and hits < 3', True),
        ('"coder" in scope', True),
        ("line == 12 and index != 3", True),
        ("ratio > 100", True),
        ("in.rms > 1 and out.1.nan", True),
        ("in.1.undefined", True),
        ("0.weight.grad.max == 3", True),
        ("encoder.0.weight.grad.max == 3", True),
        ("0.weight.grad[0].max == 1", True),
        ("saved.x.shape == (2,)", True),
        ("grad.zero", True),
    ],
)
def test_facts_and_tensors_of_the_node(text: str, holds: bool) -> None:
    subject = Fake(
        [1.0],
        ratio=120.0,
        facts={"op": "mul", "scope": "encoder.0", "hits": 2, "line": 12, "index": 4},
        tensors={
            "in": [2.0], "in.1": None, "out.1": [NAN], "0.weight.grad": [1.0, 3.0],
            "encoder.0.weight.grad": [3.0], "saved.x": [0.0, 0.0], "grad": [0.0],
        },
    )  # fmt: skip
    assert parse_predicate(text).holds(subject) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("rms > 1", False),
        ("not rms > 1", False),
        ("rms > 1 or not rms > 1", False),
        ("rms > 1 or undefined", True),
        ("undefined or rms > 1", True),
        ("undefined and rms > 1", False),
        ("not (undefined and nan)", False),
        ("shape == (1,) or size != 4", False),
        ("ratio < 1", False),
        ("rms > 1, undefined", True),
    ],
)
def test_what_is_unknown_fulfils_neither_a_condition_nor_its_negation(
    text: str, holds: bool
) -> None:
    assert parse_predicate(text).holds(Fake(None)) is holds


@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("rms >> 10", 5, "unexpected '>'"),
        ("rms > > 10", 6, "unexpected '>'"),
        ("rms >", 5, "this ends too early"),
        ("rms = 10", 4, "unexpected '='; write =="),
        ("nan & inf", 4, "unexpected '&'; write and"),
        ("nan | inf", 4, "unexpected '|'; write or"),
        ("!nan", 0, "unexpected '!'; write not"),
        ("", 0, "an expression is missing"),
        ("  ", 2, "an expression is missing"),
        ("rsm > 10", 0, "unknown word 'rsm'; did you mean rms?"),
        ("rms > tne", 6, "unknown word 'tne'"),
        ("op == mul", 6, "text goes in quotes: 'mul'"),
        ("rms", 0, "rms is a number, no condition: compare it, as in rms > 10"),
        ("nan, rms", 5, "rms is a number, no condition"),
        ("in", 0, "in is a tensor, no condition"),
        (
            "in > 3",
            0,
            "in > 3 is true or false for each element, no condition: ask for any(in > 3)",
        ),
        ("op > 3", 5, "a text cannot be compared so with a number"),
        ("op < 'x'", 5, "a text cannot be compared so with a text"),
        ("shape < (1, 2)", 8, "cannot be compared so"),
        ("nan == inf", 7, "cannot be compared so"),
        ("rms + op > 1", 6, "op is a text; a number is needed here"),
        ("not rms", 4, "rms is a number; true or false is needed here"),
        ("nan and rms", 8, "rms is a number; true or false is needed here"),
        ("rms ~ 'x'", 0, "rms is a number; a text is needed here"),
        ("shape == (1, 'a')", 9, "only numbers or only text"),
        ("shape[0, 1] == 2", 6, "one index"),
        ("shape[rms] == 2", 6, "an index is an integer or a range"),
        ("rms[0] > 1", 4, "rms is a number, and has no parts"),
        ("abs(rms, 2) > 1", 0, "abs takes one number"),
        ("exec(rms) > 1", 0, "there is no function exec"),
        ("ab(rms) > 1", 0, "did you mean abs?"),
        ("in.rsm > 1", 3, "unknown word 'rsm'; did you mean rms?"),
        ("in[0].rsm > 1", 6, "unknown word 'rsm'"),
        ("rms > 'x", 6, "this quote is not closed"),
        ("rms > 1abc", 6, "neither a number nor a word"),
        ("rms > 10 10", 9, "unexpected '10'"),
        ("(rms > 1", 0, "this bracket is not closed"),
        ("rms > 1)", 7, "unexpected ')'"),
        ("lambda: 0", 6, "unexpected ':'"),
        ("rms and", 7, "this ends too early"),
        ("nan if inf else zero", 4, "unexpected 'if'"),
        ("[rms for rms in shape]", 1, "unexpected 'rms'"),
        ("rms // 2 > 1", 5, "unexpected '/'"),
        ("*rms > 1", 0, ""),
        ("rms > 0x10", 6, "neither a number nor a word"),
        ("nan" + " or nan" * 100, 500, "at most 500 characters"),
    ],
)
def test_what_means_nothing_is_refused_with_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_predicate(text)
    assert said in str(caught.value)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__",
        "open('/etc/passwd')",
        "rms.__class__",
        "in.__class__",
        "f'{rms}'",
        "(x := 3)",
        "rms > 10; nan",
        "rms > 1 #",
        "`rms`",
        "rms\\",
        "print",
        "True",
        "None",
        "rms if nan else rms",
        "{1: 2}",
        "{1}",
        "1j > 0",
        "await rms",
        "yield",
        "...",
    ],
)
def test_python_is_no_part_of_the_language(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rms / (max - max) > 1", "division by zero"),
        ("10.0 ** 400 > rms", "out of range"),
        ("9 ** 9 ** 9 ** 9 > 1", "out of range"),
        ("(0 - 8) ** 0.5 > 1", "no such power"),
        ("log10(0) > 1", "domain error"),
        ("sqrt(-1) > 1", "domain error"),
        ("shape[5] > 1", "index out of range"),
        ("in[7].rms > 1", r"there is no part \[7\] in the shape \[2\]"),
        ("in[0, 0].rms > 1", r"no part \[0, 0\]"),
        ("out.rms > 1", "nothing called out"),
    ],
)
def test_what_has_no_value_here_says_why(text: str, said: str) -> None:
    subject = Fake([1.0, 2.0], tensors={"in": [1.0, 2.0]})
    with pytest.raises(Unanswerable, match=said):
        parse_predicate(text).holds(subject)


def test_a_part_of_a_tensor_is_a_tensor() -> None:
    subject = Fake([1.0], tensors={"w.grad": np.arange(12.0).reshape(3, 4)})
    for text, wanted in (
        ("w.grad[0]", [0, 1, 2, 3]), ("w.grad[0:2, -1]", [3, 7]), ("w.grad[:, 1]", [1, 5, 9]),
        ("w.grad[::2, 0]", [0, 8]), ("w.grad[1, 2]", 6),
    ):  # fmt: skip
        value = parse(text).value(subject)
        assert value.array.tolist() == wanted


def test_the_value_of_an_expression_and_its_kind() -> None:
    subject = Fake([[1.0, 3.0]])
    for text, kind, value in (
        ("max - min", "number", 2), ("shape", "shape", (1, 2)), ("nan", "flag", False),
        ("dtype", "text", "float64"), ("(1, 2)", "shape", (1, 2)), ("'a b'", "text", "a b"),
    ):  # fmt: skip
        expression = parse(text)
        assert (expression.kind, expression.value(subject)) == (kind, value)
        assert expression.text == text


def test_the_help_lists_every_word() -> None:
    text = help_text()
    for word in WORDS:
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())


_LETTERS = st.text(string.printable + "äλ−²", max_size=40)
_PIECES = st.lists(
    st.sampled_from([
        *WORDS, "in", "out.0", "w.grad", "and", "or", "not", "(", ")", "[", "]", ",", ":", "0", "1",
        "1e3", "-", "+", "*", "/", "**", "<", ">", "==", "!=", "~", "'a'", '"mul"', ".", "in.rms",
    ]),
    max_size=14,
).map(" ".join)  # fmt: skip


@given(_LETTERS | _PIECES, st.sampled_from([None, [1.0, NAN], [[0.0]], [], 2.0]))
@example("in in in", [1.0])
@example("not in not in in", [1.0])
@example("(" * 300, [1.0])
@example("-" * 499, [1.0])
@example("not " * 120 + "nan", [1.0])
@example("\x00", None)
@example("\ufeffnan", None)
def test_any_text_is_understood_or_refused_within_its_length(text: str, array: Any) -> None:
    tensors = {"in": array, "w.grad": [1.0]}
    outcome = _outcome(text, Fake(array, tensors=tensors, facts={"op": "mul", "hits": 0}))
    if isinstance(outcome, ExpressionError):
        assert 0 <= outcome.column <= len(text)
        assert "\n" not in str(outcome)
    elif isinstance(outcome, Unanswerable):
        assert str(outcome)
    else:
        assert outcome in (True, False)


def _outcome(text: str, subject: Fake) -> bool | ExpressionError | Unanswerable:
    try:
        return parse_predicate(text).holds(subject)
    except (ExpressionError, Unanswerable) as error:
        return error
