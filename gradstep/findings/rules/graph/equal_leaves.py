"""Leaves that begin equal and are trained apart."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

import numpy as np

from gradstep.capturing.statement import tree_of
from gradstep.debugger.snapshot.value import whole_array_of
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.model import Source

_MOST = 1 << 20  # elements of leaves that are compared


@dataclass(frozen=True)
class EqualLeaves(Reason):
    """Two weights begin equal, and are trained apart; ``stay`` if they are equal at the end."""

    keeps_loss = False
    code = "equal-leaves"
    frees_leaves = True
    stay: bool = field(default=False, compare=False)

    def text(self) -> str:
        if self.stay:
            return (
                f"{self.named} begin exactly equal, get the same gradients, and are equal when "
                "the run ends: they do the work of one"
            )
        return (
            f"{self.named} begin exactly equal, and each gets its own gradient: from the first "
            "step on they differ"
        )

    def remedy(self) -> str:
        if self.stay:
            return "initialize them separately: a copy also has the numbers of the original"
        return (
            "assign one in both places if they should be shared; otherwise initialize them "
            "separately"
        )

    def fix(self) -> tuple[Fix, ...]:
        return () if self.stay else _shared(self.source, self.leaves)


def find_equal_leaves(subject: Subject) -> Iterator[Reason]:
    """Yield two weights of one optimizer that are equal to the bit, and are used side by side: a
    copy, where one module for both was meant. One that feeds the other, as in a stack of copied
    layers, is not."""
    groups = [ids for _, _, ids in subject.names.trained()]
    by_shape: dict[Any, list[tuple[int, Any]]] = defaultdict(list)
    for key, (index, leaf) in subject.leaves.items():
        is_held = any(key in ids for ids in groups)
        if is_held and leaf.ndim > 1 and 4 <= prod(leaf.shape) <= _MOST:
            by_shape[tuple(leaf.shape)].append((index, leaf))
    users: dict[int, list[int]] = defaultdict(list)
    graph = subject.graph
    for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
        users[target].append(source)
    for alike in by_shape.values():
        arrays = [whole_array_of(leaf) for _, leaf in alike] if len(alike) > 1 else []
        for at, one in enumerate(arrays):
            for other in range(at + 1, len(arrays)):
                pair, second = (alike[at][0], alike[other][0]), arrays[other]
                if (
                    one is not None
                    and second is not None
                    and np.ptp(one) > 0
                    and np.array_equal(one, second)
                    and (_differ(subject, pair, users) or _are_apart(pair, subject.behind, users))
                ):
                    names = [subject.name(alike[place][1]) for place in (at, other)]
                    yield EqualLeaves(
                        leaves=tuple(names), source=_use(subject, alike[at][0], users)
                    )
                    return


def _shared(used: Source | None, names: Sequence[str]) -> tuple[Fix, ...]:
    """Return the assignment of a copy of one leaf to the other with that leaf itself."""
    for node in () if used is None else ast.walk(tree_of(used.file)):
        if isinstance(node, ast.Assign) and used is not None:
            target, at = ast.unparse(node.targets[0]), Source(used.file, node.lineno)
            for name, other in (names, names[::-1]):
                held = [part for part in ast.walk(node.value) if isinstance(part, ast.Attribute)]
                copied = [text for part in held if (text := ast.unparse(part)).endswith(other)]
                if target.endswith(name) and copied:
                    return Line(at).replaced(f"{target} = {copied[0]}")
    return ()


def _in_run(equal: EqualLeaves, facts: Facts) -> EqualLeaves:
    """Return the same with whether the leaves are equal at the end of a run that changed them."""
    names = facts.names
    leaves = {name: leaf for leaf in names.tensors() if (name := names.of(leaf)) in equal.leaves}
    arrays = [whole_array_of(leaf) for leaf in leaves.values()]
    if len(arrays) < 2 or len(facts.looked_at) < 2 or arrays[0] is None or arrays[1] is None:
        return equal
    return replace(equal, stay=np.array_equal(arrays[0], arrays[1]))


def _differ(subject: Subject, leaves: tuple[int, int], users: Mapping[int, list[int]]) -> bool:
    """Return whether one of two weights looks up what the other one is multiplied by, as those of
    an encoder and a decoder do that are meant to be tied."""
    kinds = [{subject.graph.stem(op) for op in _ops_of(leaf, users)} for leaf in leaves]
    return sum("embedding" in stems for stems in kinds) == 1


def _are_apart(
    leaves: tuple[int, int], behind: Mapping[int, list[int]], users: Mapping[int, list[int]]
) -> bool:
    """Return whether no op that uses one of two leaves leads to an op that uses the other."""
    for one, other in (leaves, leaves[::-1]):
        stack, seen = list(_ops_of(one, users)), set()
        goal = set(_ops_of(other, users))
        if goal & set(stack):
            return False
        while stack:
            at = stack.pop()
            if at in goal:
                return False
            for index in behind[at]:
                if index not in seen:
                    seen.add(index)
                    stack.append(index)
    return True


def _use(subject: Subject, leaf: int, users: Mapping[int, list[int]]) -> Source | None:
    """Return the line that uses a leaf."""
    lines = [subject.source(op) for op in _ops_of(leaf, users)]
    return next((line for line in lines if line is not None), None)


def _ops_of(leaf: int, users: Mapping[int, list[int]]) -> Iterator[int]:
    """Yield the ops that use a leaf, past what only transposes it."""
    for op in users.get(leaf, ()):
        yield op
        yield from users.get(op, ()) if len(users.get(op, ())) == 1 else ()


RULES: Final = (
    Rule(find_equal_leaves, Meaning(
        "equal-leaves", "warning", "two weights begin equal and are trained separately",
        "They are exactly equal, one optimizer has both, and neither feeds the other.",
        "right = copy.deepcopy(left)", "right = left",
        "When they should stay equal, like copies of one weight that are averaged.",
    ), needs=(Objects,), in_run=_in_run),
)  # fmt: skip
