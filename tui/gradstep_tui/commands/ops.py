"""``gradstep ops``: the op table, as the entries declare it."""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from textwrap import indent

from autograd_core import ops
from autograd_core.op import OPS, Op
from autograd_core.op.formula import rule_text
from autograd_core.op.generate import code_text
from autograd_core.op.public import names_of
from autograd_core.op.record import REQUIRED
from gradstep.text import did_you_mean
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import show

_NOTES = """\
examples:
  gradstep ops
  gradstep ops mul
  gradstep ops mul --code
"""


def parser() -> Parser:
    """Return the options of ``gradstep ops``."""
    command = Parser(
        "ops",
        "[OPTIONS] [NAME]",
        "List the ops with their signatures, derivatives and saved values, or show "
        "one.\n"
        "NAME is an op (mul) or a node (MulBackward0).",
        _NOTES,
    )
    add = command.option
    add("--code", action="store_true", help="show the code generated from the entry of NAME")
    command.add_argument("target", metavar="NAME", nargs="?", help=argparse.SUPPRESS)
    return command


def run(options: argparse.Namespace) -> ExitCode:
    """Carry out ``gradstep ops``."""
    show_operators(options.target, code=options.code)
    return ExitCode.FINE


def show_operators(name: str | None, *, code: bool) -> None:
    """Print all ops by family, or all there is to know about those called ``name``.

    Args:
        code: print the code that they are compiled to instead.

    Raises:
        Failure: there is no such op, or ``code`` is asked of none in particular.
    """
    import_all()
    if name is None:
        if code:
            raise Failure("--code shows the code of one op: name the op", ExitCode.USAGE)
        show("\n".join(_table()))
        return
    ops = [op for op in OPS.values() if name in (op.name, op.public_name, op.node_name)]
    if not ops:
        raise Failure(_no_such(name), ExitCode.USAGE)
    show("\n\n".join(_code(op) if code else _entry(op) for op in ops))


def import_all() -> None:
    """Fill the table: an op is in it once its family is imported."""
    for module in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
        importlib.import_module(module.name)


def _no_such(name: str) -> str:
    known = [word for op in OPS.values() for word in (op.name, op.node_name)]
    hint = did_you_mean(name, known, most=3, otherwise="gradstep ops lists them")
    return f"there is no op '{name}'; {hint}"


def _table() -> Iterator[str]:
    """Yield one line per op, under the name of its family."""
    family = ""
    for op in OPS.values():
        own = op.function.__module__.rpartition(".")[2]
        if own != family:
            yield f"{own}:" if not family else f"\n{own}:"
            family = own
        derivatives = "; ".join(f"{edge}: {text}" for edge, text in rules(op)) or "no derivative"
        saved = f"  [saves {', '.join(op.saved)}]" if op.saved else ""
        yield f"  {signature(op)}  {derivatives}{saved}"


def _entry(op: Op) -> str:
    """Return everything that the entry says."""
    traits = [
        *(["elementwise"] if op.pointwise else []),
        *(["linear in each input"] if op.linear else []),
        *(["its results are views"] if op.view else []),
    ]
    facts = [
        ("node", op.node_name if op.edges else "none: no gradient passes"),
        ("results", ", ".join(op.visible_outputs) if len(op.visible_outputs) > 1 else ""),
        ("saves", ", ".join([*op.saved, *op.saved_plain]) if op.edges else ""),
        ("is", ", ".join(traits)),
        ("called", ", ".join(names_of(op))),
        ("overload of", op.public_name if op.public_name != op.name else ""),
    ]
    doc = re.sub(r":\w+:`~?([^`]*)`", r"\1", op.doc).replace("``", "`")
    lines = [signature(op), indent(doc, "  "), ""]
    lines += [f"  derivative by {edge}: {text}" for edge, text in rules(op)]
    lines += [f"  {word}: {text}" for word, text in facts if text]
    return "\n".join(lines)


def _code(op: Op) -> str:
    return f"# {op.name}\n{code_text(op)}".rstrip()


def signature(op: Op) -> str:
    """Write how the op is called: values, then attributes with their defaults."""
    values = [f"{v}=None" if v in op.optional else v for v in op.values]
    if op.variadic:
        values = [f"*{op.variadic}"]
    attributes = [
        name if default is REQUIRED else f"{name}={_default(default)}"
        for name, default in op.attributes.items()
    ]
    bar = ["*" if op.pointwise else "/"] if attributes and not op.variadic else []
    return f"{op.name}({', '.join([*values, *bar, *attributes])})"


def _default(value: object) -> str:
    return value.__name__ if inspect.isclass(value) or inspect.isfunction(value) else repr(value)


def rules(op: Op) -> Iterator[tuple[str, str]]:
    """Yield the inputs that a rule is for, and the text of the rule."""
    if op.joint is not None:
        yield ", ".join(op.edges), rule_text(op.joint.function) or "one rule for all"
        return
    for edge in op.edges:
        yield edge, rule_text(op.rules[edge].function) or op.name
