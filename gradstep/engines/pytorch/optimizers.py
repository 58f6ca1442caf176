"""Steps of PyTorch's own optimizers: no line of the program makes a node there.

An optimizer asks each parameter for its ``.grad`` several times, and the mode that notes lines
would hear of each: in a loop over small steps, half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any, Final, Protocol

import torch
from torch.compiler import is_dynamo_compiling

from gradstep.engines.pytorch.private import skip_code
from gradstep.graph.fence import within_fence

_STEPS: Final = "what the steps of optimizers change"


class Suspended(Protocol):
    """A mode that can be set aside."""

    def suspend(self, optimizer: Any = None) -> bool: ...

    def resume(self) -> None: ...


@contextmanager
def passed_over(mode: Suspended, *names: str) -> Iterator[None]:
    """Within it, ``mode`` hears nothing of what these methods of PyTorch's optimizers do."""
    changed = [
        (kind, name, _without(mode, method))
        for kind in _optimizers()
        for name in names
        if (method := _prepared(kind, name)) is not None
    ]
    for kind, name, ours in changed:
        setattr(kind, name, ours)
    try:
        yield
    finally:
        for kind, name, ours in changed:
            if vars(kind).get(name) is ours:  # else who has put another there calls this one
                setattr(kind, name, ours.__wrapped__)


def _optimizers() -> list[Any]:
    """Return PyTorch's own kinds of optimizers."""
    kinds = [value for value in vars(torch.optim).values() if isinstance(value, type)]
    return [kind for kind in kinds if issubclass(kind, torch.optim.Optimizer)]


def _prepared(kind: Any, name: str) -> Any:
    """Return a method of a kind of optimizers as it is once there is one of them, None where it has
    none of its own."""
    method = vars(kind).get(name)
    if name == "zero_grad" or method is None:
        return method
    if kind is torch.optim.Optimizer:  # those that have no other cannot step
        return None
    if not getattr(method, "hooked", False):
        method = kind.profile_hook_step(method)
        method.hooked = True
    return method


def _without(mode: Suspended, method: Any) -> Any:
    """Return ``method``, of which ``mode`` hears nothing, unless code of the program's may run in
    it, or a graph be built."""

    def passed(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling():
            return method(optimizer, *args, **kwargs)
        is_aside = False
        with within_fence(_STEPS):
            is_aside = not (
                any(map(callable, (*args, *kwargs.values())))
                or optimizer.defaults.get("differentiable")
            ) and mode.suspend(optimizer)
        try:
            return method(optimizer, *args, **kwargs)
        finally:
            if is_aside:
                with within_fence(_STEPS):
                    mode.resume()

    update_wrapper(passed, method)
    skip_code(passed.__code__)
    return passed
