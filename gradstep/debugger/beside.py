"""A pass of another run that goes along with a session, and where the two differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradstep.comparing.values import Gap
from gradstep.debugger.snapshot import NodeDetail
from gradstep.graph.model import Graph


class OtherPass(Protocol):
    """What a session goes along with: another one, of which no more is needed."""

    @property
    def graph(self) -> Graph:
        """Its backward graph."""
        ...

    @property
    def length(self) -> int:
        """The number of nodes in its plan."""
        ...

    @property
    def position(self) -> int:
        """The node that runs next."""
        ...

    def jump(self, position: int) -> None:
        """Go to any position."""
        ...

    def detail(self, index: int) -> NodeDetail:
        """Describe a node."""
        ...


@dataclass(frozen=True)
class Beside:
    """The other pass.

    Attributes:
        name: what the other run is called.
        session: the session of that pass.
        partners: the node there of each node of this plan, -1 for none.
        gaps: how far values differ at nodes of this plan: the gradients that they received or sent,
            and the results of their forward ops.
    """

    name: str
    session: OtherPass
    partners: Sequence[int]
    gaps: Mapping[int, Gap]

    @classmethod
    def of(
        cls,
        name: str,
        session: OtherPass,
        graph: Graph,
        partners: Sequence[int],
        places: Mapping[int, Gap],
        length: int,
    ) -> Beside:
        """Return the other pass, from a comparison.

        Args:
            graph: both halves of this pass's graph, in which node k of the plan has the number k;
                ``length`` is that of the plan.
            partners: of each node of ``graph``, the one of the other graph.
            places: how far values differ at nodes of ``graph``.
        """
        gaps: dict[int, Gap] = {}
        for id, gap in places.items():
            node = id if id < length else graph.pairs.get(id, -1)
            if 0 <= node < length:
                gaps.setdefault(node, gap)
        ends = session.length
        return cls(name, session, [at if at < ends else -1 for at in partners[:length]], gaps)

    def follow(self, position: int) -> None:
        """Go to where the other pass stands when this one stands at ``position``: before the
        partner of the node that runs next, or of the first after it that has one."""
        ahead = (at for at in self.partners[position:] if at >= 0)
        self.session.jump(next(ahead, self.session.length))

    def differs(self, node: int) -> bool:
        """Return whether values differ at a node, or the other pass does not have it."""
        return node in self.gaps or self.partners[node] < 0

    def differences(self, position: int, step: int) -> Iterator[int]:
        """Yield the nodes that differ after a position, or before it for a ``step`` of -1."""
        ahead = range(position + 1, len(self.partners))
        yield from filter(self.differs, ahead if step > 0 else range(position - 1, -1, -1))

    def text(self, node: int) -> str:
        """Say how a node differs in the other pass."""
        partner = self.partners[node]
        if partner < 0:
            return f"not in {self.name}"
        gap = self.gaps.get(node)
        address = self.session.graph.address(partner)
        return f"{'= ' if gap is None else '≠ '}{self.name} {address}: {gap or 'equal'}"
