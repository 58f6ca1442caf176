"""Derivatives that are not those of their functions, as finite differences tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gradstep.findings.checking import NodeCheck
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import arguments_of, returned
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.guest.own_files import is_own_file


def derivatives(evidence: Evidence) -> Iterator[Finding]:
    """Yield the rules that are wrong, each once, with what one of its nodes shows; not those that
    differ on purpose, as where the result does not depend on the input at all."""
    by_rule: dict[Any, list[NodeCheck]] = {}
    for node in evidence.checks:
        if node.verdict == "wrong":
            wrong = tuple(nr for nr, one in enumerate(node.inputs) if one.verdict == "wrong")
            known = node.rule is not None and not is_own_file(node.rule.file)
            by_rule.setdefault((node.op, node.rule, wrong) if known else id(node), []).append(node)
    for first, *others in by_rule.values():
        bad = [part for part in first.inputs if part.verdict == "wrong"]
        if all(part.numerical == 0 for part in bad):
            continue  # forward is flat, as round() is: a straight-through estimator
        causes = list(dict.fromkeys(part.cause for part in bad if part.cause))
        rule = None if first.rule is None or is_own_file(first.rule.file) else first.rule
        yield Finding(
            "error", "derivative",
            f"the backward of {first.op.removesuffix('Backward')} is wrong: "
            f"{'; '.join(part.claim for part in bad)}"
            f"{f'; {listed_causes}' if (listed_causes := ', '.join(causes)) else ''}",
            "return the derivative of forward, times the gradient that backward was given"
            if rule is not None else
            "this is no function of yours: please report it",
            first.address, first.index, first.source,
            None if rule is None else returned(rule) or rule, 1 + len(others),
            fix=_times_given(rule) if any("ignores the inc" in cause for cause in causes) else (),
        )  # fmt: skip


def _times_given(rule: Source | None) -> tuple[Fix, ...]:
    """Return the line with what ``backward`` returns, times the one gradient that it is given."""
    given = arguments_of(rule)
    at = None if rule is None else returned(rule)
    line = Line(at)
    text = line.replaced("{line}")[0].text if at is not None else ""
    if len(given) != 2 or not text.startswith("return ") or "," in text:
        return ()
    return line.replaced(f"return {given[1]} * ({text.removeprefix('return ')})")


RULES: Final = (
    Rule(derivatives, Meaning(
        "derivative", "error", "a custom Function has a wrong backward",
        "Its rule and finite differences of its forward differ. A rule whose forward returns what "
        "it was given is not reported: it changes the gradient on purpose.",
        "return 3 * x", "return grad_output * 3 * x**2",
        "When the gradient is meant to be another one, as with a straight-through estimator.",
    )),
)  # fmt: skip
