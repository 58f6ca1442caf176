"""Texts for single facts of a graph, the same in every picture."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradstep import text
from gradstep.graph.model import RETURNED, Graph, HookChange, SavedState, Source
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import (
    Statistics,
    format_bytes,
    format_constant,
    format_seconds,
    format_statistics,
)
from gradstep.text import plural, printable

MOST_NAMES = 3
LONGEST_NAMES = 24

listed: Final = functools.partial(text.listed, most=MOST_NAMES)
_OPERATOR = re.compile(r" [^\w\s()] ")
_ABSOLUTE = re.compile(r"^(?:/|\\|[A-Za-z]:)")


def shorten(text: str, longest: int) -> str:
    """Cut text to ``longest`` characters, in the middle, where names differ least.

    >>> shorten("encoder.layers.0.self_attention.out_proj", 20)
    'encoder.la…out_proj'
    """
    if len(text) <= longest and text.isprintable():
        return text
    text = printable(text)
    if len(text) <= longest:
        return text
    head = longest // 2
    tail = text[len(text) - (longest - head - 1) :]
    return f"{text[:head].rstrip('.')}…{tail.lstrip('.')}"


def shorten_all(texts: Sequence[str], longest: int) -> list[str]:
    """Do that to many texts, once to those that are repeated, as most of a large graph are."""
    shortened = {text: shorten(text, longest) for text in set(texts)}
    return [shortened[text] for text in texts]


def abbreviate(text: str, longest: int) -> str:
    """Shorten a formula or a list to ``longest`` characters, if that can be had by leaving out
    arguments after the first, then whole terms at the end; the rest stays as it was.

    >>> abbreviate("pool_backward(g, places, x_shape, kernel_size)", 30)
    'pool_backward(g, …)'
    >>> abbreviate("kernel_size (3, 3), stride (2, 2), padding (1, 1)", 40)
    'kernel_size (3, 3), stride (2, 2), …'
    """
    if len(text) <= longest:
        return text
    calls_empty = functools.partial(_outer_calls_brief, keep=0)
    for brief in (_outer_calls_brief, _inner_calls_brief, calls_empty):
        text = brief(text)
        if len(text) <= longest:
            return text
        ends = [end for end, depth in _depths(text) if depth == 0 and text[end] == ","]
        fitting = [end for end in ends if end + 3 <= longest]
        if fitting:
            return f"{text[: fitting[-1]]}, …"
    return text


def cut_formula(text: str, longest: int) -> str:
    """Shorten a formula to ``longest`` characters: abbreviated, or cut behind an operator.  Cut in
    the middle, a quotient would read as a product.

    >>> cut_formula("g · (1 − self · self) / ((1 + self) · (1 + self))", 30)
    'g · (1 − self · self) / …'
    """
    text = abbreviate(text, longest)
    if len(text) <= longest:
        return text
    ends = [match.end() for match in _OPERATOR.finditer(text) if match.end() < longest]
    return f"{text[: ends[-1]]}…" if ends else shorten(text, longest)


def _outer_calls_brief(text: str, keep: int = 1) -> str:
    """Write ``f(x, …)`` in place of calls that no other encloses, or ``f(…)`` where none of their
    arguments is to be kept.

    >>> _outer_calls_brief("g.bmm(mat2.transpose(1, 2)) + f(g)", keep=0)
    'g.bmm(…) + f(g)'
    """
    parts, start, opened, first = [], 0, -1, -1
    for index, depth in _depths(text):
        character = text[index]
        if character == "(" and depth == 1 and index and text[index - 1].isidentifier():
            opened, first = index, -1
        elif character == "," and depth == 1 and opened >= 0 and first < 0:
            first = index
        elif character == ")" and depth == 0 and opened >= 0:
            if first >= 0 and keep:
                parts.append(f"{text[start:first]}, …")
                start = index
            elif not keep and index > opened + 2:
                parts.append(f"{text[start : opened + 1]}…")
                start = index
            opened = -1
    return "".join([*parts, text[start:]])


def _inner_calls_brief(text: str) -> str:
    """Write ``f(x, …)`` in place of calls that enclose no other."""
    return re.sub(r"(\w\([^(),]*), [^()]*\)", r"\1, …)", text)


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Yield each place in the text, with how many brackets are open after it."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        yield index, depth


def count(number: int) -> str:
    """Write a number in three digits, with a unit.

    >>> count(850), count(12_608), count(1_240_000)
    ('850', '12.6 k', '1.24 M')
    """
    size = float(number)
    for unit in ("", " k", " M", " G"):
        if size < 1000 or unit == " G":
            break
        size /= 1000
    return f"{size:.3g}{unit}" if unit else str(number)


def parameters(number: int) -> str:
    """Count the elements of parameters in words."""
    return "1 parameter" if number == 1 else f"{count(number)} parameters"


def chain(graph: Graph, id: int) -> str:
    """Name the shape ops that stand in the box of an op: ``with t, view``."""
    group = graph.groups.get(id)
    if group is None or group.kind != "chain":
        return ""
    names = group.title.split(", ")
    return f"with {', '.join(names[:MOST_NAMES])}{', …' if len(names) > MOST_NAMES else ''}"


def value(stats: Statistics) -> str:
    """Write a number as it stands in a box; trouble is marked by a sign, not by colour alone."""
    text = format_statistics(stats)
    return f"! {text}" if stats.trouble else text


def value_of(graph: Graph, id: int, stats: Statistics) -> str:
    """Write the value of a node as it stands in its box: a single number that the program computes
    with as a constant is that number."""
    number = stats.scalar
    if graph.kinds[id] == "constant" and number is not None and math.isfinite(number):
        return format_constant(number)
    return value(stats)


NOT_EQUAL: Final = "\N{NOT EQUAL TO}"


def beside(text: str, other: Statistics | None) -> str:
    """Write a number, and beside it that of the graph which is compared, where it reads otherwise.

    >>> beside("0.5", Statistics(1, 0.25, 0.25, 0.25, 0, 0, 0)), beside("0.5", None)
    ('0.5 ≠ 0.25', '0.5')
    """
    compared = text if other is None else value(other)
    if text == compared:
        return text
    unit = "rms " if text.startswith("rms ") else ""
    return f"{text} {NOT_EQUAL} {compared.removeprefix(unit)}"


SIGNS: Final[Mapping[str, str]] = {
    "added": "+",
    "removed": "\N{MINUS SIGN}",
    "changed": NOT_EQUAL,
}
"""What stands before a mark, so that it does not take colour to see it."""


def marked(graph: Graph, id: int) -> str:
    """Write how a node differs from the graph that is compared; "" where it does not."""
    mark = graph.marks.get(id)
    return "" if mark is None else f"{SIGNS[mark.what]} {mark.details or mark.what}"


def title(graph: Graph, id: int) -> str:
    """Name a box: as the user calls it, else as PyTorch does."""
    variable = graph.variables.get(id, "")
    if not variable and graph.names[id] == "AccumulateGrad":
        variable = "leaf"  # as its partner in the forward half
    if graph.names[id] == "mul" and is_dropout(graph, id):
        return DROPOUT  # as the program calls it: both engines multiply by the mask
    if graph.kinds[id] in ("op", "group", "seed") or not variable:
        return graph.names[id]
    if graph.halves[id] == "forward":
        return variable
    return f"∂/∂{variable}" if graph.details[id] == RETURNED else f"{variable}.grad"


DROPOUT = "dropout"


def is_dropout(graph: Graph, id: int) -> bool:
    """Tell whether a product is that of dropout, as a module or as a function."""
    return graph.details[id] == DROPOUT or "Dropout" in graph.modules.get(graph.scopes[id], "")


def name_to_open(graph: Graph, id: int) -> str:
    """Name a group, of several alike the first, as the option ``expand`` does; "" for all else."""
    group = graph.groups.get(id)
    if group is None or group.kind == "chain":
        return ""
    if group.kind in ("band", "data"):
        return group.title
    first = group.title.partition(" … ")[0]
    rolled = group.kind in ("loop", "iteration")
    return f"{graph.scopes[id]}/{first}" if rolled and graph.scopes[id] else first


NOT_YET = "not yet"
"""The text where a gradient will be: neither 0 nor undefined."""


def runs_backward(graph: Graph, id: int) -> bool:
    """Tell whether the backward pass runs this between the seed and the leaves."""
    return graph.kinds[id] in ("op", "group") and graph.halves[id] == "backward"


def changed_values(saved: SavedColumns) -> dict[int, str]:
    """Name, for each node that keeps a value which an in-place op has changed, the first such
    value, and where that was."""
    texts: dict[int, str] = {}
    if "changed" in saved.states:
        for at, state in enumerate(saved.states):
            if state == "changed":
                text = f"{saved.names[at]} {saved_state(state, saved.lines[at])}"
                texts.setdefault(saved.nodes[at], text)
    return texts


def hooked(change: HookChange) -> str:
    """Write how hooks changed a gradient: ``12 → 120 hook``; of several, that there were hooks."""
    if change.before is None or change.after is None:
        return HOOK
    return f"{value(change.before)} → {value(change.after)} {HOOK}"


HOOK = "hook"
"""The word that marks a gradient that a hook has changed."""


def flowing(graph: Graph, edge: int) -> Statistics | None:
    """Return the known statistics of the values or gradients that flow along an edge."""
    stats = graph.edge_statistics.get(edge)
    if stats is None and graph.edge_kinds[edge] == "value" and not graph.edge_output_nrs[edge]:
        stats = graph.statistics.get(graph.edge_sources[edge])
    return stats


@functools.lru_cache(maxsize=4096)
def last_names(path: str) -> str:
    """Shorten the name of a parameter, as far as it still says which layer that is: the box that a
    line leaves has it whole.

    >>> last_names("model.layer1.0.conv2.weight"), last_names("model.up.2.weight")
    ('conv2.weight', 'up.2.weight')
    """
    if "[" in path:
        return path
    parts = path.split(".")
    named = [index for index, part in enumerate(parts[:-1]) if not part.isdigit()]
    return ".".join(parts[named[-1] :]) if named else path


class SavedText(NamedTuple):
    """Texts of saved lines; ``saved`` are the values that nodes keep, ``of_edge`` their places by
    edge, as far as they are known."""

    graph: Graph
    saved: SavedColumns
    of_edge: Mapping[int, int]

    def state(self, edge: int) -> SavedState:
        """Return the state of the value of an edge."""
        at = self.of_edge.get(edge)
        return "kept" if at is None else self.saved.states[at]

    def said_state(self, edge: int) -> str:
        """Say what :func:`saved_state` does of the value of an edge."""
        at = self.of_edge.get(edge)
        if at is None or self.saved.states[at] == "kept":
            return ""
        return saved_state(self.saved.states[at], self.saved.lines[at])

    def label(self, edge: int, *, whole: bool = False) -> str:
        """Write name and bytes of a saved value, and its state if it is not simply kept; ``whole``
        leaves long names as they are."""
        graph, name = self.graph, self.graph.edge_labels.get(edge, "")
        return _saved_label(
            name if whole else last_names(name),
            graph.edge_counts.get(edge, 1),
            graph.edge_nbytes.get(edge, 0),
            self.said_state(edge),
            self.state(edge) == "changed",
        )

    def _is_owned(self, edge: int) -> bool:
        at = self.of_edge.get(edge)
        memory = None if at is None else self.saved.memories[at]
        return memory is not None and bool(memory.owner)

    def label_of_bundle(self, edges: Sequence[int]) -> str:
        """Write what runs along several saved edges, all in one state: the names where they are few
        and short, and their bytes, else how many they are, and the bytes of those that no parameter
        and no buffer owns; memory that is saved twice counts once."""
        graph, distinct = self.graph, dict[object, int]()
        for edge in edges:
            at = self.of_edge.get(edge)
            storage = None if at is None else self.saved.storages[at]
            key = ("edge", edge) if storage is None else (storage, graph.edge_nbytes.get(edge, 0))
            distinct.setdefault(key, edge)
        firsts = list(distinct.values())
        if len(firsts) == 1:
            return self.label(firsts[0])
        count = sum(graph.edge_counts.get(edge, 1) for edge in firsts)
        nbytes = sum(graph.edge_nbytes.get(edge, 0) for edge in firsts)
        names = [last_names(graph.edge_labels.get(edge, "")) for edge in firsts]
        known = [name for name in names if name]
        more = [f"{len(names) - len(known)} more"] if len(known) < len(names) else []
        text = ", ".join(known + more)
        if len(names) > MOST_NAMES or len(text) > LONGEST_NAMES or not known:
            text = plural(count, "value")
            own = [edge for edge in firsts if not self._is_owned(edge)] or firsts
            nbytes = sum(graph.edge_nbytes.get(edge, 0) for edge in own)
        state, changed = self.said_state(firsts[0]), self.state(firsts[0]) == "changed"
        return _saved_label(text, 1, nbytes, state, changed)


@functools.lru_cache(maxsize=4096)
def _saved_label(name: str, count: int, nbytes: int, state: str, changed: bool) -> str:
    parts = (
        name,
        plural(count, "value") if count > 1 else "",
        format_bytes(nbytes) if nbytes else "",
        state,
    )
    text = " · ".join(filter(None, parts))
    return f"! {text}" if changed else text


def saved_state(state: SavedState, lines: tuple[Source, ...]) -> str:
    """Say whether a saved value was changed or freed, and where; "" while it is kept.

    >>> from gradstep.graph.model import Source
    >>> saved_state("changed", (Source("train.py", 7),))
    'changed in place at train.py:7'
    """
    if state == "kept":
        return ""
    did = "changed in place" if state == "changed" else state
    return f"{did} at {place(lines[-1])}" if lines else did


def place(source: Source) -> str:
    """Name a line of the program, without the folders of somebody's machine."""
    file = re.split(r"[/\\]", source.file)[-1] if _ABSOLUTE.match(source.file) else source.file
    return f"{file}:{source.line}"


def cost(graph: Graph, id: int) -> str:
    """Write the time and memory that a profile measured of a node in its half, "35 µs, 512 B"; ""
    where none did."""
    known = graph.costs.get(id)
    if known is None:
        return ""
    seconds, size = known[:2] if graph.halves[id] == "forward" else known[2:]
    took = "" if seconds is None else format_seconds(seconds)
    return ", ".join(filter(None, (took, "" if not size else format_bytes(size))))
