"""Where the time goes: ``profile`` is told of every op and every node while it is on."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

from autograd_core.autograd.engine import GraphTask
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import Node, Notes, notes_of
from autograd_core.fallback import answer_missing_names

__all__ = ["Spent", "profile", "running_profile"]


class Spent(NamedTuple):
    """What something cost: seconds, bytes of its results, and how often it ran."""

    seconds: float = 0.0
    bytes: int = 0
    calls: int = 0


class profile:  # lower case, as PyTorch spells it
    """Record time and memory of the ops and backward nodes that run inside.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as found:
    ...     y = x * x
    >>> found.forward[y.grad_fn.notes].bytes
    12

    Attributes:
        forward, backward: what each node that is still alive cost, as an op when it was made,
            and in backward passes.
    """

    def __init__(self) -> None:
        self.forward: WeakKeyDictionary[Notes, Spent] = WeakKeyDictionary()
        self.backward: WeakKeyDictionary[Notes, Spent] = WeakKeyDictionary()
        self._here = threading.local()  # when the op of a thread began
        self._token: Any = None

    def __enter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._token = enter_mode(replace(current_mode() or USUAL, profiler=self))
        return self

    def __exit__(self, *error: object) -> None:
        leave_mode(self._token)

    def begin(self) -> None:
        """Note that an op begins; ops do not contain each other."""
        self._here.began = perf_counter()

    def op(self, outputs: Sequence[Any], node: Node | None) -> None:
        """Note that the op that began last has ended."""
        self.made(outputs, node, self._here.began)

    def made(self, outputs: Sequence[Any], node: Node | None, began: float) -> None:
        """Note that ``outputs`` and, perhaps, ``node`` have been made since ``began``."""
        if node is not None:
            nbytes = sum(t.nbytes for t in outputs if t.view_of is None)
            _count(self.forward, node, perf_counter() - began, nbytes)

    def run(self, task: GraphTask) -> None:
        """Run ``task`` under observation."""
        steps = task.observe(copy_grads=False)
        for node in task.order:
            began = perf_counter()
            step = next(steps)
            seconds = perf_counter() - began
            self.ran(
                node, seconds, sum(d.after.nbytes for d in step.deliveries if d.after is not None)
            )

    def ran(self, node: Node, seconds: float, nbytes: int) -> None:
        """Take note that ``node`` ran in a backward pass, also where someone else did that."""
        _count(self.backward, node, seconds, nbytes)


def running_profile() -> profile | None:
    """Return the profile that is being made around the caller."""
    mode = current_mode()
    running = None if mode is None else mode.profiler
    return running if isinstance(running, profile) else None


def _count(spent: WeakKeyDictionary[Notes, Spent], node: Node, seconds: float, nbytes: int) -> None:
    notes = notes_of(node)
    before = spent.get(notes, Spent())
    spent[notes] = Spent(before.seconds + seconds, before.bytes + nbytes, before.calls + 1)


answer_missing_names(__name__)
