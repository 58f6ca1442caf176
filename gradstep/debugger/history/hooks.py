"""Hooks under observation: what each was given, what it made of it, and which are muted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from autograd_core.autograd.hooks import HookKind, hook_name
from autograd_core.autograd.node import Node
from autograd_core.tensor import Tensor
from gradstep.capturing.gradients import HookPlace, describe
from gradstep.graph.model import HookChange

KINDS: Final[tuple[HookKind, ...]] = ("tensor", "pre", "post", "accumulated")
Hook = Callable[..., Any]


class HookCall(NamedTuple):
    """One call of a hook: the gradients before and after it, copies.

    A hook of kind "tensor" sees one gradient, that of output ``output_nr``; "pre" all that
    came in, "post" all that go out, and "accumulated" the leaf's ``.grad``.
    """

    kind: HookKind
    name: str
    output_nr: int
    before: tuple[Any, ...]
    after: tuple[Any, ...]

    @property
    def changed(self) -> bool:
        """True if the gradients are other ones afterwards."""
        pairs = zip(self.before, self.after, strict=False)
        return len(self.before) != len(self.after) or not all(_same(a, b) for a, b in pairs)


def changes_of(calls: Iterable[HookCall]) -> dict[HookPlace, HookChange]:
    """List what the hooks of one node changed, those at one place taken together."""
    found: dict[HookPlace, HookChange] = {}
    for call in calls:
        if not call.changed:
            continue
        name = f"{call.kind} hook {call.name}"
        for nr, (before, after) in enumerate(zip(call.before, call.after, strict=False)):
            if _same(before, after):
                continue
            place = HookPlace(_PLACES[call.kind], call.output_nr if call.kind == "tensor" else nr)
            known = found.get(place)
            names, first = ((), describe(before)) if known is None else known[:2]
            found[place] = HookChange((*names, name), first, describe(after))
    return found


_PLACES: Mapping[HookKind, Literal["input", "output", "grad"]] = {
    "tensor": "input", "pre": "input", "post": "output", "accumulated": "grad",
}  # fmt: skip


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    same: bool = one.tobytes() == other.tobytes()
    return same


class Watch:
    """The calls of one node's hooks, while it runs; ``running`` names the one that is at it."""

    def __init__(self) -> None:
        self.calls: list[HookCall] = []
        self.running = ""

    def wrap(self, kind: HookKind, hook: Hook, output_nr: int) -> Hook:
        """Return ``hook``, observed."""

        def observed(*given: Any) -> Any:
            before = _seen(kind, given)
            self.running = f"{kind} hook {hook_name(hook)}"
            replaced = hook(*given)
            self.running = ""
            after = before if kind == "accumulated" and not given else _made(kind, given, replaced)
            self.calls.append(HookCall(kind, hook_name(hook), output_nr, before, after))
            return replaced

        observed.__name__ = getattr(hook, "__name__", type(hook).__name__)
        observed.__qualname__ = hook_name(hook)
        return observed


def _seen(kind: HookKind, given: tuple[Any, ...]) -> tuple[Any, ...]:
    if kind == "accumulated":
        return (_copy(given[0].grad),)
    first = given[0]
    return tuple(map(_copy, first)) if isinstance(first, tuple) else (_copy(first),)


def _made(kind: HookKind, given: tuple[Any, ...], replaced: Any) -> tuple[Any, ...]:
    if kind == "accumulated" or replaced is None:
        return _seen(kind, given)  # what was given may have been changed in place
    return _seen(kind, (tuple(replaced) if isinstance(replaced, list) else replaced,))


def _copy(tensor: Any) -> Any:
    # what a hook returned may be anything: the engine refuses it afterwards
    return np.array(tensor.array) if isinstance(tensor, Tensor) else None


@contextmanager
def watching(node: Node, muted: Collection[int] = ()) -> Iterator[Watch]:
    """Observe the hooks of ``node`` inside; those whose id is in ``muted`` are not called."""
    watch, hooks = Watch(), node.hooks
    if hooks is None:
        yield watch
        return
    replaced: list[tuple[dict[int, Any], int, Any, Any]] = []
    for kind in KINDS:
        entries: dict[int, Any] = getattr(hooks, kind)
        for id, entry in entries.items():
            nr, hook = entry if kind == "tensor" else (0, entry)
            observed = _silent if id in muted else watch.wrap(kind, hook, nr)
            replaced.append((entries, id, entry, (nr, observed) if kind == "tensor" else observed))
    for entries, id, _, observed in replaced:
        entries[id] = observed
    try:
        yield watch
    finally:
        for entries, id, entry, observed in replaced:
            if entries.get(id) is observed:  # it may have been removed
                entries[id] = entry


def _silent(*given: Any) -> None:
    """Stands for a hook that is not called."""


def hook_ids(node: Node) -> tuple[int, ...]:
    """Return the id of each hook, in the order of ``node.hooks.names()``; -1 for one that cannot be
    muted."""
    hooks = node.hooks
    if hooks is None:
        return ()
    retained = (-1 for _ in hooks.retain)
    return (*hooks.tensor, *retained, *hooks.pre, *hooks.post, *hooks.accumulated)
