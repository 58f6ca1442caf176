"""Methods of PyTorch's in which no line of the program makes a node, and those that register hooks.

An optimizer asks each parameter for its ``.grad`` several times, and the mode that notes lines
would hear of each: in a loop over small steps, half of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import update_wrapper
from typing import Any, Final, Protocol

import torch
from torch.compiler import is_dynamo_compiling

from gradstep.engines.pytorch.origins import Origins, current
from gradstep.engines.pytorch.private import (
    own_attributes,
    skip_code,
    steps_with_hooks,
    unobserved,
)
from gradstep.guest.fence import within_fence
from gradstep.guest.replaced import replaced

_STEPS: Final = "what the steps of optimizers change"
_HOOKS: Final = "hooks of tensors"


class Suspended(Protocol):
    """A mode that can be set aside; whether it ``acts``."""

    acts: bool

    def suspend(self, optimizer: Any = None) -> bool: ...

    def resume(self) -> None: ...


@contextmanager
def passed_over(mode: Suspended, *names: str) -> Iterator[None]:
    """Within it, ``mode`` hears nothing of what these methods of PyTorch's optimizers do."""
    with _replaced(
        (kind, name, method, _without(mode, method, _steps_alone))
        for kind in _optimizers()
        for name in names
        if (method := _prepared(kind, name)) is not None
    ):
        yield


@contextmanager
def backward_passed_over(mode: Suspended) -> Iterator[None]:
    """Within it, ``mode`` hears nothing of ``Tensor.backward``, unless that builds a graph."""
    method = torch.Tensor.backward
    ours = _without(mode, method, _builds_no_graph)
    with _replaced([(torch.Tensor, "backward", method, ours)]):
        yield


@contextmanager
def hooks_noted(origins: Origins) -> Iterator[None]:
    """Within it, the tensors on which this thread registers hooks, or which it has keep their
    gradients, are noted."""

    def hooked(tensor: torch.Tensor) -> None:
        origins.hooked(tensor)

    def retaining(tensor: torch.Tensor) -> None:
        origins.retaining[id(tensor)] = tensor

    def told(method: Any, note: Callable[[torch.Tensor], None]) -> Any:
        def telling(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            result = method(tensor, *args, **kwargs)
            if not is_dynamo_compiling() and current.get() is origins and origins.noting:
                with within_fence(_HOOKS), unobserved():
                    note(tensor)
            return result

        return update_wrapper(telling, method)

    tensor = torch.Tensor
    with _replaced(
        [
            (tensor, name, method, told(method, note))
            for name, method, note in (
                ("register_hook", tensor.register_hook, hooked),
                ("retain_grad", tensor.retain_grad, retaining),
            )
        ]
    ):
        yield


@contextmanager
def _replaced(methods: Iterable[tuple[Any, str, Any, Any]]) -> Iterator[None]:
    """Within it, classes have other methods, each around one of that name."""
    with ExitStack() as stack:
        for kind, name, method, ours in list(methods):
            skip_code(ours)
            stack.enter_context(replaced(kind, name, ours, method))
        yield


def _optimizers() -> list[Any]:
    """Return PyTorch's own kinds of optimizers."""
    kinds = [each for each in own_attributes(torch.optim).values() if isinstance(each, type)]
    return [kind for kind in kinds if issubclass(kind, torch.optim.Optimizer)]


def _prepared(kind: Any, name: str) -> Any:
    """Return a method of a kind of optimizers as it is once there is one of them, None where it has
    none of its own."""
    method = own_attributes(kind).get(name)
    if name == "zero_grad" or method is None:
        return method
    if kind is torch.optim.Optimizer:  # those that have no other cannot step
        return None
    return steps_with_hooks(kind, method)


def _steps_alone(optimizer: Any, *args: Any, **kwargs: Any) -> bool:
    """Return whether neither code of the program's may run in a step, nor a graph be built."""
    is_called = any(map(callable, (*args, *kwargs.values())))
    return not (is_called or optimizer.defaults.get("differentiable"))


def _builds_no_graph(
    tensor: torch.Tensor, gradient: Any = None, retain: Any = None, graph: Any = False, **named: Any
) -> bool:
    return not (graph or named.get("create_graph"))


def _without(mode: Suspended, method: Any, may_be: Callable[..., bool]) -> Any:
    """Return ``method``, of which ``mode`` hears nothing, where that ``may_be``."""

    def passed(itself: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling() or not mode.acts:
            return method(itself, *args, **kwargs)
        is_aside = False
        with within_fence(_STEPS):
            is_aside = may_be(itself, *args, **kwargs) and mode.suspend(itself)
        try:
            return method(itself, *args, **kwargs)
        finally:
            if is_aside:
                with within_fence(_STEPS):
                    mode.resume()

    return update_wrapper(passed, method)
