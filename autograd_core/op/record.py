"""What an op is, once declared: the record that everything about ops is made from."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from autograd_core.autograd.node import GENERAL, ONE_EDGE, TWO_EDGES, TWO_REDUCED

ResultKind = Literal["same", "float", "bool"]
ViewKind = Literal[False, True, "each"]
LayoutRule = Literal["", "contiguous", "preserved", "columns"]
BoolsOption = str | Callable[[Sequence[Any]], Exception]
REQUIRED: Final = inspect.Parameter.empty


class Rule(NamedTuple):
    """A derivative rule and the names it asks for."""

    function: Callable[..., Any]
    names: tuple[str, ...]

    @property
    def forwards_gradient(self) -> bool:
        """Whether this is ``lambda g: g``, which generated code need not call."""
        return self.names == ("g",) and self.function.__code__.co_code == _IDENTITY.co_code

    @property
    def on_arrays(self) -> Callable[..., Any]:
        """The function that computes it on arrays (see :func:`computed_by`)."""
        found: Callable[..., Any] = getattr(self.function, "on_arrays", self.function)
        return found

    @property
    def spending(self) -> Callable[..., Any] | None:
        """The function that computes it in the memory of ``g``, if there is one."""
        found: Callable[..., Any] | None = getattr(self.function, "spending", None)
        return found

    @property
    def takes_passes(self) -> bool:
        """Whether it goes over its arrays more than once."""
        steps = dis.get_instructions(self.function)
        return sum(step.opname.startswith(_OPERATIONS) for step in steps) > 1


def computed_by(
    on_arrays: Callable[..., Any],
    rule: Callable[..., Any],
    spending: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return ``rule``, a lambda, which then is for tensors and for readers: with arrays runs
    ``on_arrays``, which computes the same in fewer steps; or, where a large gradient is needed by
    nobody else, ``spending``, which leaves its result there."""
    rule.on_arrays = on_arrays  # type: ignore[attr-defined]
    rule.spending = spending  # type: ignore[attr-defined]
    return rule


_IDENTITY: Final = (lambda g: g).__code__
_OPERATIONS: Final = ("BINARY_OP", "CALL", "COMPARE_OP", "UNARY_NEGATIVE")


def parameters_of(rule: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments of a rule."""
    code = rule.__code__
    return code.co_varnames[: code.co_argcount]


class Parameters(NamedTuple):
    """The parameters of a declaration, in their order: those before ``/``, those after it, the one
    with a star, those after that; and the defaults that there are."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    variadic: str
    named: tuple[str, ...]
    defaults: Mapping[str, Any]


def declared_parameters(function: Callable[..., Any]) -> Parameters:
    """Read the parameters of ``function``, or of what it wraps: at once, as :mod:`inspect` takes
    20 us, and there are hundreds of declarations."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    names, before, placed = code.co_varnames, code.co_posonlyargcount, code.co_argcount
    end = placed + code.co_kwonlyargcount
    values = function.__defaults__ or ()
    return Parameters(
        names[:before],
        names[before:placed],
        names[end] if code.co_flags & inspect.CO_VARARGS else "",
        names[placed:end],
        {
            **dict(zip(names[placed - len(values) : placed], values, strict=True)),
            **(function.__kwdefaults__ or {}),
        },
    )


class Second(NamedTuple):
    """How the gradient of an op is differentiated again, where inputs only choose the piece of a
    linear function that it belongs to: it is one node, and those inputs get zeros.

    ``node`` is PyTorch's name of it.  ``grad`` is the rule for the gradient that came in, where
    that is not the same rule once more; ``others`` has those for inputs that do more.  Both may
    name ``grad``, what came in, and what the op's own rule names.
    """

    node: str
    grad: Callable[..., Any] | None = None
    others: Mapping[str, Callable[..., Any]] = {}


@dataclass(eq=False)
class Op:
    """An op as declared.

    ``name`` is unique; ``public_name`` is the function that users call, of which this may be one
    overload of several.  ``edges`` names the inputs that a gradient may flow to, in signature
    order; ``saved`` gives, for each input or output that some rule names, the edges whose rules
    do.
    """

    name: str
    public_name: str
    node_name: str
    kernel: Callable[..., Any]
    values: tuple[str, ...]
    optional: frozenset[str]
    variadic: str
    attributes: dict[str, Any]
    edges: tuple[str, ...]
    rules: dict[str, Rule]
    joint: Rule | None
    outputs: tuple[str, ...]
    nondiff: frozenset[str]
    hidden: frozenset[str]
    pointwise: bool
    linear: bool
    view: ViewKind
    result_dtype: ResultKind
    keeps_dtype: frozenset[str]
    broadcasts: frozenset[str]
    function: Callable[..., Any]
    second: Second | None = None
    inplace_node: str = ""
    floats: str = ""
    numbers: str = ""
    integers: str = ""
    bools: BoolsOption = ""
    scalars: frozenset[str] = frozenset()  # inputs of a pointwise op that may be numbers
    symmetric: bool | str = False
    normalized: bool = False
    layout: LayoutRule = ""
    holds: frozenset[str] = frozenset()  # attributes that may have tensors in them
    call: Callable[..., Any] = field(init=False)
    make_node_class: Callable[[Op], type[Any]] = field(init=False)
    make_gradient: Callable[[Op], Callable[..., Any]] = field(init=False)

    @property
    def refuses_bools(self) -> bool:
        """Whether the call must test for bool tensors, since the kernel would take them."""
        return bool(self.numbers or (isinstance(self.bools, str) and self.bools))

    @cached_property
    def differentiable_outputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.outputs if name not in self.nondiff)

    @cached_property
    def visible_outputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.outputs if name not in self.hidden)

    @cached_property
    def output_numbers(self) -> dict[str, int]:
        """The numbers by which graphs know the outputs: those that callers see come first."""
        hidden = (name for name in self.outputs if name in self.hidden)
        return {name: number for number, name in enumerate((*self.visible_outputs, *hidden))}

    @cached_property
    def saved(self) -> dict[str, tuple[str, ...]]:
        """Inputs and outputs that rules name, each with the edges that need it."""
        users: dict[str, list[str]] = {}
        for edge in self.edges:
            for name in self.rule(edge).names:
                if name in self.values or name in self.outputs:
                    users.setdefault(name, []).append(edge)
        return {name: tuple(edges) for name, edges in users.items()}

    @cached_property
    def saved_plain(self) -> tuple[str, ...]:
        """Attributes and shapes that rules name; small, kept as they are."""
        names = dict.fromkeys(name for edge in self.edges for name in self.rule(edge).names)
        return tuple(
            name
            for name in names
            if name in self.attributes
            or (name.endswith("_shape") and name.removesuffix("_shape") in self.values)
        )

    @cached_property
    def held(self) -> tuple[str, ...]:
        """Those of them that rules name; kept, watched and freed as inputs are."""
        return tuple(name for name in self.saved_plain if name in self.holds)

    @cached_property
    def node_class(self) -> type[Any]:
        """The class of this op's nodes; made when the op first runs."""
        return self.make_node_class(self)

    @cached_property
    def doc(self) -> str:
        """The docstring of the declaration."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def kind(self) -> int:
        """What the engine has to do for a node of this op, in its own words."""
        several = len(self.differentiable_outputs) > 1 or self.view == "each" or self.variadic
        if several or len(self.edges) > 2:
            return GENERAL
        if len(self.edges) < 2:
            return ONE_EDGE
        return TWO_EDGES if self.pointwise or not self.reduces else TWO_REDUCED

    @cached_property
    def reduces(self) -> bool:
        """Whether a gradient may have to be summed or cast to its input; not with one input, which
        has the result's shape, and its dtype if it can require a gradient at all, unless that of
        the result may be chosen."""
        several = len(self.values if self.pointwise else self.edges) > 1
        return bool(self.broadcasts or self.variadic) or several or self.chooses_dtype

    @cached_property
    def chooses_dtype(self) -> bool:
        """Whether the dtype of the result is an attribute."""
        return "dtype" in self.attributes and bool(self.edges)

    @cached_property
    def materializes(self) -> bool:
        """Whether rules get a list of gradients, zeros for those that are missing."""
        return len(self.differentiable_outputs) > 1 or self.view == "each"

    def rule(self, edge: str) -> Rule:
        return self.joint if self.joint is not None else self.rules[edge]

    def on_tensors(self, edge: str) -> Callable[..., Any]:
        """Return the rule for ``edge`` as a function that builds the graph of the gradient."""
        if self.second is not None and edge == self.edges[0]:
            return self._gradient
        return self.rules[edge].function

    @cached_property
    def _gradient(self) -> Callable[..., Any]:
        return self.make_gradient(self)


OPS: Final[dict[str, Op]] = {}
