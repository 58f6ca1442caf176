"""A call in which code of the program's runs, and runs once; a driver can tell of it.

The driver itself carries it out, and keeps its steps. To tell of it, it goes back by its undo log,
and forward again without running any node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import BackwardCall
from autograd_core.autograd.grad_mode import undo_log
from autograd_core.tensor import Tensor
from gradstep.contract.driver import Nested, collecting
from gradstep.contract.protocol import OnGradients, values_of_call
from gradstep.engines.native.arrays import array_of
from gradstep.engines.native.driver import NativeDriver
from gradstep.engines.native.kept_run import are_finite, told_norms
from gradstep.records import Gradients, Step

Record = Callable[[BackwardCall, list[Nested]], "bool | Gradients"]


class ToldRun:
    """Carries out ``call``; see :class:`~gradstep.contract.protocol.ToldRun`."""

    def __init__(self, call: BackwardCall, record: Record) -> None:
        self._call, self._driver = call, NativeDriver(call)
        self._steps: list[Step] = []
        self.result: Any = ()
        self.error: Exception | None = None
        driver = self._driver
        driver.intercept = partial(self._inside, record)
        try:
            driver.record(0, len(driver.order), collecting(self._steps))
            self.result = driver.gradients()
        except Exception as error:
            self.error = error

    def _inside(self, record: Record, call: BackwardCall) -> bool | Gradients:
        return record(call, self._driver.nested)

    def _made(self) -> list[Any]:
        if self._call.is_grad:
            return [tensor for tensor in self.result if tensor is not None]
        leaves = [node.variable for node in self._driver.order if type(node) is AccumulateGrad]
        return [leaf.grad for leaf in leaves if leaf.grad is not None]

    def is_finite(self) -> bool:
        return are_finite([*self._call.roots, *self._made()])

    def values(self) -> Iterator[tuple[str, Any]]:
        returned = self.result if self._call.is_grad else None
        return values_of_call(self._call.roots, returned, self._made())

    def tell(self, on_gradients: OnGradients) -> None:
        """Tell of all gradients: what nodes sent, sums of several, and what the call made."""
        gradients = [*self._gradients(), *(tensor.array for tensor in self._made())]
        tensors = [None if g is None else Tensor.from_array(g) for g in gradients]
        on_gradients(tensors, told_norms(gradients))

    def _gradients(self) -> Iterator[Any]:
        for step in map(self._driver.step_when_run, self._steps):
            for _, edge, gradient, before, after in step.deliveries:
                if edge is not None:
                    yield None if gradient is None else array_of(gradient)
                if before is not None and gradient is not None:
                    yield array_of(after)

    @property
    def has_passes_inside(self) -> bool:
        return any(effects.nested for effects in self._driver.effects.values())

    def driver(self) -> NativeDriver:
        self._driver.intercept = None
        self._driver.go_before(self._steps)
        return self._driver

    def release(self) -> None:
        done = len(self._steps)
        if self.error is not None:
            with suppress(Exception):  # it is raised again, and what the node changed stays
                self._driver.run(done)
        self._driver.release(None if self.error is None else done)


def told_run(call: BackwardCall, record: Record) -> ToldRun | None:
    """Carry out ``call``, keeping what its nodes do; None of one that builds a graph, or runs
    within another one."""
    return None if call.graph or undo_log() is not None else ToldRun(call, record)
