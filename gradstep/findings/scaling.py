"""Losses that a gradient scaler has multiplied, as mixed precision needs: a step whose gradients
overflow is skipped, and a smaller factor tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradstep.capturing.names import Names
from gradstep.contract.insides import insides_of
from gradstep.contract.lookup import is_tensor
from gradstep.contract.protocol import Numbers
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.finding import Reason
from gradstep.findings.not_finite import NotFinite
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.records import BackwardCall, Node


class Scaling(NamedTuple):
    """The scaler ``name`` has multiplied a loss by ``scale``, at node ``at`` of its pass."""

    name: str
    scale: float
    at: int

    def undone(self, seed: Any) -> Any:
        """Return a gradient of the scaled loss as that of the loss itself."""
        return seed / self.scale

    def softened(self, reason: Reason, call: BackwardCall) -> Reason:
        """Return a note in the place of a reason that the scaled loss is infinite."""
        if not isinstance(reason, NotFinite) or reason.index != self.at:
            return reason
        return self.note(reason, call)

    def note(self, reason: Reason, call: BackwardCall) -> Reason:
        """Return that a step is skipped for a ``reason``."""
        source = None if call.line is None else Source(*call.line[:2])
        return SkippedStep(reason, self.name, self.scale, source=source)


@dataclass(frozen=True)
class SkippedStep(NotFinite):
    """A scaler skips a step, as something is not finite."""

    severity = "info"
    helps = (
        "nothing to do if that happens now and then; if it happens in every step, nothing learns"
    )
    reason: Reason
    name: str
    scale: float = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.reason.text()}, as {self.name} has multiplied the loss by "
            f"{format_number(self.scale)}: it skips this step, and tries a smaller factor in the "
            "next one"
        )

    def parts(self) -> tuple[Reason, ...]:
        return (self.reason,)

    def calls(self) -> tuple[str, ...]:
        return self.reason.calls()


def scaling_of(names: Names, numbers: Numbers, order: Sequence[Node]) -> Scaling | None:
    """Find the scaler of the program, and the node of a pass where it multiplied the loss; None
    where there is none that did."""
    for name, scaler in names.scalers.items():
        held = insides_of(scaler).scaler(scaler).scale
        if not is_tensor(held) or held.numel() != 1:
            continue
        number = array_of(held)
        if number is None or number.size != 1:
            continue
        scale = float(number.reshape(()))
        for index, node in enumerate(order):
            for place, kept, _ in node.saved():
                tensor = numbers.kept_tensor(node, place, kept)
                if tensor is None:
                    continue
                array = array_of(tensor)
                if array is not None and array.size == 1 and float(array.reshape(()).real) == scale:
                    return Scaling(name, scale, index)
    return None
