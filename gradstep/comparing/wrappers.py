"""A graph in the names of the plain model, where a wrapper of PyTorch's has put its own around it:
``torch.compile``, ``DistributedDataParallel``, FSDP, checkpoints, parametrizations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from gradstep.graph.model import Graph

_ALWAYS: Final = frozenset(
    {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module"}
)
"""Attributes that no model of a user has: the wrapped module, under the name of its wrapper."""
_CLASSES: Final = frozenset({"DataParallel", "DistributedDataParallel", "AveragedModel"})
"""Wrappers that call it ``module``, as a user may."""
OPS: Final = frozenset({"register_post"})
"""Ops that a wrapper adds, which hand on what they are given: FSDP2's of the blocks that it
shards."""
_MODULE: Final = "module"
_PARAMETRIZED: Final = re.compile(r"(^|\.)parametrizations\.(\w+)\.original$")


def bare_names(modules: Mapping[str, str], names: Iterable[str]) -> Callable[[str], str]:
    """Return what makes the name of a module or a parameter that of the plain model.

    Args:
        modules: the class of each module, by its path.
        names: the parameters; where all begin with ``module``, the model itself is wrapped.

    >>> bare = bare_names({"0": "DataParallel"}, ["0.module.weight", "1._orig_mod.bias"])
    >>> bare("0.module.weight"), bare("1._orig_mod.bias"), bare("1.parametrizations.w.original")
    ('0.weight', '1.bias', '1.w')
    """
    dotted = [name for name in (*modules, *names) if "." in name]
    is_wrapped = bool(dotted) and all(name.startswith(f"{_MODULE}.") for name in dotted)
    known: dict[str, str] = {}

    def bare(name: str) -> str:
        if name not in known:
            words = name.split(".")
            kept = [
                word
                for at, word in enumerate(words)
                if word not in _ALWAYS
                and not (word == _MODULE and _wraps(modules, words[:at], is_wrapped))
            ]
            known[name] = _PARAMETRIZED.sub(r"\1\2", ".".join(kept))
        return known[name]

    return bare


def _wraps(modules: Mapping[str, str], path: list[str], is_wrapped: bool) -> bool:
    return modules.get(".".join(path)) in _CLASSES if path else is_wrapped


def without_wrappers(graph: Graph) -> Graph:
    """Return a graph with the names of the plain model; the nodes have the same numbers."""
    tensors = {id: name for id, name in graph.variables.items() if "." in name}
    bare = bare_names(graph.modules, tensors.values())
    modules: dict[str, str] = {}
    for path in sorted(graph.modules, key=len):  # what is wrapped has a longer one than its wrapper
        modules[bare(path)] = re.sub("^(FSDP|Parametrized)(?=[A-Z])", "", graph.modules[path])
    modules.pop("", None)
    if modules == graph.modules and all(bare(name) == name for name in tensors.values()):
        return graph
    variables = {**graph.variables, **{id: bare(name) for id, name in tensors.items()}}
    return replace(
        graph,
        scopes=[bare(scope) for scope in graph.scopes],
        names=[
            variables[id] if name == tensors.get(id) else name
            for id, name in enumerate(graph.names)
        ],
        variables=variables,
        modules=modules,
        module_details={bare(path): text for path, text in graph.module_details.items()},
        calls=[one._replace(module=bare(one.module)) for one in graph.calls],
    )
