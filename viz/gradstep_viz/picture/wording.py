"""What a picture says and how it calls things, as its author wants it: names of their own, and only
some of the facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gradstep.graph.folding.chains import is_reshaping
from gradstep.graph.model import Graph
from gradstep_viz.picture import formatting
from gradstep_viz.picture.saved_names import MASK, says_what_it_is

FACTS: Final = ("shapes", "rms", "formulas", "saved", "lines")
"""Shapes beside lines and in boxes, numbers such as the root mean square of gradients, formulas,
lines to saved values, and lines of the program."""

DEFAULT_FACTS: Final = FACTS[:-1]


def with_labels(graph: Graph, known: Graph, labels: Mapping[str, str]) -> Graph:
    """Return ``graph`` with names of the user's own for nodes, by the addresses that they have in
    the graph ``known`` without the words of its author; a leaf goes by the name of its variable, a
    group by its title, what is all of a module by that, too."""
    if not labels:
        return graph
    names, variables = list(graph.names), dict(graph.variables)
    for id, variable in graph.variables.items():
        variables[id] = labels.get(variable, variable)
    modules = _ops_that_are_modules(known)
    for id in range(len(graph)):
        keys = [known.address(id), formatting.title(graph, id)]
        if modules.intersection((id, graph.pairs.get(id, -1))):
            keys.append(known.scopes[id])
        own = next((labels[key] for key in keys if key in labels), None)
        is_named = graph.kinds[id] in ("op", "group", "seed") or id not in variables
        if graph.kinds[id] == "seed" and (name := graph.names[id][1:].partition("/")[0]) in labels:
            own = f"∂{labels[name]}/∂{labels[name]}"
        if own is not None and is_named:
            names[id] = own
        elif own is not None:
            variables[id] = own.removesuffix(".grad")
    frames = tuple(
        frame._replace(label=labels.get(frame.label, frame.label)) for frame in graph.frames
    )
    return replace(graph, names=names, variables=variables, frames=frames)


def labels_within(labels: Mapping[str, str], module: str) -> Mapping[str, str]:
    """Return labels by addresses within ``module``, which pictures leave out of all names.

    >>> labels_within({"model.fc/addmm:1": "f", "model/mul:1": "g", "x": "y"}, "model")
    {'fc/addmm:1': 'f', 'mul:1': 'g', 'x': 'y'}
    """
    if not module:
        return labels
    fronts = f"{module}.", f"{module}/"
    return {
        name.removeprefix(fronts[0]).removeprefix(fronts[1]): own for name, own in labels.items()
    }


def in_words_of_author(graph: Graph) -> Graph:
    """Return ``graph`` with ops of the forward half called as the program calls them, where it
    does: by the module of which they are all that runs, else by the variable that holds the
    result. What PyTorch calls them stands below."""
    names, details, scopes = list(graph.names), list(graph.details), list(graph.scopes)
    for id, name in _constants_without_name(graph):
        names[id] = name
    for id, group in graph.groups.items():
        if not graph.names[id].strip("0123456789. …"):  # of a model that is a Sequential
            names[id] = f"{group.module or 'layers'} {graph.names[id]}"
    modules = _ops_that_are_modules(graph)
    # the result of the whole has a box of its own
    ends = {graph.variables.get(id) for id, kind in enumerate(graph.kinds) if kind == "output"}
    for id in [id for id, kind in enumerate(graph.kinds) if kind == "op"]:
        if graph.halves[id] != "forward" or formatting.title(graph, id) != names[id]:
            continue
        op, scope, result = names[id], scopes[id], graph.results.get(id, "")
        result = "" if result in ends else result
        if id in modules:
            kind = graph.modules[scope]
            about = f"{kind} {graph.module_details.get(scope, '')}".rstrip()
            is_number = scope.replace(".", "").isdigit()  # of a model that is a Sequential
            names[id], scopes[id] = f"{kind} {scope}" if is_number else scope, ""
            if is_number:
                about = about.removeprefix(kind).lstrip()
            if result not in ("", scope.rpartition(".")[2]):
                about = f"{about} → {result}".lstrip()
            details[id] = f"{about} · {op}" if about else op
        elif result:
            names[id], details[id] = result, f"{op} {details[id]}".rstrip()
    return replace(graph, names=names, details=details, scopes=scopes)


def _constants_without_name(graph: Graph) -> Iterator[tuple[int, str]]:
    """Yield the constants that go by an argument of an op which tells nothing, each with a word for
    it: that of a dropout is its mask."""
    variables = set(graph.variables.values())
    ids = {
        id
        for id, kind in enumerate(graph.kinds)
        if kind == "constant" and id not in graph.variables and graph.names[id] not in variables
        and not says_what_it_is(graph.names[id])
    }  # fmt: skip
    masks = set[int]()
    for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True) if ids else ():
        if source in ids and formatting.is_dropout(graph, target):
            masks.add(source)
    for id in ids:
        yield id, MASK if id in masks else "constant"


def _ops_that_are_modules(graph: Graph) -> set[int]:
    """Return the boxes of ops that are each all that a call of a module runs."""
    ops: dict[str, list[int]] = {}
    around: set[str] = set()
    for id, (kind, half, scope) in enumerate(
        zip(graph.kinds, graph.halves, graph.scopes, strict=True)
    ):
        if half == "forward" and scope:
            around.add(scope.rpartition(".")[0])
            around |= {scope} if kind == "group" else set()
            if kind == "op" and scope in graph.modules and not is_reshaping(graph.stem(id)):
                ops.setdefault(scope, []).append(id)
    return {
        id
        for scope, of_it in ops.items()
        if scope not in around and len({graph.stem(id) for id in of_it}) == 1
        for id in of_it
    }


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
