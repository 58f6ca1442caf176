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
from typing import Any, get_args

from gradstep.graph.bounded_json import allowed, parsed
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import (
    Call,
    Cost,
    Edge,
    EdgeKind,
    Graph,
    Group,
    GroupKind,
    Half,
    HookChange,
    Memory,
    Node,
    NodeKind,
    Owner,
    Part,
    Round,
    SavedState,
    SavedValue,
    Source,
    Totals,
    short_name,
)
from gradstep.graph.statistics import Statistics
from gradstep.guest.collector import collector_paused

FORMAT = "gradstep-graph"
VERSION = 1


def to_json(graph: Graph) -> str:
    """Return ``graph`` as a JSON document with one node or edge per line. The bytes are
    deterministic."""
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": graph.title,
        "derived_forward": graph.derived_forward,
    }
    if graph.modules:
        head["modules"] = dict(graph.modules)
    if graph.module_details:
        head["module_details"] = dict(graph.module_details)
    if graph.calls:
        head["calls"] = [
            {"module": one.module, "number": one.number}
            | ({"outer": one.outer} if one.outer >= 0 else {})
            for one in graph.calls
        ]
    if graph.unfolded is not None:
        head["unfolded"] = graph.unfolded._asdict()
    if graph.part is not None:
        head["part"] = {"which": graph.part.which, "whole": graph.part.whole._asdict()}
    lines = [f"{_dumps(key)}: {_dumps(value)}," for key, value in head.items()]
    nodes = ",\n".join(_dumps(_node_record(graph, node)) for node in graph.nodes())
    edges = ",\n".join(_dumps(_edge_record(edge)) for edge in graph.edges())
    return "\n".join(["{", *lines, f'"nodes": [\n{nodes}\n],', f'"edges": [\n{edges}\n]', "}\n"])


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    # a lone surrogate cannot be encoded as UTF-8, but JSON has a way to write it
    return text if text.isascii() else _SURROGATE.sub(lambda one: f"\\u{ord(one[0]):04x}", text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _node_record(graph: Graph, node: Node) -> dict[str, Any]:
    record = _known(node._asdict())
    del record["id"], record["address"]
    record["count"] = graph.counts[node.id]
    if (stem := graph.stem(node.id)) != short_name(node.name):
        record["stem"] = stem
    if node.saved:
        record["saved"] = [_saved_record(value) for value in node.saved]
    if node.group is not None:
        record["group"] = node.group._asdict()
    if node.hooks:
        record["hooks"] = [_hook_record(change) for change in node.hooks]
    if (call := graph.call_of.get(node.id)) is not None:
        record["call"] = call
    if node.id in graph.cuts:
        record["cut"] = graph.cuts[node.id]
    if node.id in graph.results:
        record["result"] = graph.results[node.id]
    if node.id in graph.costs:
        measured = graph.costs[node.id]._asdict()
        record["cost"] = {name: number for name, number in measured.items() if number is not None}
    return record


def _edge_record(edge: Edge) -> dict[str, Any]:
    record = _known(edge._asdict())
    del record["id"]
    if edge.multiplicity == 1:
        del record["multiplicity"]
    if edge.hook is not None:
        record["hook"] = _hook_record(edge.hook)
    return record


def _saved_record(value: SavedValue) -> dict[str, Any]:
    record = _known(value._asdict())
    if value.memory is not None:
        record["memory"] = _known(value.memory._asdict())
    return record


def _hook_record(change: HookChange) -> dict[str, Any]:
    known = {"before": change.before, "after": change.after}
    numbers = {name: _statistics_record(stats) for name, stats in known.items() if stats}
    return {"hooks": list(change.hooks), **numbers}


_UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("shape", "source", "order", "pair", "statistics", "storage", "memory")),
    **dict.fromkeys(("group", "hook")),
    **dict.fromkeys(("scope", "dtype", "detail", "formula", "variable", "label", "owner"), ""),
    **dict.fromkeys(("output_nr", "input_nr", "nbytes"), 0),
    **dict.fromkeys(("saved", "lines", "hooks", "rounds"), ()),
    "undefined": False,
}


def _known(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is unknown; on an edge ``source`` is a node, and None never occurs."""
    known = {k: v for k, v in record.items() if k not in _UNKNOWN or v != _UNKNOWN[k]}
    stats: Statistics | None = known.get("statistics")
    if stats is not None:
        known["statistics"] = _statistics_record(stats)
    return known


def _statistics_record(stats: Statistics) -> dict[str, float | str]:
    known = stats._asdict()
    if not stats.negative_infs:  # as nearly always
        del known["negative_infs"]
    return {
        name: value if math.isfinite(value) else str(float(value)) for name, value in known.items()
    }


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
    title, derived = document.get("title", ""), document.get("derived_forward", False)
    build = GraphBuilder(_typed(title, str, "title"), _typed(derived, bool, "derived_forward"))
    for path, name in _typed(document.get("modules", {}), dict, "modules").items():
        build.modules[path] = _typed(name, str, f"modules.{path}")
    for path, text in _typed(document.get("module_details", {}), dict, "module_details").items():
        build.module_details[path] = _typed(text, str, f"module_details.{path}")
    for at, call in enumerate(_typed(document.get("calls", []), list, "calls")):
        entry = _Record(call, f"calls[{at}]")
        module, number = entry.get("module", str, ""), entry.integer("number", 1)
        outer = entry.integer("outer", below=at)
        build.calls.append(Call(module, number, -1 if outer is None else outer))
    if "unfolded" in document:
        build.unfolded = _read_totals(_Record(document["unfolded"], "unfolded"))
    if "part" in document:
        part = _Record(document["part"], "part")
        whole = _Record(part.get("whole", dict, {}), "part.whole")
        build.part = Part(part.get("which", str, ""), _read_totals(whole))
    nodes = _typed(document.get("nodes"), list, "nodes")
    edges = _typed(document.get("edges"), list, "edges")
    pairs: dict[int, int] = {}
    for index, record in enumerate(nodes):
        _read_node(build, _Record(record, f"nodes[{index}]"), len(nodes), pairs)
    for index, record in enumerate(edges):
        _read_edge(build, _Record(record, f"edges[{index}]"), len(nodes))
    for one, other in pairs.items():
        if pairs.get(other) != one:
            raise ValueError(f"nodes[{one}]: 'pair' is not mutual")
        if one < other:
            build.pair(one, other)
    return build.graph()


_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_MISSING = object()
_NODE_KINDS = get_args(NodeKind)
_HALVES = get_args(Half)
_EDGE_KINDS = get_args(EdgeKind)
_GROUP_KINDS = get_args(GroupKind)
_STATES = get_args(SavedState)
_OWNERS = get_args(Owner)


class _Record:
    """One entry of the document, read field by field; every complaint says where it is."""

    def __init__(self, record: Any, where: str) -> None:
        self.where = where
        self.values: dict[str, Any] = _typed(record, dict, where)

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        value = self.values.get(key, _MISSING)
        if type(value) is kind:  # nearly all are, and there are millions
            return value
        if value is _MISSING:
            if default is None and key in ("kind", "half", "name", "target"):
                raise ValueError(f"{self.where}: {key!r} is missing")
            return default
        return _typed(value, kind, f"{self.where}.{key}")

    def choice(self, key: str, choices: tuple[Any, ...]) -> Any:
        value = self.get(key, str)
        if value not in choices:
            raise ValueError(f"{self.where}: {key!r} is {value!r}, not one of {choices}")
        return value

    def integer(self, key: str, default: int | None = None, below: int | None = None) -> Any:
        value = self.get(key, int, default)
        if value is not None and (value < 0 or (below is not None and value >= below)):
            raise ValueError(f"{self.where}: {key!r} is {value}, which does not exist")
        return value

    def shape(self, key: str = "shape") -> tuple[int, ...] | None:
        sizes = self.get(key, list)
        if sizes is None:
            return None
        for size in sizes:
            if type(size) is not int:
                _typed(size, int, f"{self.where}.{key}")
        return tuple(sizes)

    def statistics(self, key: str = "statistics") -> Statistics | None:
        numbers = self.get(key, dict)
        if numbers is None:
            return None
        where = f"{self.where}.{key}"
        needed = Statistics._fields[:-1]
        if set(numbers) - {"negative_infs"} != set(needed):
            raise ValueError(f"{where} needs {', '.join(needed)}")
        values: list[Any] = []
        for name in Statistics._fields:
            number = numbers.get(name, 0)
            special = _NOT_FINITE.get(number) if isinstance(number, str) else None
            values.append(_typed(number, (int, float), where) if special is None else special)
        return Statistics(*values)

    def memory(self) -> Memory | None:
        record = self.get("memory", dict)
        if record is None:
            return None
        entry = _Record(record, f"{self.where}.memory")
        number, nbytes = entry.integer("number", 0), entry.integer("nbytes", 0)
        return Memory(number, nbytes, entry.choice("owner", _OWNERS) if "owner" in record else "")

    def hook(self, record: Any, where: str) -> HookChange:
        entry = _Record(record, f"{self.where}.{where}")
        names = entry.get("hooks", list, [])
        hooks = tuple(_typed(name, str, f"{entry.where}.hooks") for name in names)
        return HookChange(hooks, entry.statistics("before"), entry.statistics("after"))

    def cost(self) -> Cost | None:
        values = self.get("cost", dict)
        if values is None:
            return None
        entry = _Record(values, f"{self.where}.cost")
        return Cost(
            entry.get("forward_seconds", (int, float)),
            entry.integer("forward_bytes"),
            entry.get("backward_seconds", (int, float)),
            entry.integer("backward_bytes"),
        )

    def saved(self) -> tuple[SavedValue, ...]:
        entries = []
        for index, record in enumerate(self.get("saved", list, [])):
            entry = _Record(record, f"{self.where}.saved[{index}]")
            entries.append(
                SavedValue(
                    entry.get("name", str),
                    entry.shape(),
                    entry.get("dtype", str, ""),
                    entry.integer("nbytes", 0),
                    entry.choice("state", _STATES),
                    entry.integer("storage"),
                    tuple(_read_source(line, entry.where) for line in entry.get("lines", list, [])),
                    entry.memory(),
                )
            )
        return tuple(entries)


def _read_node(build: GraphBuilder, record: _Record, count: int, pairs: dict[int, int]) -> None:
    source = record.get("source", list)
    id = build.node(
        record.choice("kind", _NODE_KINDS),
        record.choice("half", _HALVES),
        record.get("name", str),
        variable=record.get("variable", str, ""),
        stem=record.get("stem", str, ""),
        scope=record.get("scope", str, ""),
        count=record.integer("count", 1),
        shape=record.shape(),
        dtype=record.get("dtype", str, ""),
        detail=record.get("detail", str, ""),
        formula=record.get("formula", str, ""),
        source=_read_source(source, record.where) if source else None,
        order=record.integer("order"),
        saved=record.saved(),
        statistics=record.statistics(),
        undefined=record.get("undefined", bool, False),
        group=_read_group(record.get("group", dict), record.where),
    )
    if (call := record.integer("call", below=len(build.calls))) is not None:
        build.call_of[id] = call
    if cut := record.get("cut", str, ""):
        build.cuts[id] = cut
    if result := record.get("result", str, ""):
        build.results[id] = result
    cost = record.cost()
    if cost is not None:
        build.costs[id] = cost
    changes = record.get("hooks", list, [])
    if changes:
        build.hooks[id] = tuple(
            record.hook(change, f"hooks[{number}]") for number, change in enumerate(changes)
        )
    if rounds := record.get("rounds", list, []):
        build.rounds[id] = tuple(_read_round(one, f"{record.where}.rounds") for one in rounds)
    pair = record.integer("pair", below=count)
    if pair is not None:
        pairs[id] = pair


def _read_group(value: dict[str, Any] | None, where: str) -> Group | None:
    if value is None:
        return None
    record = _Record(value, f"{where}.group")
    members = [_typed(id, int, f"{where}.group.members") for id in record.get("members", list, [])]
    sizes = record.get("gradients", list, [])
    return Group(
        record.choice("kind", _GROUP_KINDS),
        record.get("title", str, ""),
        record.get("module", str, ""),
        record.integer("instances", 1),
        record.integer("ops", 1),
        record.integer("parameters", 0),
        record.integer("saved_bytes", 0),
        tuple(members),
        record.get("like", str, ""),
        record.integer("zero_gradients", 0),
        record.integer("packed", 0),
        tuple(_typed(size, (int, float), f"{where}.group.gradients") for size in sizes),
        record.get("weights", (int, float, type(None))),
    )


def _read_totals(record: _Record) -> Totals:
    return Totals(*[record.integer(name, 0) for name in Totals._fields])


def _read_source(value: list[Any], where: str) -> Source:
    if len(_typed(value, list, where)) != 2:
        raise ValueError(f"{where}: 'source' is not [file, line]")
    return Source(_typed(value[0], str, where), _typed(value[1], int, where))


def _read_round(value: list[Any], where: str) -> Round:
    if len(_typed(value, list, where)) != len(Round._fields):
        raise ValueError(f"{where}: a round is not [loop, number, label]")
    loop, number, label = value
    return Round(_typed(loop, int, where), _typed(number, int, where), _typed(label, str, where))


def _read_edge(build: GraphBuilder, record: _Record, count: int) -> None:
    source, target = record.integer("source", below=count), record.integer("target", below=count)
    if source is None:
        raise ValueError(f"{record.where}: 'source' is missing")
    id = build.edge(
        record.choice("kind", _EDGE_KINDS),
        source,
        target,
        output_nr=record.integer("output_nr", 0),
        input_nr=record.integer("input_nr", 0),
        shape=record.shape(),
        dtype=record.get("dtype", str, ""),
        label=record.get("label", str, ""),
        nbytes=record.integer("nbytes", 0),
        statistics=record.statistics(),
        undefined=record.get("undefined", bool, False),
        multiplicity=record.integer("multiplicity", 1),
    )
    change = record.get("hook", dict)
    if change is not None:
        build.edge_hooks[id] = record.hook(change, "hook")


def _typed(value: Any, kind: type | tuple[type, ...], where: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        names = kind.__name__ if isinstance(kind, type) else "number"
        raise ValueError(f"{where}: expected {names}, found {type(value).__name__}")
    return value
