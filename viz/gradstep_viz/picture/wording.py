"""What a picture says and how it calls things, as its author wants it: names of their own, and only
some of the facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from gradstep.graph.model import Graph
from gradstep_viz.picture import formatting

FACTS: Final = ("shapes", "rms", "formulas", "saved", "lines")
"""Shapes beside lines and in boxes, numbers such as the root mean square of gradients, formulas,
lines to saved values, and lines of the program."""

DEFAULT_FACTS: Final = FACTS[:-1]


def with_labels(graph: Graph, labels: Mapping[str, str]) -> Graph:
    """Return ``graph`` with names of the user's own for nodes, by their addresses; a leaf goes by
    the name of its variable, a group by its title."""
    if not labels:
        return graph
    names, variables = list(graph.names), dict(graph.variables)
    for id, variable in graph.variables.items():
        variables[id] = labels.get(variable, variable)
    for id in range(len(graph)):
        own = labels.get(graph.address(id), labels.get(formatting.title(graph, id)))
        if own is not None and id in variables:
            variables[id] = own.removesuffix(".grad")
        elif own is not None:
            names[id] = own
    frames = tuple(
        frame._replace(label=labels.get(frame.label, frame.label)) for frame in graph.frames
    )
    return replace(graph, names=names, variables=variables, frames=frames)


def with_facts(graph: Graph, facts: Collection[str]) -> Graph:
    """Return ``graph`` without what is not among the ``facts``; trouble stays in any case, and
    gradients of 0."""
    if "rms" not in facts:
        graph = replace(
            graph,
            statistics={
                id: one
                for id, one in graph.statistics.items()
                if one.trouble or (one.is_zero and graph.halves[id] == "backward")
            },
            edge_statistics={
                id: one
                for id, one in graph.edge_statistics.items()
                if one.trouble or (one.is_zero and graph.edge_kinds[id] == "gradient")
            },
        )
    if "shapes" not in facts:
        nothing = [None] * len(graph.edge_shapes)
        graph = replace(graph, shapes=[None] * len(graph), edge_shapes=nothing)
    if "formulas" not in facts:
        details = [
            "" if kind == "op" and text != formatting.DROPOUT else text
            for kind, text in zip(graph.kinds, graph.details, strict=True)
        ]
        graph = replace(graph, formulas=[""] * len(graph), details=details)
    return graph
