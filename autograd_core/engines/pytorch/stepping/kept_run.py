"""A call that runs as it would plainly, but for its graph, which is kept: it can run once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from autograd_core.autograd.call import BackwardCall
from autograd_core.engines.protocol import values_of_call
from autograd_core.engines.pytorch.entry import carry_out
from autograd_core.engines.pytorch.kept_graphs import mark_as_freed
from autograd_core.engines.pytorch.nodes import why_opaque
from autograd_core.engines.pytorch.private import unobserved
from autograd_core.engines.pytorch.stepping.driver import put_gradient
from autograd_core.engines.pytorch.stepping.watch_only import why_watched_only


class KeptRun:
    """Carries out ``call``, and looks at what came of it; see
    :class:`~autograd_core.engines.protocol.KeptRun`.

    Nothing is hooked and no graph is read, so this costs little more than the call: a walk over its
    nodes, and a copy of each ``.grad`` that the call adds to.
    """

    def __init__(self, call: BackwardCall, nodes: Sequence[Any]) -> None:
        self._call, self._nodes = call, nodes
        given = call.arguments
        with unobserved(), torch.no_grad():
            self._before = [
                (leaf, leaf.grad, None if leaf.grad is None else leaf.grad.detach().clone())
                for leaf in (node.variable for node in self._nodes if hasattr(node, "variable"))
            ]
        self.result = carry_out(given._replace(keep=True))

    def values(self) -> Iterator[tuple[str, Any]]:
        outputs = self._call.arguments.outputs
        roots = (root for root in outputs if isinstance(root, torch.Tensor))
        returned = self.result if self._call.is_grad else None
        return values_of_call(roots, returned, (leaf for leaf, _, _ in self._before))

    def is_finite(self) -> bool:
        with unobserved(), torch.no_grad():
            # a sum is eight times as fast as the largest element; where one overflows, each element
            # is looked at.  One op for each gradient: most of them are small.
            alike: dict[Any, list[Any]] = {}
            for _, value in self.values():
                if value is not None and value.layout is torch.strided and value.numel():
                    dtype = torch.float32 if value.dtype.itemsize < 4 else None
                    found = value.sum(dtype=dtype)
                    alike.setdefault((found.device, found.dtype), []).append(found)
            by_device: dict[Any, list[Any]] = {}
            for (device, _), sums in alike.items():
                by_device.setdefault(device, []).append(torch.stack(sums).isfinite().all())
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
    nodes = list(_walk(call.arguments.outputs))
    if any(why_opaque(kind).startswith("compiled") for kind in set(map(type, nodes))):
        return None
    return KeptRun(call, nodes)


def _walk(roots: Any) -> Iterator[Any]:
    """List the nodes behind some roots."""
    waiting = [root.node if hasattr(root, "node") else root.grad_fn for root in roots]
    seen = {node for node in waiting if node is not None}
    waiting = list(seen)
    while waiting:
        node = waiting.pop()
        yield node
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                waiting.append(target)
