"""Writes the document: records that leave out what is unknown, one per line."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from gradstep.graph.model import Edge, Graph, HookChange, Node, short_name
from gradstep.graph.serialize.document import FORMAT, VERSION
from gradstep.graph.statistics import Statistics


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
        record["saved"] = [_known(value._asdict()) for value in node.saved]
    if node.group is not None:
        record["group"] = node.group._asdict()
    if node.hooks:
        record["hooks"] = [_hook_record(change) for change in node.hooks]
    if node.id in graph.costs:
        measured = graph.costs[node.id]._asdict()
        record["cost"] = {name: each for name, each in measured.items() if each is not None}
    return record


def _edge_record(edge: Edge) -> dict[str, Any]:
    record = _known(edge._asdict())
    del record["id"]
    if edge.multiplicity == 1:
        del record["multiplicity"]
    if edge.hook is not None:
        record["hook"] = _hook_record(edge.hook)
    return record


def _hook_record(change: HookChange) -> dict[str, Any]:
    known = {"before": change.before, "after": change.after}
    numbers = {name: _statistics_record(stats) for name, stats in known.items() if stats}
    return {"hooks": list(change.hooks), **numbers}


_UNKNOWN: dict[str, Any] = {
    "scope": "",
    "shape": None,
    "dtype": "",
    "detail": "",
    "formula": "",
    "variable": "",
    "source": None,
    "order": None,
    "pair": None,
    "saved": (),
    "output_nr": 0,
    "input_nr": 0,
    "label": "",
    "nbytes": 0,
    "statistics": None,
    "undefined": False,
    "storage": None,
    "lines": (),
    "group": None,
    "hook": None,
    "hooks": (),
    "rounds": (),
}


def _known(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is unknown; on an edge ``source`` is a node, and None never occurs."""
    known = {k: v for k, v in record.items() if k not in _UNKNOWN or v != _UNKNOWN[k]}
    stats: Statistics | None = known.get("statistics")
    if stats is not None:
        known["statistics"] = _statistics_record(stats)
    return known


def _statistics_record(stats: Statistics) -> dict[str, float | str]:
    return {name: _number_record(value) for name, value in stats._asdict().items()}


def _number_record(value: float) -> float | str:
    return value if math.isfinite(value) else str(float(value))
