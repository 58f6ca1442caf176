"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from math import inf, isfinite, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import BackwardCall, note_freed, run, start
from autograd_core.autograd.engine import GraphTask
from autograd_core.autograd.grad_mode import current_mode, settle
from autograd_core.autograd.node import LEAF
from autograd_core.autograd.reduce import Gradient
from autograd_core.tensor import Tensor
from gradstep.contract.protocol import OnGradients, values_of_call
from gradstep.engines.native.changes import nodes_of_user
from gradstep.graph.statistics import length
from gradstep.guest.fence import carried_out, run_of

_HELD: Final = 1 << 26
"""Bytes of gradients that wait to be measured together."""
_LONG: Final = 1 << 20
"""Elements of which the squares can be added in float32."""
_SMALLEST: Final = 1e-20
"""A sum of squares in float32 in which none has vanished that counts."""


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~gradstep.contract.protocol.KeptRun`.

    No node is observed, unless somebody wants to see each gradient.  Each ``.grad`` that the call
    adds to is copied before.
    """

    whole = True

    def __init__(self, call: BackwardCall, task: GraphTask) -> None:
        self._call, self._task = call, task
        order = task.order
        self._before = [_state(node.variable) for node in order if type(node) is AccumulateGrad]
        retain = [node.hooks.retain.values() for node in order if node.hooks is not None]
        kept = [tensor for known in chain(*retain) if (tensor := known()) is not None]
        self._retained = [_state(tensor) for tensor in kept]  # a pass adds to what these hold, too
        if call.graph:
            settle()  # what is traced does not hear of what happens in a pass
        self.result = carried_out(partial(run, call, self._task))
        if (noted := run_of(call.roots)) is not None:
            noted.release = self.release

    def values(self) -> Iterator[tuple[str, Any]]:
        returned = self.result if self._call.is_grad else None
        return values_of_call(self._call.roots, returned, self._grads())

    def _grads(self) -> list[Any]:
        return [leaf.grad for leaf, _, _ in self._before]

    def is_finite(self) -> bool:
        gradients = self.result if self._call.is_grad else self._grads()
        return are_finite([*self._call.roots, *gradients])

    def undo(self) -> None:
        for leaf, gradient, numbers in (*self._before, *self._retained):
            leaf._grad = gradient
            if gradient is not None:
                np.copyto(gradient.array, numbers)
        if (noted := run_of(self._call.roots)) is not None:
            noted.undone()

    def release(self) -> None:
        if not self._call.keep:
            for node in self._task.order:
                if node.kind != LEAF and node not in self._task.ends:  # which grad() does not call
                    node.release()
            note_freed(self._call, self._task)


def _state(tensor: Tensor) -> tuple[Any, Any, Any]:
    """Return a tensor, the ``.grad`` that it holds, and a copy of that."""
    held = tensor.grad
    return tensor, held, None if held is None else held.array.copy()


class _HeardTask(GraphTask):
    """A pass that hands its gradients to ``on_gradients``: what nodes send, and sums of several."""

    __slots__ = ("_held", "_nbytes", "on_gradients")
    on_gradients: OnGradients

    def run(self, start: int = 0, stop: int | None = None) -> None:
        self._held: list[Gradient] = []
        self._nbytes = 0
        for step in self.observe(start, stop, copy_grads=False):
            for _, edge, gradient, before, after in step.deliveries:
                if edge is not None:
                    self._hold(gradient)
                if before is not None and gradient is not None:
                    self._hold(after)
        self.tell(self._held)

    def _hold(self, gradient: Gradient) -> None:
        self._held.append(gradient)
        self._nbytes += 0 if gradient is None else gradient.nbytes
        if self._nbytes > _HELD:
            self.tell(self._held)
            self._held, self._nbytes = [], 0

    def tell(self, gradients: Sequence[Gradient]) -> None:
        """Tell of gradients, and how long they are."""
        norms = told_norms(gradients)
        tensors = [None if g is None else Tensor.from_array(g) for g in gradients]
        self.on_gradients(tensors, norms)


def kept_run(call: BackwardCall, on_gradients: OnGradients | None = None) -> KeptRun | None:
    """Carry out ``call``, keeping its graph; None where code of the program's runs, or where not
    all gradients would be heard of, for which somebody asks: where a graph is built, or the pass is
    observed already."""
    kind = GraphTask if on_gradients is None else _HeardTask
    mode = current_mode()
    is_observed = mode is not None and (mode.anomaly, mode.profiler) != (None, None)
    if on_gradients is not None and (call.graph or is_observed):
        return None
    task = start(call, keep=True, kind=kind)
    if nodes_of_user(task.order):
        return None
    if not isinstance(task, _HeardTask) or on_gradients is None:
        return KeptRun(call, task)
    task.on_gradients = on_gradients
    run = KeptRun(call, task)
    task.tell([g.array for what, g in run.values() if g is not None and what != "the loss"])
    return run


def told_norms(gradients: Sequence[Gradient]) -> list[float | None]:
    """Return the norm of each of some gradients."""
    return [None if g is None else _norm(g) for g in gradients]


def are_finite(tensors: Sequence[Any]) -> bool:
    """Return whether no element of some tensors is NaN or infinite; None is no tensor."""
    return all(tensor is None or _is_finite(tensor.array) for tensor in tensors)


def _norm(array: NDArray[Any]) -> float:
    """Return the norm of an array, as :func:`~gradstep.graph.statistics.length` does."""
    if array.dtype.kind == "f" and array.itemsize > 2 and array.size <= _LONG:
        squares = float(np.vdot(array, array))
        if _SMALLEST < squares < inf:
            return sqrt(squares)
    return length(array)


def _is_finite(array: NDArray[Any]) -> bool:
    """Return whether no element is NaN or infinite; False, too, where the square of one would be.

    By the sum of the squares: it takes 0.8 us for 3,000 elements, and a plain sum 3.
    """
    if not array.ndim:
        return isfinite(abs(array.item()))
    if not array.flags.c_contiguous:
        array = array.T  # the gradient of a weight that was transposed; without a copy
    return isfinite(abs(np.vdot(array, array)))
