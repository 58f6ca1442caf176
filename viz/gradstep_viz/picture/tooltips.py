"""Tooltips: all that is known about a box or a line, for who rests the pointer there."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from gradstep.graph.addresses import step_number
from gradstep.graph.model import Graph, Group, HookChange, SavedState, Shape, Source
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import (
    Statistics,
    format_bytes,
    format_number,
    format_shape,
    infinity,
)
from gradstep.text import plural, printable
from gradstep_viz.picture.formatting import cost, place, saved_state, value

LONGEST_TOOLTIP = 1200


def node_tooltip(graph: Graph, saved: SavedColumns, id: int, address: str) -> str:
    """Write everything that is known about a node, one fact per line; ``saved`` are the values
    that nodes keep, ``address`` is printable."""
    name = printable(graph.names[id])
    facts = [
        address if address == name else f"{address} · {name}",
        _about(graph.shapes[id], graph.dtypes[id], graph.details[id], graph.formulas[id]),
    ]
    if group := graph.groups.get(id):
        facts += map(printable, _group_facts(group))
    if (order := graph.orders.get(id)) is not None:
        facts.append(f"runs as {step_number(order)}")
    if graph.costs and (took := cost(graph, id)):
        facts.append(f"took {took}")
    if id in saved:
        facts += [
            _saved_text(
                saved.names[at], saved.shapes[at], saved.dtypes[at], saved.nbytes[at],
                saved.states[at], saved.lines[at],
            )
            for at in saved.places(id)
        ]  # fmt: skip
    if id in graph.undefined:
        facts.append("gradient undefined")
    if stats := graph.statistics.get(id):
        facts.append(_statistics_text(stats))
    if id in graph.hooks:
        facts += map(_hook_text, graph.hooks[id])
    if source := graph.sources.get(id):
        facts.append(_place(source))
    return _lines_of(facts)


def _group_facts(group: Group) -> Iterable[str]:
    if group.kind == "chain":
        yield f"with {group.title}"
        return
    times = f"× {group.instances:,}" if group.instances > 1 else ""
    yield f"{group.module} {times}".strip()
    yield plural(group.ops, "op")
    if group.parameters:
        yield plural(group.parameters, "parameter")
    if group.saved_bytes:
        yield f"saves {format_bytes(group.saved_bytes)}"


# what many nodes share is put into words once


@functools.lru_cache(maxsize=4096)
def _about(shape: Shape | None, dtype: str, detail: str, formula: str) -> str:
    return _lines_of(map(printable, (_kind(shape, dtype), detail, formula)))


@functools.lru_cache(maxsize=4096)
def _kind(shape: Shape | None, dtype: str) -> str:
    """Describe a tensor: ``[2, 3] float32``."""
    return printable(f"{format_shape(shape)} {dtype}".strip())


@functools.lru_cache(maxsize=4096)
def _saved_text(
    name: str,
    shape: Shape | None,
    dtype: str,
    nbytes: int,
    state: SavedState,
    lines: tuple[Source, ...],
) -> str:
    """Describe a saved value: all of it but its storage, by which no two are alike."""
    text = saved_state(state, lines)
    like = _kind(shape, dtype)
    if (state == "freed" and not nbytes) or not like:
        return printable(f"saves {name}, {text}")
    return printable(f"saves {name} {like}, {format_bytes(nbytes)}{text and f', {text}'}")


@functools.lru_cache(maxsize=4096)
def _place(source: Source) -> str:
    return printable(place(source))


def _lines_of(facts: Iterable[str]) -> str:
    text = "\n".join(filter(None, facts))
    return text if len(text) <= LONGEST_TOOLTIP else text[: LONGEST_TOOLTIP - 1] + "…"


def _statistics_text(stats: Statistics) -> str:
    if stats.size == 1:
        return value(stats)
    text = (
        f"rms {format_number(stats.rms)}, "
        f"{format_number(stats.minimum)} to {format_number(stats.maximum)}"
    )
    counts = ((stats.zeros, "zero"), (stats.nans, "nan"), (stats.infs, infinity(stats)))
    for count, name in counts:
        if count:
            text += f", {count:,} of {stats.size:,} {name}"
    return text


def line_tooltip(
    graph: Graph, edge: int, ends: str, saved: str | None, bundle: Sequence[int]
) -> str:
    """Write where a line goes and all that is known about what flows along it; ``ends`` are the
    addresses, printable, ``saved`` is the whole label of a saved value, None for all else, and
    ``bundle`` are the edges that it stands for, if they are several."""
    facts = [
        ends,
        _numbers(graph.edge_output_nrs[edge], graph.edge_input_nrs[edge])
        if saved is None
        else printable(f"saved {saved}"),
    ]
    if not bundle:
        facts.append(_kind(graph.edge_shapes[edge], graph.edge_dtypes[edge]))
    for id in bundle:
        like = _kind(graph.edge_shapes[id], graph.edge_dtypes[id])
        facts.append(printable(f"{graph.edge_labels.get(id, '')} {like}").strip())
    if edge in graph.edge_undefined:
        facts.append("gradient undefined")
    if stats := graph.edge_statistics.get(edge):
        facts.append(_statistics_text(stats))
    if change := graph.edge_hooks.get(edge):
        facts.append(_hook_text(change))
    return _lines_of(facts)


def _numbers(output_nr: int, input_nr: int) -> str:
    return f"output {output_nr} to input {input_nr}" if output_nr or input_nr else ""


def _hook_text(change: HookChange) -> str:
    """Say which hooks changed a gradient, and from what to what."""
    names = printable(", ".join(change.hooks))
    if change.before is None or change.after is None:
        return f"changed by {names}"
    before, after = _statistics_text(change.before), _statistics_text(change.after)
    return f"changed by {names}: from {before} to {after}"
