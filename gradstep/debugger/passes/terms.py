"""The derivative rules of a node with what their names stand for: g · b = 3 · 2, which gives 6."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gradstep.capturing.names import Names
from gradstep.contract.protocol import Rule, Rules
from gradstep.debugger.snapshot import Outgoing, Saved, Term
from gradstep.debugger.snapshot.value import Gradient, Value, value
from gradstep.graph.statistics import format_number
from gradstep.records import Node

_CALLED_ON_A_NUMBER = re.compile(r"\bself\.|\d\)?\.[a-z]")  # 1.expand(self.sizes()): no arithmetic


def terms_of(
    rules: Rules | None,
    node: Node,
    gradients: Sequence[Gradient],
    saved: Sequence[Saved],
    outgoing: Sequence[Outgoing],
    names: Names,
) -> tuple[Term, ...]:
    """Return the rules that run at ``node``, for the inputs that need a gradient.

    Args:
        rules: what reads those of the node.
        gradients: what the rules are given.
        saved: what the node keeps from the forward pass.
        outgoing: what the node has sent so far, for each input.
        names: names of the program's tensors, by which saved values are called.
    """
    known = dict(_known(node, gradients, saved))
    called = {
        name: names.of(kept) or name
        for name, kept, _ in node.saved()
        if known.get(name) is not None
    }
    return tuple(
        Term(
            rule.input,
            rule.text(called),
            tuple((called.get(name, name), known[name]) for name in known if name in rule.names),
            _with_numbers(rule, known),
            None if rule.edge is None else outgoing[rule.edge].value,
        )
        for rule in (() if rules is None else rules.rules(node))
    )


def _known(
    node: Node, gradients: Sequence[Gradient], saved: Sequence[Saved]
) -> Iterator[tuple[str, Value | None]]:
    """Look up what the names in the rules of ``node`` stand for."""
    if node.ported:
        yield from ((f"g[{nr}]", value(g)) for nr, g in enumerate(gradients))
    else:
        yield "g", value(gradients[0])
    yield from ((kept.name, kept.value) for kept in saved if kept.value is not None)


def _with_numbers(rule: Rule, known: Mapping[str, Value | None]) -> str:
    """Return the rule with numbers for its names, "" unless each of them is a real one."""
    numbers: dict[str, str] = {}
    for name in rule.names:
        part = known.get(name)
        if part is None or part.array.size != 1 or "complex" in part.dtype:
            return ""
        number = format_number(float(part.array.reshape(())))
        numbers[name] = f"({number})" if number.startswith("\N{MINUS SIGN}") else number
    text = rule.text(numbers)
    return "" if _CALLED_ON_A_NUMBER.search(text) else text
