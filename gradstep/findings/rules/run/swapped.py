"""Arguments that are given in each other's place, as their names tell."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.graph.model import Source

_OF_TORCH: Final[Mapping[str, tuple[str, ...]]] = {
    "triplet_margin_loss": ("anchor", "positive", "negative"),
    "TripletMarginLoss": ("anchor", "positive", "negative"),
    "binary_cross_entropy": ("input", "target"),
    "BCELoss": ("input", "target"),
    "binary_cross_entropy_with_logits": ("input", "target"),
    "BCEWithLogitsLoss": ("input", "target"),
    "kl_div": ("input", "target"),
    "KLDivLoss": ("input", "target"),
}
"""Functions, and modules, whose result another order changes."""
_MEANS: Final[Mapping[str, re.Pattern[str]]] = {
    "input": re.compile(r"(predictions?|preds?|outputs?|outs?|logits?|y_?hat|y_?pred|scores?)$"),
    "target": re.compile(r"(targets?|labels?|y|y_?true|truth|ground_?truth|gt)$"),
    "anchor": re.compile(r"(anchors?|a)$"),
    "positive": re.compile(r"(positives?|pos|p)$"),
    "negative": re.compile(r"(negatives?|neg|n)$"),
}


@dataclass(frozen=True)
class Swapped(Reason):
    """A call gives ``first`` where ``second`` belongs, and the reverse."""

    code = "swapped"
    blames_line = True
    keeps_loss = False
    function: str
    first: str
    second: str
    first_meant: str
    second_meant: str

    def text(self) -> str:
        return (
            f"{self.function}() is given {self.first} as {self.first_meant}, and {self.second} as "
            f"{self.second_meant}: they are in each other's place"
        )

    def remedy(self) -> str:
        return f"give {self.second} first, then {self.first}, or name them: {self.first_meant}=..."

    def calls(self) -> tuple[str, ...]:
        return (self.function,)

    def fix(self) -> tuple[Fix, ...]:
        line = Line(self.source)

        def other(node: ast.expr) -> str | None:
            if not isinstance(node, ast.Call) or name_of(node.func) != self.function:
                return None
            texts = [line.text(each) for each in node.args]
            names = [name_of(each) for each in node.args]
            places = [names.index(name) for name in (self.first, self.second)]
            texts[places[0]], texts[places[1]] = texts[places[1]], texts[places[0]]
            texts += [f"{each.arg}={line.text(each.value)}" for each in node.keywords if each.arg]
            return f"{line.text(node.func)}({', '.join(texts)})"

        return line.rewritten(other)


def swapped(facts: Facts) -> Iterator[Reason]:
    """Yield calls with two arguments each of which has the name of the other's parameter, of
    functions that no line of the file calls in the right order with the same names."""
    for file, tree in facts[Files].trees():
        known = _signatures(tree)
        right: set[tuple[str, ...]] = set()
        wrong: list[Swapped] = []
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or any(map(_is_starred, node.args)):
                continue
            function = name_of(node.func)
            given = [name_of(each) for each in node.args]
            for parameters in known.get(function, ()):
                for i, first in enumerate(given[: len(parameters)]):
                    for j in range(i + 1, min(len(given), len(parameters))):
                        names = first, given[j]
                        if _fits(first, parameters[i]) and _fits(given[j], parameters[j]):
                            right.add((function, *sorted(names)))
                        elif (
                            len({*names}) == 2
                            and _fits(first, parameters[j])
                            and _fits(given[j], parameters[i])
                        ):
                            wrong.append(Swapped(
                                function, *names, parameters[i], parameters[j],
                                source=Source(file, node.lineno),
                            ))  # fmt: skip
        for reason in wrong:
            if (reason.function, *sorted((reason.first, reason.second))) not in right:
                yield reason


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _fits(given: str, parameter: str) -> bool:
    """Return whether a name says that it is what a parameter is to be."""
    name, meant = given.lower().strip("_"), parameter.lower().strip("_")
    pattern = _MEANS.get(meant)
    return len(meant) > 1 and (name == meant or bool(pattern and pattern.fullmatch(name)))


def _signatures(tree: ast.Module) -> dict[str, list[Sequence[str]]]:
    """Return the parameters of what a file calls by name, or by the last part of a name: its own
    functions and methods, one of each name, losses of PyTorch, and objects of its classes."""
    own: dict[str, list[Sequence[str]]] = defaultdict(list)
    called: dict[str, list[Sequence[str]]] = defaultdict(list)
    for defined in functions_of(tree):
        name = defined.node.name
        if name == "__init__":
            own[defined.owner].append(defined.parameters)
        elif name in ("forward", "__call__"):
            called[defined.owner].append(defined.parameters)
            own["forward"].append(defined.parameters)
        else:
            own[name].append(defined.parameters)
    own = defaultdict(list, {name: each for name, each in own.items() if len(each) == 1})
    for name, parameters in _OF_TORCH.items():
        (called if name[0].isupper() else own)[name].append(parameters)
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=kind)) if name_of(target):
                own[name_of(target)] += called.get(name_of(kind), [])
    return own


RULES: Final = (
    Rule(swapped, Meaning(
        "swapped", "warning", "two arguments are swapped",
        "Each has the name of the other's parameter.",
        "def loss(boundary, interior): ...\nloss(interior, boundary)",
        "loss(boundary, interior)",
        "When you swap them on purpose, as in a loss that is computed in both directions.",
    ), needs=(Files,)),
)  # fmt: skip
