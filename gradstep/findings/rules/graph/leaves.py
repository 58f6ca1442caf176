"""Leaves whose gradient may not be what is expected: none at all, added to an old one, or a sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from gradstep.contract.module_paths import named_modules
from gradstep.contract.op_records import Departure
from gradstep.contract.parameters import named_parameters
from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.records import LEAF, resolve
from gradstep.text import listed

_IN_LISTS = (
    "keep these modules in an nn.ModuleList or nn.ModuleDict: parameters() does not find those in "
    "a plain list"
)
_REENTRANT = "CheckpointFunctionBackward"  # runs a backward pass of its own, unseen from here


def find_unreached(subject: Subject, explained: Collection[int]) -> Iterator[Finding]:
    """Yield the leaves that the program names and the pass does not reach; not those, given by
    identity, that are ``explained`` by a cut."""
    unreached = [
        tensor
        for tensor in subject.names.tensors()
        if subject.engine.owns(tensor)
        and tensor._base is None  # a view that was made without gradients is a leaf, too
        and tensor.is_leaf
        and tensor.requires_grad
        and id(tensor) not in subject.leaves
        and id(tensor) not in explained
    ]
    departures = {id(tensor): subject.engine.departure(tensor) for tensor in unreached}
    for number, departure in {
        departure.number: departure for departure in departures.values() if departure
    }.items():
        leaves = [t for t in unreached if (at := departures[id(t)]) and at.number == number]
        yield _by_departure(departure, [subject.name(t) for t in leaves])
    unexplained = [t for t in unreached if departures[id(t)] is None]
    aside = _of_patterns(subject, unexplained)
    for name in dict.fromkeys(aside.values()):
        yield _note(f"depends on no parameter of {name}", "it is only a template for copies")
    others = subject.of_other_optimizers
    elsewhere = [t for t in unexplained if id(t) not in aside and id(t) in others]
    if elsewhere:
        names = [subject.name(t) for t in elsewhere]
        whose = listed(list(dict.fromkeys(others[id(t)] for t in elsewhere)))
        what = f"does not depend on {listed(names)}, which {whose} trains"
        yield _note(what, "another loss covers this", names)
        unexplained = [t for t in unexplained if id(t) not in others]
    apart = [t for t in unexplained if subject.trained and id(t) not in subject.trained]
    if apart:
        names = [subject.name(t) for t in apart]
        yield _note(
            f"does not depend on {listed(names)}, which no optimizer has",
            f"{'it is' if len(names) == 1 else 'they are'} not to learn, as the parameters of a "
            "target network",
        )
        unexplained = [t for t in unexplained if id(t) in subject.trained]
    unexplained = [t for t in unexplained if id(t) not in aside]
    idle = _of_modules_that_did_not_run(subject) if unexplained else set()
    left = [t for t in unexplained if id(t) in idle]
    if left:
        names = [subject.name(t) for t in left]
        yield _note(
            f"does not depend on {listed(names)}, whose "
            f"{'module' if len(names) == 1 else 'modules'} did not run in this forward pass",
            "another loss covers this",
            names,
        )
    names = [subject.name(t) for t in unexplained if id(t) not in idle]
    if names:
        one = len(names) == 1
        what = (
            f"{listed(names)} {'requires' if one else 'require'} a gradient, but the loss does not "
            f"depend on {'it' if one else 'them'}"
        )
        if any(node.name() == _REENTRANT for node in subject.order):
            what = f"{what}, unless a backward pass inside a checkpoint does"
            yield Finding(
                "info", "unreached", what, "checkpoint with use_reentrant=False to find out",
                leaves=tuple(names),
            )  # fmt: skip
            return
        yield Finding(
            "warning", "unreached", what,
            f"use {'it' if one else 'them'} in the loss, or set requires_grad=False",
            leaves=tuple(names),
        )  # fmt: skip


def _note(what: str, remedy: str, leaves: Sequence[str] = ()) -> Finding:
    """Return that the loss does not depend on something which it need not depend on."""
    what, remedy = f"the loss {what}", f"nothing to do if {remedy}"
    return Finding("info", "unreached", what, remedy, leaves=tuple(leaves))


def _of_modules_that_did_not_run(subject: Subject) -> set[int]:
    """Return the parameters, by identity, of which no module that has them has run in this forward
    pass, though others have."""
    idle: set[int] = set()
    active: set[int] = set()
    noted = False
    for module in subject.names.modules.values():
        for _, part in named_modules(module):
            here = {id(parameter) for _, parameter in named_parameters(part)}
            if subject.engine.has_run(part):
                noted = True
                active |= here
            idle |= here
    return idle - active if noted else set()


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


def _by_departure(departure: Departure, names: list[str]) -> Finding:
    """Say what is likely behind it, where a value computed from leaves was handed out."""
    gets, them = ("gets", "it") if len(names) == 1 else ("get", "them")
    return Finding(
        "warning", "cut",
        f"{listed(names)} {gets} no gradient: the loss does not depend on {them}, but "
        f"{departure.how} took a value computed from {them} out of the graph",
        "use the value itself where you need its gradient, not an array, a number or an index",
        source=departure.source, leaves=tuple(names),
    )  # fmt: skip


def find_stale(subject: Subject) -> Iterator[Finding]:
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
    if others:
        names = [subject.name(leaf) for _, leaf in others]
        yield _stale(
            subject, others[0][0],
            f"{listed(names)} {'has' if len(names) == 1 else 'have'} a .grad from an earlier "
            "backward(), and the new gradient will be added to it",
            "call optimizer.zero_grad() first, unless you accumulate gradients on purpose",
        )  # fmt: skip
    if forgotten:
        names = [subject.name(leaf) for _, leaf in forgotten]
        has, them = ("has", "it") if len(names) == 1 else ("have", "them")
        yield _stale(
            subject, forgotten[0][0],
            f"{listed(names)} {has} a .grad from an earlier backward(), and no optimizer of the "
            f"program has {them}: step() does not change {them}, and zero_grad() does not clear "
            "the gradient",
            _IN_LISTS if subject.names.in_plain_lists >= {id(leaf) for _, leaf in forgotten} else
            "pass all parameters to the optimizer, or set requires_grad=False on those that are "
            "not to learn",
        )  # fmt: skip


def _stale(subject: Subject, index: int, what: str, remedy: str) -> Finding:
    return Finding("warning", "stale-grad", what, remedy, subject.graph.address(index), index)


def find_shared(subject: Subject) -> Iterator[Finding]:
    """Yield leaves that several ops use."""
    targets = (resolve(edge)[0] for node in subject.order for edge in node.edges)
    uses = Counter(
        id(subject.leaf(target)) for target in targets if target is not None and target.kind == LEAF
    )
    shared = [(leaf, uses[key]) for key, (_, leaf) in subject.leaves.items() if uses[key] > 1]
    if shared:
        counted = [f"{subject.name(leaf)} ({count} times)" for leaf, count in shared]
        yield Finding(
            "info", "shared",
            f"several ops use {listed(counted)}; each gradient is the sum over all uses",
            "nothing to do if this is intended",
        )  # fmt: skip


RULES: Final = (
    Rule(find_stale),
    Rule(find_shared, Meaning(
        "shared", "info", "several ops use a leaf", "Its gradient is the sum over all uses.",
        "decoder.weight = encoder.weight", "decoder.weight = encoder.weight",
        "When it is intended.",
    )),
)  # fmt: skip
