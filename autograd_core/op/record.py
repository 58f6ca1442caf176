"""What an op is, once declared: the record that everything about ops is made from."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from autograd_core.autograd.node import GENERAL, ONE_EDGE, TWO_EDGES, TWO_REDUCED

ResultKind = Literal["same", "float", "bool"]
ViewKind = Literal[False, True, "each"]
LayoutRule = Literal["", "contiguous", "preserved", "columns"]
OutKind = Literal["", "cast", "same", "expect", "flag", "sum", "create", "join"]
OutOption = OutKind | Callable[..., OutKind]
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
        function: Callable[..., Any] = getattr(self.function, "on_arrays", self.function)
        return function

    @property
    def spending(self) -> Callable[..., Any] | None:
        """The function that computes it in the memory of ``g``, if there is one."""
        function: Callable[..., Any] | None = getattr(self.function, "spending", None)
        return function

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

    def attributes(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the defaults of ``names``, ``REQUIRED`` where there is none."""
        return {name: self.defaults.get(name, REQUIRED) for name in names}


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


@dataclass(eq=False, kw_only=True)
class Options:
    """What an entry says besides its rules, as keywords of :func:`~autograd_core.op.pointwise` or
    :func:`~autograd_core.op.op`; several names are words with blanks between them.

    Of every op:

    * ``linear``: it is linear in each input taken alone.
    * ``node``: the node's name, where it is not PyTorch's usual spelling of the op's;
      ``inplace_node``: that of the in-place form, where PyTorch counts it as another.
    * ``of``: the public function that this is an overload of.
    * ``variants``: the forms in which users call it, "function method inplace"; ``aliases``: its
      other names, "absolute", "special.expit" (see :mod:`autograd_core.op.public`).
    * ``out``: what users may give it as ``out`` (see :mod:`autograd_core.op.out`).
    * ``named``: the class of named tuples that users get, where there are several results.
    * ``second``: how the first rule is differentiated again, where operations do not show it.
    * ``layout``: how the result lies in memory, where NumPy lays it out otherwise than PyTorch:
      "contiguous", "preserved" (like the first input) or "columns" (of matrices).

    Of elementwise ops:

    * ``result_dtype``: that of the result: the promoted one, at least floating ("float"), or bool.
    * ``keeps``: inputs that take no part in promotion (a mask).
    * ``scalars``: inputs that may be numbers, where PyTorch does not take one for every input.
    * ``floats``, ``numbers``, ``integers``: PyTorch's name of the kernel, of an op on floating
      point numbers only, on anything but bool, or on integers and bool only.
    * ``bools``: PyTorch's words for bool tensors, of an op that refuses them; or a function of the
      operands that makes the error, of one that refuses any bool among them.

    Of all others:

    * ``edges``: the inputs that the rule ``joint`` is for, together; it returns a gradient for
      each, and may ask for ``needs``, which says which of them are wanted.
    * ``outputs``: names of the results, where there are several or a rule names one; ``nondiff``:
      those of them that carry no gradient; ``hidden``: those that callers never see: there to be
      saved, or, where they are differentiable, to have derivatives of their own in the graph of the
      gradient.
    * ``view``: the result shares the input's memory ("each": every one of a varying number).
    * ``broadcasts``: inputs whose gradient must be reduced to their shape.
    * ``holds``: attributes that are a :class:`.Held`, which has tensors in it.
    * ``symmetric``: inputs are symmetric matrices, of which it reads one half; or the attribute
      that says so.
    * ``normalized``: the rule is for an input behind a ``log_softmax``.
    """

    linear: bool = False
    node: str = ""
    inplace_node: str = ""
    of: str = ""
    variants: str = ""
    aliases: str = ""
    out: OutOption = ""
    named: type[Any] | None = None
    second: Second | None = None
    layout: LayoutRule = ""
    result_dtype: ResultKind = "same"
    keeps: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    floats: str = ""
    numbers: str = ""
    integers: str = ""
    bools: BoolsOption = ""
    edges: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("result",)
    nondiff: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    view: ViewKind = False
    broadcasts: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()
    symmetric: bool | str = False
    normalized: bool = False


OPTIONS: Final = {option.name: option.default for option in fields(Options)}
_ELEMENTWISE: Final = "result_dtype keeps scalars floats numbers integers bools"
_OTHERS: Final = "edges outputs nondiff hidden view broadcasts holds symmetric normalized"


def options_of(name: str, given: Mapping[str, Any], pointwise: bool) -> dict[str, Any]:
    """Return those of the keywords ``given`` that are options, words taken apart.

    Raises:
        TypeError: there is one that such an op has not.
    """
    options: dict[str, Any] = {}
    for option in given.keys() & OPTIONS.keys():
        if option in (_OTHERS if pointwise else _ELEMENTWISE).split():
            raise TypeError(f"{name}: {option} is not an option of such an op")
        kind = type(OPTIONS[option])
        value = given[option]
        options[option] = kind(value.split()) if kind in (frozenset, tuple) else value
    return options


@dataclass(eq=False, kw_only=True)
class Op(Options):
    """An op as declared.

    ``name`` is unique; ``public_name`` is the function that users call, of which this may be one
    overload of several.  ``edges`` names the inputs that a gradient may flow to, in signature
    order; ``saved`` gives, for each input or output that some rule names, the edges whose rules
    do.  Of an elementwise op, the attributes in ``placed`` may be given without their names.
    """

    name: str
    public_name: str
    node_name: str
    kernel: Callable[..., Any]
    function: Callable[..., Any]
    values: tuple[str, ...]
    attributes: dict[str, Any]
    rules: dict[str, Rule]
    joint: Rule | None = None
    optional: frozenset[str] = frozenset()
    variadic: str = ""
    pointwise: bool = False
    placed: int = 0
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
