"""What each node of a pass did, kept by hooks while PyTorch's engine runs it as it does plainly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any
from weakref import ref

import torch

from gradstep.contract.driver import Nested
from gradstep.engines.pytorch.calls import Arguments
from gradstep.engines.pytorch.entry import carry_out, is_engine_call
from gradstep.engines.pytorch.private import running_pass, unobserved
from gradstep.engines.pytorch.stepping.observed_engine import NodeRun
from gradstep.engines.pytorch.tensors import copied
from gradstep.guest.fence import not_shown
from gradstep.records import Interceptor


class NodeRuns:
    """Keeps what nodes are given and send; nothing is made of that.

    Args:
        leaves: by the node of each.
        taken_over: of these, the ones whose ``.grad`` the one gradient that comes becomes as it
            is: where nobody else holds it, the engine need not copy it.
        changing: nodes that may change in place what they are given: it is copied.

    Attributes:
        inside: the passes that somebody recorded inside a node.
        nested: those inside the node that runs.
    """

    def __init__(
        self,
        leaves: Mapping[Any, torch.Tensor],
        taken_over: Collection[Any],
        changing: Collection[Any] = (),
    ) -> None:
        self._leaves, self._taken_over, self._changing = leaves, taken_over, changing
        self._runs: dict[Any, NodeRun] = {}
        self.inside: dict[Any, tuple[Nested, ...]] = {}
        self.nested: list[Nested] = []
        self._pass: int | None = None  # the engine's number of this pass
        self._frame: FrameType | None = None  # that runs it

    def hooks(
        self, nodes: Sequence[Any], edges: Sequence[Any]
    ) -> Iterator[tuple[Any, Callable[..., Any]]]:
        """List the hooks that keep it, each with the method that registers it; ``edges`` are the
        ``next_functions`` of each node."""
        apart: dict[Any, Callable[[Any], Any]]
        apart = {**dict.fromkeys(self._taken_over, ref), **dict.fromkeys(self._changing, copied)}
        for node, following in zip(nodes, edges, strict=True):
            if (leaf := self._leaves.get(node)) is not None:
                yield node.register_hook, partial(self._after_leaf, node, leaf)
                continue
            held = [(nr, apart[to]) for nr, (to, _) in enumerate(following) if to in apart]
            yield node.register_hook, partial(self._after, node, held)

    def carry_out(self, arguments: Arguments, inner: Interceptor | None = None) -> Any:
        """Let the engine run the pass; ``inner`` hears of calls made inside."""
        self._frame = _getframe()
        try:
            return carry_out(arguments, inner)
        finally:
            self._frame = None  # a cycle

    def _is_own(self) -> bool:
        """Return whether this pass called the hook that asks: others may come upon its nodes."""
        running = running_pass()
        if running is None or running != self._pass:
            if self._pass is not None or not is_engine_call(_getframe(1), self._frame):
                return False
            self._pass = running
        return True

    def _after(
        self,
        node: Any,
        held: list[tuple[int, Callable[[Any], Any]]],
        sent: Sequence[Any],
        arrived: tuple[Any, ...],
    ) -> None:
        try:
            if not self._is_own():
                return
            if held:
                sent = list(sent)
                for nr, hold in held:
                    if nr < len(sent) and sent[nr] is not None:
                        sent[nr] = hold(sent[nr])  # a reference, until its leaf holds it
            self._runs[node] = sent, arrived, 0.0, None
            self._take_nested(node)
        except Exception as error:
            not_shown("what a node did", error)

    def _after_leaf(
        self, node: Any, leaf: torch.Tensor, sent: tuple[Any, ...], arrived: tuple[Any, ...]
    ) -> None:
        try:
            if self._is_own():
                with unobserved():
                    self._runs[node] = sent, arrived, 0.0, leaf.grad
                self._take_nested(node)
        except Exception as error:
            not_shown("what a node did", error)

    def _take_nested(self, node: Any) -> None:
        if self.nested:
            self.inside[node] = tuple(self.nested)
            self.nested.clear()

    def take(self) -> dict[Any, NodeRun]:
        """Return what each node did, in their order, and keep it no longer."""
        runs, self._runs = self._runs, {}
        for node, (sent, arrived, seconds, held) in runs.items():
            if type(sent) is list:
                known = [g() if type(g) is ref else g for g in sent]
                runs[node] = known, arrived, seconds, held
        return runs
