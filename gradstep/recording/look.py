"""A call of a run that is watched, and what is known of it so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradstep.capturing.forward_values import ForwardValues
from gradstep.capturing.names import Names
from gradstep.contract.lookup import numbers_of, running_of
from gradstep.contract.op_records import Origin, Record, reachable
from gradstep.contract.protocol import Engine
from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics
from gradstep.records import BackwardCall, Node

if TYPE_CHECKING:
    from gradstep.recording.facts import CallFacts
    from gradstep.recording.leaves import Before
    from gradstep.recording.observing import Observed


@dataclass
class Look:
    """A call of the run. ``find_names`` finds those of the program, as long as the call lasts, and
    takes a while.

    Attributes:
        leaves: those that it comes to, as they were before; None where they are not described.
        observed: what was seen of a call in full.
        order: the nodes of one that is looked at closely, which may be number ``looks`` of its
            line that ``is_traced``. What several facts ask about such a call is ``kept``.
    """

    engine: Engine
    call: BackwardCall
    facts: CallFacts
    find_names: Callable[[], Names]
    leaves: Before | None = None
    observed: Observed | None = None
    order: Sequence[Node] = ()
    is_traced: bool = False
    looks: int = 0
    kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def names(self) -> Names:
        """The names in the program."""
        return self.find_names()

    @property
    def has_names(self) -> bool:
        """Whether somebody has asked for them."""
        return "names" in vars(self)

    @property
    def line(self) -> Source | None:
        """The line that made the call."""
        return self.facts.line

    @cached_property
    def losses(self) -> Sequence[Any]:
        """The tensors from which it comes, as the program has them."""
        return [self.engine.reading.user_tensor(root) for root in self.call.roots]

    @cached_property
    def described(self) -> Statistics | None:
        """The loss, described, where there is one."""
        root, *more = self.call.roots
        return None if more else numbers_of(root).scalar_statistics(root)

    @property
    def loss(self) -> float | None:
        """The loss, where there is one, and it is a number."""
        return None if self.described is None else self.described.scalar

    @cached_property
    def origins(self) -> dict[Origin, Any]:
        """The losses that were traced, by what they came from."""
        return {
            seen.record: loss
            for loss, seen in zip(
                self.losses, self.engine.reading.tensors(self.losses), strict=True
            )
            if isinstance(seen.record, tuple)
        }

    @cached_property
    def records(self) -> list[Record]:
        """The records of the forward pass, in the order in which they were made."""
        return reachable([record for record, _ in self.origins])

    @cached_property
    def values(self) -> ForwardValues:
        """What is known of the numbers in it."""
        return ForwardValues(self.engine.reading, self.origins)

    @cached_property
    def reached(self) -> Sequence[Any]:
        """The leaves to whose ``.grad`` the call adds."""
        return list(running_of(self.call).accumulated(self.call))
