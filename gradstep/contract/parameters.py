"""The parameters of a module, of whichever library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from gradstep.guest.fence import read


def named_parameters(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a module, of whichever library, by their paths; where FSDP has cut
    them into parts, the whole ones that ops use."""
    whole = whole_parameters(module)
    for path, tensor in read(lambda: module.named_parameters()):
        if has_data(tensor):
            yield path, whole.get(id(tensor), tensor)


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
    if "torch.distributed.fsdp" not in sys.modules or not hasattr(module, "modules"):
        return {}
    # loading torch's part imports torch, which the program has done by now
    from gradstep.engines.pytorch.private import gathered_parameters

    return {id(cut): whole for cut, whole in read(lambda: gathered_parameters(module))}
