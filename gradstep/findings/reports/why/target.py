"""The gradient that is asked about: of a leaf, of a tensor on the way, or what a node is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradstep.contract.lookup import unseen
from gradstep.contract.parameters import named_parameters
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.errors import UnknownAddress
from gradstep.records import resolve
from gradstep.text import did_you_mean, listed


@dataclass(frozen=True, slots=True)
class Asked:
    """``name`` as the answer calls it; ``index`` is the plan node at which the gradient arrives,
    and ``tensor`` the program's own, each None where there is none.

    ``number`` is the output of the forward op that the tensor is.
    """

    name: str
    index: int | None
    tensor: Any
    number: int = 0


def find(session: PassSession, subject: Subject, text: str) -> Asked:
    """Find what ``text`` means: the name of a tensor, with or without ``.grad``, or the end of such
    a name if no other ends so; else a place of the plan.

    Raises:
        UnknownAddress: nothing, or several tensors.
    """
    wanted = text.removesuffix(".grad")
    named = _exactly(subject, wanted)
    if not named:
        ends = {id(t): (name, t) for name, t in _names(subject) if name.endswith(f".{wanted}")}
        if len(ends) > 1:
            several = ", ".join(sorted(name for name, _ in ends.values())[:6])
            raise UnknownAddress(f"'{text}' may be {several}", "write more of it")
        named = list(ends.values())
    if named:
        return of_tensor(subject, *named[0])
    graph = session.graph
    for index in range(session.length):
        if graph.kinds[index] != "op" and wanted in (
            graph.address(index), graph.variables.get(index)
        ):  # fmt: skip
            return Asked(wanted, index, subject.engine.leaf(subject.order[index]))
    try:
        index = session.breakpoints.locate(wanted)[0]
    except UnknownAddress:
        known = list(dict.fromkeys(name for name, _ in _names(subject)))
        hint = did_you_mean(wanted, known, most=3, cutoff=0.5)
        raise UnknownAddress(
            f"no tensor and no node is called '{text}'", hint or _leaves(session)
        ) from None
    if graph.kinds[index] != "op":
        return Asked(graph.address(index), index, subject.engine.leaf(subject.order[index]))
    return Asked("", index, None)


def _leaves(session: PassSession) -> str:
    """List the leaves of the pass, the first six by name."""
    graph = session.graph
    names = [graph.address(i) for i in range(session.length) if graph.kinds[i] != "op"]
    return f"leaves: {listed(names, 6, ', ')}"


def _exactly(subject: Subject, wanted: str) -> list[tuple[str, Any]]:
    tensors = [tensor for name, tensor in _names(subject) if name == wanted][:1]
    return [(wanted, tensor) for tensor in tensors]


def _names(subject: Subject) -> Iterator[tuple[str, Any]]:
    """Yield every tensor that the program names and this engine owns, by each of its names."""
    for tensor in subject.names.tensors():
        if subject.engine.reading.owns(tensor):
            yield subject.names.of(tensor), tensor
    for name, module in subject.names.modules.items():
        for path, parameter in named_parameters(module):
            yield f"{name}.{path}", parameter


def of_tensor(subject: Subject, name: str, tensor: Any) -> Asked:
    """Find where the gradient of ``tensor``, which is called ``name``, arrives."""
    if id(tensor) in subject.leaves:
        return Asked(name, subject.leaves[id(tensor)][0], tensor)
    with unseen():
        has_node = tensor.requires_grad and not tensor.is_leaf
    if not has_node:
        return Asked(name, None, tensor)
    node, number = resolve(subject.engine.reading.tensors((tensor,))[0].edge)
    for index, other in enumerate(subject.order):
        if other is node:
            return Asked(name, index, tensor, number)
    return Asked(name, None, tensor)
