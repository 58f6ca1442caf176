"""The one place at which all calls of ``backward`` and ``grad`` enter PyTorch's engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final, NamedTuple

import torch

from autograd_core.autograd.call import BackwardCall, interceptor
from autograd_core.dag.trace import user_source
from autograd_core.engines.pytorch.nodes import TorchGraph
from autograd_core.engines.pytorch.origins import Origins, current
from autograd_core.engines.pytorch.private import (
    RunBackward,
    run_backward,
    set_run_backward,
    transform_level,
)


class Arguments(NamedTuple):
    """The arguments with which PyTorch calls its engine."""

    outputs: tuple[Any, ...]
    seeds: tuple[Any, ...]
    keep: bool
    graph: bool
    inputs: tuple[Any, ...]
    allow_unreachable: bool = True
    accumulate_grad: bool = True


_ENGINE: Final[RunBackward] = run_backward()


@contextmanager
def intercepted() -> Iterator[None]:
    """Within it, the interceptor of this package is asked about each call."""
    before = run_backward()
    set_run_backward(_run_backward)
    try:
        yield
    finally:
        set_run_backward(before)


def _run_backward(*given: Any, **named: Any) -> Any:
    intercept: Any = interceptor.get()
    # inside of vmap and grad of torch.func, tensors stand for others
    if not hasattr(intercept, "requests") or transform_level() is not None:
        return _ENGINE(*given, **named)
    arguments = Arguments(*given, **named)
    if not intercept.requests("backward" if arguments.accumulate_grad else "grad"):
        return _carry_out(arguments)
    graph = TorchGraph(current.get() or Origins())
    roots = tuple(map(graph.tensor, arguments.outputs))
    if any(root.edge is None for root in roots):
        return _carry_out(arguments)  # the engine says what is wrong
    call = call_from(arguments, roots, tuple(map(graph.tensor, arguments.inputs)))
    answer = intercept.handle(call)
    return run(call) if answer is False else answer


def call_from(arguments: Arguments, roots: Any, inputs: Any) -> BackwardCall:
    """Return a call of the engine as an interceptor sees it."""
    # the engine is made of this module
    from autograd_core.engines.pytorch import PYTORCH

    seeds = tuple(
        torch.ones_like(output) if seed is None and isinstance(output, torch.Tensor) else seed
        for output, seed in zip(arguments.outputs, arguments.seeds, strict=True)
    )
    return BackwardCall(
        roots, seeds, bool(arguments.keep), bool(arguments.graph), inputs,
        is_grad=not arguments.accumulate_grad, line=user_source(sys._getframe(1)),
        engine=PYTORCH, arguments=arguments,
    )  # fmt: skip


def run(call: BackwardCall, keep: bool | None = None) -> Any:
    """Let PyTorch's engine carry out ``call``; ``keep`` says instead of the call whether the graph
    is retained."""
    given: Arguments = call.arguments
    return _carry_out(given if keep is None else given._replace(keep=keep))


def _carry_out(given: Arguments) -> Any:
    origins = current.get()
    ops = None if origins is None or given.graph else origins.ops
    token = interceptor.set(None)  # a call inside of this one is not the program's
    try:
        with nullcontext() if ops is None else ops.paused():
            return _ENGINE(*given[:-1], accumulate_grad=given.accumulate_grad)
    finally:
        interceptor.reset(token)
