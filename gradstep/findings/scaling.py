"""Losses that a gradient scaler has multiplied, as mixed precision needs: a step whose gradients
overflow is skipped, and a smaller factor tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradstep.capturing.names import Names
from gradstep.contract.lookup import is_tensor
from gradstep.contract.protocol import Engine
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.finding import Finding
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import attribute_of
from gradstep.records import BackwardCall, Node


class Scaling(NamedTuple):
    """The scaler ``name`` has multiplied a loss by ``scale``, at node ``at`` of its pass."""

    name: str
    scale: float
    at: int

    def undone(self, seed: Any) -> Any:
        """Return a gradient of the scaled loss as that of the loss itself."""
        return seed / self.scale

    def softened(self, finding: Finding, call: BackwardCall) -> Finding:
        """Return a note in the place of a finding that the scaled loss is infinite."""
        if finding.code != "not-finite" or finding.index != self.at:
            return finding
        return self.note(finding.what, call)

    def note(self, what: str, call: BackwardCall) -> Finding:
        """Say that a step is skipped because ``what`` is not finite."""
        return Finding(
            "info", "not-finite",
            f"{what}, as {self.name} has multiplied the loss by {format_number(self.scale)}: it "
            "skips this step, and tries a smaller factor in the next one",
            "nothing, if that happens now and then; where it happens in every step, nothing learns",
            source=None if call.line is None else Source(*call.line[:2]),
        )  # fmt: skip


def scaling_of(names: Names, engine: Engine, order: Sequence[Node]) -> Scaling | None:
    """Find the scaler of the program, and the node of a pass where it multiplied the loss; None
    where there is none that did."""
    for name, scaler in names.scalers.items():
        held = attribute_of(scaler, "_scale")  # get_scale() would run code of the program's
        if not is_tensor(held) or held.numel() != 1:
            continue
        number = array_of(held)
        if number is None or number.size != 1:
            continue
        scale = float(number.reshape(()))
        for index, node in enumerate(order):
            for place, kept, _ in node.saved():
                tensor = engine.kept_tensor(node, place, kept)
                if tensor is None:
                    continue
                array = array_of(tensor)
                if array is not None and array.size == 1 and float(array.reshape(()).real) == scale:
                    return Scaling(name, scale, index)
    return None
