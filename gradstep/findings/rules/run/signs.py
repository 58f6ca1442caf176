"""Terms of a loss whose sign is the opposite of what they are for, as their names tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_LOSS: Final = re.compile(r"(\w*_)?loss$")
_ENTROPY: Final = re.compile(r"(\w*_)?(entropy|entropies)$")
_NO_ENTROPY: Final = re.compile(r"cross|relative|(loss|penalty|coeff?|weight|beta|bonus|scale)$")
_VOLUME: Final = re.compile(r"(\w*_)?(log_?det\w*|logdet\w*|ldj|log_jac\w*|log_abs_det\w*)$")


@dataclass(frozen=True)
class WrongSign(Reason):
    """A term ``name`` is added where it is to be subtracted, or the reverse."""

    code = "term-sign"
    blames_line = True
    name: str
    is_entropy: bool

    def text(self) -> str:
        if self.is_entropy:
            return (
                f"{self.name} is added to the loss, so that training makes the policy sure of "
                "itself, although an entropy term should keep it exploring"
            )
        return (
            f"{self.name} is subtracted from the log density of the base distribution: training "
            "then shrinks everything to a point, because the volume term has the opposite sign"
        )

    def remedy(self) -> str:
        return f"{'subtract' if self.is_entropy else 'add'} {self.name}"


def signs(facts: Facts) -> Iterator[Reason]:
    """Yield an entropy that a loss of a policy adds, and a logarithm of a determinant that is
    subtracted from the log density of what a flow has made of the data."""
    for file, tree in facts[Files].trees():
        text = ast.unparse(tree)
        if "log_prob(" in text and ".entropy()" in text:
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and node.value:
                    yield from _entropies(node, file)
        for defined in functions_of(tree):
            for node in ast.walk(defined.node):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                    name = name_of(node.right)
                    if (
                        _VOLUME.fullmatch(name)
                        and _is_density(node.left)
                        and _gathers(defined.node, name)
                    ):
                        yield WrongSign(name, False, source=Source(file, node.lineno))


def _entropies(node: ast.Assign | ast.AugAssign | ast.Return, file: str) -> Iterator[Reason]:
    if isinstance(node, ast.Return):
        return
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not _LOSS.fullmatch(name_of(target)) or node.value is None:
        return
    if isinstance(node, ast.AugAssign):
        added = [node.value] if isinstance(node.op, ast.Add) else []
    else:
        added = list(_added(node.value))
        if len(added) < 2:
            return
    for term in added:
        factors = list(_factors(term))
        for name in map(name_of, factors):
            if _ENTROPY.fullmatch(name) and not _NO_ENTROPY.search(name):
                signed = any(isinstance(each, ast.UnaryOp) for each in factors)
                if not signed:
                    yield WrongSign(name, True, source=Source(file, node.lineno))


def _added(node: ast.expr, is_plus: bool = True) -> Iterator[ast.expr]:
    """Yield the terms of a sum that are added."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _added(node.left, is_plus)
        yield from _added(node.right, is_plus == isinstance(node.op, ast.Add))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _added(node.operand, not is_plus)
    elif is_plus:
        yield node


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value if node.func.attr in ("mean", "sum") else node.func
    else:
        yield node


def _is_density(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Call) and name_of(each.func) == "log_prob" for each in ast.walk(node)
    )


def _gathers(function: ast.AST, name: str) -> bool:
    """Return whether a function adds up a volume term: forwards, from the data to the base."""
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=target, op=ast.Add()) if name_of(target) == name:
                return True
            case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add())):
                if name_of(target) == name == name_of(left):
                    return not _draws(function)
    return False


def _draws(function: ast.AST) -> bool:
    """Return whether a function begins with samples: then the volume term is subtracted."""
    return any(
        isinstance(node, ast.Call)
        and name_of(node.func) in ("sample", "rsample", "randn", "randn_like", "inverse")
        for node in ast.walk(function)
    )


RULES: Final = (
    Rule(signs, Meaning(
        "term-sign", "warning", "a term has the wrong sign for its name",
        "A loss of a policy adds its entropy, or a flow subtracts the logarithm of a determinant.",
        "loss = policy_loss + 0.01 * entropy", "loss = policy_loss - 0.01 * entropy",
        "When a policy should become more certain, or the term already has its sign.",
    ), needs=(Files,)),
)  # fmt: skip
