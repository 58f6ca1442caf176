"""Seeds that are set again and again, so that random numbers never vary."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_ITEMS: Final = ("__getitem__", "__getitems__", "forward", "training_step")
_SEEDS: Final = ("manual_seed", "seed", "seed_everything", "set_seed")
_GENERATORS: Final = ("torch", "random", "np.random", "numpy.random", "")


@dataclass(frozen=True)
class SameSeed(Reason):
    """A ``function``, or, where that is "", a loop that trains, sets the seed that all use."""

    code = "same-seed"
    blames_line = True
    call: str
    function: str

    def text(self) -> str:
        where = (
            f"whenever {self.function}() runs"
            if self.function
            else "in each round of the loop that trains"
        )
        return (
            f"{self.call} sets the seed of all random numbers {where}: everything drawn "
            "after it, such as noise, dropout or an order, is the same each time"
        )

    def remedy(self) -> str:
        return (
            "set the seed once, before the first epoch; where an item needs numbers of its own, "
            "give it a torch.Generator()"
        )


def same_seed(facts: Facts) -> Iterator[Reason]:
    """Yield lines that set a seed, to the same number, for each item, or for each step."""
    for file, tree in facts[Files].trees():
        for defined in functions_of(tree):
            if defined.node.name in _ITEMS:
                parameters = {
                    each.arg for each in ast.walk(defined.node) if isinstance(each, ast.arg)
                }
                yield from _seeds(defined.node, parameters, defined.node.name, file)
        for loop in ast.walk(tree):
            if isinstance(loop, ast.For | ast.While) and _trains(loop):
                yield from _seeds(loop, set(), "", file)


def _trains(loop: ast.AST) -> bool:
    """Return whether a loop is the innermost one around a call of ``backward()``: an outer one may
    train several networks from the same start."""
    nodes = list(ast.walk(loop))
    return any(
        isinstance(node, ast.Call) and name_of(node.func) == "backward" for node in nodes
    ) and (
        not any(
            isinstance(node, ast.For | ast.While) and node is not loop and _trains(node)
            for node in nodes
        )
    )


def _seeds(part: ast.AST, varying: set[str], function: str, file: str) -> Iterator[Reason]:
    stored = {
        node.id
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(part):
        if not isinstance(node, ast.Call) or name_of(node.func) not in _SEEDS or not node.args:
            continue
        holder = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        names = {name.id for name in ast.walk(node.args[0]) if isinstance(name, ast.Name)}
        calls = any(isinstance(each, ast.Call | ast.Subscript) for each in ast.walk(node.args[0]))
        if holder in _GENERATORS and not (names & (stored | (varying - {"self"}))) and not calls:
            yield SameSeed(ast.unparse(node), function, source=Source(file, node.lineno))
            return


RULES: Final = (
    Rule(same_seed, Meaning(
        "same-seed", "warning", "a seed is set for each item, or in each step",
        "Everything uses this generator, and its seed is a constant.",
        "def __getitem__(self, i):\n    torch.manual_seed(0)\n    return x[i] + torch.randn(3)",
        "def __getitem__(self, i):\n    g = torch.Generator().manual_seed(i)\n"
        "    return x[i] + torch.randn(3, generator=g)",
        "When each step should see the same random numbers.",
    ), needs=(Files,)),
)  # fmt: skip
