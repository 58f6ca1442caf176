"""The one place at which all calls of ``backward`` and ``grad`` enter PyTorch's engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from operator import index
from threading import Lock
from types import FrameType
from typing import Any, Final

import torch
from torch.autograd.graph import GradientEdge

from gradstep.capturing.frames import calling_source, user_source
from gradstep.contract.interception import interceptor, tell_if_unheard
from gradstep.engines.pytorch.calls import Arguments, TorchCall
from gradstep.engines.pytorch.nodes import TorchGraph, note_of_freed
from gradstep.engines.pytorch.origins import Origins, current
from gradstep.engines.pytorch.private import (
    functions,
    is_traced,
    run_backward,
    running_pass,
    sequence_nr_of,
    set_run_backward,
    skip_code,
    torch_c,
    transform_level,
    uncompiled,
)
from gradstep.engines.pytorch.walking import walk
from gradstep.guest.fence import CallRun, fenced, raised, run_of, within_fence
from gradstep.guest.own_files import StackEntry, forget_own_frames, frames_of_program
from gradstep.records import CallKind, Interceptor

_ENGINE: Final[Any] = run_backward()


_ENDS: Final = (torch.Tensor, GradientEdge)
"""What a call may begin and end at."""
_listening: Final[list[Interceptor | None]] = []
"""Who hears of calls inside each of the passes that run."""
_attached = 0  # how many ask for it
_attaching: Final = Lock()


@contextmanager
def intercepted() -> Iterator[None]:
    """Within it, the interceptor of this package is asked about each call."""
    if _ENGINE is None:  # attaching has told
        yield
        return
    _attach(1)
    try:
        yield
    finally:
        _attach(-1)


def _attach(count: int) -> None:
    """Begin to intercept calls where nobody had asked for it, or end it with the last one."""
    global _attached
    with _attaching:
        before, _attached = _attached, _attached + count
        if not before or not _attached:
            set_run_backward(_run_backward if _attached else _ENGINE)


def is_engine_call(frame: FrameType | None, by: FrameType | None) -> bool:
    """Return whether ``frame`` belongs to a hook that a pass calls which the frame ``by`` had
    carried out; of a device's own thread, that nobody else did."""
    frame = None if frame is None else frame.f_back
    while frame is not None and frame.f_code in _OF_ENGINE:
        frame = frame.f_back
    return frame is None or frame is by


def _run_backward(*given: Any, **named: Any) -> Any:
    intercept: Any = interceptor.get()
    if intercept is None:
        if running_pass() in (None, -1):
            tell_if_unheard()
        elif len(_listening) == 1:  # a device's own thread has none; of several, which is unknown
            (intercept,) = _listening
    # inside of vmap and grad of torch.func, and while a function is compiled, tensors stand for
    # others, and the call is PyTorch's own
    if transform_level() is not None or is_traced(given[0]):
        return _ENGINE(*given, **named)
    arguments = Arguments(*given, **named)
    if torch_c.is_anomaly_enabled():
        with within_fence("anomaly mode without frames of gradstep"):
            _leave_out_own_frames(arguments.outputs)
    kind: CallKind = "backward" if arguments.accumulate_grad else "grad"
    wanted: Any = intercept is not None
    if wanted and hasattr(intercept, "requests"):
        wanted = _requests(intercept, kind, arguments.outputs)
    if not wanted:
        return carry_out(arguments)
    try:
        if callable(wanted):
            return wanted(partial(carry_out, arguments))
        call = _read_call(arguments)
        if call is None:
            return carry_out(arguments)
        answer = _answer(intercept, call)
        return run(call) if answer is False else answer
    except BaseException as error:
        forget_own_frames(error)
        raise


@uncompiled
def _requests(intercept: Any, kind: CallKind, outputs: Any) -> Any:
    return intercept.requests(kind, outputs)


@uncompiled
def _answer(intercept: Any, call: TorchCall) -> Any:
    return intercept.handle(call) if hasattr(intercept, "handle") else intercept(call)


@uncompiled
@fenced("a backward pass")
def _read_call(arguments: Arguments) -> TorchCall | None:
    """Return a call as an interceptor sees it, None of one of which the engine says what is
    wrong."""
    ends = (*arguments.outputs, *arguments.inputs)
    if not all(isinstance(end, _ENDS) for end in ends):
        return None
    if not (_is_flag(arguments.keep) and _is_flag(arguments.graph)):
        return None
    graph = TorchGraph(current.get() or Origins())
    roots = tuple(map(graph.tensor, arguments.outputs))
    if not all(root.requires_grad for root in roots):
        return None
    return call_from(arguments, roots, tuple(map(graph.tensor, arguments.inputs)))


def _is_flag(value: Any) -> bool:
    """Return whether PyTorch takes ``value`` for true or false: a number of one byte."""
    if value is True or value is False:
        return True
    try:
        return 0 <= index(value) < 256
    except TypeError:
        return False


def _leave_out_own_frames(roots: Any) -> None:
    """Have anomaly mode, which keeps at each node the traceback of its forward call, show the
    frames of the program alone."""
    for node in walk(roots).nodes:
        kept = node.metadata.get("traceback_", [])
        stack = [StackEntry(line.partition('"')[2].partition('"')[0], line) for line in kept]
        kept[:] = [entry.place for entry in frames_of_program(stack)]


def call_from(arguments: Arguments, roots: Any, inputs: Any) -> TorchCall:
    """Return a call of the engine as an interceptor sees it."""
    seeds = tuple(
        [
            functions.ones_like(output)
            if seed is None and isinstance(output, torch.Tensor)
            else seed
            for output, seed in zip(arguments.outputs, arguments.seeds, strict=True)
        ]
    )
    return TorchCall(
        roots, seeds, bool(arguments.keep), bool(arguments.graph), inputs, arguments,
        is_grad=not arguments.accumulate_grad, line=calling_source(sys._getframe(1)),
    )  # fmt: skip


def run(call: TorchCall) -> Any:
    """Let PyTorch's engine carry out ``call``; what was copied of ops whose nodes it frees is let
    go of, where it is known which these are."""
    result = carry_out(call.arguments)
    behind, origins = call.roots[0].graph.walked, current.get()
    if behind is not None and not call.keep and origins is not None and origins.recorder:
        with within_fence("what ops were given"):
            origins.recorder.inputs.forget(behind.nodes)
    return result


def carry_out(given: Arguments, inner: Interceptor | None = None) -> Any:
    """Let PyTorch's engine do what it was called for; ``inner`` hears of calls made inside."""
    origins, noted = current.get() or Origins(), _begin(given)
    token, inside, origins.running = interceptor.set(inner), origins.running, True
    _listening.append(inner)
    if origins.ops is not None:
        origins.ops.wake()
    try:
        if given.graph or origins.ops is None:
            result = _ENGINE(*given[:-1], accumulate_grad=given.accumulate_grad)
        else:
            with origins.ops.paused():
                result = _ENGINE(*given[:-1], accumulate_grad=given.accumulate_grad)
    except Exception as error:
        raised(error)
        if "second time" in str(error) and not getattr(error, "gradstep_note", ""):
            with within_fence("the call that freed the graph"):
                error.gradstep_note = _who_freed(given.outputs)  # type: ignore[attr-defined]
        raise
    finally:
        _listening.remove(inner)
        interceptor.reset(token)
        origins.running = inside
    if noted is not None:
        noted.over, noted.gradients = True, lambda: result
    _end(given, origins, result)
    return result


@uncompiled
def _begin(given: Arguments) -> CallRun | None:
    """Note that a pass begins, where somebody is to hear of its end."""
    noted = run_of(given.outputs)
    if noted is not None:
        noted.begun = True
    return noted


@uncompiled
def _end(given: Arguments, origins: Origins, result: Any) -> None:
    """Note the line that frees a graph, and gradients that have none."""
    if not origins.running and not given.keep:
        with within_fence("the line that frees a graph"):
            if line := user_source(sys._getframe(1)):
                origins.freed(max(map(_number, given.outputs), default=0), line)
    if origins.ops is not None and not given.accumulate_grad and not given.graph:
        with within_fence("gradients without a graph"):
            line = user_source(sys._getframe(1))
            origins.ops.without_graph(result, given.outputs[0], line)


skip_code(_run_backward)
skip_code(carry_out)
_OF_ENGINE: Final = (carry_out.__code__, getattr(_ENGINE, "__code__", None))


def _number(root: Any) -> int:
    """Return the sequence number of the node that a root comes from, 0 of a leaf."""
    node = root.grad_fn if isinstance(root, torch.Tensor) else root.node
    return 0 if node is None or hasattr(node, "variable") else sequence_nr_of(node)


def _who_freed(roots: Any) -> str:
    """Name the call that freed values which those behind ``roots`` kept, "" if it is unknown."""
    graph = TorchGraph(current.get() or Origins())
    for root in roots:
        graph.edge_behind(root)
    for node in graph.nodes.values():
        at = node.freed_at
        if at is not None and any(state == "freed" for _, _, state in node.saved()):
            return note_of_freed(at)
    return ""
