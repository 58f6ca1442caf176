"""A call of ``backward`` or ``grad``: what it asks for, who may take it over, how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.anomaly_mode import run_watched
from autograd_core.autograd.engine import GraphTask, evaluating, running
from autograd_core.autograd.grad_mode import (
    Line,
    current_mode,
    enter_mode,
    leave_mode,
    quiet,
    trace_cut,
    tracer,
    with_gradients,
)
from autograd_core.autograd.graph import GradientEdge
from autograd_core.autograd.node import Node, Nowhere, resolve
from autograd_core.autograd.reduce import reduce_gradient
from autograd_core.tensor import Tensor

TensorOrEdge = Tensor | GradientEdge
TensorsOrEdges = TensorOrEdge | Sequence[TensorOrEdge]
CallKind = Literal["backward", "grad"]


class BackwardCall(NamedTuple):
    """A call of ``backward`` or ``grad`` as an interceptor sees it, before anything ran.

    An interceptor that carries it out makes the pass by :func:`start`, runs it as it likes
    (``task.run``, ``task.observe``, within :class:`pass_mode`), and returns True from a call of
    ``backward``, ``gradients(call, task)`` from one of ``grad``, which hands them to its caller.
    What each step of ``grad`` takes away is ``Step.captured``; one that is redone from its record
    belongs back into ``task.captured``.  What follows the end of the pass is
    :func:`note_freed`, so that an error about freed values can name the call.
    """

    roots: tuple[Tensor, ...]
    seeds: tuple[Any, ...]
    keep: bool
    graph: bool
    # of `backward`, the only places to accumulate into, or none for all leaves; of `grad`, the
    # tensors by which to differentiate
    inputs: tuple[Tensor, ...] = ()
    is_grad: bool = False
    # the node in whose backward or hooks the call was made, and how many passes run around it
    parent: Node | None = None
    depth: int = 0
    line: Line | None = None  # of the program, that made the call; known while tracing

    @property
    def kind(self) -> CallKind:
        """Which of the two it is."""
        return "grad" if self.is_grad else "backward"


Gradients = tuple[Tensor | None, ...]


class Interceptor(Protocol):
    """Who may take over calls of ``backward`` and ``grad`` (the debugger, ``gradstep render``)."""

    def __call__(self, call: BackwardCall) -> bool | Gradients:
        """False lets the pass run as usual; otherwise it was carried out, and, if ``call.is_grad``,
        its :func:`gradients` are returned."""


_UNSET: Final[Any] = object()
interceptor: ContextVar[Interceptor | None] = ContextVar("autograd_core_interceptor", default=None)

unheard: Final[list[Callable[[], None]]] = []
"""Told of calls in threads that no interceptor was ever set for: a new thread has none."""


def tell_if_unheard() -> None:
    """Tell whoever wants to know of calls that it cannot intercept."""
    if unheard and interceptor.get(_UNSET) is _UNSET:
        for told in unheard:
            told()


@contextmanager
def without_interceptor() -> Iterator[None]:
    """Do not intercept backward calls made inside."""
    token = interceptor.set(None)
    try:
        yield
    finally:
        interceptor.reset(token)


def run_plain(root: TensorsOrEdges, given: Any, keep: bool) -> bool:
    """Run the usual call of ``backward``, from one tensor, in the usual mode and with nobody to
    take it over; return False where it is none.

    What it leaves out takes 8 us, as long as four nodes.
    """
    if type(root) is not Tensor or current_mode() is not None or interceptor.get() is not None:
        return False
    if unheard:
        return False
    edge = root.edge
    if edge is None or type(edge) is Nowhere or evaluating.get() is not None:
        return False
    if given is None:
        if root._shape:
            return False
        seed = np.array(1, root.dtype.dtype)  # np.ones takes 0.4 us more
    elif type(given) is Tensor and given._shape == root._shape and given.dtype is root.dtype:
        seed = given.array
    else:
        return False
    task = GraphTask((edge,), (seed,), keep=keep)
    del seed  # or the first node could not take it over
    with pass_mode(False, task):
        task.run()
    return True


def make_call(
    tensors: TensorsOrEdges,
    grad_tensors: Tensor | Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> BackwardCall:
    """Check and complete the arguments of ``backward``; errors as there."""
    roots = (tensors,) if type(tensors) is Tensor else as_tensors(tensors)
    seeds = _seeds(roots, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    around, mode = evaluating.get(), current_mode()
    parent, depth = (None, 0) if around is None else (around.node, around.depth)
    line = None if mode is None or mode.tracer is None else mode.tracer.line()
    return BackwardCall(roots, seeds, keep, create_graph, parent=parent, depth=depth, line=line)


def carry_out(call: BackwardCall) -> Gradients:
    """Let the interceptor have ``call``, or run it; returns what ``grad`` asked for."""
    tell_if_unheard()
    intercept = interceptor.get()
    answer = intercept is not None and intercept(call)
    if answer is False:
        return run(call)
    if not call.is_grad:
        return ()
    if answer is True:
        raise TypeError("an interceptor that carries out a call of grad returns its gradients")
    return answer


# Passes within passes that share a stack; some 15 calls of Python lie between one and the next.
_NESTED: Final = 30


def run(call: BackwardCall, task: GraphTask | None = None) -> Gradients:
    """Carry out ``call``, as ``task`` where it is planned already, observed by anomaly mode or the
    profiler where one is on.

    Deep within other passes it goes on in another thread, whose stack is new, as in PyTorch.
    """
    if not call.depth or call.depth % _NESTED:
        return _run(call, task)
    return _on_a_new_stack(lambda: _run(call, task))


def _on_a_new_stack(function: Callable[[], Gradients]) -> Gradients:
    from threading import Thread  # which few programs need

    results: list[Any] = []
    context = copy_context()

    def work() -> None:
        try:
            results.extend([context.run(function), None])
        except BaseException as error:  # the caller's, as everything else
            results.extend([None, error])

    thread = Thread(target=work, name="autograd")
    thread.start()
    thread.join()
    if results[1] is not None:
        raise results[1]
    result: Gradients = results[0]
    return result


def _run(call: BackwardCall, task: GraphTask | None) -> Gradients:
    task = start(call) if task is None else task
    mode = current_mode()
    if mode is not None and mode.undo_log is not None:
        for node in task.order:
            if type(node) is AccumulateGrad:
                mode.undo_log.keep_gradient(node.variable)
    with pass_mode(call.graph, task):
        if mode is not None and mode.anomaly is not None:
            run_watched(task, mode.anomaly.check_nan)
        elif mode is not None and mode.profiler is not None:
            mode.profiler.run(task)
        else:
            task.run()
    if not task.keep:
        note_freed(call, task)
    return gradients(call, task)


def note_freed(call: BackwardCall, task: GraphTask) -> None:
    """While tracing, remember with each node of ``task`` that this pass freed its values."""
    if call.line is None:
        return
    for node in task.order:
        if node.notes is not None:
            node.note_freed(call.line)
    if (traces := tracer()) is not None:
        traces.passed(call.line)


def start(
    call: BackwardCall, *, keep: bool = False, kind: type[GraphTask] = GraphTask
) -> GraphTask:
    """Plan and seed the pass that ``call`` asks for, without running it; with ``keep``, one that
    frees nothing; one of this ``kind``."""
    edges: list[Any] = [root.edge for root in call.roots]
    task = kind(edges, call.seeds, keep=keep or call.keep, graph=call.graph)
    if call.inputs:
        places: list[Any] = [x.edge for x in call.inputs]
        (task.capture if call.is_grad else task.restrict)(places)
    return task


def gradients(call: BackwardCall, task: GraphTask) -> Gradients:
    """Return what ``call``, if it is one of ``grad``, gives its caller after ``task`` has run: a
    gradient for each of its inputs, None for those that none reached."""
    if not call.is_grad:
        return ()
    captured = [task.captured[x.edge] for x in call.inputs]  # type: ignore[index]
    if call.graph:
        return tuple(captured)
    tensors = tuple(None if g is None else Tensor.from_array(np.array(g)) for g in captured)
    for gradient in tensors:
        if gradient is not None:
            trace_cut("autograd.grad() without create_graph=True", call.roots[0], gradient)
    return tensors


class pass_mode:
    """The state a backward pass runs in: gradients on, and its ops traced, under ``create_graph``
    only, and NumPy as silent as PyTorch about overflow and division by zero."""

    def __init__(self, graph: bool, task: GraphTask | None = None) -> None:
        self._graph = graph
        self._task = task

    def __enter__(self) -> None:
        self._running = running.set(self._task)
        mode = current_mode()
        if mode is None or mode.tracer is None or self._graph:
            mode = with_gradients(self._graph)
        else:
            mode = quiet(mode)
        self._token = enter_mode(mode)
        self._silent = np.errstate(all="ignore")
        self._silent.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._silent.__exit__(*error)
        leave_mode(self._token)
        running.reset(self._running)


def as_tuple(given: TensorsOrEdges) -> tuple[TensorOrEdge, ...]:
    """Return one or more tensors, or edges, as a tuple."""
    return (given,) if isinstance(given, (Tensor, GradientEdge)) else tuple(given)


def as_tensors(given: TensorsOrEdges) -> tuple[Tensor, ...]:
    """Return one or more tensors as a tuple; in the place of a GradientEdge a tensor of NaN."""
    places = as_tuple(given)
    for place in places:
        if not isinstance(place, (Tensor, GradientEdge)):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(place).__name__}"
            )
    return tuple(p if isinstance(p, Tensor) else _placeholder(p) for p in places)


def as_seeds(
    given: Tensor | Sequence[Tensor | None] | None, count: int
) -> tuple[Tensor | None, ...]:
    """Return the gradients that were given for ``count`` roots, as a tuple; those beyond count for
    nothing, as in PyTorch."""
    if given is None:
        return (None,) * count
    entering = (given,) if isinstance(given, Tensor) else tuple(given)[:count]
    for g in entering:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    return entering


def _placeholder(edge: GradientEdge) -> Tensor:
    like = edge.node._input_metadata[edge.output_nr]
    t = Tensor.from_array(np.broadcast_to(np.array(np.nan, like.dtype.dtype), like.shape))
    t.edge = edge.edge
    return t


def _seeds(
    roots: tuple[Tensor, ...], given: Tensor | Sequence[Tensor | None] | None, graph: bool
) -> tuple[Any, ...]:
    """Return the gradient that enters at each root, as an array, or a tensor under create_graph."""
    entering = as_seeds(given, len(roots))
    if len(entering) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(entering)} gradients")
    seeds = []
    for number, (root, g) in enumerate(zip(roots, entering, strict=True)):
        if resolve(root.edge)[0] is None:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn"
            )
        if g is None:
            if root.array.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            one = np.array(1, root.dtype.dtype)  # np.ones takes 0.4 us more
            one = one.reshape(root._shape) if root._shape else one
            seeds.append(Tensor.from_array(one) if graph else one)
            continue
        if g._shape != root._shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {g.shape} and "
                f"output[{number}] has a shape of {root.shape}."
            )
        seeds.append(reduce_gradient(g if graph else g.array, (root._shape, root.dtype)))
    return tuple(seeds)
