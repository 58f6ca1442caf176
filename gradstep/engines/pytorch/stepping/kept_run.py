"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from autograd_core.autograd.call import BackwardCall
from gradstep.engines.protocol import values_of_call
from gradstep.engines.pytorch.entry import carry_out
from gradstep.engines.pytorch.kept_graphs import mark_as_freed
from gradstep.engines.pytorch.nodes import why_opaque
from gradstep.engines.pytorch.private import norms, unobserved
from gradstep.engines.pytorch.stepping.watch_only import why_watched_only
from gradstep.engines.pytorch.tensors import copy_of, elements_of, put_gradient
from gradstep.graph.collector import collector_paused


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~gradstep.engines.protocol.KeptRun`.

    Nothing is hooked and no graph is read, so this costs little more than the call: a walk over its
    nodes, and a copy of each ``.grad`` that the call adds to.
    """

    def __init__(self, call: BackwardCall, nodes: Sequence[Any], leaves: Sequence[Any]) -> None:
        self._call, self._nodes = call, nodes
        given = call.arguments
        with unobserved(), torch.no_grad():
            self._before = [
                (leaf, held := leaf.grad, None if held is None else copy_of(held))
                for leaf in leaves
            ]
        self.result = carry_out(given._replace(keep=True))

    def values(self) -> Iterator[tuple[str, Any]]:
        outputs = self._call.arguments.outputs
        roots = (root for root in outputs if isinstance(root, torch.Tensor))
        returned = self.result if self._call.is_grad else None
        return values_of_call(roots, returned, (leaf for leaf, _, _ in self._before))

    def is_finite(self) -> bool:
        with unobserved(), torch.no_grad():
            # a norm is eight times as fast as the largest element; where one overflows, each is
            # looked at
            alike: dict[Any, list[Any]] = {}
            for _, value in self.values():
                for each in () if value is None else elements_of(value):
                    if each.numel():
                        alike.setdefault((each.device, each.dtype, type(each)), []).append(each)
            by_device: dict[Any, list[Any]] = {}
            for (device, *_), values in alike.items():
                found = torch.stack(norms(values)).isfinite().all()
                by_device.setdefault(device, []).append(found)
            # the one place that waits for a device
            return all(bool(torch.stack(found).all()) for found in by_device.values())

    def undo(self) -> None:
        for leaf, held, numbers in self._before:
            put_gradient(leaf, held, numbers)

    def release(self) -> None:
        if not self._call.keep:
            mark_as_freed(self._call, self._nodes)


def kept_run(call: BackwardCall) -> KeptRun | None:
    """Carry out ``call``, keeping its graph; None where that would be another call: one that frees
    only the nodes that lead to its inputs, or one with a function that runs once."""
    if call.inputs or why_watched_only(call):
        return None
    with collector_paused():
        walked = _walk(call.arguments.outputs)
    return None if walked is None else KeptRun(call, *walked)


def _walk(roots: Any) -> tuple[list[Any], list[Any]] | None:
    """List the nodes behind some roots, and their leaves; None where one is of a compiled
    function."""
    waiting = [root.node if hasattr(root, "node") else root.grad_fn for root in roots]
    seen = {node for node in waiting if node is not None}
    waiting = list(seen)
    nodes, leaves = [], []
    leads_on: dict[type, bool] = {}  # by class, which is quicker to ask than the node
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind not in leads_on:
            if why_opaque(kind).startswith("compiled"):
                return None
            leads_on[kind] = not hasattr(node, "variable")
        if leads_on[kind]:
            nodes.append(node)
            for target, _ in node.next_functions:
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        else:
            leaves.append(node.variable)
    return nodes, leaves
