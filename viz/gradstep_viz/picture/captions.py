"""The caption under the title: one muted line per half, in place of a legend."""

from __future__ import annotations

from gradstep.graph.addresses import step_number
from gradstep.graph.folding.totals import totals
from gradstep.graph.model import Graph, Half, Totals
from gradstep.graph.statistics import format_bytes, format_seconds
from gradstep.text import plural, printable
from gradstep_viz.picture import formatting
from gradstep_viz.picture.magnitude import ZERO_SIGN, Scale


def captions(
    graph: Graph,
    view: str,
    scale: Scale | None = None,
    position: int | None = None,
    module: str = "",
    skips: bool = False,
) -> tuple[str, ...]:
    """Write one caption for each half that is shown and not empty, the forward one first, which
    says so if names are those within ``module``; ``skips`` says that not all nodes that run have a
    number of their own."""
    texts = []
    which = "" if graph.part is None else f" · {printable(graph.part.which)}"
    if view != "backward" and "forward" in graph.halves:
        texts.append(_forward_caption(graph, which))
    if view != "forward" and "backward" in graph.halves:
        parts = [_backward_caption(graph, view, "" if texts else which, skips)]
        if position is not None:
            last = max(graph.orders.values(), default=-1)
            parts.append(
                f"{step_number(position)} runs next" if position <= last else "all has run"
            )
        if zeros := zeros_text(graph):
            parts.append(f"{ZERO_SIGN} {zeros}")
        if count := totals(graph).part_gradients:
            parts.append(f"of {plural(count, 'sharded gradient')}, this rank's part")
        if scale is not None:
            parts.append(scale.text)
        texts.append(" · ".join(parts))
    if module and texts:
        texts[0] += f" · names within {printable(module)}"
    return tuple(texts)


def zeros_text(graph: Graph) -> str:
    """Say how many of the gradients are 0, those of a folded graph included; "" where none is."""
    total = totals(graph)
    if not total.zero_gradients:
        return ""
    known = "known " if total.unknown_gradients else ""
    if total.gradients == 1:
        return f"the {known}gradient is 0"
    is_or_are = "is" if total.zero_gradients == 1 else "are"
    return f"{_of(total.zero_gradients, total.gradients)} {known}gradients {is_or_are} 0"


def _of(some: int, whole: int) -> str:
    return f"all {whole:,}" if some == whole else f"{some:,} of {whole:,}"


def _forward_caption(graph: Graph, which: str) -> str:
    total = totals(graph)
    counts = [_shown(graph, "forward", total.ops, "op")]
    if total.leaves or graph.part is None:
        counts.append(plural(total.leaves, "leaf", "leaves"))
    if total.parameters:
        counts.append(formatting.parameters(total.parameters))
    if total.constants:
        counts.append(plural(total.constants, "constant"))
    derived = " · derived from the backward graph" if graph.derived_forward else ""
    return f"forward ↓ · {', '.join(counts)}{which}{_took(graph, 'forward')}{derived}"


def _backward_caption(graph: Graph, view: str, which: str, skips: bool) -> str:
    total = totals(graph)
    text = f"backward ↑ · {_shown(graph, 'backward', total.grad_fns, 'node')}"
    if total.leaf_gradients:
        text += f", {plural(total.leaf_gradients, 'leaf gradient')}"
        if total.zero_leaves:
            one = total.leaf_gradients == 1
            some = "all" if total.zero_leaves == total.leaf_gradients else f"{total.zero_leaves:,}"
            text += ", which is 0" if one else f", {some} of them 0"
    if total.parameters and view == "backward":
        text += f", {formatting.parameters(total.parameters)}"
    text += which
    if graph.orders:
        text += " · run #1 #2 …" if total.grad_fns > 1 else " · #1 runs first"
        text += ", with leaves and joined nodes" if skips else ""
    if saved := _saved(total):
        dots = "⋯ " if view == "both" else ""
        text += f" · {dots}saved {saved}"
    return text + _took(graph, "backward")


def _saved(total: Totals) -> str:
    """Write what is kept for the backward pass, and apart what belongs to the model anyway; "" for
    nothing."""
    anyway = total.parameter_bytes + total.buffer_bytes
    if not anyway:
        return format_bytes(total.saved_bytes) if total.saved_bytes else ""
    owners = [("parameters", total.parameter_bytes), ("buffers", total.buffer_bytes)]
    of = " and ".join(name for name, nbytes in owners if nbytes)
    if not total.saved_bytes:
        return f"{format_bytes(anyway)} {of}"
    return f"{format_bytes(total.saved_bytes)} + {format_bytes(anyway)} {of}"


def _took(graph: Graph, half: Half) -> str:
    """Write how long all of a half took, as far as it was measured."""
    measured = [cost for id, cost in graph.costs.items() if graph.halves[id] == half]
    times = [one.forward_seconds if half == "forward" else one.backward_seconds for one in measured]
    total = sum(filter(None, times))
    return f" · took {format_seconds(total)}" if total else ""


def _shown(graph: Graph, half: Half, total: int, one: str) -> str:
    """Count what there is, of how much in the whole graph where this is a part of it, and as how
    many boxes it is shown where that is not the same."""
    text = plural(total, one)
    if graph.part is not None:
        whole = graph.part.whole
        text = f"{total:,} of {plural(whole.ops if half == 'forward' else whole.grad_fns, one)}"
    boxes = sum(
        kind in ("op", "group") and at == half
        for kind, at in zip(graph.kinds, graph.halves, strict=True)
    )
    return text if boxes == total else f"{text} shown as {boxes:,}"
