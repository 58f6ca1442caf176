"""The backward graph: nodes, ports and hooks.

A tensor's ``edge`` says where its gradient goes: to a :class:`Node` (its only output), to
a :class:`Port` (one of a node's several outputs), to the leaf's AccumulateGrad, or, None,
nowhere.  A node's edges are the ``edge`` values its inputs had, so building the graph is a
matter of passing these on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, ClassVar, Final, Literal, NamedTuple, Protocol, TypeAlias

from autograd_core.autograd.grad_mode import Line, settle
from autograd_core.autograd.hooks import NodeHooks, RemovableHandle
from autograd_core.dtype import dtype

SavedState = Literal["kept", "freed", "changed", "packed"]
Edge: TypeAlias = "Node | Port | None"
# An atomic counter: with a plain global, two threads could number a child below its parent.
next_sequence_nr: Callable[[], int] = count().__next__


# What the engine has to do for a node, in one class attribute it can branch on; a node that is
# TWO_REDUCED has two edges, too, and gradients for them that must be reduced.
LEAF, GENERAL, PORT, ONE_EDGE, TWO_EDGES, TWO_REDUCED = range(6)


PUBLIC: Final = frozenset({
    "_input_metadata", "_sequence_nr", "metadata", "name", "next_functions", "register_hook",
    "register_prehook", "requires_grad",
})  # fmt: skip
"""What PyTorch's nodes have for users."""


class InputMetadata(NamedTuple):
    """Shape, dtype and device of a gradient."""

    shape: tuple[int, ...]
    dtype: dtype
    device: str = "cpu"


class ChangedBase(Protocol):
    """The node of a base that an op has changed through a view (CopySlices)."""

    @property
    def result_edge(self) -> Edge:
        """Where the gradient of that view goes."""


class Notes:
    """What few nodes have, in one slot of theirs, as others would add 16 bytes to most: hooks, what
    tracing left, the inputs of the op, the base that it changed through a view, and the user's own
    dictionary.

    It can be referred to weakly, and so stands for its node where that is wanted.
    """

    __slots__ = ("__weakref__", "changed_base", "freed_at", "hooks", "metadata", "ran_on", "record")
    changed_base: Callable[[], ChangedBase | None] | None
    freed_at: Line | None
    hooks: NodeHooks | None
    metadata: dict[Any, Any] | None
    ran_on: Any
    record: Any

    def __init__(self) -> None:
        self.changed_base = self.freed_at = self.hooks = None
        self.metadata = self.ran_on = self.record = None


class Node:
    """One step of the backward pass; every op has a subclass of its own.

    A node with one edge or two, as nearly all are, keeps them in slots ``i0`` and ``i1``: a
    tuple of tuples built for each op would cost 15 % of the forward pass, and PyTorch's view
    of them, :attr:`next_functions`, is asked for rarely.
    """

    __slots__ = ("i0", "notes", "output_dtype", "output_shape", "sequence_nr")

    kind: ClassVar[int] = ONE_EDGE
    output_count: int = 1
    # Whether gradients arrive at ports, in a list; also where an op that may give several
    # results happened to give one.
    ported: bool = False
    i0: Edge
    i1: Edge = None
    all_edges: tuple[Edge, ...]  # of a node whose kind is GENERAL
    # (shape, dtype) per edge where a gradient must still be reduced to its input's, or None
    to: tuple[Any, ...] | None = None
    inplace_node: ClassVar[str] = ""  # the name in PyTorch of the in-place form, if it has its own
    leads_nowhere: ClassVar[bool] = False  # see Nowhere
    requires_grad: ClassVar[bool] = True
    runs_undefined: ClassVar[bool] = False  # whether it runs although no gradient arrived
    notes: Notes | None
    sequence_nr: int
    # of the forward op's (first) output, and so of the gradient that arrives
    output_shape: tuple[int, ...]
    output_dtype: dtype

    def name(self) -> str:
        """Return the name PyTorch gives this node: ``MulBackward0``."""
        return type(self).__name__

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Where the gradients go, one per differentiable input, in signature order."""
        if self.kind == GENERAL:
            return self.all_edges
        return (self.i0,) if self.kind == ONE_EDGE else (self.i0, self.i1)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Per differentiable input: the node that takes the gradient, and which of that node's
        inputs it goes to; ``(None, 0)`` for an input that needs no gradient."""
        return tuple(resolve(edge) for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary of the user's own, kept with the node."""
        notes = notes_of(self)
        if notes.metadata is None:
            notes.metadata = {}
        return notes.metadata

    @property
    def hooks(self) -> NodeHooks | None:
        """The hooks of the node, if there ever were any."""
        return None if self.notes is None else self.notes.hooks

    @property
    def record(self) -> Any:
        """What tracing left here."""
        if self.notes is None or self.notes.record is None:
            settle()
        return None if self.notes is None else self.notes.record

    @property
    def ran_on(self) -> Any:
        """The inputs of its op, kept while tracing with values."""
        return None if self.notes is None else self.notes.ran_on

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        """What each gradient that arrives here has to look like."""
        shapes = getattr(self, "output_shapes", None)
        if shapes is None or not self.ported:
            shapes = (self.output_shape,)
        return tuple(InputMetadata(shape, self.output_dtype) for shape in shapes)

    def backward(self, g: Any, keep: bool | None) -> Any:
        """Return the gradients of the inputs, from that of the output: one array, or a tuple.

        ``g`` is a list where the node has several outputs.  Unless ``keep``, saved values
        are let go of; where it is None, ``g`` may be written over, too, if nobody else has it.
        """
        raise NotImplementedError

    def backward_graph(self, g: Any) -> Any:
        """As :meth:`backward`, on tensors and building a graph of its own."""
        raise NotImplementedError

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        """List what is kept from the forward pass: its name in the rules; the tensor, or the array
        of a result, None when it is gone; and "kept", "changed", "freed", or, for one that hooks of
        the user's have taken away, "packed": then what stands for it knows its shape, not its data,
        which only a backward pass fetches."""
        return iter(())

    def formulas(self) -> tuple[tuple[str, str], ...]:
        """Return the derivative rules that run here: (input, text of the rule)."""
        return ()

    def release(self) -> None:
        """Let go of saved values; running the node again is then an error."""

    @property
    def is_freed(self) -> bool:
        """Whether there were saved values, and a pass has let go of them."""
        return False

    @property
    def freed_at(self) -> Line | None:
        """The call of ``backward`` or ``grad`` that freed the saved values, if it was traced."""
        return None if self.notes is None else self.notes.freed_at

    def note_freed(self, line: Line) -> None:
        """Say that the pass begun at ``line`` is over; if it freed the values, it was the one.
        What was traced of values is needed no longer, either."""
        notes = notes_of(self)
        if notes.freed_at is None and self.is_freed:
            notes.freed_at = line
        if notes.record is not None and notes.record.kept:
            notes.record.forget()

    def changed_at(self, name: str) -> tuple[Line, ...]:
        """List where the saved value ``name`` was changed in place since, where traced."""
        return ()

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node has run."""
        return hooks_of(self).add("post", hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node runs."""
        return hooks_of(self).add("pre", hook)

    def __dir__(self) -> list[str]:
        """List what users may read and call, as PyTorch does."""
        saved = ("__", "_saved_", "_raw_saved_")
        return [name for name in super().__dir__() if name in PUBLIC or name.startswith(saved)]

    def __repr__(self) -> str:
        """As PyTorch's, without the address."""
        return f"<{self.name().rpartition('::')[2]} object>"


class Port:
    """Output ``nr`` of a node that has several; equal ports are one and the same place."""

    __slots__ = ("node", "nr")
    kind: ClassVar[int] = PORT

    def __init__(self, node: Node, nr: int) -> None:
        self.node = node
        self.nr = nr

    def __eq__(self, other: object) -> bool:
        return type(other) is Port and other.node is self.node and other.nr == self.nr

    def __hash__(self) -> int:
        return hash(self.node) + self.nr


class Nowhere(Node):
    """The edge of a view that was made outside a graph, of a tensor that requires a gradient.

    Such a view requires a gradient, too, and so does what is computed from it, but none arrives
    anywhere.  No plan has this node, and PyTorch shows None in its place.
    """

    __slots__ = ()

    kind: ClassVar[int] = LEAF
    leads_nowhere = True
    edges = ()


def resolve(edge: Edge) -> tuple[Node | None, int]:
    """Return an edge as PyTorch shows it: (node, number of the node's input)."""
    if type(edge) is Port:
        return edge.node, edge.nr
    if type(edge) is Nowhere:
        return None, 0
    return edge, 0  # type: ignore[return-value]  # what is no Port is a Node or None


def output_edge(node: Node, nr: int = 0) -> Edge:
    """Return where the gradient of result ``nr`` of ``node`` goes."""
    if node.notes is not None and node.notes.changed_base is not None:
        base = node.notes.changed_base()
        if base is not None:
            return base.result_edge
    return Port(node, nr) if node.ported else node


def notes_of(node: Node) -> Notes:
    """Return the notes on ``node``, made when first asked for."""
    notes = node.notes
    if notes is None:
        notes = node.notes = Notes()
    return notes


def hooks_of(node: Node) -> NodeHooks:
    """Return the hooks of ``node``, made when first asked for."""
    notes = notes_of(node)
    if notes.hooks is None:
        notes.hooks = NodeHooks()
    return notes.hooks


class _Mark:
    """A value that is not there, and why."""

    __slots__ = ("_why",)

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return f"<{self._why}>"


FREED: Final = _Mark("freed")
NOT_SAVED: Final = _Mark("not saved: the inputs whose rules need it need no gradient")
