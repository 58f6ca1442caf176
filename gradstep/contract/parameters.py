"""The parameters of a module, of whichever library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from gradstep.contract.registry import WHOLE_PARAMETERS, load
from gradstep.guest.fence import read


def named_parameters(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a module, of whichever library, by their paths; where FSDP has cut
    them into parts, the whole ones that ops use."""
    whole = whole_parameters(module)
    for path, tensor in read(lambda: module.named_parameters()):
        if has_data(tensor):
            yield path, whole.get(id(tensor), tensor)


def own_parameters(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that a module has itself by their names, cut or not."""
    return read(lambda: module.named_parameters(recurse=False))


def named_buffers(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the buffers of a module, of whichever library, by their paths."""
    return ((path, t) for path, t in read(lambda: module.named_buffers()) if has_data(t))


def has_data(tensor: Any) -> bool:
    """Return whether a parameter or buffer has a shape; those of a module that learns sizes from
    its first input (``LazyLinear``) get theirs when it is called."""
    return not hasattr(type(tensor), "cls_to_become")


def whole_parameters(module: Any) -> dict[int, Any]:
    """Return the parameters of a module that FSDP gathers for its ops, by the identity of those
    that it and its optimizer have."""
    if not hasattr(module, "modules"):
        return {}
    return {
        id(part): whole
        for library, home in WHOLE_PARAMETERS.items()
        if library in sys.modules
        for part, whole in read(partial(load(home), module))
    }
