"""Augmentation that moves an input at random, and not the target that goes with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, Function, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_MOVES: Final = (
    "flip", "fliplr", "flipud", "hflip", "vflip", "rot90", "rotate", "roll", "crop", "affine",
    "horizontal_flip", "vertical_flip", "random_flip", "random_crop",
)  # fmt: skip
_RANDOM: Final = re.compile(r"\brand(om|int|n)?\b|random|\brng\b")
_IN_PLACE: Final = re.compile(
    r"(\w*_)?(points?|keypoints?|key_points?|landmarks?|boxes|box|bbox(es)?|masks?|joints?|"
    r"corners?|centers?|segmentation|seg|depth|flow|heatmaps?|coords?|coordinates|positions?|"
    r"offsets?|angles?|polygons?|contours?)$"
)  # fmt: skip
"""Names of targets that are where something is in the input."""


@dataclass(frozen=True)
class AugmentedAlone(Reason):
    """A function moves ``input`` at random, and returns ``target`` as it was."""

    code = "augmented-alone"
    blames_line = True
    other_is = "returned at"
    input: str
    target: str
    how: str

    def text(self) -> str:
        return (
            f"{self.how}() moves what is in {self.input} at random, and {self.target}, which says "
            "where something is in it, stays as it was"
        )

    def remedy(self) -> str:
        return f"apply the same {self.how}() to {self.target}, whenever {self.input} gets it"


def augmented_alone(facts: Facts) -> Iterator[Reason]:
    """Yield functions that move one of the things that they return, under a random condition, or
    by random numbers, and return another beside it, called a place, which nothing changed."""
    for file, tree in facts[Files].trees():
        for defined in functions_of(tree):
            yield from _in_function(defined.node, file)


def _in_function(function: Function, file: str) -> Iterator[Reason]:
    returns = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
    ]
    if not returns:
        return
    returned = [name_of(each) for each in returns[-1].value.elts]  # type: ignore[union-attr]
    places = [name for name in returned if _IN_PLACE.fullmatch(name)]
    for node in ast.walk(function):
        if not isinstance(node, ast.If) or not _RANDOM.search(ast.unparse(node.test)):
            continue
        changed = _changed(node)
        for part in ast.walk(node):
            match part:
                case ast.Assign(targets=[target], value=value) if name_of(target) in returned:
                    how = next(
                        (
                            name_of(call.func)
                            for call in ast.walk(value)
                            if isinstance(call, ast.Call) and name_of(call.func) in _MOVES
                        ),
                        "",
                    )
                    left = [name for name in places if name not in changed]
                    if how and left and name_of(target) not in left:
                        yield AugmentedAlone(
                            name_of(target), left[0], how, source=Source(file, part.lineno),
                            other=Source(file, returns[-1].lineno),
                        )  # fmt: skip
                        return


def _changed(node: ast.AST) -> set[str]:
    """Return the names to which anything in a statement is assigned, also in parts."""
    changed = set()
    for part in ast.walk(node):
        targets = part.targets if isinstance(part, ast.Assign) else (
            [part.target] if isinstance(part, ast.AugAssign) else []
        )  # fmt: skip
        for target in targets:
            changed |= {name_of(each) for each in ast.walk(target) if isinstance(each, ast.expr)}
    return changed


RULES: Final = (
    Rule(augmented_alone, Meaning(
        "augmented-alone", "warning", "an input is moved at random, and its target is not",
        "The target is where something is in the input: a point, a box, a mask.",
        "if random() < 0.5:\n    image = image.flip(-1)\nreturn image, mask",
        "if random() < 0.5:\n    image, mask = image.flip(-1), mask.flip(-1)\nreturn image, mask",
        "When the target does not depend on the side.",
    ), needs=(Files,)),
)  # fmt: skip
