"""What differs before anything runs, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from gradstep.comparing import report
from gradstep.comparing.circumstances import Circumstance, changed_lines, circumstances
from gradstep.comparing.runs import Comparison, compare
from gradstep.comparing.values import Tolerance
from gradstep.graph.model import Source
from gradstep.recording.run import MemoryRun
from tests.comparing.test_comparing import record

TRAIN = """import LIBRARY as torch
torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.05)
for _ in range(3):
    optimizer.zero_grad()
    loss = (w * 2).sin().sum()
    loss.backward()
    optimizer.step()
"""


def run_of(torch: ModuleType, change: tuple[str, str] = ("", "")) -> MemoryRun:
    lines = TRAIN.replace("LIBRARY", torch.__name__).replace(*change).splitlines()
    run = record(torch, lines)
    run.add_header(replace(run.header, versions={"python": "3.13"}))
    run.add_source("program.py", "\n".join(lines))
    return run


def compared(torch: ModuleType, *change: str) -> Comparison:
    return compare(run_of(torch), run_of(torch, (change[0], change[1])), Tolerance())


def said(comparison: Comparison) -> str:
    return report.text(comparison, ("one", "other"), Path())


def test_another_rate_is_named_and_is_why_the_second_call_differs(torch: ModuleType) -> None:
    comparison = compared(torch, "lr=0.05", "lr=0.02")
    places = Source("program.py", 4), Source("program.py", 4)
    assert comparison.circumstances == [
        Circumstance("line", "", "lr=0.05", "lr=0.02", places),
        Circumstance("option", "SGD lr", "0.05", "0.02"),
    ]
    assert comparison.first is not None
    assert comparison.first.leaf == "w"
    assert comparison.why == comparison.circumstances[1]
    text = said(comparison)
    assert "  program.py:4  lr=0.05 → lr=0.02\n" in text
    assert "why: SGD lr is 0.05 in the first, 0.02 in the second, and a step was made" in text
    document = report.json_text(comparison, ("one", "other"), Path())
    assert '"name": "SGD lr"' in document


def test_the_line_of_the_first_difference_is_why(torch: ModuleType) -> None:
    comparison = compared(torch, "(w * 2)", "(w * 2.5)")
    assert comparison.why == Circumstance(
        "line", "", "2", "2.5", (Source("program.py", 7), Source("program.py", 7))
    )
    assert "why: its line is not the same in both programs" in said(comparison)


def test_another_seed_is_why_the_leaves_differ(torch: ModuleType) -> None:
    one, other = run_of(torch), run_of(torch, ("manual_seed(0)", "manual_seed(int('7'))"))
    comparison = compare(one, other, Tolerance())
    seeds = [each for each in comparison.circumstances if each.name == "seed"]
    assert seeds == [Circumstance("setting", "seed", "0", "7")]
    assert comparison.why is None  # for the line that sets it is another, too
    other.add_source("program.py", one.source("program.py") or "")
    assert compare(one, other, Tolerance()).why == seeds[0]


def test_equal_runs_have_nothing_to_tell(torch: ModuleType) -> None:
    comparison = compared(torch, "lr=0.05)", "lr=0.05)  # the rate")
    assert comparison.is_equal
    assert comparison.circumstances == []


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        ("x = 1", "", [("x = 1", "")]),
        ("f(a, b=1)", "f(a, b=2)", [("b=1", "b=2")]),
        ("f(g(x))", "h = g(x)", [("f(g(x))", "h = g(x)")]),
        ("a == b", "a != b", [("a == b", "a != b")]),
        ("# one\n\nx", "# another\nx", []),
        ("x\ny\nz", "x\nz", [("y", "")]),
    ],
)
def test_lines_are_compared_word_by_word(
    one: str, other: str, parts: list[tuple[str, str]]
) -> None:
    changes = changed_lines((one, other), ("a.py", "b.py"))
    assert [(each.one, each.other) for each in changes] == parts


def test_arguments_and_versions_are_compared(torch: ModuleType) -> None:
    one, other = run_of(torch), run_of(torch)
    header = replace(one.header, command=("program.py", "--epochs", "3"), versions={"python": "3"})
    one.add_header(header)
    other.add_header(replace(header, command=("program.py", "--epochs"), versions={"python": "4"}))
    assert circumstances(one, other) == [
        Circumstance("argument", "", "3", ""),
        Circumstance("version", "python", "3", "4"),
    ]


@pytest.mark.torch
def test_the_op_that_draws_other_numbers_is_named() -> None:
    """No node of PyTorch's keeps what dropout draws, and only traces tell of it."""
    import torch

    text = "import torch\ntorch.manual_seed(0)\nw = leaf(2, 'float32')\nh = (w * 2).exp()\n"
    text += (
        "h = torch.nn.functional.dropout(h.sin().expand(99, 5))\nloss = h.sum()\nloss.backward()"
    )
    other = text.replace("w = leaf", "torch.rand(1); w = leaf")
    comparison = compare(
        record(torch, text.splitlines()), record(torch, other.splitlines()), Tolerance("bitwise")
    )
    first = comparison.first
    assert first is not None
    assert (first.what, first.is_certain, first.is_random) == (
        "the result of bernoulli:1", True, True
    )  # fmt: skip
    assert comparison.why is None
    assert "why: it draws random numbers, and the generator was in another state" in said(
        comparison
    )
    described = [record(torch, each.splitlines(), "stats") for each in (text, other)]
    first = compare(described[0], described[1], Tolerance("bitwise")).first
    assert first is not None
    assert first.what == "other:1"  # the mask, which mul keeps
