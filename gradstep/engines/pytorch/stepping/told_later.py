"""A pass that runs as it would plainly, and of which a driver can tell later, or never.

While it runs, hooks behind its nodes keep what they are given, and nothing is made of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, Final

import torch

from gradstep.contract.driver import Driver
from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.nodes import KeptFacts, facts_of, why_opaque
from gradstep.engines.pytorch.origins import Origins
from gradstep.engines.pytorch.private import (
    FunctionNode,
    TensorBase,
    dispatch_mode,
    grad_enabled,
    hook_nodes,
    hook_tables,
    is_shared_with_processes,
    metadata_of,
    saved_places,
    see_that_hooks_are_allowed,
    torch_c,
    unobserved,
    unpack_hook,
)
from gradstep.engines.pytorch.stepping.driver import TorchDriver
from gradstep.engines.pytorch.stepping.node_runs import NodeRuns
from gradstep.engines.pytorch.tensors import Copies, copy_of, shape_of
from gradstep.engines.pytorch.walking import Walked, node_of, walked
from gradstep.guest.collector import collector_paused

MOST: Final = 1 << 25
"""Bytes of the gradients of a pass that are kept at most."""


def told_later(call: TorchCall) -> Callable[[], Driver] | None:
    """Carry out ``call``; returns what makes a driver that tells of each node as it was then,
    whatever the program has done since.

    Nothing is done, and None returned, where that takes a driver: where code of the program's may
    run inside the pass, where not all is on the CPU, or where its gradients would take more than
    :data:`MOST` bytes.
    """
    if not _may_be_plain(call):
        return None
    try:
        with collector_paused(), unobserved():
            behind = walked(call)
            facts = _facts_of_kept(behind, call.roots[0].graph.origins)
            if facts is None or not are_small(behind, MOST, leaves=True):
                return None
            kept = _KeptPass(call, behind, facts)
    except RuntimeError:  # something is freed, or was changed
        return None
    return kept.driver if kept.run() else None


def _may_be_plain(call: TorchCall) -> bool:
    origins = call.roots[0].graph.origins
    return not (
        call.is_grad or call.graph or call.inputs or origins.ops or origins.has_hooks
        or dispatch_mode() or torch_c.is_anomaly_enabled()
        or torch.cuda.is_initialized() or is_shared_with_processes()
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _places(kind: type) -> Any:
    """Return what nodes of a class keep, None where they may run code of the program's."""
    return None if issubclass(kind, FunctionNode) or why_opaque(kind) else saved_places(kind)


def _facts_of_kept(behind: Walked, origins: Origins) -> list[list[tuple[str, KeptFacts]]] | None:
    """Return what each node keeps; None where one is not plain, or a leaf has hooks."""
    if not behind.is_from_nodes or any(any(hook_tables(leaf)) for leaf in behind.leaves):
        return None
    facts: list[list[tuple[str, KeptFacts]]] = []
    for node in behind.nodes:
        kind: Any = type(node)
        if (places := _places(kind)) is None:
            return None
        kept: list[tuple[str, KeptFacts]] = []
        facts.append(kept)
        for name, raw_place, place in places:
            raw = getattr(node, raw_place, None)
            if raw is None:
                continue
            if isinstance(raw, tuple) or unpack_hook(raw) is not None:
                return None
            tensor = getattr(node, place)
            if isinstance(tensor, torch.Tensor):
                kept.append((name, facts_of(tensor, origins)))
    return facts


def are_small(behind: Walked, most: int, *, leaves: bool) -> bool:
    """Return whether the gradients that arrive at nodes take ``most`` bytes at most, those of
    ``leaves`` included if wanted."""
    senders = Counter(to for to, _ in behind.senders.elements())
    left = most
    for end, leaf in zip(behind.ends, behind.leaves, strict=True) if leaves else ():
        left -= leaf.nbytes * (senders[end] + 1)
    for node in behind.nodes:
        count = max(senders[node], 1)
        for described in metadata_of(node):
            shape = shape_of(described)
            if shape is None:  # of a nested one
                return False
            left -= prod(shape) * described.dtype.itemsize * (count + 1 if count > 1 else 1)
        if left < 0:
            return False
    return left >= 0


class _KeptPass:
    """Runs the pass of ``call``, and keeps what is needed to tell of it; gradients go by their
    identity."""

    def __init__(
        self, call: TorchCall, behind: Walked, facts: list[list[tuple[str, KeptFacts]]]
    ) -> None:
        see_that_hooks_are_allowed(behind.nodes)
        leaves = dict(zip(behind.ends, behind.leaves, strict=True))
        self._call, self._facts = call, [*facts, *[[] for _ in leaves]]
        self._nodes = [*behind.nodes, *behind.ends]
        self._following = [*behind.edges, *[()] * len(leaves)]
        self._edges = [(node_of(root), root.output_nr) for root in call.arguments.outputs]
        self._before: dict[Any, Any] = {  # copies of each .grad, by the node of its leaf
            end: None if leaf.grad is None else copy_of(leaf.grad) for end, leaf in leaves.items()
        }
        told = (*call.arguments.outputs, *behind.leaves)
        with unobserved():
            scalars = [x for x in told if isinstance(x, torch.Tensor) and TensorBase.numel(x) == 1]
        self._given: list[Any] = [*call.seeds, *scalars]
        self._seeds = [id(seed) for seed in call.seeds]
        taken_over = {  # where nobody else holds what becomes a .grad as it is
            end
            for end, held in self._before.items()
            if held is None and behind.senders[end, 0] == 1
        }
        self._runs = NodeRuns(leaves, taken_over)
        self._told: list[tuple[Any, list[int], list[int], int]] = []
        self._copies = Copies(())

    def run(self) -> bool:
        """Carry out the call, unless there are hooks of the program's behind its nodes; returns
        whether it was.

        Raises:
            BaseException: what a node raised.
        """
        others: list[Any] = []
        hooks = list(self._runs.hooks(self._nodes, self._following))
        with unobserved():
            unhook = hook_nodes(hooks, others)
        if others:
            unhook()
            return False
        try:
            self._runs.carry_out(self._call.arguments)
        finally:
            unhook()
        with unobserved(), grad_enabled(False):
            self._keep_numbers()
        return True

    def _keep_numbers(self) -> None:
        """Keep copies of all that is told of: the program may change it from here on."""
        given = self._given
        for node, (sent, arrived, _, held) in self._runs.take().items():
            given += (*sent, *arrived, held)
            self._told.append((node, [*map(id, sent)], [*map(id, arrived)], id(held)))
        self._copies = Copies(given)
        given.clear()

    def driver(self) -> TorchDriver:
        """Return what tells of the pass."""
        graph, copy = self._call.roots[0].graph, self._copies.of
        call = self._call._replace(seeds=tuple(map(copy, self._seeds)))
        with unobserved():
            graph.put_back(call.roots, self._edges, self._nodes, self._facts, copy)
            driver = TorchDriver(call)
        runs = {
            node: (tuple(map(copy, sent)), tuple(map(copy, arrived)), 0.0, copy(held))
            for node, sent, arrived, held in self._told
        }
        driver.tell_of(runs, {end: (held, held, 0) for end, held in self._before.items()})
        return driver
