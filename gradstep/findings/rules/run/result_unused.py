"""Calls whose result nobody takes, of what does nothing else."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.parts import Parts
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.graph.model import Source
from gradstep.guest.cells import is_cell
from gradstep.guest.fence import attribute_of

_PURE: Final = (
    "relu", "gelu", "silu", "elu", "leaky_relu", "tanh", "sigmoid", "softmax", "log_softmax",
    "normalize", "layer_norm", "batch_norm", "group_norm", "dropout", "dropout2d", "pad",
    "interpolate", "max_pool2d", "avg_pool2d",
)  # fmt: skip
"""Functions of ``nn.functional`` that only return something."""
_METHODS: Final = frozenset([
    "abs", "clamp", "clamp_max", "clamp_min", "clip", "cumprod", "cumsum", "detach", "div", "exp",
    "expand", "expand_as", "flatten", "flip", "index_add", "index_copy", "index_fill", "lerp",
    "log_softmax", "masked_fill", "masked_scatter", "matmul", "mul", "nan_to_num", "neg",
    "permute", "pow", "relu", "reshape", "scatter_add", "sigmoid", "softmax", "sqrt", "squeeze",
    "sub", "tanh", "transpose", "tril", "triu", "unsqueeze",
])  # fmt: skip
"""Methods of tensors that only return something; others of their names do not do more."""
_LIBRARIES: Final = ("F", "functional", "torch", "np", "numpy", "math", "self", "super")
_ACTS: Final = ("backward", "detach_", "eval", "requires_grad_", "step", "train", "zero_grad")


@dataclass(frozen=True)
class ResultUnused(Reason):
    """A line calls ``called`` on ``given``, of ``owner`` where that is one of a tensor's methods,
    and does not keep what it returns."""

    code = "result-unused"
    keeps_loss = False
    called: str
    given: str
    owner: str = ""

    def text(self) -> str:
        uses = self.owner or self.given or "its input"
        return (
            f"the result of {self.called}({self.given}) is a new tensor, and is not used: the next "
            f"lines use {uses} as it was"
        )

    def remedy(self) -> str:
        return f"{self.owner or self.given or '...'} = {self.called}({self.given})"

    def fix(self) -> tuple[Fix, ...]:
        name = self.owner or self.given
        return Line(self.source).replaced(f"{name} = {{line}}") if name.isidentifier() else ()


@dataclass(frozen=True)
class NotCalled(Reason):
    """A line only reads the ``method`` of something, and does not call it."""

    code = "result-unused"
    keeps_loss = False
    method: str

    def text(self) -> str:
        return f"this line reads {self.method}, and does not call it: nothing happens"

    def remedy(self) -> str:
        return f"{self.method}()"


@dataclass(frozen=True)
class NotKept(Reason):
    """A line computes ``written``, and does not keep it."""

    code = "result-unused"
    keeps_loss = False
    written: str

    def text(self) -> str:
        return f"this line computes {self.written}, and does not keep it: nothing happens"


def result_unused(facts: Facts) -> Iterator[Reason]:
    """Yield statements that call a module of the library, which changes nothing of its input, a
    function of ``nn.functional``, or a method of a tensor that changes nothing; and those that call
    nothing."""
    own = frozenset(
        part.path.rpartition(".")[2]
        for part in facts[Parts]
        if part.is_of_library and not attribute_of(part.module(), "inplace")
    )
    for file, tree in facts[Files].trees():
        for node in ast.walk(tree) if not is_cell(file) else ():
            if isinstance(node, ast.Expr) and (reason := without_effect(node.value, own)):
                yield replace(reason, source=Source(file, node.lineno))


def without_effect(value: ast.expr, own: Container[str]) -> Reason | None:
    """Return why a statement that is an expression does nothing, None where it may; ``own`` are the
    names of modules of the library."""
    match value:
        case ast.Attribute(attr=name) if name in _ACTS:
            return NotCalled(ast.unparse(value))
        case ast.Compare() | ast.BinOp() if not any(
            isinstance(part, ast.Call) for part in ast.walk(value)
        ):
            return NotKept(ast.unparse(value))
        case ast.Call(func=ast.Attribute(value=of, attr=name)) if not _is_in_place(value):
            owner = name_of(of)
            called = ast.unparse(value.func)
            if (name in _METHODS and owner not in _LIBRARIES) or (
                name == "add" and isinstance(of, ast.Attribute) and of.attr in ("data", "grad")
            ):
                given = ", ".join(map(ast.unparse, [*value.args, *value.keywords]))
                return ResultUnused(called, given, ast.unparse(of))
            is_module = owner == "self" and name in own
            if value.args and (is_module or (owner in ("F", "functional") and name in _PURE)):
                first = value.args[0] if len(value.args) == 1 else None
                return ResultUnused(called, first.id if isinstance(first, ast.Name) else "")
    return None


def _is_in_place(call: ast.Call) -> bool:
    return any(each.arg in (None, "inplace") for each in call.keywords)


RULES: Final = (
    Rule(result_unused, Meaning(
        "result-unused", "warning", "a result is not used",
        "A statement only calls it, and it does not change its input; or the statement computes "
        "something else that it does not keep, or does not call the method that it names.",
        "self.norm(x)", "x = self.norm(x)",
        "When you call it for its hooks, or to show data to a batch norm.",
    ), needs=(Parts, Files)),
)  # fmt: skip
