"""The libraries whose graphs are read and run: this package's own core, and PyTorch.

What differs between them stands behind :class:`~gradstep.engines.protocol.Engine`.  PyTorch's
part is loaded only for a program that has imported torch.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from gradstep.own_files import imported_pytorch

if TYPE_CHECKING:
    from gradstep.engines.protocol import Engine

__all__ = [
    "MixedEngines",
    "NoEngine",
    "OldPyTorch",
    "engine_of",
    "engine_of_call",
    "is_tensor",
    "named_parameters",
    "too_old",
    "whole_parameters",
]

OLDEST_PYTORCH: Final = (2, 4)


class NoEngine(ValueError):
    """There is no engine here for some tensors."""


class OldPyTorch(NoEngine):
    """A version of PyTorch that is too old to be read."""


class MixedEngines(NoEngine):
    """Tensors of both libraries where those of one are needed."""

    def __init__(self) -> None:
        super().__init__(
            "these tensors belong to two libraries, PyTorch and autograd_core, whose graphs "
            "cannot be connected; pass tensors of one library"
        )


def is_tensor(value: Any) -> bool:
    """Return whether ``value`` is a tensor, of whichever library.

    >>> import autograd_core as torch
    >>> is_tensor(torch.tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    kind = type(value)
    return hasattr(kind, "grad_fn") and hasattr(kind, "requires_grad")


def named_parameters(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a module, of whichever library, by their paths; where FSDP has cut
    them into parts, the whole ones that ops use."""
    whole = whole_parameters(module)
    for path, tensor in module.named_parameters():
        yield path, whole.get(id(tensor), tensor)


def whole_parameters(module: Any) -> dict[int, Any]:
    """Return the parameters of a module that FSDP gathers for its ops, by the identity of those
    that it and its optimizer have."""
    if "torch.distributed.fsdp" not in sys.modules or not hasattr(module, "modules"):
        return {}
    # loading torch's part imports torch, which the program has done by now
    from gradstep.engines.pytorch.private import gathered_parameters

    return {id(cut): whole for cut, whole in gathered_parameters(module)}


def engine_of(tensors: Iterable[Any]) -> Engine:
    """Return the engine that ``tensors`` belong to; of none, the core's own.

    >>> import autograd_core as torch
    >>> engine_of([torch.tensor(1.0)]).name
    'autograd_core'

    Raises:
        NoEngine: they belong to both, or to a version of PyTorch that is too old.
    """
    given = tuple(tensors)
    for each in given:  # as capture sees them
        engine: Engine | None = getattr(type(each), "gradstep_engine", None)
        if engine is not None:  # it stands for a tensor
            return engine
    native = _native()
    ours = [native.owns(each) for each in given]
    if all(ours) or not any(map(_is_torch, given)):
        return native
    if any(ours):
        raise MixedEngines
    if problem := too_old():
        raise OldPyTorch(problem)
    # loading torch's part imports torch, which the program has done by now
    from gradstep.engines.pytorch import PYTORCH

    return PYTORCH


def too_old() -> str:
    """Say that the program's PyTorch is too old to be read, "" where it is not."""
    version = getattr(imported_pytorch(), "__version__", "")
    found = re.match(r"(\d+)\.(\d+)", str(version))
    if found is None or (int(found[1]), int(found[2])) >= OLDEST_PYTORCH:
        return ""
    oldest = ".".join(map(str, OLDEST_PYTORCH))
    return f"PyTorch {version} is too old for gradstep; install {oldest} or newer"


def engine_of_call(call: Any) -> Engine:
    """Return the engine that carries out a call of ``backward`` or ``grad``."""
    engine: Engine | None = call.engine
    return _native() if engine is None else engine


@cache
def _native() -> Engine:
    # in here, since readers of graphs import this module, and engines read graphs
    from gradstep.engines.native import NATIVE

    return NATIVE


def _is_torch(value: Any) -> bool:
    torch = imported_pytorch()
    kinds = tuple(
        kind
        for kind in (
            getattr(torch, "Tensor", None),
            getattr(
                sys.modules.get("torch.autograd.graph") if torch else None, "GradientEdge", None
            ),
        )
        if isinstance(kind, type)
    )
    return isinstance(value, kinds)
