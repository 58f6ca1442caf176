"""Leaves whose gradient may not be what is expected: none at all, added to an old one, or a sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gradstep.contract.insides import insides_of
from gradstep.contract.module_paths import named_modules
from gradstep.contract.op_records import Departure
from gradstep.contract.parameters import named_parameters
from gradstep.findings.facts import Graphs, Objects
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.fixes import called_by
from gradstep.findings.rules.graph.subject import Subject
from gradstep.records import LEAF, resolve
from gradstep.text import listed

_REENTRANT = "CheckpointFunctionBackward"  # runs a backward pass of its own, unseen from here


class Unreached(Reason):
    """The pass, or the run, does not come to leaves."""

    code = "unreached"
    is_open = True
    after = ("create-graph",)


@dataclass(frozen=True)
class Template(Unreached):
    """A ``module`` is there to be copied only."""

    helps = "nothing to do if it is only a template for copies"
    module: str

    def text(self) -> str:
        return f"the loss depends on no parameter of {self.module}"


@dataclass(frozen=True)
class OfAnotherLoss(Unreached):
    """Leaves are those of other ``optimizers``, which have none that the pass reaches."""

    helps = "nothing to do if another loss covers this"
    optimizers: tuple[str, ...]

    def text(self) -> str:
        whose = listed(self.optimizers)
        return f"the loss does not depend on {self.named}, which {whose} trains"


@dataclass(frozen=True)
class OfNoOptimizer(Unreached):
    """No optimizer has the leaves of these ``names``."""

    names: tuple[str, ...]

    def text(self) -> str:
        return f"the loss does not depend on {listed(self.names)}, which no optimizer has"

    def remedy(self) -> str:
        are = "it is" if len(self.names) == 1 else "they are"
        return f"nothing to do if {are} not meant to learn, like a target network"


@dataclass(frozen=True)
class OfIdleModules(Unreached):
    """The modules of leaves did not run."""

    helps = "nothing to do if another loss covers this"

    def text(self) -> str:
        modules = self.of("module", "modules")
        return (
            f"the loss does not depend on {self.named}, whose {modules} did not run in this "
            "forward pass"
        )


@dataclass(frozen=True)
class Unused(Unreached):
    """The loss does not depend on leaves; ``is_unknown`` if a pass inside of a node may reach
    them."""

    is_unknown: bool

    def text(self) -> str:
        unless = ", unless a backward pass inside a checkpoint does" if self.is_unknown else ""
        return (
            f"{self.named} {self.of('requires', 'require')} a gradient, but the loss does not "
            f"depend on {self.of('it', 'them')}{unless}"
        )

    def remedy(self) -> str:
        if self.is_unknown:
            return "checkpoint with use_reentrant=False to find out"
        return f"use {self.of('it', 'them')} in the loss, or set requires_grad=False"


@dataclass(frozen=True)
class HandedOut(Reason):
    """A value computed from leaves was handed out by ``how``, and the loss may use it."""

    code = "cut"
    is_open = True
    blames_line = True
    after = ("not-finite",)
    explained_here_by = ("unreached",)
    helps = "use the value itself where you need its gradient, not an array, a number or an index"
    how: str

    def text(self) -> str:
        gets, them = self.of("gets", "get"), self.of("it", "them")
        return (
            f"{self.named} {gets} no gradient: the loss does not depend on {them}, but {self.how} "
            f"took a value computed from {them} out of the graph"
        )

    def calls(self) -> tuple[str, ...]:
        return called_by(self.how)


@dataclass(frozen=True)
class OldGradients(Reason):
    """Leaves have a gradient already."""

    code = "stale-grad"
    after = ("zero-grad",)
    helps = "call optimizer.zero_grad() first, unless you accumulate gradients on purpose"
    is_listed: bool = False

    def text(self) -> str:
        has = self.of("has", "have")
        return (
            f"{self.named} {has} a .grad from an earlier backward(), and the new gradient will be "
            "added to it"
        )


@dataclass(frozen=True)
class ForgottenGradients(OldGradients):
    """Leaves that no optimizer has have a gradient already; ``is_listed`` if that is because their
    modules are in a plain list."""

    def text(self) -> str:
        has, them = self.of("has", "have"), self.of("it", "them")
        return (
            f"{self.named} {has} a .grad from an earlier backward(), and no optimizer of the "
            f"program has {them}: step() does not change {them}, and zero_grad() does not clear "
            "the gradient"
        )

    def remedy(self) -> str:
        if self.is_listed:
            return (
                "keep these modules in an nn.ModuleList or nn.ModuleDict: parameters() does not "
                "find those in a plain list"
            )
        return (
            "pass all parameters to the optimizer, or set requires_grad=False on those that "
            "should not learn"
        )


@dataclass(frozen=True)
class Shared(Reason):
    """Several ops use the leaves of these ``names``: of each, how many."""

    code = "shared"
    severity = "info"
    helps = "nothing to do if this is intended"
    names: tuple[str, ...]
    uses: tuple[int, ...] = field(compare=False)

    def text(self) -> str:
        pairs = zip(self.names, self.uses, strict=True)
        counted = [f"{name} ({count} times)" for name, count in pairs]
        return f"several ops use {listed(counted)}; each gradient is the sum over all uses"


def find_unreached(subject: Subject, explained: Collection[int]) -> Iterator[Reason]:
    """Yield the leaves that the program names and the pass does not reach; not those, given by
    identity, that are ``explained`` by a cut."""
    left = [leaf for leaf in _not_reached(subject) if id(leaf) not in explained]
    tracing = subject.engine.tracing
    departures = {id(leaf): tracing.departure(leaf) if tracing else None for leaf in left}
    yield from _handed_out(subject, left, departures)
    left = [leaf for leaf in left if departures[id(leaf)] is None]
    aside, others = _of_patterns(subject, left), subject.of_other_optimizers
    for name in dict.fromkeys(aside.values()):
        yield Template(name, is_note=True)
    if elsewhere := [leaf for leaf in left if id(leaf) in others.keys() - aside.keys()]:
        names = tuple(map(subject.name, elsewhere))
        whose = tuple(dict.fromkeys(others[id(leaf)] for leaf in elsewhere))
        yield OfAnotherLoss(whose, leaves=names, is_note=True)
        left = [leaf for leaf in left if id(leaf) not in others]
    trained = subject.trained
    if apart := [leaf for leaf in left if trained and id(leaf) not in trained]:
        yield OfNoOptimizer(tuple(map(subject.name, apart)), is_note=True)
        left = [leaf for leaf in left if id(leaf) in trained]
    yield from _unused(subject, [leaf for leaf in left if id(leaf) not in aside])


def _not_reached(subject: Subject) -> Iterator[Any]:
    """Yield the leaves that the program names and the pass does not reach."""
    for tensor in subject.names.tensors():
        if (
            subject.engine.reading.owns(tensor)
            # a view that was made without gradients is a leaf, too
            and insides_of(tensor).base(tensor) is None
            and tensor.is_leaf
            and tensor.requires_grad
            and id(tensor) not in subject.leaves
        ):
            yield tensor


def _handed_out(
    subject: Subject, leaves: Sequence[Any], departures: Mapping[int, Departure | None]
) -> Iterator[Reason]:
    """Yield the leaves from which a value was computed that was handed out, by how."""
    by_number: dict[int, tuple[Departure, list[Any]]] = {}
    for leaf in leaves:
        if (departure := departures[id(leaf)]) is not None:
            by_number.setdefault(departure.number, (departure, []))[1].append(leaf)
    for departure, lost in by_number.values():
        names = tuple(map(subject.name, lost))
        yield HandedOut(departure.how, leaves=names, source=departure.source)


def _unused(subject: Subject, leaves: Sequence[Any]) -> Iterator[Reason]:
    """Yield leaves of which no other reason is known than that their modules did not run."""
    tracing = subject.engine.tracing
    idle = (subject.names.idle(tracing.has_run) if leaves and tracing else None) or set()
    if names := tuple(subject.name(leaf) for leaf in leaves if id(leaf) in idle):
        yield OfIdleModules(leaves=names, is_note=True)
    if names := tuple(subject.name(leaf) for leaf in leaves if id(leaf) not in idle):
        is_unknown = any(node.name() == _REENTRANT for node in subject.order)
        yield Unused(is_unknown, leaves=names, is_note=is_unknown)


def _of_patterns(subject: Subject, unreached: Collection[Any]) -> dict[int, str]:
    """Return the leaves, by identity, of modules of which the pass reaches nothing, and of which
    another one has copies as parts; each with the name of the module."""
    ids = set(map(id, unreached))
    names: dict[int, str] = {}
    parts: list[Any] = []
    for name, module in subject.names.modules.items():
        parameters = {id(parameter) for _, parameter in named_parameters(module)}
        if not parameters or not parameters <= ids:
            parts += [_form(part) for path, part in named_modules(module) if path]
        else:
            names.update(dict.fromkeys(parameters - names.keys(), name))
    patterns = {name for name in names.values() if _form(subject.names.modules[name]) in parts}
    return {leaf: name for leaf, name in names.items() if name in patterns}


def _form(module: Any) -> tuple[type, tuple[Any, ...]]:
    """Return what is the same for a module and its copies."""
    return type(module), tuple(
        (path, parameter.shape) for path, parameter in named_parameters(module)
    )


def find_stale(subject: Subject) -> Iterator[Reason]:
    """Yield leaves that have a ``.grad`` already; apart those that no optimizer has, although it
    has others of this pass: its ``zero_grad()`` clears no gradient of theirs."""
    stale = [
        (index, leaf)
        for key, (index, leaf) in subject.leaves.items()
        if leaf.grad is not None and key not in subject.fresh
    ]
    trained = subject.trained
    forgotten = [pair for pair in stale if trained and id(pair[1]) not in trained]
    others = [pair for pair in stale if not trained or id(pair[1]) in trained]
    for leaves, kind in ((others, OldGradients), (forgotten, ForgottenGradients)):
        if leaves:
            names = tuple(subject.name(leaf) for _, leaf in leaves)
            is_listed = subject.names.in_plain_lists >= {id(leaf) for _, leaf in leaves}
            index = leaves[0][0]
            yield kind(is_listed, leaves=names, address=subject.graph.address(index), index=index)


def find_shared(subject: Subject) -> Iterator[Reason]:
    """Yield leaves that several ops use."""
    targets = (resolve(edge)[0] for node in subject.order for edge in node.edges)
    uses = Counter(
        id(subject.engine.leaf(target))
        for target in targets
        if target is not None and target.kind == LEAF
    )
    shared = [(leaf, uses[key]) for key, (_, leaf) in subject.leaves.items() if uses[key] > 1]
    if shared:
        names = tuple(subject.name(leaf) for leaf, _ in shared)
        yield Shared(names, tuple(count for _, count in shared))


RULES: Final = (
    Rule(find_stale, needs=(Objects,), code="stale-grad"),
    Rule(find_shared, Meaning(
        "shared", "info", "several ops use a leaf", "Its gradient is the sum over all uses.",
        "decoder.weight = encoder.weight", "decoder.weight = encoder.weight",
        "When it is intended.",
    ), needs=(Graphs,)),
)  # fmt: skip
