"""A Graph as JSON, and back.

The document is one object, version 1:

``format``, ``version``
    "gradstep-graph", 1
``title``
    text
``derived_forward``
    true when the forward half was derived from the backward one
``modules``
    if known, the class of each scope that is a module
``module_details``
    what matters of the attributes of some of them: "3×3, stride 2"
``calls``
    if known, the calls of modules: ``module``, ``number`` (its first call here is 1), and in
    ``outer`` in which of these calls it was made
``unfolded``
    for a folded graph, the totals of the unfolded one
``part``
    for a part of a graph, ``which`` part it is, and the totals of the ``whole``
``nodes``
    in the order of their ids: ``kind``, ``half``, ``name``, ``count``, and where known ``stem``
    (what its address calls it, where that is not its name), ``scope``, ``shape``, ``dtype``,
    ``detail``, ``formula``, ``variable``, ``call`` (in which of the ``calls``, from 0 on, it ran:
    the innermost one), ``result`` (the variable that a statement assigned the result of an op to),
    ``cut`` (what took a constant out of the graph: "detach()"), ``source`` [file, line], ``order``
    (from 0 on: 0 runs first, and is ``#1`` in pictures and in the debugger), ``pair``, ``saved``,
    ``statistics``, ``undefined``, ``group``, ``cost``, ``hooks``
``edges``
    in the order of their ids: ``kind``, ``source``, ``target``, and where known ``output_nr``,
    ``input_nr``, ``shape``, ``dtype``, ``label``, ``nbytes``, ``statistics``, ``undefined``,
    ``multiplicity``, ``hook``

A value in ``saved`` has its ``name``, ``shape``, ``dtype``, ``nbytes`` and ``state``; values that
begin at the same memory have the same number in ``storage``. ``memory`` is all the memory that it
lies in: its ``number``, its ``nbytes``, and ``owner`` where a "parameter" or a "buffer" owns it.

``statistics`` is an object of numbers, with ``negative_infs`` where some of the ``infs`` are −inf;
"nan", "inf" and "-inf" are strings, because JSON lacks them. A change by hooks has the names of the
``hooks``, and ``before`` and ``after`` as statistics. Unknown values are omitted: a missing
``shape`` is unknown, ``[]`` is a scalar.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Final

from gradstep.graph.bounded_json import allowed, parsed
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import (
    Call,
    Cost,
    Edge,
    Graph,
    Group,
    HookChange,
    Node,
    Part,
    Round,
    Totals,
    short_name,
)
from gradstep.graph.statistics import Statistics
from gradstep.graph.typed_json import Fields, Unfit
from gradstep.guest.collector import collector_paused

FORMAT: Final = "gradstep-graph"
VERSION: Final = 1


@dataclass
class _Document:
    """What a document has; graphs and builders have the same, all but nodes and edges."""

    nodes: list[Any]
    edges: list[Any]
    title: str = ""
    derived_forward: bool = False
    modules: dict[str, str] = field(default_factory=dict)
    module_details: dict[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    unfolded: Totals | None = None
    part: Part | None = None


_COLUMNS: Final = {"call": "call_of", "cut": "cuts", "result": "results", "cost": "costs"}
"""What :meth:`Graph.node` does not tell of a node, and the column that has it."""
_BESIDE: Final = {
    "call": int, "cut": str, "result": str, "cost": Cost, "hooks": tuple[HookChange, ...],
    "rounds": tuple[Round, ...],
}  # fmt: skip
"""What :meth:`GraphBuilder.node` does not take."""
_DOCUMENT: Final = Fields(_Document)
_NODE: Final = Fields(GraphBuilder.node, pair=int, **_BESIDE)
_EDGE: Final = Fields(GraphBuilder.edge, hook=HookChange)


def to_json(graph: Graph) -> str:
    """Return ``graph`` as a JSON document with one node or edge per line. The bytes are
    deterministic."""
    known = {each.name: getattr(graph, each.name) for each in fields(_Document)[2:]}
    known["calls"] = [*graph.calls]
    head = {"format": FORMAT, "version": VERSION, **_written(known)}
    lines = [f"{_dumps(key)}: {_dumps(value)}," for key, value in head.items()]
    nodes = ",\n".join(_dumps(_node_record(graph, node)) for node in graph.nodes())
    edges = ",\n".join(_dumps(_edge_record(edge)) for edge in graph.edges())
    return "\n".join(["{", *lines, f'"nodes": [\n{nodes}\n],', f'"edges": [\n{edges}\n]', "}\n"])


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    # a lone surrogate cannot be encoded as UTF-8, but JSON has a way to write it
    return text if text.isascii() else _SURROGATE.sub(lambda one: f"\\u{ord(one[0]):04x}", text)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _node_record(graph: Graph, node: Node) -> dict[str, Any]:
    record = _written(node._asdict())
    del record["id"], record["address"]
    record["count"] = graph.counts[node.id]
    if (stem := graph.stem(node.id)) != short_name(node.name):
        record["stem"] = stem
    beside = {name: getattr(graph, column).get(node.id) for name, column in _COLUMNS.items()}
    return record | _written(beside)


def _edge_record(edge: Edge) -> dict[str, Any]:
    record = _written(edge._asdict())
    del record["id"]
    return record


def _written(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of fields as JSON has them, without those that say nothing."""
    return {
        name: _WRITTEN[name](value) if name in _WRITTEN else value
        for name, value in values.items()
        if value is not None and (name not in _NOTHING or value != _NOTHING[name])
    }


def _record(record: Any) -> Any:
    return _written(record._asdict())


def _statistics(stats: Statistics) -> dict[str, float | str]:
    return {
        name: value if math.isfinite(value) else str(float(value))
        for name, value in _record(stats).items()
    }


_NOTHING: Final[dict[str, Any]] = {
    **dict.fromkeys(("scope", "dtype", "detail", "formula", "variable", "label", "owner"), ""),
    **dict.fromkeys(("output_nr", "input_nr", "nbytes", "negative_infs"), 0),
    **dict.fromkeys(("saved", "lines", "hooks", "rounds"), ()),
    "undefined": False, "multiplicity": 1, "outer": -1, "modules": {}, "module_details": {},
    "calls": [],
}  # fmt: skip
_WRITTEN: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("statistics", "before", "after"), _statistics),
    **dict.fromkeys(("memory", "cost", "hook", "part"), _record),
    **dict.fromkeys(("saved", "calls"), lambda records: [*map(_record, records)]),
    "hooks": lambda hooks: [hook if isinstance(hook, str) else _record(hook) for hook in hooks],
    "group": Group._asdict, "unfolded": Totals._asdict, "whole": Totals._asdict,
}  # fmt: skip


@collector_paused()
def from_json(text: str, most: int | None = None) -> Graph:
    """Read the output of :func:`to_json`. A ValueError says which entry is wrong, and how; or that
    its values take more than ``most`` bytes, by default what a file of this length may take.

    >>> from gradstep.graph.builder import GraphBuilder
    >>> from gradstep.graph.serialize import from_json, to_json
    >>> build = GraphBuilder("nothing but a")
    >>> _ = build.node("leaf", "forward", "a", variable="a", shape=())
    >>> graph = build.graph()
    >>> from_json(to_json(graph)) == graph
    True
    """
    try:
        document = parsed(text, allowed(len(text)) if most is None else most)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"this is not a gradstep graph: 'format' is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ValueError(f"version {document.get('version')!r} is unknown; this reads {VERSION}")
    values = _DOCUMENT.of(document)
    nodes, edges = values.pop("nodes"), values.pop("edges")
    build = GraphBuilder(**values)
    pairs: dict[int, int] = {}
    for at, call in enumerate(build.calls):
        _require_below(call._asdict(), "outer", at)
    _read_each("nodes", nodes, partial(_read_node, build, pairs, len(nodes)))
    _read_each("edges", edges, partial(_read_edge, build, len(nodes)))
    for one, other in pairs.items():
        if pairs.get(other) != one:
            raise Unfit("'pair' is not mutual", f"nodes[{one}]")
        if one < other:
            build.pair(one, other)
    return build.graph()


def _read_each(name: str, entries: list[Any], read: Callable[[Any], None]) -> None:
    for at, known in enumerate(entries):
        try:
            read(known)
        except Unfit as error:
            raise error.inside(f"{name}[{at}]") from None


def _read_node(build: GraphBuilder, pairs: dict[int, int], count: int, known: Any) -> None:
    values = _NODE.of(known)
    _require_below(values, "pair", count)
    _require_below(values, "call", len(build.calls))
    pair = values.pop("pair", None)
    beside = {name: values.pop(name) for name in _BESIDE if name in values}
    id = build.node(**values)
    for name, value in beside.items():
        getattr(build, _COLUMNS.get(name, name))[id] = value
    if pair is not None:
        pairs[id] = pair


def _read_edge(build: GraphBuilder, count: int, known: Any) -> None:
    values = _EDGE.of(known)
    _require_below(values, "source", count)
    _require_below(values, "target", count)
    hook = values.pop("hook", None)
    id = build.edge(**values)
    if hook is not None:
        build.edge_hooks[id] = hook


def _require_below(values: dict[str, Any], name: str, count: int) -> None:
    """See that a number is one of ``count`` entries."""
    if values.get(name, -1) >= count:
        raise Unfit(f"{name!r} is {values[name]}, which does not exist")
