"""Fixes are edits of the syntax tree: what stands around a part, and inside it, stays as it was."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.findings.fixes import (
    Line,
    detached,
    not_in_place,
    with_argument,
    with_operand,
    with_operation,
    without,
)
from gradstep.graph.model import Source


@pytest.fixture
def line(tmp_path: Path) -> Source:
    return Source(str(tmp_path / "train.py"), 1)


def write(at: Source, text: str) -> Source:
    Path(at.file).write_text(text)
    return at


NAMES = st.sampled_from(["a", "b", "x.grad", "w[0]", "f(a)", "2.0"])
SIGNS = st.sampled_from(["+", "-", "*", "/", "@", "**", "//"])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(inner, SIGNS, inner).map(lambda part: f"({part[0]}) {part[1]} ({part[2]})"),
        inner.map(lambda part: f"-({part})"),
        inner.map(lambda part: f"({part}).sum()"),
        st.tuples(inner, inner).map(lambda part: f"({part[0]}) if a > b else ({part[1]})"),
    ),
    max_leaves=6,
).map(lambda text: ast.unparse(ast.parse(text)))
AROUND = st.sampled_from(
    ["y = {}", "y = {} / 15", "y = -{}", "y = b - {}", "y = a ** {}", "y = {}.exp()", "f(a, {})",
     "y = [{} for a in b]", "y = a if {} else b", "y = lambda: {}", "y += {} * 2"]
)  # fmt: skip
TEMPLATES = ["{0} + ({} - {0}).detach()", "{}.detach()", "{0} * 2", "-{}", "{}", "{0} if {} else 0"]


@given(EXPRESSIONS, AROUND, st.sampled_from(TEMPLATES))
def test_an_operation_is_replaced_as_a_tree(
    tmp_path_factory: pytest.TempPathFactory, operand: str, around: str, template: str
) -> None:
    line = Source(str(tmp_path_factory.mktemp("fix") / "train.py"), 1)
    whole = f"torch.round({operand})"
    fixes = with_operation(write(line, around.replace("{}", whole)), "round", template)
    meant = template.replace("{0}", f"({operand})").replace("{}", whole)
    meant = around.replace("{}", f"({meant})")
    assert ast.dump(ast.parse(fixes[0].text)) == ast.dump(ast.parse(meant))


def test_parentheses_stand_only_where_they_have_to(line: Source) -> None:
    at = write(line, "code = torch.round(level) / 15")
    (fix,) = with_operation(at, "round", "{0} + ({} - {0}).detach()")
    assert fix.text == "code = (level + (torch.round(level) - level).detach()) / 15"
    at = write(Source(line.file + "2", 1), "loss = (a - b.detach()).pow(2)")
    assert without(at, "detach")[0].text == "loss = (a - b).pow(2)"


def test_an_operand_of_a_method_keeps_the_method(line: Source) -> None:
    (fix,) = with_operand(write(line, "y = p.log()"), "log", 0, "{} + 1e-8")
    assert fix.text == "y = (p + 1e-8).log()"


def test_the_program_keeps_its_own_spelling(line: Source) -> None:
    at = write(line, "y = softmax(x, eps=1e-3, name='é')  # rows")
    assert with_argument(at, "softmax", "dim", "1")[0].text == (
        "y = softmax(x, eps=1e-3, name='é', dim=1)  # rows"
    )


@pytest.mark.parametrize(
    ("text", "fixed"),
    [("x -= a - b", "x = x - (a - b)"), ("x **= 2", "x = x ** 2"), ("x.mul_(a)", "x = x.mul(a)"),
     ("x[0] *= a + b", "x[0] = x[0] * (a + b)")],
)  # fmt: skip
def test_a_change_in_place_is_made_a_new_value(line: Source, text: str, fixed: str) -> None:
    (fix,) = not_in_place(write(line, text))
    assert fix.text == fixed


def test_a_line_inside_a_statement_is_seen_in_it(line: Source) -> None:
    write(line, "@deco\ndef f(x):\n    if x:\n        return x.detach()\n    return 0\n")
    (fix,) = without(Source(line.file, 4), "detach")
    assert fix.text == "return x"


def test_what_cannot_be_parsed_is_no_fix(line: Source) -> None:
    at = write(line, "loss = f(\n    a,\n    b)\n")
    assert Line(at).replaced("{line}\noptimizer.step()") == ()
    assert detached(Source(line.file + "3", 1), lambda node: True) == ()


@pytest.mark.parametrize(
    ("text", "only"), [("    opt.step()  # here", True), ("def f(opt): opt.step()", False)]
)
def test_what_stands_alone_on_a_line_is_known(line: Source, text: str, only: bool) -> None:
    at = write(line, text if only else text + "\n")
    call = ast.parse("opt.step()", mode="eval").body
    assert Line(at).is_only(call) == only
