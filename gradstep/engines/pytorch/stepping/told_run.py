"""A call in which code of the program's may run, and runs once; a driver can tell of it.

It is told of before it returns to the program, if at all: nothing is copied but what the program's
code may change in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch

from gradstep.contract.driver import Driver, Nested
from gradstep.contract.protocol import OnGradients, values_of_call
from gradstep.engines.pytorch.calls import TorchCall, why_watched_only
from gradstep.engines.pytorch.kept_graphs import free
from gradstep.engines.pytorch.nodes import is_of_program, may_change
from gradstep.engines.pytorch.origins import Origins, current
from gradstep.engines.pytorch.private import (
    dispatch_mode,
    grad_enabled,
    hook_nodes,
    see_that_hooks_are_allowed,
    torch_c,
    unobserved,
)
from gradstep.engines.pytorch.releasing import let_go_in_parts
from gradstep.engines.pytorch.stepping.driver import TorchDriver
from gradstep.engines.pytorch.stepping.kept_run import is_finite, measured
from gradstep.engines.pytorch.stepping.leaf_gradients import StatesBefore, has_late_hooks
from gradstep.engines.pytorch.stepping.node_runs import NodeRuns
from gradstep.engines.pytorch.stepping.told_later import are_small
from gradstep.engines.pytorch.tensors import added
from gradstep.engines.pytorch.walking import Walked, walked
from gradstep.guest.collector import collector_paused
from gradstep.guest.fence import run_of

MOST: Final = 1 << 29
"""Bytes of the gradients of a pass that are kept at most."""
Record = Callable[[TorchCall, list[Nested]], Any]


class ToldRun:
    """Carries out ``call``; see :class:`~gradstep.contract.protocol.ToldRun`."""

    def __init__(self, call: TorchCall, behind: Walked, senders: Counter[Any], record: Record):
        self._call, self._walked = call, behind
        self._before = StatesBefore()
        self._before.note(behind.leaves)
        origins = current.get() or Origins()
        nodes = [*behind.nodes, *behind.ends]
        changing = {node for node in nodes if may_change(node, origins)}
        leaves = dict(zip(behind.ends, behind.leaves, strict=True))
        # a pass inside a Function may add to a leaf before
        is_quiet = not (call.is_grad or any(map(is_of_program, behind.kinds)))
        taken_over = {
            end
            for end, leaf in leaves.items()
            if is_quiet and senders[end, 0] == 1 and leaf.grad is None and end not in changing
        }
        self._runs = NodeRuns(leaves, taken_over, changing)
        hooks = self._runs.hooks(nodes, [*behind.edges, *[()] * len(leaves)])
        self._record = record
        self.result: Any = ()
        self.error: Exception | None = None
        if (noted := run_of(call.arguments.outputs)) is not None:
            noted.release = self.release
        with unobserved():
            unhook = hook_nodes(list(hooks))
        try:
            # a compiled function gives its memory away, and cannot be kept
            self._is_kept = not behind.is_compiled
            given = call.arguments._replace(keep=True) if self._is_kept else call.arguments
            self.result = self._runs.carry_out(given, self._inside)
        except Exception as error:
            self.error = error
        finally:
            unhook()
            self._took = self._runs.take()

    def _inside(self, call: TorchCall) -> Any:
        return self._record(call, self._runs.nested)

    def is_finite(self) -> bool:
        return is_finite(self._call, self.result, self._before.grads)

    def values(self) -> Iterator[tuple[str, Any]]:
        roots = [x for x in self._call.arguments.outputs if isinstance(x, torch.Tensor)]
        returned = self.result if self._call.is_grad else None
        return values_of_call(roots, returned, self._before.grads)

    def tell(self, on_gradients: OnGradients) -> None:
        """Tell of all gradients: what nodes sent, sums of several, and what the call made."""
        with unobserved(), grad_enabled(False):
            gradients = list({id(each): each for each in self._gradients()}.values())
        on_gradients(gradients, measured(gradients, precisely=True))

    def _gradients(self) -> Iterator[Any]:
        edges = dict(zip(self._walked.nodes, self._walked.edges, strict=True))
        sums: dict[Any, Any] = {}
        for node, (sent, _, _, held) in self._took.items():
            for to, gradient in zip(edges.get(node, ()), sent, strict=False):
                if to[0] is None:
                    continue
                yield gradient
                if gradient is not None and (there := sums.get(to)) is not None:
                    gradient = added(there, gradient)
                    yield gradient
                sums[to] = gradient if gradient is not None else sums.get(to)
            if held is not None:
                yield held
        returned = self.result if self._call.is_grad else None
        made = values_of_call((), returned, self._before.grads)
        yield from (gradient for _, gradient in made if gradient is not None)

    @property
    def has_passes_inside(self) -> bool:
        return bool(self._runs.inside)

    def driver(self) -> Driver:
        call = self._call
        with collector_paused():
            driver = TorchDriver(call)
        if self._is_kept:
            driver.retain_graph()
        states = zip(self._walked.ends, self._before.states, strict=True)
        before = {end: state[1:] for end, state in states}
        driver.tell_of(self._took, before, self._runs.inside, self.result, self.error)
        return driver

    def release(self) -> None:
        if self._is_kept and not self._call.keep:
            whole = self.error is None
            free(self._call, self._walked.nodes if whole else self._took, whole=whole)


def told_run(call: TorchCall, record: Record) -> ToldRun | None:
    """Carry out ``call``, keeping what its nodes do; None where that would be another call, or take
    more than :data:`MOST` bytes, or where a session tells more of it."""
    if call.inputs or call.graph or why_watched_only(call):
        return None
    if dispatch_mode() or torch_c.is_anomaly_enabled():
        return None
    with collector_paused(), unobserved():
        behind = walked(call)
        if any(map(has_late_hooks, behind.leaves)):
            return None
        senders = Counter(to for following in behind.edges for to in following)
        if not are_small(behind.nodes, {}, Counter(to for to, _ in senders.elements()), MOST):
            return None
        see_that_hooks_are_allowed(behind.nodes)
        let_go_in_parts(behind.nodes, behind.edges)
    return ToldRun(call, behind, senders, record)
