"""Lint: find common mistakes in a graph before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from gradstep.capturing import capture
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.roots import tensors_in
from gradstep.findings.facts import LIVE, Given, lacking
from gradstep.findings.finding import SEVERITIES, Finding, Reason, Severity, merged
from gradstep.findings.listing import Listing
from gradstep.findings.rules.graph import RULES
from gradstep.findings.rules.graph.saved import CHANGED, FREED, find_changed, find_freed
from gradstep.findings.rules.graph.subject import Subject

__all__ = ["Finding", "Severity", "lint", "refusals"]


def lint(
    roots: Any,
    *,
    names: Names | Mapping[str, Any] | None = None,
    fresh: Collection[int] = frozenset(),
) -> Listing[Finding]:
    """Find common mistakes in the graph of ``roots`` before ``backward``, worst first.

    Nothing runs, and nothing changes. ``roots`` is a tensor or several, of either library. If the
    forward pass ran inside ``trace()``, lint also finds the lines where values left the graph;
    inside ``trace(values=True)``, it also finds the op that made the first NaN. For PyTorch's
    graphs, both need ``trace(values=True)``.

    >>> import autograd_core as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> for found in lint(x.exp().sum(), names={"x": x, "w": w}):
    ...     print(f"{found.severity}: {found.what}")
    warning: w requires a gradient, but the loss does not depend on it
    info: the forward pass was not traced, so it is unknown where values left the graph

    Args:
        names: the program's variables, as a dictionary or :class:`Names`; by default those of the
            calling program. Leaves and modules among them are checked, too.
        fresh: the leaves, by identity, that had no gradient before this pass, which has begun.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    if names is None:
        names = caller_names()
    known = names if isinstance(names, Names) else Names(names)
    return Listing(findings_of(roots, known, fresh=fresh))


def findings_of(
    roots: Any,
    names: Names,
    given: frozenset[type[Given]] = LIVE,
    *,
    fresh: Collection[int] = frozenset(),
) -> tuple[Finding, ...]:
    """Return what :func:`lint` does, of rules that need no more than what is ``given``."""

    def reasons(subject: Subject) -> list[Reason]:
        known = replace(subject, given=given, fresh=fresh)
        able = (rule for rule in RULES if not lacking(rule.needs, given))
        return [reason for rule in able for reason in rule.find(known)]

    return _of_pass(roots, names, reasons)


def refusals(roots: Any, names: Names, message: str) -> tuple[Finding, ...]:
    """Find why the backward pass from ``roots``, which has begun, raised an error with ``message``:
    values that nodes had saved were freed by an earlier pass, or changed in place; nothing of
    other errors.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    if FREED in message:
        return _of_pass(roots, names, lambda subject: [*find_freed(subject, begun=True)])
    if CHANGED in message:
        return _of_pass(roots, names, lambda subject: [*find_changed(subject)])
    return ()


def _of_pass(
    roots: Any,
    names: Names,
    find: Callable[[Subject], list[Reason]],
) -> tuple[Finding, ...]:
    given, engine = tensors_in(roots)
    tensors = engine.reading.tensors(given)

    def reasons() -> list[Reason]:
        graph = capture(tensors, "backward", names=names, live=True)
        order = engine.reading.plan(tensors).order
        found = find(Subject(tensors, order, graph, names))
        return [reason.seen_by(names) for reason in found]

    found = reasons() if engine.rules is None else engine.rules.isolated(reasons)
    return tuple(sorted(merged(found), key=lambda finding: SEVERITIES.index(finding.severity)))
