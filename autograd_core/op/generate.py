"""From a declaration to code: the text of ``call`` and ``backward`` for one op.

Generated, because a forward call costs 0.7 microseconds this way and four with generic
code; text, because the result then reads like hand-written code (``gradstep ops NAME
--code``) and shows in tracebacks.  Equal texts are compiled once.
"""

from __future__ import annotations

import linecache
from types import CodeType
from typing import Any, Final

from autograd_core.autograd.node import GENERAL, ONE_EDGE, TWO_EDGES, Node
from autograd_core.op.generic import NAMESPACE, SavedNode, variadic_call
from autograd_core.op.inspect import saved_attributes
from autograd_core.op.record import REQUIRED, Op

_compiled: dict[str, CodeType] = {}
_FIRST_CALL: Final = compile(
    "def call(*args, **kwargs): return first_call(op)(*args, **kwargs)", "<op first call>", "exec"
)


def prepare(op: Op) -> None:
    """Give ``op`` its node class and its call; their code is made when they first run, as
    making it for all ops would double the time an import takes."""
    op.node_class = _node_class(op)
    call: Any
    if op.variadic:
        call = variadic_call(op)
    else:
        namespace = _namespace(op)
        exec(_FIRST_CALL, namespace)
        call = namespace["call"]
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(call, attribute, getattr(op.function, attribute))
    call.__wrapped__ = op.function
    call.op = op
    op.call = call


def code_text(op: Op) -> str:
    """What ``op`` is compiled to, for reading."""
    texts = [] if op.variadic else [_call_text(op)]
    return "\n".join([*texts, _backward_text(op)] if op.edges else texts)


def _namespace(op: Op) -> dict[str, Any]:
    """The globals of an op's code: what all ops share, and what belongs to this one."""
    rules = {f"rule_{edge}": rule.function for edge, rule in op.rules.items()}
    defaults = {f"default_{k}": v for k, v in op.attributes.items() if v is not REQUIRED}
    namespace = dict(NAMESPACE, op=op, kernel=op.kernel, Node=op.node_class, **rules, **defaults)
    if op.joint:
        namespace["joint"] = op.joint.function
    namespace["first_call"] = _first_call
    return namespace


def _first_call(op: Op) -> Any:
    """Put the real code in place of the one that led here; the function stays the same."""
    namespace = _namespace(op)
    exec(_code(_call_text(op), "call"), namespace)
    made, call = namespace["call"], op.call
    call.__globals__.update(namespace, call=call)
    call.__defaults__, call.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    call.__code__ = made.__code__
    return call


def _first_backward(node: Any, g: Any, keep: bool) -> Any:
    """The ``backward`` of every node class until it first runs."""
    op = node.op
    namespace = _namespace(op)
    exec(_code(_backward_text(op), "backward"), namespace)
    op.node_class.backward = namespace["backward"]
    return node.backward(g, keep)


def _code(text: str, name: str) -> CodeType:
    code = _compiled.get(text)
    if code is None:
        file = f"<op {name} {len(_compiled)}>"  # many ops share it, so it has no op's name
        code = _compiled[text] = compile(text, file, "exec")
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return code


def _kind(op: Op) -> int:
    several = len(op.differentiable_outputs) > 1 or op.view == "each" or bool(op.variadic)
    if several or len(op.edges) > 2:
        return GENERAL
    return TWO_EDGES if len(op.edges) == 2 else ONE_EDGE


# What Node declares for those of its subclasses that have it in a slot.
_OURS: Final = frozenset({"all_edges", "i1", "output_count", "to"})


def _node_class(op: Op) -> type[Node]:
    kind = _kind(op)
    slots = [*op.saved, *op.saved_plain, *(f"{name}_version" for name in op.saved)]
    if kind == GENERAL:
        slots.append("all_edges")
    elif kind == TWO_EDGES:
        slots.append("i1")
    if _reduces(op):
        slots.append("to")
    if _materializes(op):
        slots.append("output_shapes")
        slots.append("output_count")
    clash = sorted(set(slots).intersection(dir(Node)) - _OURS)
    if clash:
        raise TypeError(f"{op.name}: nodes already have {', '.join(clash)}; rename the input")
    body = {
        "__slots__": tuple(slots),
        "kind": kind,
        "op": op,
        "__module__": __name__,
        "backward": _first_backward,
        **saved_attributes(op),
    }
    return type(op.node_name, (SavedNode,), body)


def _reduces(op: Op) -> bool:
    """Whether a gradient may have to be summed or cast to its input; not with one input, which
    has the result's shape, and its dtype if it can require a gradient at all."""
    return bool(op.broadcasts or op.variadic) or (op.pointwise and len(op.values) > 1)


def _materializes(op: Op) -> bool:
    return len(op.differentiable_outputs) > 1 or op.view == "each"


def _call_text(op: Op) -> str:
    lines = [*_signature(op), *_type_tests(op)]
    lines += _compute_pointwise(op) if op.pointwise else _compute(op)
    lines += ["mode = current_mode()"]
    if op.edges:
        lines += _attach(op)
    else:
        lines += [f"{t}.edge = None" for t in _boxes(op)] + ["node = None"]
    boxes = ", ".join(_boxes(op, op.visible_outputs))
    values, attributes = _tuple(op.values), _dictionary(op)
    outputs = "t" if op.view == "each" else f"({boxes},)"
    lines += [
        "if mode is not None and mode.tracer is not None:",
        f"    mode.tracer.op(op.public_name, {values}, {attributes}, {outputs}, node)",
        "return t" if op.view == "each" else f"return {boxes}",
    ]
    return _indented(lines)


def _indented(lines: list[str]) -> str:
    head, *body = lines
    return "\n".join([head, *(f"    {line}" for line in body)]) + "\n"


def _signature(op: Op) -> list[str]:
    values = [f"{v}=None" if v in op.optional else v for v in op.values]
    attributes = [
        k if default is REQUIRED else f"{k}=default_{k}" for k, default in op.attributes.items()
    ]
    star = ["*"] if op.pointwise and attributes else []
    return [f"def call({', '.join([*values, *star, *attributes])}):"]


def _type_tests(op: Op) -> list[str]:
    tests = [
        f"type({v}) is not Tensor" + (f" and {v} is not None" if v in op.optional else "")
        for v in op.values
    ]
    return [
        f"if {' or '.join(tests)}:",
        f"    return slow(op, {_tuple(op.values)}, {_dictionary(op)})",
    ]


def _tuple(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)},)"


def _dictionary(op: Op) -> str:
    return "{" + ", ".join(f"{k!r}: {k}" for k in op.attributes) + "}"


def _boxes(op: Op, outputs: tuple[str, ...] | None = None) -> list[str]:
    """The variables that hold the tensors of all outputs, or of some."""
    if len(op.outputs) == 1:
        return ["t"]
    return [f"t_{name}" for name in (op.outputs if outputs is None else outputs)]


def _compute_pointwise(op: Op) -> list[str]:
    first, *others = op.values
    plain = [v for v in others if v not in op.keeps_dtype]
    # a number, or another 0-d constant, changes no shape and gets no gradient
    same = [
        f"(shape is {v}._shape or shape == {v}._shape or not {v}._shape and {v}.edge is None)"
        for v in others
    ]
    same += (
        [f"{first}.dtype is {v}.dtype" for v in plain]
        if first not in op.keeps_dtype
        else [f"{plain[0]}.dtype is {v}.dtype" for v in plain[1:]]
    )
    typed = first if first not in op.keeps_dtype else plain[0]
    if op.result == "float":
        same.append(f"{typed}.dtype.is_floating_point")
    arrays = ", ".join([f"{v}.array" for v in op.values] + [f"{k}={k}" for k in op.attributes])
    dtype = "bool_" if op.result == "bool" else f"{typed}.dtype"
    fast = [f"r = kernel({arrays})", f"dtype = {dtype}", "to = None"]
    slow = f"r, shape, dtype, to = mixed(op, {_tuple(op.values)}, {_dictionary(op)})"
    lines = [f"shape = {first}._shape"]
    if same:
        lines += [f"if {' and '.join(same)}:", *(f"    {line}" for line in fast)]
        lines += ["else:", f"    {slow}"]
    else:
        lines += fast
    lines += ["if type(r) is not ndarray: r = asarray(r)"]  # 0-d results are NumPy scalars
    return [
        *lines,
        "t = Tensor()",
        "t.array = r; t._shape = shape; t.dtype = dtype",
        "t.version = None",
    ]


def _compute(op: Op) -> list[str]:
    arrays = [
        f"None if {v} is None else {v}.array" if v in op.optional else f"{v}.array"
        for v in op.values
    ]
    arguments = ", ".join([*arrays, *(f"{k}={k}" for k in op.attributes)])
    lines = _run_kernel(op, f"r = kernel({arguments})")
    if op.view == "each":
        return [*lines, f"t = tuple([view({op.values[0]}, e, op, {_dictionary(op)}) for e in r])"]
    if op.view:
        return [*lines, f"t = view({op.values[0]}, r, op, {_dictionary(op)})"]
    if len(op.outputs) == 1:
        return [*lines, "t = box(r)"]
    results = ", ".join(f"r_{name}" for name in op.outputs)
    lines = _run_kernel(op, f"{results} = kernel({arguments})")
    return lines + [f"t_{name} = box(r_{name})" for name in op.outputs]


def _run_kernel(op: Op, line: str) -> list[str]:
    """``line``, with PyTorch's error for a dimension that is not there."""
    if not any(name.startswith("dim") for name in op.attributes):
        return [line]
    return [f"try: {line}", "except AxisError as error: raise no_dimension(error) from None"]


def _attach(op: Op) -> list[str]:
    """Make the node, unless no input needs a gradient, and let the outputs point to it."""
    edges = op.edges
    lines = []
    for v in edges:
        none = f" if {v} is not None else None" if v in op.optional else ""
        lines.append(f"f_{v} = {v}.edge{none}")
    no_edge = " and ".join(f"f_{v} is None" for v in edges)
    lines.append(f"if {no_edge} or mode is not None and not mode.grad:")
    node = ["node = Node()"]
    kind = _kind(op)
    if kind == GENERAL:
        node.append(f"node.all_edges = ({', '.join(f'f_{v}' for v in edges)},)")
    else:
        node.append("; ".join(f"node.i{i} = f_{v}" for i, v in enumerate(edges)))
    first = "t[0]" if op.view == "each" else _boxes(op)[0]
    node.append("node.sequence_nr = next_sequence_nr(); node.hooks = None")
    node.append(f"node.output_shape = {first}._shape; node.output_dtype = {first}.dtype")
    if op.pointwise and _reduces(op):
        node.append("node.to = to")
    elif op.broadcasts:
        r = "r" if len(op.outputs) == 1 else f"r_{op.outputs[0]}"
        node.append(f"node.to = reductions(op, {_tuple(op.values)}, {r})")
    node += _save(op)
    node.append("if mode is not None: node_made(node, mode)")
    if op.view == "each":
        off = ["for e in t: e.edge = None"]
        node += [
            "node.output_shapes = [e._shape for e in t]; node.output_count = len(t)",
            "for i, e in enumerate(t): e.edge = Port(node, i)",
        ]
    else:
        off = [f"{t}.edge = None" for t in _boxes(op)]
        node += _point_outputs(op)
    lines += [f"    {line}" for line in [*off, "node = None"]] + ["else:"]
    return lines + [f"    {line}" for line in node]


def _point_outputs(op: Op) -> list[str]:
    lines = []
    named = dict(zip(op.outputs, _boxes(op), strict=True))
    for name in op.nondiff:
        lines.append(f"{named[name]}.edge = None")
    differentiable = op.differentiable_outputs
    if len(differentiable) == 1:
        return [*lines, f"{named[differentiable[0]]}.edge = node"]
    shapes = ", ".join(f"{named[name]}._shape" for name in differentiable)
    lines.append(f"node.output_shapes = ({shapes},); node.output_count = {len(differentiable)}")
    return lines + [
        f"{named[name]}.edge = Port(node, {nr})" for nr, name in enumerate(differentiable)
    ]


def _save(op: Op) -> list[str]:
    """Keep what the rules of the inputs that need a gradient name."""
    lines = []
    for name, users in op.saved.items():
        wanted = " or ".join(f"f_{edge} is not None" for edge in users)
        if name in op.outputs:
            box = dict(zip(op.outputs, _boxes(op), strict=True))[name]
            # the array, not the tensor: the result points to this node
            keep = f"node.{name} = {box}.array; node.{name}_version = {box}.version = [0]"
        else:
            version = f"version = {name}.version"
            if name in op.optional:
                version = f"version = None if {name} is None else {name}.version"
            keep = (
                f"node.{name} = {name}; {version}; "
                f"node.{name}_version = 0 if version is None else version[0]"
            )
        if len(users) == len(op.edges):
            lines.append(keep)
        else:
            lines += [f"if {wanted}: {keep}", f"else: node.{name} = NOT_SAVED"]
    for name in op.saved_plain:
        value = name
        if name not in op.attributes:
            owner = name.removesuffix("_shape")
            value = (
                f"None if {owner} is None else {owner}._shape"
                if owner in op.optional
                else (f"{owner}._shape")
            )
        lines.append(f"node.{name} = {value}")
    return lines


def _backward_text(op: Op) -> str:
    kind = _kind(op)
    edge = {v: f"node.i{i}" for i, v in enumerate(op.edges)}
    lines = ["def backward(node, g, keep):"]
    if kind == GENERAL and not op.variadic:
        edge = {v: f"e_{v}" for v in op.edges}
        lines.append(f"{', '.join(edge.values())}, = node.all_edges")
    if _materializes(op):
        lines.append("g = materialize(node, g)")
    if op.joint:
        lines += _fetch(op, op.joint.names)
        needs = ", ".join(f"{e} is not None" for e in edge.values())
        arguments = _arguments(op, op.joint.names).replace("<needs>", f"({needs},)")
        lines.append(f"gradients = joint({arguments})")
        result = "gradients[0]" if kind == ONE_EDGE else "gradients"
    else:
        for v in op.edges:
            names = op.rules[v].names
            compute = [*_fetch(op, names), f"g_{v} = rule_{v}({_arguments(op, names)})"]
            if len(op.edges) == 1:
                lines += compute
            else:
                lines += [f"if {edge[v]} is None: g_{v} = None", "else:"]
                lines += [f"    {line}" for line in compute]
        result = ", ".join(f"g_{v}" for v in op.edges)
        if len(op.edges) == 1 and kind == GENERAL and not op.variadic:
            result = f"({result},)"
    if op.saved:
        freed = " = ".join(f"node.{name}" for name in op.saved)
        lines.append(f"if not keep: {freed} = FREED")
    return _indented([*lines, f"return {result}"])


def _fetch(op: Op, names: tuple[str, ...]) -> list[str]:
    """Read saved values back, with the errors for freed and changed ones."""
    lines = []
    for name in names:
        if name not in op.saved:
            continue
        lines.append(f"{name} = node.{name}")
        if name in op.outputs:
            lines.append(f"if type({name}) is not ndarray: {name} = result_array(node, {name})")
        else:
            lines.append(f"if {name} is FREED: raise freed(node)")
        if name in op.outputs:
            test = f"node.{name}_version[0]"
        elif name in op.optional:
            lines.append(f"version = None if {name} is None else {name}.version")
            test = f"version is not None and version[0] != node.{name}_version"
        else:
            lines.append(f"version = {name}.version")
            test = f"version is not None and version[0] != node.{name}_version"
        lines.append(f"if {test}: raise changed(node, {name!r})")
    return lines


def _arguments(op: Op, names: tuple[str, ...]) -> str:
    arguments = []
    for name in names:
        if name == "g":
            arguments.append("g")
        elif name == "needs":
            arguments.append("<needs>")
        elif name in op.outputs:
            arguments.append(name)
        elif name in op.optional:
            arguments.append(f"None if {name} is None else {name}.array")
        elif name in op.values and name != op.variadic:
            arguments.append(f"{name}.array")
        else:
            arguments.append(f"node.{name}")
    return ", ".join(arguments)
