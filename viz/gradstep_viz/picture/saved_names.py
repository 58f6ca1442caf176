"""What the program calls the values that nodes keep: the parameter or the variable, where PyTorch
has ``mat2`` and ``self``, the arguments of its ops."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from gradstep.graph.columns import BatchColumn, Groups, codes
from gradstep.graph.entries import LazyEntries
from gradstep.graph.folding.chains import is_reshaping
from gradstep.graph.folding.columns import EDGE_KINDS
from gradstep.graph.model import EdgeKind, Graph
from gradstep_viz.picture.formatting import is_dropout

INPUT: Final = "input"
MASK: Final = "mask"
_SECOND: Final = frozenset(["other", "mat2", "batch2", "vec", "tensor2", "vec2"])
_TRANSPOSED: Final = "ᵀ"
_KEEPING_ORDER: Final = frozenset([
    "view", "reshape", "unsafeview", "reshapealias", "alias", "clone", "contiguous", "expand",
    "expandas", "broadcastto", "flatten", "ravel", "unflatten", "squeeze", "squeezedim",
    "unsqueeze", "to", "tocopy", "viewas",
])  # fmt: skip
"""Shape ops behind which the name of a tensor still says what a formula does with it."""


def with_names_of_program(graph: Graph) -> Graph:
    """Return ``graph`` with saved values, also in formulas, called as the program calls them; those
    without a name there, ``input``. They are worked out when they are read."""
    if not graph.edge_labels:
        return graph
    names = _Names(graph)
    edges = LazyEntries(graph.edge_count, names.of_edge)
    formulas = BatchColumn(len(graph), names.formulas)
    return replace(graph, edge_labels=edges, formulas=formulas)


class _Names:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _saved_by_node(self) -> Groups:
        """The saved edges of each node that keeps something."""
        return self._edges_by_target("saved")

    @cached_property
    def _values_by_node(self) -> Groups:
        """The edges of what each op reads."""
        return self._edges_by_target("value")

    def _edges_by_target(self, kind: EdgeKind) -> Groups:
        edges = codes(self._graph.edge_kinds, EDGE_KINDS) == EDGE_KINDS.index(kind)
        ids = np.flatnonzero(edges)
        targets = np.array(self._graph.edge_targets, np.int64)[ids]
        return Groups.by_key(targets, ids, len(self._graph))

    def of_edge(self, edge: int) -> str | None:
        """Name a saved value; "" of what the op itself made, and of what has no name."""
        graph = self._graph
        label = graph.edge_labels.get(edge)
        if label is None or edge not in graph.edge_nbytes:  # by the name goes what is freed
            return label
        source, target = graph.edge_sources[edge], graph.edge_targets[edge]
        if not _is_argument(graph, target, label):
            return label
        return None if graph.pairs.get(target) == source else self._of_value(source)[0]

    def _of_value(self, id: int) -> tuple[str, str]:
        """Return the name of what a node made, or of that which it shows in another shape, and a
        sign where it shows it transposed; "" for none."""
        graph, sign = self._graph, ""
        while id not in graph.results and graph.kinds[id] == "op" and is_reshaping(graph.stem(id)):
            stem, read = graph.stem(id).replace("_", "").lower(), self._values_by_node[id]
            if stem == "t":
                sign = "" if sign else _TRANSPOSED
            elif stem not in _KEEPING_ORDER:
                return "", ""
            if not read:
                break
            id = graph.edge_sources[read[0]]
        name = graph.results.get(id, graph.variables.get(id, ""))
        if graph.kinds[id] == "constant" and not name and says_what_it_is(graph.names[id]):
            name = graph.names[id]
        return ("", "") if "," in name else (name, sign)

    def formulas(self, places: range) -> list[str]:
        """Write formulas with these names."""
        return [
            self._formula(id, text) if text else text
            for id, text in zip(places, self._graph.formulas[places.start : places.stop])
        ]

    def _formula(self, id: int, text: str) -> str:
        graph, words = self._graph, dict[str, tuple[str, str]]()
        for edge in self._saved_by_node[id]:
            label = graph.edge_labels.get(edge, "")
            if _is_argument(graph, id, label) and graph.edge_sources[edge] != graph.pairs.get(id):
                name, sign = self._of_value(graph.edge_sources[edge])
                if name:
                    words[label] = _within(name, graph.scopes[id]), sign
        unknown = [word for word in _ARGUMENTS.findall(text) if word not in words]
        several = len({word in _SECOND for word in unknown}) > 1
        for word in unknown:
            mark = ("₂" if word in _SECOND else "₁") if several else ""
            words[word] = MASK if is_dropout(graph, id) else INPUT + mark, ""
        text = text.replace("self_", f"{INPUT}_")
        if not words:
            return text
        known = "|".join(map(re.escape, words))

        def named(match: re.Match[str]) -> str:
            name, sign = words[match[1]]
            return name + (sign if sign != match[2] else "") if sign else name + match[2]

        return re.sub(rf"(?<![.\w])({known}){_END}({_TRANSPOSED}?)", named, text)


_END: Final = r"(?![^\Wᵀ]|\()"  # that sign is a letter
_ARGUMENTS: Final = re.compile(
    rf"(?<![.\w])(self|other|mat[12]|batch[12]|vec[12]?|tensor[12]){_END}"
)
"""Arguments of PyTorch's ops whose names tell nothing."""


def says_what_it_is(argument: str) -> bool:
    """Tell whether the name of an argument says what an input is: ``target`` and ``indices`` do,
    ``self`` does not, nor ``target2``, which only is not the program's ``target``."""
    return not (argument == INPUT or argument[-1:].isdigit() or _ARGUMENTS.fullmatch(argument))


def _is_argument(graph: Graph, node: int, label: str) -> bool:
    """Tell whether a saved value goes by the name of an argument of the op of ``node``."""
    bare = label.rstrip("0123456789")
    known = {value.name.rstrip("_") for value in graph.saved.get(node, ())}
    return label == INPUT or bool(known & {label, bare})


def _within(name: str, scope: str) -> str:
    """Name a parameter within its module: "weight" of "fc1.weight" in fc1."""
    return name.removeprefix(f"{scope}.") if scope else name
