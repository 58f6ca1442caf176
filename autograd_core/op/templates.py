"""The code of an op: the templates of its ``call`` and its ``backward``, and what fills them.

A line that is a name, ``$compute``, stands for lines; a name within a line for text.  What comes
out shows ``gradstep ops NAME --code``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from autograd_core.autograd.node import GENERAL, ONE_EDGE, TWO_EDGES
from autograd_core.op.literals import inlined
from autograd_core.op.record import REQUIRED, Op

CALL: Final = """\
def call($signature):
    if $other_types:
        $types
    grad_mode = current_mode()
    if grad_mode is not None and grad_mode.profiler is not None: grad_mode.profiler.begin()
    $compute
    $attach
    if grad_mode is not None:
        results_made(grad_mode, op.public_name, $values, $attributes, $outputs, node)
    return $result
"""
# a tensor and a number, whose 0-d tensor is kept: at once, for slow() takes 5 us
WITH_NUMBER: Final = """\
if not ($number and $first.dtype.is_floating_point): $slow
kept = numbers.get(($first.dtype, type($second), $second))
$second = wrap_number($second, $first.dtype) if kept is None else kept
"""
FAST: Final = """\
try: r = kernel($arrays)
except TypeError as error: raise refused(op, error, $first.dtype) from None
dtype = $dtype
to = None
"""
# only shapes differ: mixed() would take 8 us to find that out
BROADCAST: Final = """\
elif $kinds:
    try: r = kernel($arrays)
    except (TypeError, ValueError): $slow
    else: shape = r.shape; dtype = $dtype; to = $broadcast
"""
POINTWISE: Final = """\
shape = $first._shape
$chosen
if type(r) is not ndarray: r = asarray(r)
$layout
t = blank()
t.array = r; t._shape = shape; t.dtype = dtype
t.version = None
"""
KERNEL: Final = """\
try: $results = kernel($arguments)
except $errors as error: raise bad_dimension(error, op, $first, $attributes) from None
"""
ATTACH: Final = """\
$inputs
if $none or grad_mode is not None and not grad_mode.builds:
    $outside
    node = None
else:
    $node
    $edges
    node.sequence_nr = next_sequence_nr(); node.notes = None
    node.output_shape = $first._shape; node.output_dtype = $first.dtype
    $reduced
    $saved
    if grad_mode is not None: node_made(node, grad_mode)
    $inside
"""
PIECES: Final = """\
node.output_shapes = [e._shape for e in t]; node.output_count = len(t)
for i, e in enumerate(t): e.edge = Port(node, i)
"""
BACKWARD: Final = """\
def backward(node, g, keep):
    $begin
    $rules
    $free
    return $result
"""
# for what is no array, but a scalar of NumPy, numbers are the fastest
ON_ARRAYS: Final = """\
if type(g) is ndarray and node.output_dtype is float32:
    $inline
else: $call
"""


_NAME: Final = re.compile(r"\$(\w+)")


def _filled(template: str, **parts: Any) -> list[str]:
    """Return the lines of a template; no line for a name that stands for none."""
    lines: list[str] = []
    for line in template.splitlines():
        text = line.lstrip()
        part = parts.get(text[1:]) if text.startswith("$") else None
        if part is None:
            lines.append(_NAME.sub(lambda name: parts[name[1]], line) if "$" in line else line)
        else:
            indent = line[: len(line) - len(text)]
            lines += [indent + row for row in ([part] if isinstance(part, str) else part)]
    return lines


def call_text(op: Op) -> str:
    """Return the text of ``call(inputs, attributes)``."""
    tests = [
        f"type({v}) is not Tensor" + (f" and {v} is not None" if v in op.optional else "")
        for v in op.values
    ]
    visible = ", ".join(_boxes(op, op.visible_outputs))
    attach = _attach(op) if op.edges else [f"{t}.edge = None" for t in _boxes(op)] + ["node = None"]
    lines = _filled(
        CALL,
        signature=_signature(op),
        other_types=" or ".join(tests),
        types=_other_types(op),
        compute=_compute_pointwise(op) if op.pointwise else _compute(op),
        attach=attach,
        values=_tuple(op.values),
        attributes=_dictionary(op),
        outputs="t" if op.view == "each" else f"({visible},)",
        result="t" if op.view == "each" else visible,
    )
    return "\n".join(lines) + "\n"


def _signature(op: Op) -> str:
    values = [f"{v}=None" if v in op.optional else v for v in op.values]
    attributes = [
        k if default is REQUIRED else f"{k}=default_{k}" for k, default in op.attributes.items()
    ]
    if op.pointwise and attributes[op.placed :]:
        attributes.insert(op.placed, "*")
    return ", ".join([*values, *attributes])


def _other_types(op: Op) -> list[str]:
    """Return what happens to inputs that are not all tensors."""
    lines = []
    first, *others = op.values
    if not op.optional:  # inside a rule
        arrays = [f"type({first}) is ndarray", *(f"type({v}) in PLAIN" for v in others)]
        lines = [f"if {' and '.join(arrays)}: return kernel({_arguments(op, op.values)})"]
    slow = f"return slow(op, {_tuple(op.values)}, {_dictionary(op)})"
    if not (op.pointwise and len(others) == 1 and not op.keeps and others[0] in op.scalars):
        return [*lines, slow]
    (second,) = others
    number = f"type({first}) is Tensor and (type({second}) is float or type({second}) is int)"
    return lines + _filled(WITH_NUMBER, number=number, first=first, second=second, slow=slow)


def _arguments(op: Op, values: Iterable[str]) -> str:
    return ", ".join([*values, *(f"{k}={k}" for k in op.attributes)])


def _dictionary(op: Op) -> str:
    return "{" + ", ".join(f"{k!r}: {k}" for k in op.attributes) + "}"


def _tuple(names: Iterable[str]) -> str:
    return f"({', '.join(names)},)"


def _boxes(op: Op, outputs: tuple[str, ...] | None = None) -> list[str]:
    """Return the variables that hold the tensors of all outputs, or of some."""
    if len(op.outputs) == 1:
        return ["t"]
    return [f"t_{name}" for name in (op.outputs if outputs is None else outputs)]


def _compute_pointwise(op: Op) -> list[str]:
    first, *others = op.values
    plain = [v for v in others if v not in op.keeps]
    # a number, or another 0-d constant, changes no shape and gets no gradient
    same = [
        f"(shape is {v}._shape or shape == {v}._shape or not {v}._shape and {v}.edge is None)"
        for v in others
    ]
    typed, rest = (first, plain) if first not in op.keeps else (plain[0], plain[1:])
    same += [f"{typed}.dtype is {v}.dtype" for v in rest]
    if op.result_dtype == "float" or op.floats:
        same.append(f"{typed}.dtype.is_floating_point")
    if op.refuses_bools:
        same.append(f"{typed}.dtype is not bool_")
    parts = {
        "first": first,
        "arrays": _arguments(op, [f"{v}.array" for v in op.values]),
        "dtype": "bool_" if op.result_dtype == "bool" else f"{typed}.dtype",
        "slow": f"r, shape, dtype, to = mixed(op, {_tuple(op.values)}, {_dictionary(op)})",
        "broadcast": _broadcast(op),
        "kinds": " and ".join(test for test in same if ".dtype" in test),
    }
    chosen = _filled(FAST, **parts)
    if same:
        chosen = [f"if {' and '.join(same)}:", *(f"    {line}" for line in chosen)]
        if others and parts["kinds"]:
            chosen += _filled(BROADCAST, **parts)
        chosen += ["else:", f"    {parts['slow']}"]
    return _filled(POINTWISE, first=first, chosen=chosen, layout=_lay_out(op, "r"))


def _broadcast(op: Op) -> str:
    """Return what the gradient of each edge is to be reduced to, where shapes differ."""
    ways = [f"None if {v}._shape == shape else ({v}._shape, {v}.dtype)" for v in op.edges]
    return _tuple(ways) if ways else "None"


def _compute(op: Op) -> list[str]:
    """Run the kernel, with PyTorch's errors for shapes that do not fit, and for dimensions that are
    not there, or there twice."""
    arrays = [
        f"None if {v} is None else {v}.array" if v in op.optional else f"{v}.array"
        for v in op.values
    ]
    several = len(op.outputs) > 1
    dims = any(name.startswith("dim") for name in op.attributes)
    lines = _filled(
        KERNEL,
        results=", ".join(f"r_{name}" for name in op.outputs) if several else "r",
        arguments=_arguments(op, arrays),
        errors="(ValueError, IndexError)" if dims else "ValueError",
        first=op.values[0],
        attributes=_dictionary(op),
    )
    if op.view == "each":
        return [*lines, f"t = tuple([view({op.values[0]}, e, op, {_dictionary(op)}) for e in r])"]
    if op.view:
        return [*lines, f"t = view({op.values[0]}, r, op, {_dictionary(op)})"]
    if not several:
        return [*lines, *_lay_out(op, "r"), "t = box(r)"]
    lines += [line for name in op.outputs for line in _lay_out(op, f"r_{name}")]
    return lines + [f"t_{name} = box(r_{name})" for name in op.outputs]


def _lay_out(op: Op, r: str) -> list[str]:
    """Return what lays out a result as PyTorch does, where NumPy does otherwise."""
    like = f"{op.values[0]}.array"
    return {
        "": [],
        "contiguous": [f"if {r}.ndim > 1 and not {r}.flags.c_contiguous: {r} = {r}.copy()"],
        "preserved": [f"if not {like}.flags.c_contiguous: {r} = laid_out_like({like}, {r})"],
        "columns": [f"{r} = columns({r})"],
    }[op.layout]


def _attach(op: Op) -> list[str]:
    """Make the node, unless no input needs a gradient, and let the outputs point to it."""
    edges, boxes = op.edges, _boxes(op)
    none = " and ".join(f"f_{v} is None" for v in edges)
    outside = [f"{t}.edge = {_edge_outside(op, t)}" for t in boxes]
    if op.view == "each":  # of no slices
        none, boxes = f"not t or {none}", ["t[0]"]
        outside = [f"for e in t: e.edge = {_edge_outside(op, 'e')}"]
    node = ["node = Node()"]
    if reduces_rarely(op):
        node = ["if to is None: node = Node()", "else: node = Reducing(); node.to = to"]
    inputs = [
        f"{v}.edge if {v} is not None else None" if v in op.optional else f"{v}.edge" for v in edges
    ]
    slots = "; ".join(f"node.i{i} = f_{v}" for i, v in enumerate(edges))
    if op.kind == GENERAL:
        slots = f"node.all_edges = {_tuple(f'f_{v}' for v in edges)}"
    return _filled(
        ATTACH,
        inputs=[f"f_{v} = {edge}" for v, edge in zip(edges, inputs, strict=True)],
        none=none,
        outside=outside,
        node=node,
        edges=slots,
        first=boxes[0],
        reduced=_reduced(op),
        saved=_save(op),
        inside=_filled(PIECES) if op.view == "each" else _point_outputs(op),
    )


def reduces_rarely(op: Op) -> bool:
    """Return whether nodes whose gradients must be reduced have a class of their own."""
    return op.pointwise and op.reduces and op.kind == TWO_EDGES


def _edge_outside(op: Op, t: str) -> str:
    """Return the edge of ``t``, a result, where no graph is built."""
    return f"None if f_{op.edges[0]} is None else Nowhere()" if op.view else "None"


def _reduced(op: Op) -> list[str]:
    """Return what tells the node what its gradients must be reduced to."""
    first, *others = op.edges
    if reduces_rarely(op):
        return []
    if op.pointwise and op.reduces:
        return ["node.to = to"]
    if op.chooses_dtype:
        return [f"node.to = None if dtype is None else (({first}._shape, {first}.dtype),)"]
    if op.broadcasts:
        return [f"node.to = {_tuple(_reduction(op, v, op.broadcasts) for v in op.edges)}"]
    if not op.reduces:
        return []
    absent = {v: f"{v} is None or " if v in op.optional else "" for v in others}
    uniform = " and ".join(f"({absent[v]}{v}.dtype is {first}.dtype)" for v in others)
    to = ", ".join(_reduction(op, v, op.edges) for v in op.edges)
    return [f"node.to = None if {uniform} else ({to},)"]


def _reduction(op: Op, value: str, reduced: Collection[str]) -> str:
    """Return what to reduce the gradient of an input to, if it is one that needs it."""
    if value not in reduced:
        return "None"
    to = f"({value}._shape, {value}.dtype)"
    return f"None if {value} is None else {to}" if value in op.optional else to


def _point_outputs(op: Op) -> list[str]:
    named = dict(zip(op.outputs, _boxes(op), strict=True))
    lines = [f"{named[name]}.edge = None" for name in op.nondiff]
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
    boxes = dict(zip(op.outputs, _boxes(op), strict=True))
    for name, users in op.saved.items():
        if name in op.outputs:  # the array, not the tensor: the result points to this node
            box = boxes[name]
            keep = f"node.{name} = {box}.array; node.{name}_version = {box}.version = [0]"
        else:
            keep = (
                f"node.{name} = {name}; {_version(op, name)}; "
                f"node.{name}_version = 0 if version is None else version[0]"
            )
        if len(users) == len(op.edges):
            lines.append(keep)
        else:
            wanted = " or ".join(f"f_{edge} is not None" for edge in users)
            lines += [f"if {wanted}: {keep}", f"else: node.{name} = NOT_SAVED"]
    for name in op.saved_plain:
        value = f"watched({name})" if name in op.held else name
        if name not in op.attributes:
            owner = name.removesuffix("_shape")
            value = f"{owner}._shape"
            if owner in op.optional:
                value = f"None if {owner} is None else {value}"
        lines.append(f"node.{name} = {value}")
    return lines


def _version(op: Op, name: str) -> str:
    none = f"None if {name} is None else " if name in op.optional else ""
    return f"version = {none}{name}.version"


def backward_text(op: Op) -> str:
    """Return the text of ``backward(node, g, keep)``: read saved values back, and run the rules."""
    begin = []
    edge = {v: f"node.i{i}" for i, v in enumerate(op.edges)}
    alone = op.kind == GENERAL and not op.variadic
    if alone:
        edge = {v: f"e_{v}" for v in op.edges}
        begin = [f"{', '.join(edge.values())}, = node.all_edges"]
    if op.materializes:
        begin.append("g = materialize(node, g)")
    rules: list[str] = []
    if op.joint:
        needs = ", ".join(f"{e} is not None" for e in edge.values())
        arguments = _read(op, op.joint.names).replace("<needs>", f"({needs},)")
        rules = [*_fetch(op, op.joint.names), f"gradients = joint({arguments})"]
        result = "gradients[0]" if op.kind == ONE_EDGE else "gradients"
    else:
        for v in op.edges:
            rule = op.rules[v]
            if rule.forwards_gradient:  # a call would cost 50 ns, as much as a loop of the engine
                rules.append(f"g_{v} = g")
                continue
            compute = [*_fetch(op, rule.names), *_apply(op, v)]
            if len(op.edges) > 1:
                compute = [f"if {edge[v]} is None: g_{v} = None", "else:",
                           *(f"    {line}" for line in compute)]  # fmt: skip
            rules += compute
        result = ", ".join(f"g_{v}" for v in op.edges)
        if len(op.edges) == 1 and alone:
            result = f"({result},)"
    freed = " = ".join(f"node.{name}" for name in (*op.saved, *op.held))
    free = [f"if not keep: {freed} = FREED"] if freed else []
    return "\n".join(_filled(BACKWARD, begin=begin, rules=rules, free=free, result=result)) + "\n"


def _apply(op: Op, edge: str) -> list[str]:
    rule = op.rules[edge]
    arguments = _read(op, rule.names)
    lines = [f"g_{edge} = rule_{edge}({arguments})"]
    if rule.spending is not None:
        spend = f"g_{edge} = spending_{edge}({arguments})"
        test = "if keep is None and g.size > LARGE and only_here(g)"
        return [f"{test}: {spend}", f"else: {lines[0]}"]
    if rule.on_arrays is not rule.function:
        return lines
    body = inlined(op, edge, arguments.split(", "))
    if body is not None:
        text, numbers = body
        inline = f"g_{edge} = {text}"
        lines = _filled(ON_ARRAYS, inline=inline, call=lines[0]) if numbers else [inline]
    if op.pointwise and "g" in rule.names and rule.takes_passes:
        lines[0] = f"{'el' if len(lines) > 1 else 'else: '}{lines[0]}"
        lines.insert(0, f"if g.size > LARGE: g_{edge} = rule_{edge}_in_blocks({arguments})")
    return lines


def _fetch(op: Op, names: tuple[str, ...]) -> list[str]:
    """Read saved values back, with the errors for freed and changed ones."""
    lines = []
    for name in names:
        if name in op.held:
            lines.append(f"{name} = held(node, {name!r})")
        if name not in op.saved:
            continue
        lines.append(f"{name} = node.{name}")
        test = f"node.{name}_version[0]"
        if name in op.outputs:
            lines.append(f"if type({name}) is not ndarray: {name} = result_array(node, {name})")
        else:
            lines += [f"if {name} is FREED: raise freed(node)", _version(op, name)]
            test = f"version is not None and version[0] != node.{name}_version"
        lines.append(f"if {test}: raise changed(node, {name!r})")
    return lines


def _read(op: Op, names: tuple[str, ...]) -> str:
    """Return the arguments of a rule, as they are on arrays."""
    arguments = []
    for name in names:
        if name == "needs":
            arguments.append("<needs>")
        elif name == "g" or name in op.outputs or name in op.held:
            arguments.append(name)
        elif name in op.optional:
            arguments.append(f"None if {name} is None else {name}.array")
        elif name in op.values and name != op.variadic:
            arguments.append(f"{name}.array")
        else:
            arguments.append(f"node.{name}")
    return ", ".join(arguments)
