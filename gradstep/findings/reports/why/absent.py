"""Why the pass brings no gradient to a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.contract.module_paths import named_modules
from gradstep.contract.parameters import named_parameters
from gradstep.debugger.snapshot.value import value
from gradstep.debugger.snapshot.wording import summary
from gradstep.findings.reports.formatting import Row, line_text
from gradstep.findings.reports.why.explanation import Explanation
from gradstep.findings.reports.why.target import Asked
from gradstep.findings.rules.graph.cuts import Cut, cuts
from gradstep.findings.rules.graph.subject import Subject


def absent(subject: Subject, asked: Asked) -> Explanation:
    """Explain why nothing arrives at a tensor that has no node in the pass."""
    name, tensor = asked.name, asked.tensor
    if not tensor.requires_grad:
        return _not_wanted(name)
    if not tensor.is_leaf:
        return Explanation(
            name, "none", f"{name} gets no gradient: the loss does not depend on it",
            tuple(_untraced(subject)),
        )  # fmt: skip
    cuts_of_leaf = [cut for cut, leaves in cuts(subject) if any(leaf is tensor for leaf in leaves)]
    if cuts_of_leaf:
        return _cut(asked, cuts_of_leaf)
    tracing = subject.engine.tracing
    departure = None if tracing is None else tracing.departure(tensor)
    if departure is not None:
        rows = [
            ("likely", (f"{departure.how} took a value computed from {name} out of the "
                f"graph, and the loss uses the array or number")),
            *([("line", line_text(departure.source))] if departure.source else []),
            ("remedy", "use the value itself where you need its gradient"),
        ]  # fmt: skip
        return _unused(asked, rows, certain=False)
    return _unused(asked, [*_unused_modules(subject, tensor), *_untraced(subject)])


def _not_wanted(name: str) -> Explanation:
    headline = f"{name}.grad is None: {name} does not require a gradient (requires_grad is False)"
    remedy = f"{name}.requires_grad_(True) before the forward pass gives it one"
    return Explanation(name, "none", headline, (("remedy", remedy),))


def _cut(asked: Asked, reasons: list[Cut]) -> Explanation:
    first, name = reasons[0], asked.name
    headline = f"{_state(asked)}: {first.clause()} on the path from {name} to the loss"
    rows: list[Row] = []
    for cut in dict.fromkeys(reasons):
        if cut is not first:
            rows.append(("and", cut.clause()))
        if cut.source is not None:
            rows.append(("line", line_text(cut.source)))
        if cut.other is not None:
            rows.append(("then", line_text(cut.other)))
    rows.append(("remedy", first.remedy()))
    return Explanation(name, "none", headline, (*rows, *_kept(asked)))


def _unused(asked: Asked, rows: list[Row], *, certain: bool = True) -> Explanation:
    headline = f"{_state(asked)}: the loss does not depend on {asked.name}"
    return Explanation(asked.name, "none", headline, (*rows, *_kept(asked)), certain)


def _state(asked: Asked) -> str:
    if asked.tensor.grad is None:
        return f"{asked.name}.grad is None"
    return f"this pass adds nothing to {asked.name}.grad"


def _kept(asked: Asked) -> Iterator[Row]:
    if asked.tensor.grad is not None:
        yield (
            "note",
            f"its value comes from an earlier call: {summary(value(asked.tensor.grad))}",
        )


def _unused_modules(subject: Subject, tensor: object) -> Iterator[Row]:
    """Yield the largest module around a parameter of which the pass reaches none."""
    for name, module in subject.names.modules.items():
        around = [
            (path, part)
            for path, part in named_modules(module)
            if any(parameter is tensor for _, parameter in named_parameters(part))
        ]
        for path, part in around:
            if not any(id(parameter) in subject.leaves for _, parameter in named_parameters(part)):
                whole = f"{name}.{path}" if path else name
                yield (
                    "likely",
                    (
                        f"{whole} was not called, or its result is not used: none of its "
                        f"parameters gets a gradient"
                    ),
                )
                return


def _untraced(subject: Subject) -> Iterator[Row]:
    if not subject.origins:
        yield (
            "note",
            (
                "the forward pass was not traced, so it is unknown where the path to the loss "
                "was cut; a script that runs under `gradstep why` is traced"
            ),
        )
