"""Dropout by a function that does not ask for the mode of its module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_argument
from gradstep.graph.model import Source

_DROPOUTS: Final = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
)  # fmt: skip


@dataclass(frozen=True)
class AlwaysDropout(Reason):
    """``F.dropout`` in a module whose program calls ``eval()``."""

    code = "always-dropout"
    keeps_loss = True
    blames_line = True
    other_is = "evaluated at"
    function: str

    def text(self) -> str:
        return (
            f"F.{self.function}() drops in evaluation mode, too: its training=True is the default, "
            "and it does not know of eval()"
        )

    def remedy(self) -> str:
        return f"F.{self.function}(..., training=self.training)"

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.source, self.function, "training", "self.training")


def always_dropout(facts: Facts) -> Iterator[Reason]:
    """Yield calls of ``F.dropout`` in methods, without its argument ``training``, of programs that
    call ``eval()`` on something."""
    evaluated = next(
        (
            Source(file, node.lineno)
            for file, tree in facts[Files].trees()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "eval"
            and not node.args
        ),
        None,
    )
    if evaluated is None:
        return
    for file, node in facts[Files].in_methods():
        if isinstance(node, ast.Call) and _drops_always(node):
            at = Source(file, node.lineno)
            yield AlwaysDropout(name_of(node.func), source=at, other=evaluated)


def _drops_always(node: ast.Call) -> bool:
    called = node.func
    return (
        isinstance(called, ast.Attribute)
        and called.attr in _DROPOUTS
        and name_of(called.value) in ("F", "functional")
        and len(node.args) < 3
        and not any(each.arg in (None, "training") for each in node.keywords)
    )


RULES: Final = (
    Rule(always_dropout, Meaning(
        "always-dropout", "warning", "dropout stays on in evaluation mode",
        "A method calls F.dropout() without training=, and the program calls eval().",
        "F.dropout(h, 0.5)", "F.dropout(h, 0.5, training=self.training)",
        "When you sample in evaluation on purpose, as in Monte Carlo dropout.",
    ), needs=(Files,)),
)  # fmt: skip
