"""How single facts of a graph are put into words, for every picture alike."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

from autograd_core.dag.model import Edge, Graph, Group, SavedValue
from autograd_core.dag.statistics import (
    Statistics,
    format_bytes,
    format_number,
    format_shape,
    format_statistics,
)

LONGEST_TOOLTIP = 1200
MOST_NAMES = 3

_ABSOLUTE = re.compile(r"^(?:/|\\|[A-Za-z]:)")


def clean(text: str) -> str:
    """One line of printable text: line breaks become ⏎, other control characters �.

    >>> clean("two\\nlines"), clean("bell\\a")
    ('two⏎lines', 'bell�')
    """
    if text.isprintable():
        return text
    return "".join(map(_printable, text.replace("\r\n", "\n")))


def _printable(character: str) -> str:
    if character in "\n\r\u2028\u2029":
        return "⏎"
    if character == "\t":
        return " "
    # controls, lone surrogates and unassigned code points; also what turns the reading direction
    if unicodedata.category(character) in ("Cc", "Cs", "Cn") or character in _TURNS:
        return "\N{REPLACEMENT CHARACTER}"
    return character


_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"


def shorten(text: str, longest: int) -> str:
    """At most ``longest`` characters, cut in the middle, where names differ least.

    >>> shorten("encoder.layers.0.self_attention.out_proj", 20)
    'encoder.la….out_proj'
    """
    text = clean(text)
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"


def plural(count: int, one: str, many: str = "") -> str:
    """
    >>> plural(1, "leaf", "leaves"), plural(2990, "node")
    ('1 leaf', '2,990 nodes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def count(number: int) -> str:
    """
    >>> count(850), count(12_608), count(1_240_000)
    ('850', '12.6 k', '1.24 M')
    """
    size = float(number)
    for unit in ("", " k", " M", " G"):
        if size < 1000 or unit == " G":
            break
        size /= 1000
    return f"{size:.3g}{unit}" if unit else str(number)


def chain(graph: Graph, id: int) -> str:
    """The shape ops that stand in the box of an op: ``with t, view``."""
    group = graph.groups.get(id)
    if group is None or group.kind != "chain":
        return ""
    names = group.title.split(", ")
    return f"with {', '.join(names[:MOST_NAMES])}{', …' if len(names) > MOST_NAMES else ''}"


def value(stats: Statistics) -> str:
    """A number as it stands in a box; trouble is marked by a sign, not by colour alone."""
    text = format_statistics(stats)
    return f"! {text}" if stats.trouble else text


def title(graph: Graph, id: int) -> str:
    """The name of a box: what the user calls it, else what PyTorch calls it."""
    variable = graph.variables.get(id, "")
    if graph.kinds[id] in ("op", "group", "seed") or not variable:
        return graph.names[id]
    return f"{variable}.grad" if graph.halves[id] == "backward" else variable


def runs_backward(graph: Graph, id: int) -> bool:
    """Whether this is what the backward pass runs between the seed and the leaves."""
    return graph.kinds[id] in ("op", "group") and graph.halves[id] == "backward"


def changed_value(saved: Iterable[SavedValue]) -> str:
    """The first saved value that an in-place op has changed, "" when there is none."""
    return next((value.name for value in saved if value.state == "changed"), "")


def tooltip(graph: Graph, id: int) -> str:
    """Everything that is known about a node, one fact per line."""
    address, name = graph.address(id), graph.names[id]
    facts = [address if address == name else f"{address} · {name}"]
    if graph.shapes[id] is not None or graph.dtypes[id]:
        facts.append(f"{format_shape(graph.shapes[id])} {graph.dtypes[id]}".strip())
    facts += [graph.details[id], graph.formulas[id]]
    if group := graph.groups.get(id):
        facts += _group_facts(group)
    if id in graph.orders:
        facts.append(f"runs as #{graph.orders[id] + 1}")
    facts += [f"saves {_saved_text(value)}" for value in graph.saved.get(id, ())]
    if id in graph.undefined:
        facts.append("gradient undefined")
    if stats := graph.statistics.get(id):
        facts.append(_statistics_text(stats))
    if source := graph.sources.get(id):
        file = re.split(r"[/\\]", source.file)[-1] if _ABSOLUTE.match(source.file) else source.file
        facts.append(f"{file}:{source.line}")
    return _lines_of(facts)


def _group_facts(group: Group) -> Iterable[str]:
    if group.kind == "chain":
        yield f"with {group.title}"
        return
    yield f"{group.module} × {group.instances:,}" if group.instances > 1 else group.module
    yield plural(group.ops, "op")
    if group.parameters:
        yield plural(group.parameters, "parameter")
    if group.saved_bytes:
        yield f"saves {format_bytes(group.saved_bytes)}"


def _lines_of(facts: Iterable[str]) -> str:
    known = [fact for fact in facts if fact]
    if not "".join(known).isprintable():
        known = [clean(fact) for fact in known]
    text = "\n".join(known)
    return text if len(text) <= LONGEST_TOOLTIP else text[: LONGEST_TOOLTIP - 1] + "…"


@functools.lru_cache(maxsize=4096)
def _saved_text(saved: SavedValue) -> str:
    state = "" if saved.state == "kept" else f", {saved.state}"
    shape, size = format_shape(saved.shape), format_bytes(saved.nbytes)
    return f"{saved.name} {shape} {saved.dtype}, {size}{state}"


def _statistics_text(stats: Statistics) -> str:
    if stats.size == 1:
        return value(stats)
    text = (
        f"rms {format_number(stats.rms)}, "
        f"{format_number(stats.minimum)} to {format_number(stats.maximum)}"
    )
    counts = ((stats.zeros, "zero"), (stats.nans, "nan"), (stats.infs, "inf"))
    for count, name in counts:
        if count:
            text += f", {count:,} of {stats.size:,} {name}"
    return text


def saved_label(graph: Graph, edge: Edge) -> str:
    """Name and bytes of a saved value, and what has become of it if it is not simply kept."""
    state = _saved_state(graph, edge)
    values = plural(edge.multiplicity, "value") if edge.multiplicity > 1 else ""
    parts = [edge.label, values, format_bytes(edge.nbytes) if edge.nbytes else "", state]
    if state == "changed":
        parts.insert(0, "!")
    return " · ".join(part for part in parts if part).replace("! · ", "! ")


def _saved_state(graph: Graph, edge: Edge) -> str:
    for saved in graph.saved.get(edge.target, ()):
        if saved.name == edge.label and saved.state != "kept":
            return saved.state
    return ""


def line_tooltip(graph: Graph, edge: Edge) -> str:
    """Where a line goes and all that is known about what flows along it."""
    facts = [f"{graph.address(edge.source)} → {graph.address(edge.target)}"]
    if edge.kind == "saved":
        facts.append(f"saved {saved_label(graph, edge)}")
    elif edge.output_nr or edge.input_nr:
        facts.append(f"output {edge.output_nr} to input {edge.input_nr}")
    if edge.shape is not None or edge.dtype:
        facts.append(f"{format_shape(edge.shape)} {edge.dtype}".strip())
    if edge.undefined:
        facts.append("gradient undefined")
    if edge.statistics:
        facts.append(_statistics_text(edge.statistics))
    return _lines_of(facts)


def line_in_trouble(graph: Graph, edge: Edge) -> bool:
    """Whether a line carries NaN or Inf, or a saved value that has changed since."""
    if edge.kind == "saved":
        return _saved_state(graph, edge) == "changed"
    stats = edge.statistics
    if stats is None and edge.kind == "value" and edge.output_nr == 0:
        stats = graph.statistics.get(edge.source)
    return bool(stats and stats.trouble)
