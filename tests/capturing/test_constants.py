"""A constant of the program is never shown as another number."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gradstep
from gradstep.engines.pytorch.formulas import readable
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_constant
from gradstep_viz.picture.compose import make_picture
from tests.viz.picture_programs import graph_of_code

ENGINES = pytest.mark.parametrize(
    "engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)]
)
HEAD = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"


def read(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").removeprefix("≈"))


@given(st.floats(allow_nan=False))
@example(1.00001)
@example(0.9999999)
@example(1 / 1024)
@example(0.30000000000000004)
def test_a_text_is_the_number_or_says_that_it_is_cut(number: float) -> None:
    text = format_constant(number)
    assert len(text) <= 16
    if not text.startswith("≈"):
        assert read(text) == number or np.float32(read(text)) == np.float32(number) == number
    elif math.isfinite(number):
        assert math.isclose(read(text), number, rel_tol=5e-3)
        assert len(repr(abs(number)).replace(".", "").strip("0").partition("e")[0]) > 9


@given(st.floats(width=32, allow_nan=False))
def test_a_float32_is_told_from_all_others(number: float) -> None:
    text = format_constant(np.float32(number))
    assert not text.startswith("≈")
    assert np.float32(read(text)) == np.float32(number)


@given(st.integers())
def test_an_integer_is_exact(number: int) -> None:
    assert int(format_constant(number).replace("\N{MINUS SIGN}", "-")) == number


def details_of(graph: Graph) -> list[str]:
    return [box.detail for box in make_picture(graph).boxes]


def words_of(graph: Graph) -> set[str]:
    picture = make_picture(graph)
    texts = [text for box in picture.boxes for text in (box.detail, box.right)]
    texts += [chip.right for box in picture.boxes for chip in box.chips]
    return {word for text in texts for word in re.split(r"[ ,()]+", text)}


@ENGINES
@pytest.mark.parametrize(
    ("code", "shown", "wrong"),
    [
        ("(x * 1.00001 + 0.9999999 * x)", ("1.00001", "0.9999999"), "1 · x"),
        ("(x * 16777217)", ("16777217",), "1.68e7 · x"),
        ("(x * 0.1)", ("0.1",), "0.100"),
        ("(x + 100000.5)", (), "1e5"),
        ("(x ** 2.00001)", ("2.00001", "x^1.00001"), "x.00001"),
        ("(x ** 3.5)", ("3.5", "x^2.5"), "x².5"),
        ("(x / 8 ** 0.5)", ("≈2.83",), "2.83"),
    ],
)
def test_pictures_show_the_number_of_the_program(
    code: str, shown: tuple[str, ...], wrong: str, engine: str
) -> None:
    graph = graph_of_code(f"{HEAD}y = {code}.sum()\ny.backward()\n", engine)
    words = words_of(graph)
    assert {*shown} <= words
    alone = rf"(?<![\w.≈]){re.escape(wrong)}(?![\w.])"
    assert not any(re.search(alone, detail) for detail in details_of(graph))


@ENGINES
def test_attributes_and_constant_tensors_are_the_numbers_of_the_program(engine: str) -> None:
    code = (
        "c = torch.tensor(1.00001)\n"
        "y = (torch.nn.functional.leaky_relu(x, 0.0100001) * c).sum()\ny.backward()\n"
    )
    graph = graph_of_code(HEAD + code, engine, "--values")
    assert {"0.0100001", "1.00001"} <= words_of(graph)


def test_a_power_is_cut_nowhere() -> None:
    rule = "pow_backward(grad, self, exponent)"
    for exponent, text in ((1.00001, "x^≈1e−5"), (2.5, "x^1.5"), (2.0, "x"), (11.0, "x^10")):
        assert readable(rule, {"self": "x"}, {"exponent": exponent}).endswith(text)


@pytest.mark.torch
def test_complex_and_true_are_themselves() -> None:
    graph = graph_of_code(
        HEAD + "y = ((x * (1.5 + 2j)).abs() + x * True).sum()\ny.backward()\n",
        "pytorch",
        "--values",
    )
    assert "True" in words_of(graph)
    assert gradstep.render(graph, format="txt").text
