"""The text of an op's ``backward``: read saved values back, and run the rules."""

from __future__ import annotations

from autograd_core.autograd.node import GENERAL, ONE_EDGE
from autograd_core.op.call_text import indented
from autograd_core.op.literals import inlined
from autograd_core.op.record import Op


def backward_text(op: Op) -> str:
    """Return the text of ``backward(node, g, keep)``."""
    kind = op.kind
    edge = {v: f"node.i{i}" for i, v in enumerate(op.edges)}
    lines = ["def backward(node, g, keep):"]
    if kind == GENERAL and not op.variadic:
        edge = {v: f"e_{v}" for v in op.edges}
        lines.append(f"{', '.join(edge.values())}, = node.all_edges")
    if op.materializes:
        lines.append("g = materialize(node, g)")
    if op.joint:
        lines += _fetch(op, op.joint.names)
        needs = ", ".join(f"{e} is not None" for e in edge.values())
        arguments = _arguments(op, op.joint.names).replace("<needs>", f"({needs},)")
        lines.append(f"gradients = joint({arguments})")
        result = "gradients[0]" if kind == ONE_EDGE else "gradients"
    else:
        for v in op.edges:
            rule = op.rules[v]
            if rule.forwards_gradient:  # a call would cost 50 ns, as much as a loop of the engine
                lines.append(f"g_{v} = g")
                continue
            compute = [*_fetch(op, rule.names), *_apply(op, v)]
            if len(op.edges) == 1:
                lines += compute
            else:
                lines += [f"if {edge[v]} is None: g_{v} = None", "else:"]
                lines += [f"    {line}" for line in compute]
        result = ", ".join(f"g_{v}" for v in op.edges)
        if len(op.edges) == 1 and kind == GENERAL and not op.variadic:
            result = f"({result},)"
    if op.saved or op.held:
        freed = " = ".join(f"node.{name}" for name in (*op.saved, *op.held))
        lines.append(f"if not keep: {freed} = FREED")
    return indented([*lines, f"return {result}"])


def _apply(op: Op, edge: str) -> list[str]:
    rule = op.rules[edge]
    arguments = _arguments(op, rule.names)
    lines = [f"g_{edge} = rule_{edge}({arguments})"]
    if rule.spending is not None:
        spend = f"g_{edge} = spending_{edge}({arguments})"
        return [
            f"if keep is None and g.size > LARGE and only_here(g): {spend}", f"else: {lines[0]}"
        ]  # fmt: skip
    if rule.on_arrays is not rule.function:
        return lines
    found = inlined(op, edge, arguments.split(", "))
    if found is not None:
        text, numbers = found
        inline = f"g_{edge} = {text}"
        if numbers:
            lines = [  # for what is no array, but a scalar of NumPy, numbers are the fastest
                "if type(g) is ndarray and node.output_dtype is float32:",
                f"    {inline}",
                f"else: {lines[0]}",
            ]
        else:
            lines = [inline]
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
        elif name in op.outputs or name in op.held:
            arguments.append(name)
        elif name in op.optional:
            arguments.append(f"None if {name} is None else {name}.array")
        elif name in op.values and name != op.variadic:
            arguments.append(f"{name}.array")
        else:
            arguments.append(f"node.{name}")
    return ", ".join(arguments)
