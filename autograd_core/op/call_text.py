"""The text of an op's ``call``: compute, box the result, attach it to the graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autograd_core.autograd.node import GENERAL, TWO_EDGES
from autograd_core.op.record import REQUIRED, Op


def call_text(op: Op) -> str:
    """Return the text of ``call(inputs, attributes)``."""
    lines = [*_signature(op), *_type_tests(op)]
    lines += [
        "grad_mode = current_mode()",
        "if grad_mode is not None and grad_mode.profiler is not None: grad_mode.profiler.begin()",
    ]
    lines += _compute_pointwise(op) if op.pointwise else _compute(op)
    if op.edges:
        lines += _attach(op)
    else:
        lines += [f"{t}.edge = None" for t in _boxes(op)] + ["node = None"]
    boxes = ", ".join(_boxes(op, op.visible_outputs))
    values, attributes = names_tuple(op.values), _dictionary(op)
    outputs = "t" if op.view == "each" else f"({boxes},)"
    lines += [
        "if grad_mode is not None:",
        f"    results_made(grad_mode, op.public_name, {values}, {attributes}, {outputs}, node)",
        "return t" if op.view == "each" else f"return {boxes}",
    ]
    return indented(lines)


def _signature(op: Op) -> list[str]:
    values = [f"{v}=None" if v in op.optional else v for v in op.values]
    attributes = [
        k if default is REQUIRED else f"{k}=default_{k}" for k, default in op.attributes.items()
    ]
    if op.pointwise and attributes[op.placed :]:
        attributes.insert(op.placed, "*")
    return [f"def call({', '.join([*values, *attributes])}):"]


def _type_tests(op: Op) -> list[str]:
    tests = [
        f"type({v}) is not Tensor" + (f" and {v} is not None" if v in op.optional else "")
        for v in op.values
    ]
    lines = [f"if {' or '.join(tests)}:"]
    if not op.optional:  # inside a rule
        first, *others = op.values
        arrays = " and ".join(
            [f"type({first}) is ndarray", *(f"type({v}) in PLAIN" for v in others)]
        )
        lines.append(f"    if {arrays}: return kernel({_arguments(op, op.values)})")
    slow = f"return slow(op, {names_tuple(op.values)}, {_dictionary(op)})"
    if op.pointwise and len(op.values) == 2 and not op.keeps and op.values[1] in op.scalars:
        # a tensor and a number, whose 0-d tensor is kept: at once, for slow() takes 5 us
        first, second = op.values
        number = f"type({first}) is Tensor and (type({second}) is float or type({second}) is int)"
        return [
            *lines,
            f"    if not ({number} and {first}.dtype.is_floating_point): {slow}",
            f"    kept = numbers.get(({first}.dtype, type({second}), {second}))",
            f"    {second} = wrap_number({second}, {first}.dtype) if kept is None else kept",
        ]
    return [*lines, f"    {slow}"]


def _arguments(op: Op, values: Iterable[str]) -> str:
    return ", ".join([*values, *(f"{k}={k}" for k in op.attributes)])


def _dictionary(op: Op) -> str:
    return "{" + ", ".join(f"{k!r}: {k}" for k in op.attributes) + "}"


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
    same += (
        [f"{first}.dtype is {v}.dtype" for v in plain]
        if first not in op.keeps
        else [f"{plain[0]}.dtype is {v}.dtype" for v in plain[1:]]
    )
    typed = first if first not in op.keeps else plain[0]
    if op.result_dtype == "float" or op.floats:
        same.append(f"{typed}.dtype.is_floating_point")
    if op.refuses_bools:
        same.append(f"{typed}.dtype is not bool_")
    arrays = _arguments(op, [f"{v}.array" for v in op.values])
    dtype = "bool_" if op.result_dtype == "bool" else f"{typed}.dtype"
    refuse = "except TypeError as error: raise refused(op, error, " + f"{first}.dtype) from None"
    fast = [f"try: r = kernel({arrays})", refuse, f"dtype = {dtype}", "to = None"]
    slow = f"r, shape, dtype, to = mixed(op, {names_tuple(op.values)}, {_dictionary(op)})"
    lines = [f"shape = {first}._shape"]
    if same:
        lines += [f"if {' and '.join(same)}:", *(f"    {line}" for line in fast)]
        kinds = [test for test in same if ".dtype" in test]
        if others and kinds:  # only shapes differ: mixed() would take 8 us to find that out
            lines += [f"elif {' and '.join(kinds)}:", f"    try: r = kernel({arrays})"]
            lines += [f"    except (TypeError, ValueError): {slow}"]
            lines += [f"    else: shape = r.shape; dtype = {dtype}; to = {_broadcast(op)}"]
        lines += ["else:", f"    {slow}"]
    else:
        lines += fast
    lines += ["if type(r) is not ndarray: r = asarray(r)"]  # 0-d results are NumPy scalars
    return [
        *lines,
        *_lay_out(op, "r"),
        "t = blank()",
        "t.array = r; t._shape = shape; t.dtype = dtype",
        "t.version = None",
    ]


def _broadcast(op: Op) -> str:
    """Return what the gradient of each edge is to be reduced to, where shapes differ."""
    ways = [f"None if {v}._shape == shape else ({v}._shape, {v}.dtype)" for v in op.edges]
    return f"({', '.join(ways)},)" if ways else "None"


def _compute(op: Op) -> list[str]:
    arrays = [
        f"None if {v} is None else {v}.array" if v in op.optional else f"{v}.array"
        for v in op.values
    ]
    arguments = _arguments(op, arrays)
    lines = _run_kernel(op, f"r = kernel({arguments})")
    if op.view == "each":
        return [*lines, f"t = tuple([view({op.values[0]}, e, op, {_dictionary(op)}) for e in r])"]
    if op.view:
        return [*lines, f"t = view({op.values[0]}, r, op, {_dictionary(op)})"]
    if len(op.outputs) == 1:
        return [*lines, *_lay_out(op, "r"), "t = box(r)"]
    results = ", ".join(f"r_{name}" for name in op.outputs)
    lines = _run_kernel(op, f"{results} = kernel({arguments})")
    lines += [line for name in op.outputs for line in _lay_out(op, f"r_{name}")]
    return lines + [f"t_{name} = box(r_{name})" for name in op.outputs]


def _lay_out(op: Op, result: str) -> list[str]:
    """Return what lays out a result as PyTorch does, where NumPy does otherwise."""
    like = f"{op.values[0]}.array"
    return {
        "": [],
        "contiguous": [
            f"if {result}.ndim > 1 and not {result}.flags.c_contiguous: {result} = {result}.copy()"
        ],
        "preserved": [
            f"if not {like}.flags.c_contiguous: {result} = laid_out_like({like}, {result})"
        ],
        "columns": [f"{result} = columns({result})"],
    }[op.layout]


def _run_kernel(op: Op, line: str) -> list[str]:
    """Return ``line``, with PyTorch's errors for shapes that do not fit, and for dimensions that
    are not there, or there twice."""
    errors = "ValueError"
    if any(name.startswith("dim") for name in op.attributes):
        errors = "(ValueError, IndexError)"
    refuse = f"raise bad_dimension(error, op, {op.values[0]}, {_dictionary(op)}) from None"
    return [f"try: {line}", f"except {errors} as error: {refuse}"]


def _attach(op: Op) -> list[str]:
    """Make the node, unless no input needs a gradient, and let the outputs point to it."""
    edges = op.edges
    lines = []
    for v in edges:
        none = f" if {v} is not None else None" if v in op.optional else ""
        lines.append(f"f_{v} = {v}.edge{none}")
    no_edge = " and ".join(f"f_{v} is None" for v in edges)
    if op.view == "each":  # of no slices
        no_edge = f"not t or {no_edge}"
    lines.append(f"if {no_edge} or grad_mode is not None and not grad_mode.builds:")
    node = ["node = Node()"]
    if reduces_rarely(op):
        node = ["if to is None: node = Node()", "else: node = Reducing(); node.to = to"]
    kind = op.kind
    if kind == GENERAL:
        node.append(f"node.all_edges = ({', '.join(f'f_{v}' for v in edges)},)")
    else:
        node.append("; ".join(f"node.i{i} = f_{v}" for i, v in enumerate(edges)))
    first = "t[0]" if op.view == "each" else _boxes(op)[0]
    node.append("node.sequence_nr = next_sequence_nr(); node.notes = None")
    node.append(f"node.output_shape = {first}._shape; node.output_dtype = {first}.dtype")
    if reduces_rarely(op):
        pass
    elif op.pointwise and op.reduces:
        node.append("node.to = to")
    elif op.chooses_dtype:
        (v,) = edges
        node.append(f"node.to = None if dtype is None else (({v}._shape, {v}.dtype),)")
    elif op.broadcasts:
        node.append(f"node.to = ({', '.join(_reduction(op, v) for v in edges)},)")
    elif op.reduces:
        to = ", ".join(_reduction(op, v, op.edges) for v in edges)
        node.append(f"node.to = None if {_uniform(op)} else ({to},)")
    node += _save(op)
    node.append("if grad_mode is not None: node_made(node, grad_mode)")
    if op.view == "each":
        off = [f"for e in t: e.edge = {_edge_outside(op, 'e')}"]
        node += [
            "node.output_shapes = [e._shape for e in t]; node.output_count = len(t)",
            "for i, e in enumerate(t): e.edge = Port(node, i)",
        ]
    else:
        off = [f"{t}.edge = {_edge_outside(op, t)}" for t in _boxes(op)]
        node += _point_outputs(op)
    lines += [f"    {line}" for line in [*off, "node = None"]] + ["else:"]
    return lines + [f"    {line}" for line in node]


def reduces_rarely(op: Op) -> bool:
    """Return whether nodes whose gradients must be reduced have a class of their own."""
    return op.pointwise and op.reduces and op.kind == TWO_EDGES


def _edge_outside(op: Op, t: str) -> str:
    """Return the edge of ``t``, a result, where no graph is built."""
    return f"None if f_{op.edges[0]} is None else Nowhere()" if op.view else "None"


def _uniform(op: Op) -> str:
    """Return whether all differentiable inputs have one dtype."""
    first, *others = op.edges
    absent = {v: f"{v} is None or " if v in op.optional else "" for v in others}
    return " and ".join(f"({absent[v]}{v}.dtype is {first}.dtype)" for v in others)


def _reduction(op: Op, value: str, reduced: Collection[str] | None = None) -> str:
    """Return what to reduce the gradient of an input to, if it is one that needs it: of an op that
    is not pointwise, yet broadcasts it."""
    if value not in (op.broadcasts if reduced is None else reduced):
        return "None"
    to = f"({value}._shape, {value}.dtype)"
    return f"None if {value} is None else {to}" if value in op.optional else to


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
        lines.append(f"node.{name} = {f'watched({value})' if name in op.held else value}")
    return lines


def indented(lines: list[str]) -> str:
    """Return a definition: its head, and its body one step in."""
    head, *body = lines
    return "\n".join([head, *(f"    {line}" for line in body)]) + "\n"


def names_tuple(names: tuple[str, ...]) -> str:
    """Return a tuple of these names."""
    return f"({', '.join(names)},)"
