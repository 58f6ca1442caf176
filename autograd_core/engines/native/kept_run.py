"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import BackwardCall, noting_freed, run, start
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import GENERAL
from autograd_core.autograd.packed import nodes_with_packed
from autograd_core.autograd.undo_log import UndoLog
from autograd_core.engines.native.driver import keep_of_user, runs_user_code
from autograd_core.engines.protocol import values_of_call


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~autograd_core.engines.protocol.KeptRun`.

    No node is observed.  Each ``.grad`` that the call adds to is copied before; what code of the
    program's changes in tensors, modules and random state is kept in an undo log.
    """

    def __init__(self, call: BackwardCall) -> None:
        self._call = call
        self._task = start(call._replace(keep=True))
        order = self._task.order
        self._before: list[tuple[Any, Any, Any]] = [
            (leaf, leaf.grad, None if leaf.grad is None else leaf.grad.array.copy())
            for leaf in [node.variable for node in order if type(node) is AccumulateGrad]
        ]
        self._log = UndoLog()
        packed = bool(nodes_with_packed)
        users = [
            node
            for node in order
            # most nodes need not be asked: it takes 0.4 us
            if (node.hooks is not None or node.kind == GENERAL or packed) and runs_user_code(node)
        ]
        for node in users:
            keep_of_user(self._log, node)
        with self._logged() if users else nullcontext():
            self.result = run(call._replace(keep=True), self._task)

    @contextmanager
    def _logged(self) -> Iterator[None]:
        token = enter_mode(replace(current_mode() or USUAL, undo_log=self._log))
        try:
            yield
        finally:
            leave_mode(token)

    def values(self) -> Iterator[tuple[str, Any]]:
        returned = self.result if self._call.is_grad else None
        return values_of_call(self._call.roots, returned, (leaf for leaf, _, _ in self._before))

    def is_finite(self) -> bool:
        with np.errstate(all="ignore"):
            for _, tensor in self.values():
                # where the sum overflows, each element is looked at
                if tensor is not None and not isfinite(abs(np.add.reduce(tensor.array, None))):
                    return False
        return True

    def undo(self) -> None:
        self._log.go(0)
        for leaf, gradient, numbers in self._before:
            leaf._grad = gradient
            if gradient is not None:
                np.copyto(gradient.array, numbers)

    def release(self) -> None:
        if not self._call.keep:
            with noting_freed(self._call, self._task):
                for node in self._task.order:
                    node.release()
