"""Targets that the output of a network can never equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.capturing.forward_values import ForwardValues
from gradstep.contract.op_records import OpRecord, Record
from gradstep.findings.facts import Forward, Numbers
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.squashed import MOVING
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.rules.graph.targets import LOSSES
from gradstep.graph.statistics import Range, format_number

_PROBABILITIES: Final = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
_RANGES: Final = {
    "sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "hardsigmoid": (0.0, 1.0),
}  # fmt: skip
_CLAMPS: Final = ("clamp", "clip", "hardtanh")
_MARGIN: Final = 1e-3
_SHARE: Final = 0.25
"""Of the targets: fewer may be outliers."""


@dataclass(frozen=True)
class OutOfReach(Reason):
    """Some targets of a ``loss`` are outside of the ``span`` of what the function ``maker`` gives,
    or of probabilities."""

    code = "out-of-reach"
    loss: str
    maker: str
    span: Range
    beyond: int = field(compare=False)
    size: int = field(compare=False)
    targets: Range = field(compare=False)

    def text(self) -> str:
        span = " to ".join(map(format_number, self.span))
        why = f"{self.maker} gives nothing else" if self.maker else "are no probabilities"
        return (
            f"{self.beyond:,} of the {self.size:,} targets of {self.loss} are outside of "
            f"{span}, and {why}: they are {self.targets}"
        )

    def remedy(self) -> str:
        if not self.maker:
            return "give the classes as 0 and 1"
        span = " to ".join(map(format_number, self.span))
        return f"scale the targets to {span}, or leave out {self.maker}"


def find_out_of_reach(subject: Subject) -> Iterator[Reason]:
    """Yield losses that compare probabilities with targets outside of 0 to 1, or the result of a
    bounded function with targets a quarter of which are beyond its bounds."""
    values = ForwardValues(subject.engine.reading, subject.origins)
    for record in subject.records:
        if not isinstance(record, OpRecord) or len(record.inputs) < 2:
            continue
        output, target = record.inputs[:2]
        if not (isinstance(output, tuple) and isinstance(target, tuple)):
            continue
        if (limits := _limits(record, output[0])) is None:
            continue
        known, array = values.statistics(target), values.array(target)
        if known is None or array is None or known.trouble:
            continue
        low, high, maker = limits
        beyond = int(((array < low - _MARGIN) | (array > high + _MARGIN)).sum())
        if beyond <= (0 if maker is record else _SHARE * array.size):
            continue
        is_loss = maker is record
        yield OutOfReach(
            record.name, "" if is_loss else maker.name, Range(low, high), beyond, array.size,
            Range.of(known),
            source=maker.source, other=None if is_loss else record.source,
        )  # fmt: skip
        return


def _limits(loss: OpRecord, output: Record) -> tuple[float, float, OpRecord] | None:
    """Return between what numbers the targets of a loss are to be, and the op that says so: the
    loss, or the one behind the output that is compared with them."""
    if loss.name in _PROBABILITIES:
        return 0.0, 1.0, loss
    while isinstance(output, OpRecord) and output.name in MOVING:
        first = output.inputs[0]
        if not isinstance(first, tuple):
            return None
        output = first[0]
    if loss.name not in LOSSES or not isinstance(output, OpRecord) or not output.requires_grad:
        return None
    if output.name in _CLAMPS:
        numbers = [*output.inputs[1:3], *map(output.attributes.get, ("min", "max"))]
        low, high, *_ = *(n for n in numbers if isinstance(n, int | float)), None, None
        return None if low is None or high is None else (float(low), float(high), output)
    return (*_RANGES[output.name], output) if output.name in _RANGES else None


RULES: Final = (
    Rule(find_out_of_reach, Meaning(
        "out-of-reach", "warning", "the output can never equal its targets",
        "At least a quarter of the targets are outside the range of the last function; or a "
        "target of a binary cross entropy is not between 0 and 1, so that the loss has no lower "
        "limit.",
        "F.mse_loss(torch.sigmoid(h), pixels)", "F.mse_loss(torch.sigmoid(h), pixels / 255)",
        "When a result as close as possible to these targets is enough.",
    ), needs=(Forward, Numbers)),
)  # fmt: skip
