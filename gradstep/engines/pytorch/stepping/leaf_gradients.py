"""The ``.grad`` of each leaf while a pass runs: who changed it when, and how to put it back.

Besides its own node, hooks of the program change it, and passes inside this one.  PyTorch tells
nobody; what has changed is seen where the engine halts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from typing import Any, TypeVar
from weakref import ref

import torch

from gradstep.engines.pytorch.private import (
    TensorBase,
    late_hooks,
    unobserved,
)
from gradstep.engines.pytorch.tensors import copy_of, extent_of, version_of
from gradstep.graph.addresses import step_number
from gradstep.guest.fence import tell

State = tuple[Any, Any, int]
"""A ``.grad`` at some time: itself, a copy, for the engine adds in place, and its version, for a
node of the pass may have saved it."""
_T = TypeVar("_T")


def state_of(leaf: torch.Tensor) -> State:
    """Return the ``.grad`` of a leaf as it is now."""
    with unobserved():
        return _state_of(leaf)


def _state_of(leaf: torch.Tensor) -> State:
    held = leaf.grad
    return (None, None, 0) if held is None else (held, copy_of(held), version_of(held))


def has_late_hooks(leaf: torch.Tensor) -> bool:
    """Return whether a leaf has hooks that run when its ``.grad`` is there, as optimizers do."""
    return bool(late_hooks(leaf))


class StatesBefore:
    """What leaves held before passes came to them, of which nobody is told more.

    Leaves that the program lets go of, as a reentrant checkpoint those of its pass, are let go of
    here, too: so the engine may take over what they held.
    """

    def __init__(self) -> None:
        self._states: list[tuple[ref[torch.Tensor], State, int]] = []  # and the leaf's own version

    def note(self, leaves: Iterable[torch.Tensor], known: Iterable[torch.Tensor] = ()) -> None:
        """Note what ``leaves`` hold, but for those that are ``known``."""
        seen = {id(leaf) for leaf in chain(known, self.leaves)} if known or self._states else ()
        with unobserved():
            self._states += [
                (ref(leaf), _state_of(leaf), version_of(leaf))
                for leaf in leaves if id(leaf) not in seen
            ]  # fmt: skip

    @property
    def states(self) -> list[tuple[torch.Tensor, Any, Any, int]]:
        return [(leaf, *state) for known, state, _ in self._states if (leaf := known()) is not None]

    @property
    def leaves(self) -> list[torch.Tensor]:
        return [leaf for leaf, *_ in self.states]

    @property
    def grads(self) -> list[Any]:
        """The ``.grad`` that each leaf holds now."""
        with unobserved():
            known = [leaf() for leaf, _, _ in self._states]
            return [leaf.grad for leaf in known if leaf is not None]

    def are_rewritten(self) -> bool:
        """Return whether leaves were changed themselves, as optimizers do."""
        return any(
            (leaf := known()) is not None and version_of(leaf) != version
            for known, _, version in self._states
        )


class LeafGradients:
    """Follows the ``.grad`` of some leaves, each named by the index of its node.

    Attributes:
        first: what each held before the pass.
        before: what it held before its node ran, where that has run.
        versions: how often its ``.grad`` had been changed in place when its node had run.
        added: what it added, and how often that had been, then.
        changed: by the index of another node, what it held when that had run: whatever changed it,
            did so since the engine halted before.
        made: what those that ran held then, where it may be changed in place later: by code of the
            program's, or by a pass around this one, which does not tell.
        rewritten: the leaves that hooks had changed themselves when they had run, as optimizers do.
        unsure: nodes between which one changed a ``.grad`` that is not known for its code: behind
            the first, at the second at the latest.
    """

    def __init__(self, leaves: Mapping[int, torch.Tensor]) -> None:
        self.leaves = dict(leaves)
        self.first: dict[int, State] = {}
        self.before: dict[int, State] = {}
        self.versions: dict[int, int] = {}
        self.added: dict[int, tuple[ref[Any], int]] = {}
        self.changed: dict[int, dict[int, State]] = {}
        self.made: dict[int, State] = {}
        self.rewritten: set[int] = set()
        self.unsure: list[tuple[int, int]] = []
        self._looked_behind = -1  # this node last
        self._grown: list[torch.Tensor] = []  # each .grad that was added to in place since
        self._has_begun = False
        self._known: dict[int, tuple[Any, int]] = {}  # what they held last, and its version
        self._of_leaf: dict[int, int] = {}  # the versions of the leaves themselves
        self._sharing: dict[int, list[int]] = {}  # all leaves whose .grad has this one's memory

    def begin(self, start: int) -> None:
        """Take note of all leaves: the nodes from ``start`` on are about to run."""
        with unobserved():
            for index, leaf in self.leaves.items():
                self.at_first(index)
                self._known[index] = _held(leaf)
                if index >= start:
                    self._of_leaf[index] = version_of(leaf)
            self._sharing = _sharing_memory(self._known)
        self._has_begun = True

    def knew(self, states: Mapping[int, State]) -> None:
        """Take note of what leaves held before a pass that nobody saw."""
        self.first, self.before = dict(states), dict(states)
        self._has_begun = True

    def keep_first(self) -> None:
        """Keep what all leaves hold: the pass begins, and what it adds is told when it is over."""
        for index in self.leaves:
            self.at_first(index)
        self._has_begun = True

    def at_first(self, index: int) -> Any:
        """Return what a leaf held before the pass: a copy, which nothing changes."""
        if not self._has_begun:
            with unobserved():
                held, version = _held(self.leaves[index])
                known = self._known.get(index)
                if known is None or known[0] is not held or known[1] != version:
                    self.first[index] = state_of(self.leaves[index])
                    self._known[index] = held, version
        return self.first[index][1]

    def unless_it_runs(self, index: int) -> Any:
        """Return what a leaf holds at its place in the order, where its node does not run."""
        self.at_first(index)
        return self._last(index, index)[1]

    def runs_next(self, index: int) -> None:
        """Take note that the node of a leaf runs next."""
        leaf = self.leaves[index]
        with unobserved():
            held, version = _held(leaf)
            known, its_version = self._known[index]
            is_known = held is known and version == its_version
            if not is_known and index - 1 > self._looked_behind:
                self._doubt(index - 1, [index])
                self._note(index - 1, [index])
            self.before[index] = self._last(index, inf) if is_known else state_of(leaf)

    def has_run(self, index: int, added: Any, *, may_change: bool) -> Any:
        """Take note that the node of a leaf has run, and ``added`` to it; returns what it holds,
        which code of the program's ``may_change`` later."""
        leaf = self.leaves[index]
        if index not in self.before:  # it had none, but for what was seen since
            self.before[index] = self._last(index, inf)
        with unobserved():
            known, _ = self._known[index]
            self._known[index] = held, version = _held(leaf)
            self.versions[index] = version
            if added is not None and leaf.requires_grad:
                self.added[index] = ref(added), version_of(added)
                if held is known:
                    self._grown.append(held)
                    if index in self._sharing:
                        self._note(index, [leaf for leaf in self._sharing[index] if leaf != index])
            if version_of(leaf) != self._of_leaf[index]:
                self.rewritten.add(index)
            if may_change and held is not None:
                self.made[index] = held, copy_of(held), version
            return held

    def end(self) -> None:
        """Take note that the pass ends, and the one around it goes on."""
        with unobserved():
            for index, version in self.versions.items():
                held, now = _held(self.leaves[index])
                if index not in self.made and held is not None and now == version:
                    self.made[index] = held, copy_of(held), version

    def set_by_others(self, index: int, *, beside: bool) -> None:
        """Take note of what another pass has added; one that runs ``beside`` this one, which has
        not come to the leaf, is none of its business."""
        if beside and index not in self.before:
            self.first[index] = state_of(self.leaves[index])
            with unobserved():
                self._known[index] = _held(self.leaves[index])

    def still_adds(self, index: int, added: Any) -> bool:
        """Return whether what a leaf added is what it was then, or an equal sum of our own."""
        if added is None or index not in self.added:
            return True
        known, version = self.added[index]
        return version_of(added) == (version if known() is added else 0)

    def look(self, node: int, *, runs_user_code: bool) -> None:
        """Note what has changed: ``node`` has run."""
        with unobserved():
            changed = []
            for index, leaf in self.leaves.items():
                held = leaf.grad
                known, version = self._known[index]
                if held is not known or (held is not None and version_of(held) != version):
                    changed.append(index)
            self._note(node, changed)
            if changed and not runs_user_code and self._looked_behind < node - 1:
                self._doubt(node, changed)
            self._grown.clear()
        self._looked_behind = node

    def _doubt(self, node: int, changed: Iterable[int]) -> None:
        """Note that nobody knows what changed leaves, by the time that ``node`` had run; not where
        others were added to: views in one storage count their changes together."""
        grown = set(map(_storage_of, self._grown))
        if all(_storage_of(self.leaves[index].grad) in grown for index in changed):
            return
        if not self.unsure:
            first, last = step_number(self._looked_behind + 1), step_number(node)
            tell(
                f"a .grad was changed between {first} and {last}, by a hook that was not traced; "
                "it is shown behind the latter"
            )
        self.unsure.append((self._looked_behind, node))

    def changed_behind(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield each leaf before node ``start`` that was changed at a node from there on, and that
        node; not those of which it is known what they held, or that share memory with the leaf
        there."""
        for node in self.changed:
            for leaf in self.changed[node] if node >= start else ():
                known = leaf in self.made or leaf in self._sharing.get(node, ())
                if leaf < start and not known:
                    yield leaf, node

    def _note(self, node: int, changed: Iterable[int]) -> None:
        """Note what leaves hold that were changed when ``node`` ran."""
        for index in changed:
            self.changed.setdefault(node, {})[index] = state_of(self.leaves[index])
            self._known[index] = _held(self.leaves[index])

    def is_rewritten(self, start: int) -> bool:
        """Return whether leaves were changed themselves by what ran from node ``start`` on."""
        return any(index >= start for index in self.rewritten) or any(
            index not in self.rewritten and version_of(self.leaves[index]) != version
            for index, version in self._of_leaf.items()
        )

    def states_before(self, start: int) -> Iterator[tuple[torch.Tensor, Any, Any, int]]:
        """Yield the leaves that were changed from node ``start`` on, with what they held, the
        oldest last; those before it, if that is known."""
        touched = {leaf for node in self.changed if node >= start for leaf in self.changed[node]}
        for index, leaf in self.leaves.items():
            behind, changed = index >= start, index in touched
            if (behind and (changed or index in self.before)) or (changed and index in self.made):
                last = self._last(index, start)
                if behind and index in self.before and self.before[index][0] is not last[0]:
                    yield leaf, *self.before[index]  # what a hook gave it; others may hold that
                yield leaf, *last

    def _last(self, index: int, until: float) -> State:
        """Return what a leaf held before node ``until``, ahead of its own unless that is known."""
        ran = index < until and index in self.made
        gradient = self.made[index] if ran else self.first[index]
        for node in sorted(self.changed):
            if node < until and not (ran and node < index):
                gradient = self.changed[node].get(index, gradient)
        return gradient

    def forget(self, start: int) -> None:
        """Forget what happened from node ``start`` on."""
        for by_place in (self.before, self.versions, self.added, self.changed, self.made):
            for index in [index for index in by_place if index >= start]:
                del by_place[index]
        self.rewritten = {index for index in self.rewritten if index < start}
        self.unsure = [nodes for nodes in self.unsure if nodes[1] < start]
        self._looked_behind = start - 1

    def renumber(self, places: Mapping[int, int]) -> None:
        """Take note that nodes have other places than was foretold."""
        self.leaves = renumbered(self.leaves, places)
        self.first = renumbered(self.first, places)
        self.before = renumbered(self.before, places)
        self.versions = renumbered(self.versions, places)
        self.added = renumbered(self.added, places)
        self.made = renumbered(self.made, places)
        self._known = renumbered(self._known, places)
        self._of_leaf = renumbered(self._of_leaf, places)
        self.rewritten = {places[index] for index in self.rewritten}
        self._sharing = {
            places[index]: [places[leaf] for leaf in group]
            for index, group in self._sharing.items()
        }
        changed = {node: renumbered(leaves, places) for node, leaves in self.changed.items()}
        self.changed = renumbered(changed, places)


def renumbered(by_place: Mapping[int, _T], places: Mapping[int, int]) -> dict[int, _T]:
    """Return ``by_place`` with other places."""
    return {places[place]: changes for place, changes in by_place.items()}


def _held(leaf: torch.Tensor) -> tuple[Any, int]:
    held = leaf.grad
    return held, 0 if held is None else version_of(held)


def _storage_of(tensor: torch.Tensor | None) -> int | None:
    try:
        return None if tensor is None else TensorBase.untyped_storage(tensor).data_ptr()
    except (RuntimeError, NotImplementedError):  # it has no memory of its own
        return 0


def _sharing_memory(held: Mapping[int, tuple[Any, int]]) -> dict[int, list[int]]:
    """Return, by leaf, all leaves whose ``.grad`` lies in memory of its own ``.grad``; a leaf that
    shares none is left out."""
    extents = [(extent_of(g), index) for index, (g, _) in held.items() if g is not None]
    groups: list[list[int]] = []
    end = 0
    for start, size, index in sorted((e.storage, e.nbytes, i) for e, i in extents if e.storage):
        if start < end:
            groups[-1].append(index)
        else:
            groups.append([index])
        end = max(end, start + size)
    return {index: group for group in groups if len(group) > 1 for index in group}
