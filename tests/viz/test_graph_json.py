"""The JSON of a graph: it loads back equal, and says what is wrong with what it cannot load."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph, SavedValue, Source
from gradstep.graph.serialize import from_json, to_json
from gradstep.graph.statistics import statistics
from tests.viz import sample_graphs


def everything() -> Graph:
    """A graph in which every property is known somewhere."""
    build = GraphBuilder('all \ud800 <of> "it"\n', derived_forward=True)
    # fmt: off
    one = build.node(
        "op", "forward", "a:b", variable="v:3", scope="s/t", count=7, shape=(), dtype="f",
        detail="d", formula="f", source=Source("x.py", 3), order=0,
        saved=(SavedValue("r", (2,), "f", 8, "freed"),),
        statistics=statistics(np.array([np.nan, np.inf])), undefined=True,
    )
    two = build.node("seed", "backward", "∂", statistics=statistics(np.array(np.inf)))
    build.edge(
        "saved", one, two, output_nr=1, input_nr=2, shape=(0, 3), dtype="f", label="l", nbytes=9,
        statistics=statistics(np.array([1e-300, 3.0])), undefined=True,
    )
    # fmt: on
    build.pair(one, two)
    return build.graph()


@pytest.mark.parametrize(
    "graph",
    [
        everything(),
        GraphBuilder().graph(),
        sample_graphs.quadratic(),
        sample_graphs.mlp(),
        sample_graphs.shared(),
    ],
    ids=lambda graph: ascii(graph.title[:3]),
)
def test_a_graph_loads_back_equal(graph: Graph) -> None:
    text = to_json(graph)
    again = from_json(text)
    assert again == graph
    assert to_json(again) == text
    assert text.encode()


def test_it_is_plain_json_with_a_line_per_node() -> None:
    text = to_json(sample_graphs.quadratic())
    document = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert len(document["nodes"]) == 14
    assert text.count("\n") == 4 + 4 + 14 + 14 + 2


def broken(**changes: Any) -> str:
    document = json.loads(to_json(sample_graphs.quadratic()))
    for path, value in changes.items():
        *way, last = path.split("__")
        place = document
        for step in way:
            place = place[int(step) if step.isdigit() else step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "not a gradstep graph"),
        ("{}", "not a gradstep graph"),
        (broken(version=2), "version 2 is unknown"),
        (broken(nodes=...), "'nodes' is missing"),
        (broken(nodes={}), "nodes: expected list, found dict"),
        (broken(nodes__0__kind="thing"), r"nodes\[0\].kind: 'thing' is none of op"),
        (broken(nodes__3__name=...), r"nodes\[3\]: 'name' is missing"),
        (broken(nodes__0__shape="x"), r"nodes\[0\].shape: expected list, found str"),
        (broken(nodes__0__pair=99), r"nodes\[0\]: 'pair' is 99, which does not exist"),
        (broken(nodes__0__pair=3), "is not mutual"),
        (broken(edges__1__target=-1), r"edges\[1\].target: -1 stands"),
        (broken(edges__1__source=...), r"edges\[1\]: 'source' is missing"),
        (broken(edges__1__source=True), r"edges\[1\].source: expected int, found bool"),
        (broken(nodes__0__statistics={}), r"nodes\[0\].statistics: 'size' is missing"),
    ],
)
def test_what_is_wrong_is_said(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_json(text)
