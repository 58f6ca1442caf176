"""Activations that a module makes and never applies, between layers that are linear together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from gradstep.capturing.statement import tree_of
from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.program import name_of
from gradstep.findings.facts.repeated import Repeated, past_views, rule_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.recording.look import Look

_LINEAR: Final = ("addmm", "mm", "linear", "convolution", "conv1d", "conv2d", "conv3d")
_ACTIVATIONS: Final = (
    "CELU", "ELU", "GELU", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "PReLU", "ReLU", "ReLU6",
    "SELU", "SiLU", "Softplus", "Tanh",
)  # fmt: skip
_DROPOUT: Final = ("mul", "native_dropout", "dropout")
_ALL: Final = ("children", "getattr", "modules", "named_children", "named_modules")


@dataclass(frozen=True)
class Unapplied(Reason):
    """A class makes an activation that no line reads, and two of its layers follow each other."""

    code = "unapplied"
    keeps_loss = False
    other_is = "layers without it:"
    attribute: str
    kind: str

    def text(self) -> str:
        return (
            f"no line reads self.{self.attribute}, a {self.kind}, and a layer takes the result of "
            "another one as it is: together, both are one linear layer"
        )

    def remedy(self) -> str:
        return f"apply it between them: self.{self.attribute}(...)"


class Unread(NamedTuple):
    """An attribute that a class, from a first line to a last one, is given, and no line reads."""

    first: int
    last: int
    line: int
    attribute: str
    kind: str


class LinearPairs(Repeated):
    """Linear ops that take the result of another one, in a class with an unread activation."""

    def find(self, look: Look) -> Iterator[Reason]:
        told: set[Unread] = set()
        for record in look.records:
            at = record.source
            if at is None or not isinstance(record, OpRecord) or record.name not in _LINEAR:
                continue
            makers = [_maker(each) for each in record.inputs if isinstance(each, tuple)]
            if not any(
                each.name in _LINEAR and each.source is not None and each.source.file == at.file
                for each in makers if each is not None
            ):  # fmt: skip
                continue
            for made in _unread(at.file):
                if made.first <= at.line <= made.last and made not in told:
                    told.add(made)
                    line = Source(at.file, made.line)
                    yield Unapplied(made.attribute, made.kind, source=line, other=at)


def _maker(origin: Origin) -> OpRecord | None:
    """Return the op that made a value, before dropout and views."""
    maker = past_views(origin)[0]
    while isinstance(maker, OpRecord) and maker.name in _DROPOUT and maker.requires_grad:
        given = [each for each in maker.inputs if isinstance(each, tuple)]
        learning = [each for each in given if each[0].requires_grad]
        if len(learning) != 1 or (len(given) == 1 and maker.name == "mul"):
            break
        maker = past_views(learning[0])[0]
    return maker if isinstance(maker, OpRecord) else None


@lru_cache(maxsize=64)
def _unread(file: str) -> tuple[Unread, ...]:
    """Return the activations that classes of a file make in ``__init__`` and no line reads, but
    for classes that go through all of their parts."""
    tree = tree_of(file)
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    unread = []
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef) or any(
            name_of(node) in _ALL for node in ast.walk(owner) if isinstance(node, ast.expr)
        ):
            continue
        for node in ast.walk(owner):
            match node:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)],
                    value=ast.Call(func=kind),
                ) if name_of(kind) in _ACTIVATIONS and attribute not in read:
                    unread.append(Unread(
                        owner.lineno, owner.end_lineno or owner.lineno, node.lineno, attribute,
                        name_of(kind),
                    ))  # fmt: skip
    return tuple(unread)


RULES: Final = (
    Rule(rule_of(LinearPairs), Meaning(
        "unapplied", "warning", "an activation is made and never applied",
        "No line of the file reads it, and a layer of its class takes the result of another one. "
        "This holds in each call that check looked at (at least two).",
        "self.act = nn.ReLU()\n...\nself.out(self.hidden(x))",
        "self.out(self.act(self.hidden(x)))",
        "When the layers should be one linear map, as in a factorization, and the activation is a "
        "leftover.",
    ), needs=(LinearPairs,)),
)  # fmt: skip
