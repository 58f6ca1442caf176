"""Lists and functions that are meant to have something for each item, and have one for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_KEEPING: Final = ("append", "insert", "setdefault", "register_forward_hook",
                   "register_forward_pre_hook", "register_full_backward_hook", "register_hook",
                   "register_post_accumulate_grad_hook")  # fmt: skip
"""Methods that keep a function for later."""


@dataclass(frozen=True)
class OneLayer(Reason):
    """A list has one ``layer`` several ``times``."""

    code = "one-for-all"
    keeps_loss = False
    layer: str
    times: str

    def text(self) -> str:
        return (
            f"this list has one object {self.times} times, the {self.layer}: all of its items are "
            "that layer, and share its weights"
        )

    def remedy(self) -> str:
        return f"make one for each: [{self.layer} for _ in range({self.times})]"


@dataclass(frozen=True)
class LastOfLoop(Reason):
    """A loop keeps functions that read its ``variable`` when they are called."""

    code = "one-for-all"
    keeps_loss = False
    variable: str

    def text(self) -> str:
        return (
            f"this function reads {self.variable} when it is called: after the loop, that is the "
            f"last {self.variable}, for the functions of all rounds"
        )

    def remedy(self) -> str:
        return f"bind it where the function is made: {self.variable}={self.variable} as a parameter"


def one_for_all(facts: Facts) -> Iterator[Reason]:
    """Yield lists that repeat one layer, and functions that read the variable of a loop late."""
    for file, tree in facts[Files].trees():
        for line, reason in ones_of(tree):
            yield replace(reason, source=Source(file, line))


def ones_of(tree: ast.Module) -> Iterator[tuple[int, Reason]]:
    """Yield the same of a tree, each with its line."""
    classes = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "Module" in map(name_of, node.bases)
    }
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[ast.Call() as layer]), right=times):
                if _is_layer(layer, classes):
                    yield node.lineno, OneLayer(ast.unparse(layer), ast.unparse(times))
            case ast.For(target=target, body=body):
                names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
                for part in (part for each in body for part in ast.walk(each)):
                    for function in _kept(part):
                        late = [name for name in _read_late(function) if name in names]
                        if late:
                            yield function.lineno, LastOfLoop(late[0])


def _is_layer(call: ast.Call, classes: set[str]) -> bool:
    name = ast.unparse(call.func)
    return name in classes or name.startswith(("nn.", "torch.nn."))


def _kept(node: ast.AST) -> list[ast.Lambda]:
    """Return the functions that a statement keeps for later."""
    match node:
        case ast.Call(func=func, args=args) if name_of(func) in _KEEPING:
            return [each for each in args if isinstance(each, ast.Lambda)]
        case ast.Assign(targets=[ast.Subscript()], value=ast.Lambda() as function):
            return [function]
    return []


def _read_late(function: ast.Lambda) -> list[str]:
    """Return the variables that a function reads, and is not given."""
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    return [
        part.id
        for part in ast.walk(function.body)
        if isinstance(part, ast.Name) and part.id not in given
    ]


RULES: Final = (
    Rule(one_for_all, Meaning(
        "one-for-all", "warning", "one object stands for all items",
        "A list repeats one layer, or the functions that a loop keeps all read its last variable.",
        "nn.Sequential(*[nn.Linear(8, 8)] * 3)",
        "nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])",
        "When all of them should share the layer.",
    ), needs=(Files,)),
)  # fmt: skip
