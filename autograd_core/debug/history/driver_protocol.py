"""The protocol between a session and whoever runs the nodes of a backward pass.

A driver executes plan nodes one by one and can undo them; it knows nothing of
positions, breakpoints or screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, Self

from autograd_core.autograd.call import BackwardCall, Gradients, Interceptor
from autograd_core.autograd.node import Node, Port
from autograd_core.autograd.plan import Plan
from autograd_core.autograd.step import Step
from autograd_core.debug.history.hooks import HookCall

Place = Node | Port
Pending = dict[Place, Any]
Keep = Callable[[Step, float], bool]


class Nested(Protocol):
    """A pass that ran inside a node of another one."""

    @property
    def title(self) -> str:
        """The call as the program wrote it: ``inner.backward()``."""
        ...


class NodeEffects(NamedTuple):
    """The effects of a node besides the gradients it sends.

    Attributes:
        start, stop: the places in the undo log before and after it.
        nbytes: what its entries there keep.
        calls: those of its hooks.
        nested: the passes that ran inside it.
        user_code: whether it ran user code.
        gradients: the ``.grad`` of leaves that this code changed, by plan index: copies, or None.
    """

    start: int
    stop: int
    nbytes: int = 0
    calls: tuple[HookCall, ...] = ()
    nested: tuple[Nested, ...] = ()
    user_code: bool = False
    gradients: tuple[tuple[int, Any], ...] = ()


class Driver(Protocol):
    """One backward pass, at the mercy of a session."""

    call: BackwardCall
    order: Sequence[Node]
    plan: Plan
    pending: Pending
    effects: dict[int, NodeEffects]
    """By plan index, the effects of nodes that may do more than send gradients."""
    changed_gradients: dict[int, dict[int, Any]]
    """By leaf, and by node, both plan indices: the ``.grad`` of the leaf as user code at the node
    left it, if that changed it."""
    waited: dict[int, tuple[tuple[Place, Any], ...]]
    """By node, what waited elsewhere of what user code at it changed in place."""
    failed_in: str
    muted_edges: set[tuple[int, int]]
    muted_hooks: set[tuple[int, int]]
    intercept: Interceptor | None
    nested: list[Nested]
    live: bool
    """Whether going back and forth changes the program's state."""

    def execute(self, index: int) -> Step:
        """Run plan node ``index`` and tell what it did."""
        ...

    def record(self, start: int, stop: int, keep: Keep) -> None:
        """Run plan nodes from ``start`` on, handing each Step and its seconds to ``keep``, to
        ``stop`` or until that returns False."""
        ...

    def undo(self, step: Step) -> None:
        """Put everything back to what it was before ``step``, which was the last one."""
        ...

    def redo_state(self, step: Step) -> None:
        """Do to the program's state what ``step`` did, but not to the sums that wait."""
        ...

    def redo(self, step: Step) -> None:
        """Do what ``step`` did, from its record, calling no user code."""
        ...

    def as_it_was(self, step: Step) -> Step:
        """``step``, with copies of those of its gradients that user code has changed in
        place since."""
        ...

    def entered(self, seed: Any) -> Any:
        """A gradient that entered, as it was then."""
        ...

    def inputs(self, step: Step) -> list[tuple[Place, Any]]:
        """The input buffers that ``step`` emptied, and what each held."""
        ...

    def places(self, node: Node) -> Sequence[Place]:
        """The input buffers of ``node``."""
        ...

    def entering_seeds(self) -> Sequence[Any]:
        """The gradients of the roots that take part in the pass, in their order."""
        ...

    def fork(self, pending: Pending) -> Self:
        """A driver of the same pass that goes its own way from ``pending``, within
        :meth:`as_before`; for nodes that run no user code only."""
        ...

    def anew(self, pending: Pending) -> Self:
        """A driver that runs all anew from ``pending``, without edits, user code too."""
        ...

    def as_before(self, start: int) -> AbstractContextManager[None]:
        """Within it, the program's state is as it was before node ``start`` ran."""
        ...

    def undo_all(self) -> None:
        """Undo what the nodes that have run did to the program's state; to sums nothing."""
        ...

    def forget(self, start: int) -> None:
        """Forget what nodes from ``start`` on did; they were undone."""
        ...

    def run(self, start: int) -> None:
        """Run everything from plan node ``start`` on, keeping no record."""
        ...

    def retain_graph(self) -> None:
        """Keep what nodes saved, whatever the call says: what runs is to be undone."""
        ...

    def release(self) -> None:
        """Let go of saved values as the plain pass would have."""
        ...

    def gradients(self) -> Gradients:
        """Return what the call gives to the program: of ``grad``, the gradients."""
        ...
