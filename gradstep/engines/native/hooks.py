"""Hooks of the core under observation: what each was given, what it made of it, and which are
muted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from autograd_core.autograd.hooks import HookKind, hook_name
from autograd_core.autograd.node import Node
from autograd_core.tensor import Tensor
from gradstep.guest.fence import within_fence
from gradstep.records import HookCall

KINDS: Final[tuple[HookKind, ...]] = ("tensor", "pre", "post", "accumulated")
Hook = Callable[..., Any]


class Watch:
    """The calls of the hooks of ``node``, while it runs; those whose id is in ``muted`` are not
    called.  ``running`` names the one that is at it."""

    def __init__(self, node: Node, muted: Collection[int] = ()) -> None:
        self.calls: list[HookCall] = []
        self.running = ""
        self._replaced: list[tuple[dict[int, Any], int, Any, Any]] = []
        for kind in KINDS if node.hooks is not None else ():
            entries: dict[int, Any] = getattr(node.hooks, kind)
            for id, entry in entries.items():
                nr, hook = entry if kind == "tensor" else (0, entry)
                observed = _silent if id in muted else self.wrap(kind, hook, nr)
                instead = (nr, observed) if kind == "tensor" else observed
                self._replaced.append((entries, id, entry, instead))

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Within it, the hooks are observed."""
        for entries, id, _, observed in self._replaced:
            entries[id] = observed
        try:
            yield
        finally:
            for entries, id, entry, observed in self._replaced:
                if entries.get(id) is observed:  # it may have been removed
                    entries[id] = entry

    def wrap(self, kind: HookKind, hook: Hook, output_nr: int) -> Hook:
        """Return ``hook``, observed."""

        def observed(*given: Any) -> Any:
            before: tuple[Any, ...] | None = None
            with within_fence("what a hook did"):
                before = _seen(kind, given)
                self.running = f"{kind} hook {hook_name(hook)}"
            replaced = hook(*given)
            self.running = ""
            if before is not None:
                with within_fence("what a hook did"):
                    is_called = kind != "accumulated" or bool(given)
                    after = _made(kind, given, replaced) if is_called else before
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


def _silent(*given: Any) -> None:
    """Stands for a hook that is not called."""
