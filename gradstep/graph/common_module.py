"""The module that all others are in: in each of their names it would be said again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from typing import Final

from gradstep.graph.model import PARAMETER_KINDS, Graph, OpenGroup

LONG: Final = 12
"""Names that are shorter do no harm where they are repeated."""


def common_module(graph: Graph) -> str:
    """Return the long name of the module that all modules and parameters of ``graph`` are in, such
    as ``base_model.model`` where a library has wrapped a model; "" where there is none."""
    parameters = [id for id, kind in enumerate(graph.kinds) if kind in PARAMETER_KINDS]
    paths = {graph.variables.get(id, "").rpartition(".")[0] for id in parameters}
    return _common(paths.union(filter(None, graph.scopes)))


def _common(paths: Iterable[str]) -> str:
    """Return the modules at the beginning of all paths; what follows is to be a name, no number.

    >>> _common(["base_model.model.layers.0", "base_model.model.layers.1"])
    'base_model.model'
    >>> _common(["encoder.blocks.0", "encoder.head"]), _common(["0", "1.attention"])
    ('', '')
    """
    split = sorted(path.split(".") for path in paths)
    ends = zip(split[0], split[-1], strict=False) if split else ()
    shared = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], ends)]
    while shared and any("".join(path[len(shared) :][:1]).isdigit() for path in split):
        shared.pop()
    module = ".".join(shared)
    return module if len(shared) > 1 and len(module) >= LONG else ""


def without_module(graph: Graph, module: str) -> Graph:
    """Return ``graph`` with shorter names: those within ``module``."""
    if not module:
        return graph
    front = f"{module}."

    def short(name: str) -> str:
        return name.replace(front, "")

    classes = {short(scope): kind for scope, kind in graph.modules.items()}
    return replace(
        graph,
        names=[short(name) if id in graph.groups else name for id, name in enumerate(graph.names)],
        variables={id: short(name) for id, name in graph.variables.items()},
        scopes=["" if scope == module else short(scope) for scope in graph.scopes],
        formulas=[short(text) for text in graph.formulas],
        modules={**graph.modules, **classes},
        module_details={
            **graph.module_details,
            **{short(scope): text for scope, text in graph.module_details.items()},
        },
        calls=[one._replace(module=short(one.module)) for one in graph.calls],
        groups={
            id: group._replace(title=short(group.title), like=short(group.like))
            for id, group in graph.groups.items()
        },
        frames=tuple(OpenGroup(short(frame.label), frame.members) for frame in graph.frames),
    )
