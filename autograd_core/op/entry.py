"""The declaration of an op: one entry, in one place.

An entry is a function under :func:`pointwise` or :func:`op`.  Its keywords give, per
differentiable input, the rule that turns the output's gradient into the input's::

    @pointwise(np.multiply, self=lambda g, other: g * other, other=lambda g, self: g * self)
    def mul(self, other):
        \"\"\"Elementwise product, broadcasting as NumPy does.\"\"\"

Parameters are called as in PyTorch's derivatives.yaml (``self``, ``other``, ``mat1``): these are
the names of arguments, of saved values (``_saved_self``) and in formulas.  Users may write
``input`` for ``self``.  A name that means something else here has an underscore, ``g_``.

The parameters of a rule are names: ``g`` (the incoming gradient; a list where several
outputs are differentiable), ``result`` or a named output, any input, any attribute, and
``<input>_shape``.  The names that are used are what the node saves, and no more.  A
rule calls ops and operators only, so that the same rule works on arrays (fast) and
on tensors (building the graph of the second derivative).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec

from autograd_core.op.generate import prepare
from autograd_core.op.gradient import gradient_arguments, gradient_of
from autograd_core.op.public import publish
from autograd_core.op.record import (
    OPS,
    OPTIONS,
    REQUIRED,
    Op,
    Rule,
    declared_parameters,
    options_of,
    parameters_of,
)
from autograd_core.tensor import Tensor

P = ParamSpec("P")

# No input of an op may bear the name of an option, or of what rules are given.
_RESERVED: Final = frozenset({*OPTIONS, "joint", "kernel", "g", "needs"})
# Locals of the generated code, which would overwrite an input or attribute of that name.
_LOCALS: Final = frozenset({"r", "t", "node", "grad_mode", "version", "op", "kernel"})
_POINTWISE_LOCALS: Final = frozenset({"shape", "dtype", "to"})


# What many elementwise ops say: in which forms users call them, and of which dtype results are.
EVERY_FORM: Final[dict[str, Any]] = {"variants": "function method inplace"}
FLOATING: Final[dict[str, Any]] = {"result_dtype": "float", **EVERY_FORM}
COMPARISON: Final[dict[str, Any]] = {
    "result_dtype": "bool",
    "scalars": "other",
    "variants": "function method inplace_bool",
}


def pointwise(
    kernel: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[P, object]], Callable[P, Tensor]]:
    """Declare an elementwise op: dtypes promote, shapes broadcast, and a gradient is reduced to
    its input where it is delivered.

    All parameters of the function are inputs, save those after ``*``, which are attributes; or
    those before ``/`` are inputs, and attributes after it may be given without their names.

    Args:
        kernel: computes it on arrays; without one, the function's body does.
        options: :class:`.Options`, and per differentiable input, its rule.
    """

    def declare(function: Callable[P, object]) -> Callable[P, Tensor]:
        parameters = declared_parameters(function)
        values: tuple[str, ...] = parameters.after
        placed: tuple[str, ...] = ()
        if parameters.before:
            values, placed = parameters.before, parameters.after
        if parameters.defaults.keys() & set(values):
            raise TypeError(f"{function.__name__}: an input of an elementwise op has no default")
        options.setdefault("out", "cast")
        options.setdefault("scalars", " ".join(values))
        return _declare(
            function, options, kernel=kernel or function, values=values,
            attributes=parameters.attributes(placed + parameters.named), pointwise=True,
            placed=len(placed),
        )  # fmt: skip

    return declare


def op(
    *, joint: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[P, object]], Callable[P, Any]]:
    """Declare an op whose body computes it on arrays.

    Inputs stand before ``/`` (one ``*name``: a list of tensors; ``name=None``: may be
    left out), attributes after it.  An attribute ``dtype``, None by default, is that of the
    result; the gradient is cast back to the input's.

    Args:
        joint: one rule for several inputs together.
        options: :class:`.Options`, and per differentiable input, its rule.
    """

    def declare(function: Callable[P, object]) -> Callable[P, Any]:
        parameters = declared_parameters(function)
        variadic = parameters.variadic
        values = (*parameters.before, variadic) if variadic else parameters.before
        optional = {v for v in values if parameters.defaults.get(v, REQUIRED) is None}
        return _declare(
            function, options, kernel=function, values=values,
            attributes=parameters.attributes(parameters.after + parameters.named),
            joint=Rule(joint, parameters_of(joint)) if joint else None,
            optional=frozenset(optional), variadic=variadic, scalars=frozenset(values),
        )  # fmt: skip

    return declare


def _declare(
    function: Callable[..., Any], options: dict[str, Any], **known: Any
) -> Callable[..., Any]:
    name = function.__name__.rstrip("_") if function.__name__ != "_" else "_"
    rules = {edge: rule for edge, rule in options.items() if edge not in OPTIONS}
    given = options_of(name, options, known.get("pointwise", False))
    values, joint = known["values"], known.get("joint")
    if not joint:
        given["edges"] = tuple(v for v in values if v in rules)
    declared = Op(
        **given,
        **known,
        name=name,
        public_name=given.get("of") or name,
        node_name=given.get("node") or _node_name(name),
        rules={edge: Rule(rule, parameters_of(rule)) for edge, rule in rules.items()},
        function=function,
    )
    _check(declared)
    same = OPS.get(name)
    if same is not None and same.function.__module__ != function.__module__:
        raise TypeError(f"{name}: there is an op of this name, in {same.function.__module__}")
    prepare(declared)
    declared.make_gradient = gradient_of
    OPS[name] = declared
    if declared.variants or declared.aliases:
        publish(
            declared.call, declared.variants, declared.aliases, declared.of, declared.out,
            declared.named,
        )  # fmt: skip
    return declared.call


def _node_name(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Backward0"


def _check(op: Op) -> None:
    """Find slips of the pen at import, with the names that would have been right."""
    reserved = sorted(_RESERVED.intersection(op.values))
    if reserved:
        raise TypeError(f"{op.name}: an input may not be called {', '.join(reserved)}")
    locals_ = _LOCALS | _POINTWISE_LOCALS if op.pointwise else _LOCALS
    taken = sorted(locals_.intersection([*op.values, *op.attributes]))
    if taken:
        raise TypeError(
            f"{op.name}: the generated code has a use of its own for {', '.join(taken)}"
        )
    unknown = sorted(set(op.rules).union(op.edges).difference(op.values))
    if unknown:
        raise TypeError(
            f"{op.name}: a rule for {', '.join(unknown)}, but the inputs are {', '.join(op.values)}"
        )
    known = {"g", "needs", *op.values, *op.attributes, *op.outputs}
    known.update(f"{value}_shape" for value in op.values)
    for edge in op.edges:
        strange = sorted(set(op.rule(edge).names).difference(known))
        if strange:
            raise TypeError(
                f"{op.name}: the rule for {edge} names {', '.join(strange)}; "
                f"known are {', '.join(sorted(known))}"
            )
    if op.second is not None:
        _, tensors, plain = gradient_arguments(op)
        if op.rules[op.edges[0]].names != ("g", *tensors, *plain):
            raise TypeError(
                f"{op.name}: a rule that is differentiated as a whole names g first, then inputs "
                "and outputs, then the rest"
            )
