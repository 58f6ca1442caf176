"""Data sets that are normalized with their own statistics, each with others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_SPREADS: Final = ("std", "max", "amax", "min", "amin", "norm")


@dataclass(frozen=True)
class OwnStatistics(Reason):
    """A data set takes the statistics of what it is given, and is made ``times``, of other data."""

    code = "own-statistics"
    blames_line = True
    other_is = "made at"
    kind: str
    data: str
    times: int
    helps = (
        "compute the mean and the deviation of the training data once, and give them to each "
        "data set"
    )

    def text(self) -> str:
        return (
            f"{self.kind} normalizes {self.data} with its own mean and deviation, and is made "
            f"{self.times} times, each time from other data: the same number means one thing in "
            "training and another in validation"
        )


def own_statistics(facts: Facts) -> Iterator[Reason]:
    """Yield data sets whose ``__init__`` subtracts the mean of what it is given, and divides by the
    deviation of that, where the file makes several of them."""
    for file, tree in facts[Files].trees():
        data_sets = {
            defined.owner
            for defined in functions_of(tree)
            if defined.node.name in ("__getitem__", "__iter__")
        }
        for defined in functions_of(tree):
            if defined.node.name != "__init__" or defined.owner not in data_sets:
                continue
            lines = {
                name: line
                for name in defined.parameters
                if (line := _normalized(defined.node, name)) is not None
            }
            made = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and name_of(node.func) == defined.owner
            ]
            given = {ast.unparse(node.args[0]) for node in made if node.args}
            if lines and len(given) > 1:
                name, line = next(iter(lines.items()))
                yield OwnStatistics(
                    defined.owner, name, len(made), source=Source(file, line),
                    other=Source(file, made[-1].lineno),
                )  # fmt: skip


def _normalized(function: ast.AST, name: str) -> int | None:
    """Return the line that takes the deviation of a parameter, of a function that also takes its
    mean, and divides."""
    taken: dict[str, int] = {}
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=held), args=args):
                of = [held, *args[:1]]
                if any(name_of(each) == name for each in of):
                    taken.setdefault(method, node.lineno)
    divides = any(
        isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
        for node in ast.walk(function)
    )
    spread = next((taken[each] for each in _SPREADS if each in taken), None)
    centered = "mean" in taken or {"min", "max"} <= taken.keys()
    return spread if divides and centered else None


RULES: Final = (
    Rule(own_statistics, Meaning(
        "own-statistics", "warning", "each data set is normalized with its own statistics",
        "The network learned from numbers on a different scale from those of validation.",
        "class Data(Dataset):\n    def __init__(self, x):\n"
        "        self.x = (x - x.mean(0)) / x.std(0)",
        "class Data(Dataset):\n    def __init__(self, x, mean, std):\n"
        "        self.x = (x - mean) / std",
        "When each series should be relative to itself, as in forecasting many at once.",
    ), needs=(Files,)),
)  # fmt: skip
