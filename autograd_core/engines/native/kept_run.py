"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import BackwardCall, noting_freed, run, start
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode
from autograd_core.autograd.undo_log import UndoLog
from autograd_core.engines.native.driver import keep_of_user, runs_user_code


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~autograd_core.engines.protocol.KeptRun`.

    No node is observed.  What changes is kept in an undo log: each ``.grad`` that the call adds to,
    and what code of the program's changes in tensors, modules and random state.
    """

    def __init__(self, call: BackwardCall) -> None:
        self._call = call
        self._task = start(call._replace(keep=True))
        self._leaves = [node for node in self._task.order if type(node) is AccumulateGrad]
        self._log = UndoLog()
        for node in self._task.order:
            if runs_user_code(node):
                keep_of_user(self._log, node)
        token = enter_mode(replace(current_mode() or USUAL, undo_log=self._log))
        try:
            self.result = run(call._replace(keep=True), self._task)
        finally:
            leave_mode(token)

    def values(self) -> Iterator[tuple[str, Any]]:
        for root in self._call.roots:
            yield "the loss", root
        if self._call.is_grad:
            for gradient in self.result:
                yield "a gradient that it returns", gradient
        else:
            for node in self._leaves:
                leaf = node.leaf()
                yield "the .grad of a leaf", None if leaf is None else leaf.grad

    def is_finite(self) -> bool:
        with np.errstate(all="ignore"):
            # where a sum overflows, each element is looked at
            return all(
                np.isfinite(np.add.reduce(tensor.array, None))
                for _, tensor in self.values()
                if tensor is not None
            )

    def undo(self) -> None:
        self._log.go(0)

    def release(self) -> None:
        if not self._call.keep:
            with noting_freed(self._call, self._task):
                for node in self._task.order:
                    node.release()
