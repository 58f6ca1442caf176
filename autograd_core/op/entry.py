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
from autograd_core.op.out import OutOption
from autograd_core.op.public import publish
from autograd_core.op.record import (
    OPS,
    REQUIRED,
    BoolsOption,
    LayoutRule,
    Op,
    ResultKind,
    Rule,
    Second,
    ViewKind,
    declared_parameters,
    parameters_of,
)
from autograd_core.tensor import Tensor

P = ParamSpec("P")

# What `op` takes besides rules; no input of an op may bear such a name.
_OPTIONS: Final = frozenset(
    {
        "joint",
        "edges",
        "outputs",
        "nondiff",
        "hidden",
        "view",
        "linear",
        "broadcasts",
        "holds",
        "keeps",
        "scalars",
        "node",
        "inplace_node",
        "second",
        "of",
        "variants",
        "aliases",
        "out",
        "symmetric",
        "normalized",
        "layout",
        "result",
        "result_dtype",
        "kernel",
        "g",
        "needs",
        "floats",
        "numbers",
        "integers",
        "bools",
    }
)

# Locals of the generated code, which would overwrite an input or attribute of that name.
_LOCALS: Final = frozenset({"r", "t", "node", "grad_mode", "version", "op", "kernel"})
_POINTWISE_LOCALS: Final = frozenset({"shape", "dtype", "to"})


def pointwise(
    kernel: Callable[..., Any] | None = None,
    *,
    result_dtype: ResultKind = "same",
    keeps: str = "",
    scalars: str | None = None,
    floats: str = "",
    numbers: str = "",
    integers: str = "",
    bools: BoolsOption = "",
    linear: bool = False,
    node: str = "",
    inplace_node: str = "",
    of: str = "",
    variants: str = "",
    aliases: str = "",
    out: OutOption = "cast",
    second: Second | None = None,
    layout: LayoutRule = "",
    **rules: Callable[..., Any],
) -> Callable[[Callable[P, object]], Callable[P, Tensor]]:
    """Declare an elementwise op: dtypes promote, shapes broadcast, and a gradient is reduced to
    its input where it is delivered.

    All parameters of the function are inputs, save those after ``*``, which are attributes.

    Args:
        kernel: computes it on arrays; without one, the function's body does.
        result_dtype: of the result: the promoted one, at least floating ("float"), or bool.
        keeps: inputs that take no part in promotion (a mask), separated by blanks.
        scalars: inputs that may be numbers, where PyTorch does not take one for every input.
        floats: PyTorch's name of the kernel, of an op on floating point numbers only.
        numbers: the same, of an op on anything but bool.
        integers: the same, of an op on integers and bool only.
        bools: PyTorch's words for bool tensors, of an op that refuses them; or a function of the
            operands that makes the error, of one that refuses any bool among them.
        linear: whether it is linear in each input taken alone.
        node: the node's name, where it is not PyTorch's usual spelling of the op's.
        inplace_node: the same of the in-place form, where PyTorch counts it as another.
        of: the public function that this is an overload of.
        variants: the forms in which users call it: "function method inplace" (see ``op.public``).
        aliases: its other names: "absolute", "special.expit".
        out: what users may give it as ``out`` (see :mod:`autograd_core.op.out`).
        second: how the first rule is differentiated again, where operations do not show it.
        layout: how the result lies in memory, where NumPy lays it out otherwise than PyTorch:
            "contiguous", "preserved" (like the first input) or "columns" (of matrices).
        rules: per differentiable input, its rule.
    """

    def declare(function: Callable[P, object]) -> Callable[P, Tensor]:
        parameters = declared_parameters(function)
        values = parameters.after
        if parameters.before or parameters.defaults.keys() & set(values):
            raise TypeError(
                f"{function.__name__}: what stands before * are the inputs of an elementwise op: "
                "it has no /, and an input has no default"
            )
        attributes = {name: parameters.defaults.get(name, REQUIRED) for name in parameters.named}
        return _declare(
            function,
            kernel or function,
            values,
            attributes,
            rules,
            node=node,
            inplace_node=inplace_node,
            of=of,
            variants=variants,
            aliases=aliases,
            out=out,
            second=second,
            pointwise=True,
            linear=linear,
            result_dtype=result_dtype,
            keeps=keeps,
            scalars=scalars,
            floats=floats,
            numbers=numbers,
            integers=integers,
            bools=bools,
            layout=layout,
        )

    return declare


def op(
    *,
    joint: Callable[..., Any] | None = None,
    edges: str = "",
    outputs: str = "result",
    nondiff: str = "",
    hidden: str = "",
    view: ViewKind = False,
    linear: bool = False,
    broadcasts: str = "",
    holds: str = "",
    symmetric: bool | str = False,
    normalized: bool = False,
    node: str = "",
    inplace_node: str = "",
    of: str = "",
    variants: str = "",
    aliases: str = "",
    out: OutOption = "",
    second: Second | None = None,
    layout: LayoutRule = "",
    **rules: Callable[..., Any],
) -> Callable[[Callable[P, object]], Callable[P, Any]]:
    """Declare an op whose body computes it on arrays.

    Inputs stand before ``/`` (one ``*name``: a list of tensors; ``name=None``: may be
    left out), attributes after it.  An attribute ``dtype``, None by default, is that of the
    result; the gradient is cast back to the input's.

    Args:
        joint: one rule for the inputs named in ``edges`` together; returns a gradient for
            each, and may ask for ``needs``, which says which of them are wanted.
        outputs: names of the results, where there are several or a rule names one.
        nondiff: those of them that carry no gradient.
        hidden: those of them that callers never see: there to be saved, or, where they are
            differentiable, to have derivatives of their own in the graph of the gradient.
        view: the result shares the input's memory ("each": every one of a varying number).
        broadcasts: inputs whose gradient must be reduced to their shape.
        holds: attributes that are a :class:`.Held`, which has tensors in it.
        symmetric: inputs are symmetric matrices, of which it reads one half; or the attribute that
            says so.
        normalized: the rule is for an input behind a ``log_softmax``.
        layout: as in :func:`pointwise`.
    """

    def declare(function: Callable[P, object]) -> Callable[P, Any]:
        parameters = declared_parameters(function)
        defaults, variadic = parameters.defaults, parameters.variadic
        values = (*parameters.before, variadic) if variadic else parameters.before
        optional = {name for name in values if defaults.get(name, REQUIRED) is None}
        attributes = {
            name: defaults.get(name, REQUIRED) for name in parameters.after + parameters.named
        }
        return _declare(
            function,
            function,
            values,
            attributes,
            rules,
            node=node,
            inplace_node=inplace_node,
            of=of,
            variants=variants,
            aliases=aliases,
            out=out,
            second=second,
            joint=joint,
            edges=edges,
            outputs=outputs,
            nondiff=nondiff,
            hidden=hidden,
            view=view,
            linear=linear,
            broadcasts=broadcasts,
            holds=holds,
            symmetric=symmetric,
            normalized=normalized,
            layout=layout,
            optional=frozenset(optional),
            variadic=variadic,
        )

    return declare


def _declare(
    function: Callable[..., Any],
    kernel: Callable[..., Any],
    values: tuple[str, ...],
    attributes: dict[str, Any],
    rules: dict[str, Callable[..., Any]],
    *,
    node: str,
    inplace_node: str,
    of: str,
    variants: str,
    aliases: str,
    out: OutOption,
    second: Second | None,
    joint: Callable[..., Any] | None = None,
    edges: str = "",
    outputs: str = "result",
    nondiff: str = "",
    hidden: str = "",
    pointwise: bool = False,
    linear: bool = False,
    view: ViewKind = False,
    result_dtype: ResultKind = "same",
    keeps: str = "",
    scalars: str | None = None,
    floats: str = "",
    numbers: str = "",
    integers: str = "",
    bools: BoolsOption = "",
    broadcasts: str = "",
    holds: str = "",
    symmetric: bool | str = False,
    normalized: bool = False,
    layout: LayoutRule = "",
    optional: frozenset[str] = frozenset(),
    variadic: str = "",
) -> Callable[..., Any]:
    name = function.__name__.rstrip("_") if function.__name__ != "_" else "_"
    declared = Op(
        name=name,
        public_name=of or name,
        node_name=node or _node_name(name),
        kernel=kernel,
        values=values,
        optional=optional,
        variadic=variadic,
        attributes=attributes,
        edges=tuple(edges.split()) if joint else tuple(v for v in values if v in rules),
        rules={edge: Rule(rule, parameters_of(rule)) for edge, rule in rules.items()},
        joint=Rule(joint, parameters_of(joint)) if joint else None,
        outputs=tuple(outputs.split()),
        nondiff=frozenset(nondiff.split()),
        hidden=frozenset(hidden.split()),
        pointwise=pointwise,
        linear=linear,
        view=view,
        result_dtype=result_dtype,
        keeps_dtype=frozenset(keeps.split()),
        scalars=frozenset(values if scalars is None else scalars.split()),
        floats=floats,
        numbers=numbers,
        integers=integers,
        bools=bools,
        broadcasts=frozenset(broadcasts.split()),
        function=function,
        second=second,
        inplace_node=inplace_node,
        holds=frozenset(holds.split()),
        symmetric=symmetric,
        normalized=normalized,
        layout=layout,
    )
    _check(declared)
    known = OPS.get(name)
    if known is not None and known.function.__module__ != function.__module__:
        raise TypeError(f"{name}: there is an op of this name, in {known.function.__module__}")
    prepare(declared)
    declared.make_gradient = gradient_of
    OPS[name] = declared
    if variants or aliases:
        publish(declared.call, variants, aliases, of, out)
    return declared.call


def _node_name(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Backward0"


def _check(op: Op) -> None:
    """Find slips of the pen at import, with the names that would have been right."""
    reserved = sorted(_OPTIONS.intersection(op.values))
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
