"""The certificate of a pass: every node, called once more, sends the bits that are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from gradstep.contract.driver import Driver, Rerunning
from gradstep.debugger.history import History
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.model import Graph
from gradstep.records import Step
from gradstep.text import listed, plural


class Certificate(NamedTuple):
    """The outcome of calling the nodes of a pass once more, each with what it was given.

    Attributes:
        nodes: how many have run.
        repeated: how many of them were called again; leaves only add, and a compiled function, a
            node that ran a pass inside it, or a graph that is not kept cannot be called again.
        different: those that sent different bits.
        varying: those that send different bits each time, as kernels do that add in no certain
            order; whether theirs are right is not known.
        hooked: those where hooks of the program changed what arrived, or what was sent.
        called: those whose call ran code of the program again.
        unfit: why none can be called again, "" if that is so of some only.
        ended: what ended the pass before its end.
    """

    nodes: int
    repeated: int
    different: tuple[int, ...] = ()
    varying: tuple[int, ...] = ()
    hooked: tuple[int, ...] = ()
    called: tuple[int, ...] = ()
    unfit: str = ""
    ended: str = ""

    def text(self, graph: Graph) -> str:
        """Return one or two sentences for the console."""
        sentences = [self._verdict(graph)]
        if self.hooked:
            sentences.append(f"hooks of the program changed what arrived at {_list(self.hooked)}")
        if self.called:
            sentences.append(f"code of the program ran again in {_list(self.called)}")
        if self.ended:
            sentences.append(self.ended)
        return "; ".join(sentences)

    def _verdict(self, graph: Graph) -> str:
        if self.unfit:
            return f"not certifiable: {self.unfit}"
        if not self.repeated:
            return f"not certified: none of {plural(self.nodes, 'node')} can be called again"
        counts = f"{self.repeated} of {plural(self.nodes, 'node')} called again"
        if not self.different and self.varying:
            return (
                f"certified: {counts}, and all results are bit-identical but those of "
                f"{_list(self.varying)}, whose kernels give other bits each time; "
                "torch.use_deterministic_algorithms(True) chooses others"
            )
        if not self.different:
            return f"certified: {counts}, and all results are bit-identical"
        first = self.different[0]
        where = node_text(graph, first)
        why = (
            "a custom Function that computes a different result each time"
            if first in self.called
            else "a kernel that is not deterministic, or values that were changed in place since"
        )
        also = f", and {len(self.different) - 1} more" if len(self.different) > 1 else ""
        return f"not certified: {counts}; {where} sent different bits{also}: {why}"


def certificate(driver: Driver, history: History) -> Certificate:
    """Call every node that is recorded once more.

    Raises:
        Exception: whatever a custom Function of the program raises.
    """
    again = driver.rerunning
    unfit = driver.state.read_only if again is None else again.why_not_replayable(0)
    if again is None or unfit:
        return Certificate(len(history), 0, unfit=unfit)
    repeated, hooked, called = 0, [], []
    different: list[int] = []
    varying: list[int] = []
    if driver.control is not None:
        driver.control.catch_up()
    known, agree = driver.state.effects, driver.leaves.agree
    with again.repeating():
        for index in range(len(history)):
            step = history.shown(index)
            effects = known.get(index)
            if effects is not None and any(call.changed for call in effects.calls):
                hooked.append(index)
            sent = again.repeat(step)
            if sent is None:
                continue
            repeated += 1
            if driver.runs_user_code(index):
                called.append(index)
            shown = [delivery.gradient for delivery in step.deliveries]
            if all(map(agree, sent, shown)):
                continue
            varies = index not in called[-1:] and _varies(again, agree, step, sent)
            (varying if varies else different).append(index)
    return Certificate(
        len(history), repeated, tuple(different), tuple(varying), tuple(hooked), tuple(called)
    )


_TRIES: Final = 5


def _varies(
    rerunning: Rerunning, agree: Callable[[Any, Any], bool], step: Step, sent: Sequence[Any]
) -> bool:
    """Return whether a node, called with the same gradients, does not always send the same."""
    again = (rerunning.repeat(step) for _ in range(_TRIES))
    return any(
        gradients is not None and not all(map(agree, gradients, sent)) for gradients in again
    )


def _list(indices: tuple[int, ...]) -> str:
    return listed([*map(step_number, indices)], 8, ", ")
