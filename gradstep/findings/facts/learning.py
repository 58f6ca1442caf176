"""What is to learn in a run, and what of it the calls came to."""

from __future__ import annotations

from dataclasses import replace
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from gradstep.capturing.names import Names
from gradstep.contract.lookup import is_tensor
from gradstep.findings.facts import Fact, Facts, Graphs
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Reason
from gradstep.findings.source_lines import calls_of
from gradstep.graph.model import Source
from gradstep.recording.look import Look

if TYPE_CHECKING:
    from gradstep.recording.run import Run


class Trained(NamedTuple):
    """A leaf that an optimizer has: the names of both, and the leaf, None in a recording."""

    name: str
    optimizer: str
    leaf: Any


class Learning(Fact):
    """The leaves of optimizers, by identity, and the names of those that some call came to; of a
    recording, by their numbers."""

    needs = ()

    def __init__(self) -> None:
        self.trained: dict[int, Trained] = {}
        self.reached: set[str] = set()
        self._leaves: dict[int, ref[Any]] = {}
        self._names = Names()  # of the last call that was looked at closely
        self._last: list[ref[Any]] = []  # the leaves of the last call

    def read(self, run: Run) -> None:
        for group in run.training.groups:
            for number in group.leaves:
                name = run.leaves[number].name
                self.trained[number] = Trained(name, group.optimizer, None)
        self.reached.update(
            leaf.name
            for leaf in run.leaves
            if any(facts.arrived for _, facts in run.over_calls(leaf.number))
        )

    def before(self, look: Look) -> None:
        if look.call.is_grad:
            reached = [look.engine.reading.user_tensor(tensor) for tensor in look.call.inputs]
        else:
            reached = list(look.reached)
        if len(reached) == len(self._last) and all(
            known() is leaf for known, leaf in zip(self._last, reached, strict=True)
        ):
            return  # as nearly always
        self.reached.update(filter(None, map(self._names.of, reached)))
        # an input may be a GradientEdge, which is no tensor
        leaves = [leaf for leaf in reached if is_tensor(leaf)]
        self._last = list(map(ref, leaves))
        self._leaves.update(zip(map(id, leaves), self._last, strict=True))

    def closely(self, look: Look) -> None:
        names = self._names = look.names
        for optimizer, _, used in names.trained():
            for identity, leaf in used.items():
                if is_tensor(leaf) and leaf.requires_grad:
                    name = names.of_identity(identity) or f"a leaf of shape {list(leaf.shape)}"
                    self.trained[identity] = Trained(name, optimizer, leaf)
        # those that got a name, or another one, since
        self.reached.update(each.name for each in self.trained.values() if self._came_to(each.leaf))
        self.reached.update(filter(None, map(names.of, filter(self._came_to, names.tensors()))))

    def _came_to(self, leaf: Any) -> bool:
        known = self._leaves.get(id(leaf))
        return known is not None and known() is leaf

    def lost(self, facts: Facts) -> dict[str, list[Trained]]:
        """Return the leaves that an optimizer has and no call came to, by its name; but for those
        of a copy whose optimizer never steps, as a target network may have one all the same."""
        stepping = facts[Happened].stepping()
        lost: dict[str, list[Trained]] = {}
        for trained in self.trained.values():
            leaf = trained.leaf
            if trained.name in self.reached or (leaf is not None and leaf.grad is not None):
                continue
            may_step = not stepping or trained.optimizer in stepping
            if may_step or not self.is_of_copy(trained.name):
                lost.setdefault(trained.optimizer, []).append(trained)
        return lost

    def is_of_copy(self, name: str) -> bool:
        """Return whether a leaf has the name of one that the calls came to, but for one part."""
        parts = name.split(".")
        reached = (other.split(".") for other in self.reached)
        return any(
            len(other) == len(parts) and sum(map(ne, other, parts)) == 1 and other[-1] == parts[-1]
            for other in reached
        )

    def waits(self, facts: Facts) -> bool:
        """Return whether the steps of some optimizers may come after the end of the run."""
        return facts.is_cut_short and len({leaf.optimizer for leaf in self.trained.values()}) > 1


class ByInputs(Fact):
    """The lines that call autograd.grad() by something else than parameters."""

    def __init__(self) -> None:
        self.lines: set[Source | None] = set()

    def before(self, look: Look) -> None:
        call = look.call
        if call.is_grad and not all(tensor.is_parameter for tensor in call.inputs):
            self.lines.add(look.line)


class Uses(Fact):
    """The line of the forward pass that uses a leaf first, by its name."""

    needs = (Graphs,)

    def __init__(self) -> None:
        self.lines: dict[str, Source] = {}

    def asked(self, look: Look, session: Any) -> None:
        graph, engine = session.graph, look.engine
        for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
            if source in graph.sources and (leaf := engine.leaf(session.order[target])) is not None:
                self.lines.setdefault(look.names.of(leaf), graph.sources[source])


def confirmed(reason: Reason, facts: Facts, *, is_of_run: bool = False) -> Reason:
    """Return what a run makes of a reason why leaves have no gradient in one of its calls.

    Args:
        is_of_run: a rule over all calls says of which leaves none comes to.
    """
    learning = facts[Learning]
    if not reason.leaves:
        return reason
    lost = {leaf.name: by for by, leaves in learning.lost(facts).items() for leaf in leaves}
    never = [name for name in reason.leaves if name not in learning.reached]
    learn = [name for name in never if name in lost and facts.is_complete and not is_of_run]
    if learn and not learning.waits(facts) and _is_of_step(reason, facts, lost[learn[0]]):
        return replace(reason, is_note=False, leaves=tuple(learn))
    if not never or learning.trained or not facts.is_complete:
        return replace(reason, is_note=True)
    return reason


def _is_of_step(reason: Reason, facts: Facts, optimizer: str) -> bool:
    """Return whether a cut is the last one before the step of ``optimizer``: in a GAN, the same
    leaves are cut off on purpose in the call before."""
    if reason.source is None:
        return True
    steps = calls_of("step", reason.source.file, optimizer)
    if not steps:
        return True
    others = [
        other.source.line
        for _, other in facts.seen
        if other.source is not None
        and other.code == reason.code
        and set(reason.leaves) & set(other.leaves)
        and other.source.file == reason.source.file
        and other.source.line <= steps[-1].line
    ]
    return not others or reason.source.line == max(others)
