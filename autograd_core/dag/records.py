"""What a graph consists of, one record each; see :mod:`autograd_core.dag.model`."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from autograd_core.autograd.node import SavedState
from autograd_core.dag.statistics import Statistics

NodeKind = Literal["op", "group", "leaf", "parameter", "frozen", "constant", "output", "seed"]
"""A leaf gets a gradient in the backward pass, a parameter too; a frozen parameter and a constant
get none."""

LEAF_KINDS: Final[tuple[NodeKind, ...]] = ("leaf", "parameter", "frozen", "constant")
PARAMETER_KINDS: Final[tuple[NodeKind, ...]] = ("parameter", "frozen")
EdgeKind = Literal["value", "gradient", "saved"]
Half = Literal["forward", "backward"]
Shape = tuple[int, ...]


RETURNED = "returned by grad()"
"""The detail of a leaf whose gradient was not added to its ``.grad``, and of an op at which a pass
ended, because no more than its gradient was asked for."""


class Source(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int


class SavedValue(NamedTuple):
    """What a backward node keeps from the forward pass.

    ``state`` is "kept", "freed" (a backward pass let go of it), "packed" (hooks of the user's
    took it away) or "changed" (an in-place op changed it after it was saved), ``lines`` are those
    of the program that did so, as far as it was traced.  Values that share their memory have the
    same number in ``storage``; None where that is unknown.
    """

    name: str
    shape: Shape
    dtype: str
    nbytes: int
    state: SavedState = "kept"
    storage: int | None = None
    lines: tuple[Source, ...] = ()


GroupKind = Literal["chain", "scope", "repeat", "loop", "iteration"]


class Group(NamedTuple):
    """What a node of a folded graph stands for.

    A *chain* is one op with the shape ops around it, named in ``title``; a *scope* is a module
    or a named part of the program, ``module`` its class; a *repeat* stands for ``instances`` equal
    scopes, a *loop* for as many equal rounds, an *iteration* for one of these.  ``ops`` and
    ``members`` (ids in the unfolded graph) are those of its half, ``parameters`` counts
    elements, ``saved_bytes`` is what its nodes keep for the backward pass.  ``like`` names an
    equal instance that is shown before it, "" when there is none.
    """

    kind: GroupKind
    title: str
    module: str
    instances: int
    ops: int
    parameters: int
    saved_bytes: int
    members: tuple[int, ...]
    like: str = ""


class Totals(NamedTuple):
    """How much there is in a graph; leaves are those that get a gradient, all others are counted
    as constants."""

    ops: int
    leaves: int
    constants: int
    grad_fns: int
    leaf_gradients: int
    saved_bytes: int


class Node(NamedTuple):
    """One box of the graph.

    ``name`` is the op ("mul"), the ``grad_fn`` ("MulBackward0", "AccumulateGrad"), or what
    the user calls the value ("weight").  ``variable`` is the user's name for the tensor
    that a leaf, an output or an AccumulateGrad stands for, "" when unknown.  ``order`` is
    the position in the backward plan (0 runs first).  ``pair`` is the node of the other
    half that belongs to this one.  ``statistics`` describes the value (forward half) or the
    gradient that arrived (backward half); it is None while that is unknown, and
    ``undefined`` says that a gradient was asked for and there was none.  ``group`` is what a
    node of a folded graph stands for.
    """

    id: int
    kind: NodeKind
    half: Half
    name: str
    variable: str
    address: str
    scope: str
    shape: Shape | None
    dtype: str
    detail: str
    formula: str
    source: Source | None
    order: int | None
    pair: int | None
    saved: tuple[SavedValue, ...]
    statistics: Statistics | None
    undefined: bool
    group: Group | None


class Cost(NamedTuple):
    """What a profile measured of a node: seconds and bytes of its results, as an op in the forward
    pass and as a node in backward passes; None for what was not measured."""

    forward_seconds: float | None = None
    forward_bytes: int | None = None
    backward_seconds: float | None = None
    backward_bytes: int | None = None

    def __add__(self, other: Cost) -> Cost:  # type: ignore[override]  # no joining of tuples
        """Of both together; what one of them does not know counts as nothing."""
        return Cost(*map(_plus, self, other))


def _plus(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other


class Edge(NamedTuple):
    """One arrow of the graph.

    ``output_nr`` counts the outputs of ``source``, ``input_nr`` the inputs of ``target``.
    ``label`` names the saved value on a saved edge and is "" elsewhere.  ``multiplicity`` is the
    number of edges of the unfolded graph that this one stands for.
    """

    id: int
    kind: EdgeKind
    source: int
    target: int
    output_nr: int
    input_nr: int
    shape: Shape | None
    dtype: str
    label: str
    nbytes: int
    statistics: Statistics | None
    undefined: bool
    multiplicity: int
