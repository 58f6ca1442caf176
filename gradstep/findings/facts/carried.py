"""States that a program carries over from one iteration to the next, with their graphs."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.findings.facts import Fact
from gradstep.findings.finding import Fix, Reason
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import (
    as_written,
    assigned_from_itself,
    begins_as_none,
    head_of_loop,
)
from gradstep.graph.model import Source
from gradstep.recording.look import Look


@dataclass(frozen=True)
class Carried(Reason):
    """A tensor, or a tuple of some, that a line makes from itself; ``call`` is a line of a pass."""

    keeps_loss = True
    name: str
    has_elements: bool
    call: Source

    def remedy(self) -> str:
        return (
            f"{self.name} is carried over from one iteration to the next with its graph: "
            f"{self._ended} before it is used again"
        )

    def fix(self) -> tuple[Fix, ...]:
        # where a step begins: behind the line that makes it, nothing would learn through it
        first = head_of_loop(self.call)
        end = self._ended
        if begins_as_none(self.name, self.call.file):
            end = f"if {self.name} is not None:\n    {end}"
        return () if first is None else Line(first).replaced(f"{end}\n{{line}}")

    @property
    def _ended(self) -> str:
        if self.has_elements:
            return f"{self.name} = tuple(each.detach() for each in {self.name})"
        return f"{self.name} = {self.name}.detach()"


class CarriedStates(Fact):
    """Tensors of the program that have a graph when a call ends, and are made from themselves."""

    def __init__(self) -> None:
        self.states: dict[str, Carried] = {}

    @property
    def first(self) -> Carried | None:
        """The first one, None where there is none."""
        return next(iter(self.states.values()), None)

    def after(self, look: Look) -> None:
        if look.line is None or self.states or not look.has_names:
            return
        names, own = look.names, set(map(id, look.losses))
        for tensor in names.tensors():
            if id(tensor) not in own and tensor.requires_grad and not tensor.is_leaf:
                name = names.of(tensor).partition("[")[0]
                written = as_written(name, look.line.file)
                lines = assigned_from_itself(written, look.line.file)
                if lines:
                    self.states[name] = Carried(
                        written, names.has_elements(name), look.line, source=lines[0]
                    )
