"""Tensors whose ``.grad`` the program reads, and which are no leaves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from linecache import getline
from traceback import walk_tb
from typing import Final

from gradstep.capturing.statement import nodes_on, tree_of
from gradstep.contract.lookup import is_tensor
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line, called, closed
from gradstep.findings.source_lines import assigned, assigned_from_itself, reads_grad
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.guest.own_files import is_user_file


def no_leaf(evidence: Evidence) -> Iterator[Finding]:
    """Yield the tensors that an op made of a leaf without a name, and whose ``.grad``, which
    nothing fills, the program reads."""
    for name, (how, source) in evidence.results.items():
        if source is not None and reads_grad(name, source.file):
            yield Finding(
                "warning", "no-leaf",
                f"{name} is not a leaf: it is the result of {how} of one, so backward() leaves "
                f"{name}.grad None",
                f"change it in place: with torch.no_grad(): {name} -= ..."
                if source in assigned_from_itself(name, source.file) else
                f"make {name} first, and call {name}.requires_grad_() on it then",
                source=source, fix=_changed_in_place(name, source) or _asked_later(source),
            )  # fmt: skip


def no_parameter(evidence: Evidence) -> Iterator[Finding]:
    """Yield what stands in a module where a parameter was meant: an op made it of one, which nobody
    holds."""
    for name, (how, source) in evidence.results.items():
        holder = name.rpartition(".")[0]
        owner = holder.partition(".")[0]
        if source is None or owner not in evidence.names.modules or not evidence.trained:
            continue
        yield Finding(
            "warning", "no-leaf",
            f"{name} is no parameter but the result of {how} of one, which no optimizer has: it "
            "never learns",
            "make the parameter last, of what has the right dtype and device already",
            source=source, leaves=(name,), fix=_parameter_last(source),
        )  # fmt: skip


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
                return Finding(
                    "error", "no-leaf",
                    f"{name} is not a leaf but the result of an op, and an optimizer changes "
                    "leaves only",
                    f"make {name} first, and call {name}.requires_grad_() on it then",
                    source=lines[-1], other=Source(file, number), fix=_asked_later(lines[-1]),
                )  # fmt: skip
    return None


RULES: Final = (
    Rule(no_leaf, Meaning(
        "no-leaf", "warning", "the .grad of a tensor is read that is no leaf",
        "An op made it of the leaf, which has no name, and only leaves get a .grad.",
        "x = torch.rand(4, requires_grad=True).double()",
        "x = torch.rand(4).double().requires_grad_()",
    )),
    Rule(no_parameter),
)  # fmt: skip
