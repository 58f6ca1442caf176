"""What every engine speaks: places in a backward graph, calls, steps, and what nodes keep.

Small records and protocols, with arrays and tensors of no library. The core's own classes have the
same attributes, so its records are used as they are; PyTorch's engine makes these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Literal, NamedTuple, Protocol, cast, runtime_checkable

Shape = tuple[int, ...]
Gradient = Any
"""An array or a tensor of the engine's library; None is undefined."""
Gradients = tuple[Gradient, ...]
"""What a call of ``grad`` returns: one for each of its inputs."""
SavedState = Literal["kept", "freed", "changed", "packed"]
KeptValue = tuple[str, Any, SavedState]
"""What a node keeps from the forward pass: its name in the rules, what it is, None when that is
gone, and its state."""
CallKind = Literal["backward", "grad"]
HookKind = Literal["tensor", "pre", "post", "accumulated"]
Line = tuple[str, int]
"""A line of the program: file and number."""

# The kind of a node or a port, in one class attribute: how its edges are to be read. GENERAL has
# them in `edges`; ONE_EDGE and the two after it in `i0`, and `i1`.
LEAF, GENERAL, PORT, ONE_EDGE, TWO_EDGES, TWO_REDUCED = range(6)


class Port:
    """Input ``nr`` of a node to which several gradients go; equal ports are one and the same."""

    __slots__ = ("node", "nr")
    kind: ClassVar[int] = PORT

    def __init__(self, node: Any, nr: int) -> None:
        self.node = node
        self.nr = nr

    def __eq__(self, other: object) -> bool:
        return type(other) is Port and other.node is self.node and other.nr == self.nr

    def __hash__(self) -> int:
        return hash(self.node) + self.nr


Place = Any
"""Where a gradient goes: a node, or a port of one."""


def resolve(edge: Place | None) -> tuple[Any, int]:
    """Return an edge as PyTorch shows it: (node, number of its input); ``(None, 0)`` for one that
    leads nowhere.

    >>> resolve(None)
    (None, 0)
    """
    if edge is None:
        return None, 0
    if edge.kind == PORT:
        return edge.node, edge.nr
    return (None, 0) if edge.leads_nowhere else (edge, 0)


class DType(Protocol):
    """The dtype of a tensor."""

    @property
    def name(self) -> str:
        """As PyTorch spells it, without ``torch.``: ``float32``."""
        ...


class Node(Protocol):
    """A ``grad_fn``: one step of the backward pass.

    Nodes of one name have a class of their own, so that what is the same for all of them is asked
    of one.
    """

    kind: ClassVar[int]
    """How its edges are read: LEAF for an AccumulateGrad, GENERAL, or one of those after it."""
    leads_nowhere: ClassVar[bool]
    """Whether it stands for an edge to no node at all."""

    @property
    def edges(self) -> tuple[Place | None, ...]:
        """Where its gradients go, one for each differentiable input."""
        ...

    @property
    def sequence_nr(self) -> int:
        """A number that grows from one node to the next that the program makes."""
        ...

    @property
    def output_count(self) -> int:
        """How many gradients may arrive: one for each result of the forward op."""
        ...

    @property
    def ported(self) -> bool:
        """Whether these arrive at ports, in a list."""
        ...

    @property
    def output_shape(self) -> Shape | None:
        """The shape of the gradient that arrives, of several that of the first; None of a nested
        tensor."""
        ...

    @property
    def output_dtype(self) -> DType:
        """Its dtype."""
        ...

    @property
    def record(self) -> Any:
        """What tracing knows of it, None where that is nothing."""
        ...

    @property
    def hooks(self) -> Any:
        """Its hooks, by kind, where these can be known."""
        ...

    @property
    def is_freed(self) -> bool:
        """Whether it kept values, and a pass has let go of them."""
        ...

    @property
    def freed_at(self) -> Line | None:
        """The line whose call freed what it kept, None where that is unknown."""
        ...

    def name(self) -> str:
        """Return its name, as PyTorch has it: ``MulBackward0``."""
        ...

    def formulas(self) -> tuple[tuple[str, str], ...]:
        """Return the derivative rules that run here: (input, text of the rule)."""
        ...

    def saved(self) -> Iterator[KeptValue]:
        """List what it keeps from the forward pass."""
        ...

    def changed_at(self, name: str) -> tuple[Line, ...]:
        """Return the lines that changed in place what it keeps as ``name``."""
        ...


class Tensor(Protocol):
    """A tensor as capture sees it: the root of a graph, or a leaf."""

    @property
    def _shape(self) -> Shape | None:
        """Its shape as a plain tuple, None of a nested tensor."""
        ...

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        ...

    @property
    def edge(self) -> Place | None:
        """Where its gradients go."""
        ...

    @property
    def record(self) -> Any:
        """What made it, as far as it was traced: a record and the number of the output."""
        ...

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter of a module."""
        ...

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient gets there."""
        ...


class Plan(Protocol):
    """Nodes in the order in which they will run."""

    @property
    def order(self) -> Sequence[Any]:  # of Node; the engine's own class is more than that
        """The nodes, the first one to run first."""
        ...


class Extent(NamedTuple):
    """Shape, dtype and bytes of a value that a node keeps, the shape None of a nested tensor;
    ``storage`` is equal for values that begin at the same memory, None where that is unknown.
    ``memory`` is the whole memory that the value is a part of, a number and its bytes: equal for
    all views of one another, None where that is unknown."""

    shape: Shape | None
    dtype: str
    nbytes: int
    storage: int | None = None
    memory: tuple[int, int] | None = None


class Delivery(NamedTuple):
    """One gradient on its way: along edge ``output_nr`` of a node to the place ``edge``, whose sum
    was ``before`` and is ``after``. An edge None leads nowhere."""

    output_nr: int
    edge: Place | None
    gradient: Gradient
    before: Gradient
    after: Gradient


class Step(NamedTuple):
    """What one node did.

    ``incoming`` are the sums that it took, one for each output of the forward op, and ``hooked``
    the same after its hooks. ``before`` and ``after`` are a leaf's ``.grad`` around the
    accumulation: copies, None where there was none. ``captured`` is what ``grad`` takes away here,
    by place; a node that runs for nothing else has no deliveries.
    """

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    node: Any
    incoming: tuple[Gradient, ...]
    hooked: tuple[Gradient, ...]
    deliveries: tuple[Delivery, ...]
    before: Gradient = None
    after: Gradient = None
    captured: tuple[tuple[Place, Gradient], ...] = ()


# made in a third of the time that their names take: a pass of a million nodes makes as many
new_delivery: Final = cast("Callable[[Any], Delivery]", partial(tuple.__new__, Delivery))
new_step: Final = cast("Callable[[Any], Step]", partial(tuple.__new__, Step))


@runtime_checkable
class BackwardCall(Protocol):
    """A call of ``backward`` or ``grad``, before anything ran."""

    @property
    def roots(self) -> Sequence[Tensor]:
        """The tensors that it was called on, as capture sees them."""
        ...

    @property
    def seeds(self) -> Sequence[Gradient]:
        """The gradient that enters at each."""
        ...

    @property
    def keep(self) -> bool:
        """Whether what nodes saved is kept (``retain_graph``)."""
        ...

    @property
    def graph(self) -> bool:
        """Whether the pass builds a graph of its own (``create_graph``)."""
        ...

    @property
    def inputs(self) -> Sequence[Tensor]:
        """Of ``backward``, the only tensors to accumulate into, or none for all leaves; of
        ``grad``, those by which to differentiate."""
        ...

    @property
    def is_grad(self) -> bool:
        """Whether it is a call of ``grad``."""
        ...

    @property
    def kind(self) -> CallKind:
        """Which of the two it is."""
        ...

    @property
    def parent(self) -> Node | None:
        """The node in whose backward or hooks it was made."""
        ...

    @property
    def depth(self) -> int:
        """How many passes run around it."""
        ...

    @property
    def line(self) -> Line | None:
        """The line of the program that made it, if known."""
        ...


class Interceptor(Protocol):
    """Who may take over calls of ``backward`` and ``grad``."""

    def __call__(self, call: Any) -> bool | Gradients:
        """Return False to let the pass run as usual; else it was carried out, and, if
        ``call.is_grad``, its gradients are returned."""


Passes = Callable[[Callable[[], Any]], Any]
"""Carries out a call by what the engine does, and returns what that returns."""


class Profile(Protocol):
    """What was measured of a program: by node, what its op and its backward pass cost."""

    @property
    def forward(self) -> Mapping[Any, Any]: ...
    @property
    def backward(self) -> Mapping[Any, Any]: ...


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
        return len(self.before) != len(self.after) or not all(same_numbers(a, b) for a, b in pairs)


def same_numbers(one: Any, other: Any) -> bool:
    """Return whether two copies of gradients, arrays or None, are equal bit for bit."""
    if one is None or other is None:
        return one is other
    same: bool = one.tobytes() == other.tobytes()
    return same
