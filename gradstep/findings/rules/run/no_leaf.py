"""Tensors whose ``.grad`` the program reads, and which are no leaves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from linecache import getline
from traceback import walk_tb
from typing import Final, NamedTuple

from gradstep.capturing.statement import nodes_on, tree_of
from gradstep.contract.lookup import is_tensor
from gradstep.contract.op_records import LeafRecord, OpRecord
from gradstep.findings.facts import FIRST_LOOKS, Fact, Facts, Objects
from gradstep.findings.facts.learning import Learning
from gradstep.findings.finding import Finding, Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line, called, called_by, closed
from gradstep.findings.source_lines import assigned, assigned_from_itself, reads_grad
from gradstep.graph.model import Source
from gradstep.guest.own_files import is_user_file
from gradstep.recording.look import Look


class Result(NamedTuple):
    """How a tensor was made, and its line."""

    how: str
    source: Source | None


class Results(Fact):
    """Tensors that an op made of a leaf without a name: how, by name."""

    def __init__(self) -> None:
        self.made: dict[str, Result] = {}

    def closely(self, look: Look) -> None:
        if look.looks > FIRST_LOOKS:
            return
        engine, names = look.engine, look.names
        for tensor in names.tensors():
            if not engine.reading.owns(tensor) or tensor.is_leaf or not tensor.requires_grad:
                continue
            (seen,) = engine.reading.tensors([tensor])
            record = seen.record[0] if isinstance(seen.record, tuple) else None
            first = record.inputs[0] if isinstance(record, OpRecord) and record.inputs else None
            if (
                isinstance(record, OpRecord)
                and isinstance(first, tuple)
                and isinstance(first[0], LeafRecord)
                and first[0].requires_grad
                and not names.of(first[0].tensor())
            ):
                how = "a cast" if record.name in ("to", "cast") else f"{record.name}()"
                self.made[names.of(tensor)] = Result(how, record.source)


@dataclass(frozen=True)
class NoLeaf(Reason):
    """The result of an op, whose ``.grad`` the program reads; ``is_own`` if made from itself."""

    code = "no-leaf"
    keeps_loss = True
    name: str
    how: str
    is_own: bool

    def text(self) -> str:
        return (
            f"{self.name} is not a leaf: it is the result of {self.how} of one, so backward() "
            f"leaves {self.name}.grad None"
        )

    def remedy(self) -> str:
        if self.is_own:
            return f"change it in place: with torch.no_grad(): {self.name} -= ..."
        return f"make {self.name} first, and call {self.name}.requires_grad_() on it then"

    def fix(self) -> tuple[Fix, ...]:
        if self.source is None:
            return ()
        return _changed_in_place(self.name, self.source) or _asked_later(self.source)

    def calls(self) -> tuple[str, ...]:
        return called_by(self.how)


@dataclass(frozen=True)
class NoParameter(Reason):
    """The result of an op stands in a module where a parameter was meant."""

    code = "no-leaf"
    keeps_loss = True
    helps = "create the parameter last, from a tensor that already has the right dtype and device"
    how: str

    def text(self) -> str:
        return (
            f"{self.named} is not a parameter but the result of {self.how} of one, which no "
            "optimizer has: it never learns"
        )

    def fix(self) -> tuple[Fix, ...]:
        return () if self.source is None else _parameter_last(self.source)

    def calls(self) -> tuple[str, ...]:
        return called_by(self.how)


@dataclass(frozen=True)
class Refused(Reason):
    """An optimizer refused a tensor that is no leaf."""

    code = "no-leaf"
    keeps_loss = True
    severity = "error"
    name: str

    def text(self) -> str:
        return (
            f"{self.name} is not a leaf but the result of an op, and an optimizer changes leaves "
            "only"
        )

    def remedy(self) -> str:
        return f"make {self.name} first, and call {self.name}.requires_grad_() on it then"

    def fix(self) -> tuple[Fix, ...]:
        return () if self.source is None else _asked_later(self.source)


def no_leaf(facts: Facts) -> Iterator[Reason]:
    """Yield the tensors that an op made of a leaf without a name, and whose ``.grad``, which
    nothing fills, the program reads."""
    for name, (how, source) in facts[Results].made.items():
        if source is not None and reads_grad(name, source.file):
            is_own = source in assigned_from_itself(name, source.file)
            yield NoLeaf(name, how, is_own, source=source)


def no_parameter(facts: Facts) -> Iterator[Reason]:
    """Yield what stands in a module where a parameter was meant: an op made it of one, which nobody
    holds."""
    for name, (how, source) in facts[Results].made.items():
        holder = name.rpartition(".")[0]
        owner = holder.partition(".")[0]
        if source is not None and owner in facts.names.modules and facts[Learning].trained:
            yield NoParameter(how, leaves=(name,), source=source)


def _parameter_last(at: Source) -> tuple[Fix, ...]:
    """Return ``nn.Parameter(x).to(device)`` as ``nn.Parameter(x.to(device))``."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(args=[given]) as call)) if (
                called(call) == "Parameter"
            ):
                rest = line.text(node).removeprefix(line.text(call))
                return f"{line.text(call.func)}({line.text(given)}{rest})"
        return None

    return line.rewritten(other)


def _changed_in_place(name: str, at: Source) -> tuple[Fix, ...]:
    """Return ``w = w - step`` as a change in place, after which the gradient is cleared."""
    line = Line(at)
    for node in nodes_on(at):
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=step) if ast.unparse(left) == name:
                return line.replaced(
                    f"with torch.no_grad():\n    {name} -= {line.text(step)}\n{name}.grad = None"
                )
    return ()


def _asked_later(at: Source) -> tuple[Fix, ...]:
    """Return an assignment of which the last result is the leaf, not what it is made from."""
    line = Line(at)
    values = [
        node.value
        for node in ast.walk(tree_of(at.file))
        if isinstance(node, ast.Assign) and node.lineno == at.line
    ]

    def leaf(node: ast.expr) -> str | None:
        left = re.sub(r",\s*requires_grad=True\b", "", line.text(node))
        if node not in values or left == line.text(node):
            return None
        return f"{closed(left)}.requires_grad_()"

    return line.rewritten(leaf)


def refused_by_optimizer(error: BaseException) -> Finding | None:
    """Return which tensor an optimizer refused that is no leaf, None of another error."""
    if "non-leaf Tensor" not in str(error):
        return None
    for frame, number in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not is_user_file(file):
            continue
        for name, value in (frame.f_globals | frame.f_locals).items():
            lines = assigned(name, file) if is_tensor(value) and value.requires_grad else []
            if lines and not value.is_leaf and name in getline(file, number):
                return Finding(Refused(name, source=lines[-1], other=Source(file, number)))
    return None


RULES: Final = (
    Rule(no_leaf, Meaning(
        "no-leaf", "warning", "the .grad of a tensor that is not a leaf is read",
        "An op computed it from the leaf, which has no name, and only leaves get a .grad.",
        "x = torch.rand(4, requires_grad=True).double()",
        "x = torch.rand(4).double().requires_grad_()",
        "When you do not need that gradient.",
    ), needs=(Results,)),
    Rule(no_parameter, needs=(Objects, Results, Learning), code="no-leaf"),
)  # fmt: skip
