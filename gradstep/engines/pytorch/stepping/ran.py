"""Calls that run as they would plainly, and of which more may be asked before they return to the
program; see :mod:`gradstep.contract.ran`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import torch

from gradstep.contract.driver import Driver
from gradstep.contract.ran import OnGradients, Ran, Record
from gradstep.engines.pytorch.calls import TorchCall, why_watched_only
from gradstep.engines.pytorch.entry import carry_out as run_engine
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
from gradstep.engines.pytorch.stepping.leaf_gradients import StatesBefore, has_late_hooks
from gradstep.engines.pytorch.stepping.measuring import is_finite, measured
from gradstep.engines.pytorch.stepping.node_runs import NodeRuns
from gradstep.engines.pytorch.stepping.told_later import are_small
from gradstep.engines.pytorch.tensors import added, nbytes_of, put_gradient
from gradstep.engines.pytorch.walking import Walked, walked
from gradstep.guest.collector import collector_paused
from gradstep.guest.fence import not_shown, run_of
from gradstep.guest.silence import silence

HELD: Final = 1 << 26
"""Bytes of gradients that wait to be measured together."""
MOST: Final = 1 << 29
"""Bytes of the gradients of a told pass that are kept at most."""


def carry_out(
    call: TorchCall, record: Record | None = None, hears: OnGradients | None = None
) -> Ran | None:
    """Carry out ``call``; see :meth:`gradstep.contract.protocol.Running.carry_out`."""
    origins = current.get() or Origins()
    if why_watched_only(call) or origins.has_dispatch_mode:
        return None
    with collector_paused(), unobserved():
        behind = walked(call)
        if any(map(has_late_hooks, behind.leaves)):  # an optimizer that steps cannot be undone
            return None
        runs_once = behind.is_compiled or behind.has_user_code(origins)
        if not (_may_be_told(call, behind, record) if runs_once else _may_be_kept(call, hears)):
            return None
        let_go_in_parts(behind.nodes, behind.edges)
    if not runs_once:
        return _RunsAgain(call, behind, hears)
    return None if record is None else _RunsOnce(call, behind, record, hears)


def _may_be_kept(call: TorchCall, hears: OnGradients | None) -> bool:
    """Return whether a call that keeps its graph is the same call: one to some inputs frees only
    the nodes that lead to these."""
    return not call.inputs or (call.is_grad and call.keep and hears is None)


def _may_be_told(call: TorchCall, behind: Walked, record: Record | None) -> bool:
    if record is None or call.inputs or call.graph or torch_c.is_anomaly_enabled():
        return False
    if dispatch_mode() or not are_small(behind, MOST, leaves=False):
        return False
    see_that_hooks_are_allowed(behind.nodes)
    return True


class _Ran(Ran):
    """What both kinds do alike: no graph is read."""

    call: TorchCall

    def __init__(self, call: TorchCall, behind: Walked) -> None:
        super().__init__(call)
        self._walked = behind
        self._before = StatesBefore()
        self._before.note(behind.leaves)
        if (noted := run_of(call.arguments.outputs)) is not None:
            noted.release = self.release

    def _roots(self) -> list[torch.Tensor]:
        return [x for x in self.call.arguments.outputs if isinstance(x, torch.Tensor)]

    def _grads(self) -> list[Any]:
        return self._before.grads

    def is_finite(self) -> bool:
        return is_finite(self.call, self.result, self._before.grads)


class _RunsAgain(_Ran):
    """A call in which no code of the program's runs: it can be undone, and made again.

    It costs little more than the plain one: a walk over its nodes, and a copy of each ``.grad`` to
    which it adds. Nothing is hooked unless somebody ``hears`` of each gradient.
    """

    runs_again = True

    def __init__(self, call: TorchCall, behind: Walked, hears: OnGradients | None) -> None:
        super().__init__(call, behind)
        self._retained = StatesBefore()  # to what these hold, a pass adds, too
        if (origins := current.get()) is not None and origins.retaining:
            self._retained.note(origins.retaining.values())
        heard = None if hears is None else _Heard(call, behind, hears)
        unhook = hook_nodes([] if heard is None else heard.hooks())
        try:
            self.result = run_engine(call.arguments._replace(keep=True))
        except BaseException:
            unhook()
            if not call.keep:
                self._raise_plainly()
            raise
        unhook()
        if heard is not None:
            heard.end(self.made())
            self.is_whole = heard.is_whole

    def _raise_plainly(self) -> None:
        """Run a call that raised once more, now as it is: it frees what it frees plainly."""
        self._undo()
        with silence(), suppress(Exception):
            run_engine(self.call.arguments)

    def _undo(self) -> None:
        for state in (*self._before.states, *self._retained.states):
            put_gradient(*state)
        if (noted := run_of(self.call.arguments.outputs)) is not None:
            noted.undone()

    def driver(self) -> None:
        self._undo()

    def release(self) -> None:
        if not self.call.keep:
            free(self.call, self._walked.nodes, self._walked.saved, whole=True)


class _RunsOnce(_Ran):
    """A call in which code of the program's may run, and runs once.

    It is told of before it returns to the program, if at all: nothing is copied but what the
    program's code may change in place.
    """

    def __init__(
        self, call: TorchCall, behind: Walked, record: Record, hears: OnGradients | None
    ) -> None:
        super().__init__(call, behind)
        origins = current.get() or Origins()
        nodes = [*behind.nodes, *behind.ends]
        changing = {node for node in nodes if may_change(node, origins)}
        leaves = dict(zip(behind.ends, behind.leaves, strict=True))
        # a pass inside a Function may add to a leaf before
        is_quiet = not (call.is_grad or any(map(is_of_program, behind.kinds)))
        alone = {end for end in behind.ends if behind.senders[end, 0] == 1} - changing
        taken_over = {end for end in alone if is_quiet and leaves[end].grad is None}
        self._runs = NodeRuns(leaves, taken_over, changing)
        self._record = record
        hooks = self._runs.hooks(nodes, [*behind.edges, *[()] * len(leaves)])
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
        if hears is not None:
            self.is_whole = not self._runs.inside
            with unobserved(), grad_enabled(False):
                gradients = list({id(each): each for each in self._gradients()}.values())
            hears(gradients, measured(gradients, precisely=True))

    def _inside(self, call: TorchCall) -> Any:
        return self._record(call, self._runs.nested)

    def _gradients(self) -> Iterator[Any]:
        """List what nodes sent, sums of several, and what the call made."""
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
        yield from self.made()

    def driver(self) -> Driver:
        with collector_paused():
            driver = TorchDriver(self.call)
        if self._is_kept:
            driver.retain_graph()
        states = zip(self._walked.ends, self._before.states, strict=True)
        before = {end: state[1:] for end, state in states}
        driver.tell_of(self._took, before, self._runs.inside, self.result, self.error)
        return driver

    def release(self) -> None:
        if self._is_kept and not self.call.keep:
            whole = self.error is None
            free(self.call, self._walked.nodes if whole else self._took, whole=whole)


class _Heard:
    """Hands the gradients of a pass, in which no code of the program's runs, to ``on_gradients``:
    what nodes send, and sums of several."""

    def __init__(self, call: TorchCall, walked: Walked, on_gradients: OnGradients) -> None:
        self.is_whole = True  # else hearing failed
        self._nodes, self._on_gradients = walked.nodes, on_gradients
        self._held: list[Any] = []
        self._bytes = 0
        senders = walked.senders
        self._sums: dict[Any, Any] = {to: None for to, count in senders.items() if count > 1}
        # to these leaves one gradient comes, and becomes the .grad as it is, which is heard of in
        # the end: the engine need not copy what nobody else holds
        left_out = (
            set()
            if call.is_grad or call.graph
            else {
                node
                for node, leaf in zip(walked.ends, walked.leaves, strict=True)
                if senders[node, 0] == 1 and leaf.grad is None
            }
        )
        sums = self._sums
        self._wanted = [
            [(nr, to if to in sums else None) for nr, to in enumerate(following)
             if to[0] is not None and to[0] not in left_out]
            for following in walked.edges
        ]  # fmt: skip

    def hooks(self) -> list[tuple[Callable[[Any], Any], Callable[..., Any]]]:
        """List the hooks that listen, each with the method that registers it."""
        after = self._after
        return [
            (node.register_hook, partial(after, wanted))
            for node, wanted in zip(self._nodes, self._wanted, strict=True) if wanted
        ]  # fmt: skip

    def _after(
        self, wanted: list[tuple[int, Any]], sent: tuple[Any, ...], _: tuple[Any, ...]
    ) -> None:
        try:
            for nr, place in wanted:
                gradient = sent[nr] if nr < len(sent) else None
                self._hold(gradient)
                if place is not None and gradient is not None:
                    there = self._sums[place]
                    if there is not None:
                        with unobserved(), grad_enabled(False):
                            gradient = added(there, gradient)
                        self._hold(gradient)
                    self._sums[place] = gradient
        except Exception as error:
            self.is_whole = False
            not_shown("what a node did", error)

    def _hold(self, gradient: Any) -> None:
        self._held.append(gradient)
        if gradient is not None:
            self._bytes += nbytes_of(gradient)
            if self._bytes > HELD:
                self._tell()

    def _tell(self) -> None:
        held, self._held, self._bytes = self._held, [], 0
        self._on_gradients(held, measured(held, precisely=True))

    def end(self, gradients: Iterable[Any]) -> None:
        """Tell of what is left, and of the ``gradients`` that the call has made."""
        self._sums.clear()
        self._held += gradients
        self._tell()
