"""The texts in a box, at its right edge and below its title, and its role."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from gradstep.graph.addresses import step_number
from gradstep.graph.model import PARAMETER_KINDS, Graph, Group, Shape
from gradstep.graph.statistics import Statistics, format_bytes, format_number, format_shape
from gradstep.text import plural, printable
from gradstep_viz.picture import formatting
from gradstep_viz.picture.magnitude import ZERO_SIGN, Gradients, sign, sparkline

LONGEST_DETAIL = 46
LONGEST_GROUP_DETAIL = 72
LONGEST_NARROW = 30
"""In a box that is to be narrow."""
LEAST_FORMULA = 20
"""Before a formula is made shorter than this, the scope beside it is."""


def narrowed(text: str, scope: str) -> str:
    """Shorten the second line of a box for little room: to the sizes of its gradients, its scope,
    or its first parts.

    >>> narrowed("g, g @ weight, inputᵀ @ g · with t in fc1", "fc1"), narrowed("g · 0.5", "fc1")
    ('fc1', 'g · 0.5')
    >>> narrowed("BasicBlock · [2, 8, 16] → same · 9 ops", "layer1.0")
    'BasicBlock · [2, 8, 16] → same'
    """
    if len(text) <= LONGEST_NARROW:
        return text
    parts = text.split(" · ")
    starts = (" · ".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
    choices = [part for part in parts if part.startswith(("rms ", "weights rms "))]
    choices += [scope] if "@" in text or "(" in text else []
    fitting = (one for one in [*choices, *starts] if one and len(one) <= LONGEST_NARROW)
    if (known := next(fitting, "")) or not scope:
        return known or formatting.cut_formula(text, LONGEST_NARROW)
    return formatting.shorten(scope, LONGEST_NARROW)


def role(graph: Graph, id: int) -> str:
    """Choose the role that says how a box is painted, one of ``theme.BOX_ROLES``."""
    kind = graph.kinds[id]
    if kind in ("op", "group"):
        return "fwd" if graph.halves[id] == "forward" else "bwd"
    if kind in ("output", "seed"):
        return "out"
    return "const" if kind in ("constant", "frozen") else "leaf"


def right_text(
    graph: Graph, id: int, stats: Statistics | None, gradients: Gradients
) -> tuple[str, bool]:
    """Write the text at the right edge, and tell whether it is muted: a value, or the order ``#3``.

    A gradient is written on its line, so that an op of the backward half keeps its order
    there; a gradient in trouble stands before it.
    """
    order, group = graph.orders.get(id), graph.groups.get(id)
    if stats is not None and stats.trouble:
        turn = step_number(order) if order is not None and graph.kinds[id] == "op" else ""
        known = formatting.beside(formatting.value(stats), graph.others.get(id))
        return f"{known} {turn}".rstrip(), False
    if group is not None and group.instances > 1:
        return f"× {group.instances:,}", False
    if formatting.runs_backward(graph, id):
        if order is None:
            return "", True
        return f"{'from ' if graph.kinds[id] == 'group' else ''}{step_number(order)}", True
    if id in graph.undefined:
        return "undefined", True
    if stats is not None:
        step = gradients.step(stats) if graph.halves[id] == "backward" else 0
        known = formatting.beside(formatting.value_of(graph, id, stats), graph.others.get(id))
        return f"{known} {sign(step)}".rstrip(), False
    if gradients.awaits(graph, id):
        return formatting.NOT_YET, True
    return "", True


def shapes_through(graph: Graph) -> dict[int, str]:
    """Write what shape goes into each group of the forward half and comes out, as far as that is
    one: ``[8, 3, 32, 32] → [8, 10]``."""
    ways: tuple[dict[int, set[Shape | None]], ...] = ({}, {})
    if not any(graph.halves[id] == "forward" for id in graph.groups):
        return {}
    rows = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
    for edge, (kind, source, target) in enumerate(rows):
        if kind != "value" or graph.kinds[source] in PARAMETER_KINDS:
            continue
        for way, id in zip(ways, (target, source), strict=True):
            if id in graph.groups:
                way.setdefault(id, set()).add(graph.edge_shapes[edge])
    texts = {}
    for id in ways[1]:
        before, after = (way.get(id, {None}) for way in ways)
        shapes = [next(iter(known)) if len(known) == 1 else None for known in (before, after)]
        if all(shapes):
            same = shapes[0] == shapes[1]
            texts[id] = f"{format_shape(shapes[0])} → {'same' if same else format_shape(shapes[1])}"
    return texts


def detail(
    graph: Graph, id: int, view: str, changed: str, shapes: str = "", lines: bool = False
) -> str:
    """Write the second line, which answers the next question; ``changed`` says what is wrong,
    ``shapes`` what goes through, and ``lines`` that the line of the program is shown."""
    if changed:
        return formatting.shorten(f"! {changed}", LONGEST_DETAIL)
    if id in graph.marks:
        return formatting.shorten(formatting.marked(graph, id), LONGEST_DETAIL)
    if graph.kinds[id] in ("output", "seed"):
        return ""  # it has the title
    if graph.kinds[id] == "group":
        text = formatting.shorten(_group_detail(graph, id, view, shapes), LONGEST_GROUP_DETAIL)
    elif graph.kinds[id] == "op":
        text = _op_detail(graph, id)
    else:
        text = formatting.shorten(_leaf_detail(graph, id, graph.details[id]), LONGEST_DETAIL)
    took = formatting.cost(graph, id) if graph.costs else ""
    changed = _hooked(graph, id) if id in graph.hooks else ""
    source = graph.sources.get(id) if lines else None
    where = "" if source is None else printable(formatting.place(source))
    if not took and not changed and not where:
        return text
    return " · ".join(part for part in (took, changed, text, where) if part)


def _hooked(graph: Graph, id: int) -> str:
    """Write what hooks changed at a node; of a group, how much they did inside."""
    changes = graph.hooks[id]
    if graph.kinds[id] == "group" or len(changes) > 1:
        return plural(len(changes), formatting.HOOK)
    return formatting.hooked(changes[0])


def _group_detail(graph: Graph, id: int, view: str, shapes: str) -> str:
    """Write class, shapes and parameters in the forward half, bytes and sizes of gradients in the
    backward one; a half alone has it all.  Where that is too long, bytes give way, then shapes:
    lines have them, too."""
    group = graph.groups.get(id) or Group("scope", "", "", 1, 0, 0, 0, ())
    forward = graph.halves[id] == "forward"
    parts = [] if view == "both" and not forward else [group.module]
    if group.like:
        parts = [f"like {group.like}"]
    if group.kind in ("loop", "iteration"):
        parts.append(graph.scopes[id])
    if group.kind == "data":
        parts.append("no gradient")
    parts.append(shapes)
    parts.append(plural(group.ops, "op" if forward else "node"))
    if group.parameters and (forward or view != "both"):
        parts.append(formatting.parameters(group.parameters))
    saves = ""
    if group.saved_bytes and (not forward or view != "both"):
        saves = f"saves {format_bytes(group.saved_bytes)}"
        parts.append(saves)
    if group.packed:
        parts.append("checkpointed")
    parts += _group_gradients(group, forward)
    text = " · ".join(part for part in parts if part)
    for less in (saves, shapes):
        if len(text) > LONGEST_GROUP_DETAIL and less:
            parts.remove(less)
            text = " · ".join(part for part in parts if part)
    return text


def _group_gradients(group: Group, forward: bool) -> Iterator[str]:
    """Write the sizes of the gradients of a group, and how many are 0."""
    if len(set(group.gradients)) > 1:
        sizes = [format_number(size) for size in (group.gradients[0], group.gradients[-1])]
        yield f"rms {sizes[0]} {sparkline(group.gradients)} {sizes[1]}"
    elif not forward and group.weights is not None:
        yield f"weights rms {format_number(group.weights)}"
    if zeros := group.zero_gradients:
        yield f"{ZERO_SIGN} {plural(zeros, 'gradient')} {'is' if zeros == 1 else 'are'} 0"


def _op_detail(graph: Graph, id: int) -> str:
    """Write what the op does, the shape ops in its box, and its scope, as far as there is room."""
    detail = graph.details[id]
    detail = "" if detail == formatting.DROPOUT else detail  # it has the title
    text = graph.formulas[id] if graph.halves[id] == "backward" else detail
    return joined(text or detail, formatting.chain(graph, id), said_scope(graph, id))


def said_scope(graph: Graph, id: int) -> str:
    """Name the scope of a node; a number, of a model that is a Sequential, behind its class."""
    scope = graph.scopes[id]
    if scope.replace(".", "").isdigit():  # which would read as a factor
        return f"{graph.modules.get(scope) or 'module'} {scope}"
    return scope


@functools.lru_cache(maxsize=4096)
def joined(text: str, chain: str, scope: str) -> str:
    """Join the three in one line, a scope by a word: a dot would make a factor of it.  The scope
    gives way first, then arguments of the formula.

    >>> joined("g · other", "with view", "h.0.attn")
    'g · other · with view in h.0.attn'
    """
    tails = tuple(dict.fromkeys((scope, _end_of(scope), "")))
    rooms = [LONGEST_DETAIL + 1 - len(_line("g", chain, tail)) for tail in tails]
    rooms = [max(room, LEAST_FORMULA) for room in rooms]
    for formula in (text, *(formatting.abbreviate(text, room) for room in rooms)):
        for tail in tails:
            whole = _line(formula, chain, tail)
            if len(whole) <= LONGEST_DETAIL:
                return printable(whole)
    chain = _fewer(chain, LONGEST_DETAIL // 2)
    room = LONGEST_DETAIL - (len(chain) + 3 if chain else 0)
    return printable(_line(formatting.cut_formula(text, room), chain, ""))


def _fewer(chain: str, longest: int) -> str:
    """Leave names out of a list, at its end, until it is short enough.

    >>> _fewer("with view, transpose, expand, …", 23)
    'with view, transpose, …'
    """
    names = chain.split(", ")
    while len(chain) > longest and len(names) > 1:
        names.pop()
        chain = ", ".join([*names, "…"])
    return formatting.shorten(chain, longest)


def _line(formula: str, chain: str, scope: str) -> str:
    text = " · ".join(part for part in (formula, chain) if part)
    return f"{text} in {scope}" if text and scope else text or scope


def _end_of(scope: str) -> str:
    """Return the end of a scope from its last name on: of h.0.mlp.2 "…mlp.2"; a number alone would
    name nothing.

    >>> _end_of("h.0.mlp.2"), _end_of("h.0.ln_1"), _end_of("fc")
    ('…mlp.2', '…ln_1', '')
    """
    parts = scope.split(".")
    last = max((index for index, part in enumerate(parts) if not part.isdigit()), default=0)
    return f"…{'.'.join(parts[last:])}" if last else ""


def _leaf_detail(graph: Graph, id: int, text: str) -> str:
    kind, shape = graph.kinds[id], graph.shapes[id]
    if graph.halves[id] == "backward":
        order = step_number(graph.orders[id]) if id in graph.orders else ""
        name = "" if text else "AccumulateGrad"
        known = format_shape(shape) if shape and not text else ""
        return " · ".join(part for part in (order, name, known, text) if part)
    if text:
        return text
    label = "leaf · requires grad" if kind == "leaf" and not shape else kind
    parts = ["" if label == graph.names[id] else label, format_shape(shape) if shape else ""]
    return " · ".join(part for part in parts if part)
