"""The nodes behind the roots of a call, found by one walk, and what of them may run code of the
program's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import torch

from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.nodes import Freed, is_of_program, is_packed, raw_saved, why_opaque
from gradstep.engines.pytorch.origins import Origins
from gradstep.engines.pytorch.private import (
    exponent_of,
    functions,
    has_tensor_hooks,
    hooks_around,
    node_behind,
    sequence_nr_of,
    uncounted,
    unobserved,
)


def _of_leaves() -> type:
    """Return the class of the nodes of leaves."""
    with unobserved():
        leaf = functions.zeros((), device="cpu", requires_grad=True)
        return type(node_behind(leaf))


_ACCUMULATES: Final = uncounted(_of_leaves)


class Walked:
    """The nodes behind some roots, their classes, and what each leads to; the nodes where leaves
    end the way, and the leaves. It ``is_from_nodes`` where no root is a leaf."""

    def __init__(self) -> None:
        self.is_from_nodes = True
        self.nodes: list[Any] = []
        self.kinds: set[Any] = set()
        self.edges: list[Any] = []
        self.ends: list[Any] = []
        self.leaves: list[Any] = []

    @cached_property
    def saved(self) -> list[list[Any]]:
        """What each node keeps, as it keeps it; what is freed is not there."""
        return [list(raw_saved(node)) for node in self.nodes]

    @cached_property
    def senders(self) -> Counter[Any]:
        """How many edges lead to each place."""
        return Counter(to for following in self.edges for to in following)

    @property
    def is_compiled(self) -> bool:
        """Whether some node is a compiled function."""
        return any(map(_is_compiled, self.kinds))

    def has_user_code(self, origins: Origins) -> bool:
        """Return whether some nodes are known to run code of the program's: a Function, a hook, or
        one that unpacks what it keeps."""
        if any(map(_is_of_program, self.kinds)) or any(map(has_tensor_hooks, self.leaves)):
            return True
        if origins.hooks and any(sequence_nr_of(node) in origins.hooks for node in self.nodes):
            return True
        asked: Sequence[Any] = ()
        if origins.has_hooks:
            asked = [*self.ends, *self.nodes]
        elif origins.has_older_hooks:  # those of a leaf may be older
            asked = self.ends
        return self.is_packed or any(type(hook) is not Freed for hook in hooks_around(asked))

    def keeps_finite(self, origins: Origins) -> bool:
        """Return whether nodes make finite gradients of finite values, but for those that overflow,
        and nobody else sees a gradient."""
        if origins.has_hooks or origins.has_older_hooks or origins.has_dispatch_mode:
            return False
        if not all(map(_keeps_finite, self.kinds)) or any(map(has_tensor_hooks, self.leaves)):
            return False
        powers = [kind for kind in self.kinds if kind.__name__ == _POWER]
        return not powers or all(
            exponent_of(node) >= 1 for node in self.nodes if type(node) in powers
        )

    @property
    def is_packed(self) -> bool:
        """Whether reading what some node keeps calls a hook of the program's."""
        return any(is_packed(raw) for values in self.saved for raw in values)


@lru_cache(maxsize=1024)
def _keeps_finite(kind: type) -> bool:
    name = kind.__name__
    return name.rstrip("0123456789").removesuffix("Backward") in _KEEP_FINITE or name == _POWER


_POWER: Final = "PowBackward0"
_KEEP_FINITE: Final = frozenset([
    "Add", "Addmm", "Baddbmm", "Bmm", "Mm", "Mv", "Dot", "Mul", "Sub", "Neg", "Relu", "LeakyRelu",
    "Elu", "Selu", "Gelu", "Silu", "Tanh", "Sigmoid", "Softplus", "Hardtanh", "Sin", "Cos",
    "Mean", "Sum", "MseLoss", "SmoothL1Loss", "HuberLoss", "LogSoftmax", "NllLoss", "NllLoss2D",
    "BinaryCrossEntropyWithLogits", "Convolution", "MaxPool2DWithIndices", "AvgPool2D",
    "AdaptiveAvgPool2D", "MkldnnLinear", "NativeBatchNorm", "CudnnBatchNorm", "NativeLayerNorm",
    "NativeGroupNorm", "Embedding", "NativeDropout", "T", "Transpose", "Permute", "View",
    "UnsafeView", "ReshapeAlias", "Expand", "Unsqueeze", "Squeeze", "Select", "Slice", "Split",
    "Unbind", "Cat", "Stack", "Clone", "Alias"
])  # fmt: skip
"""Ops whose derivatives divide by nothing that may be 0, and take no root or logarithm; and that
hide no value which is not finite, as a mask does."""


@lru_cache(maxsize=1024)
def _is_compiled(kind: type) -> bool:
    return why_opaque(kind).startswith("compiled")


_is_of_program: Final = lru_cache(maxsize=1024)(is_of_program)


def walked(call: TorchCall) -> Walked:
    """Return the nodes behind the roots of a call, over which nobody walks twice."""
    graph = call.roots[0].graph
    if graph.walked is None:
        graph.walked = walk(call.arguments.outputs)
    known: Walked = graph.walked
    return known


def walk(roots: Iterable[Any]) -> Walked:
    """Walk over the nodes behind some roots."""
    found = Walked()
    nodes, kinds, edges, ends, leaves = (
        found.nodes, found.kinds, found.edges, found.ends, found.leaves
    )  # fmt: skip
    with unobserved():
        seen = dict.fromkeys(map(node_of, roots))
        found.is_from_nodes = None not in seen
        seen.pop(None, None)
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            kind = type(node)
            if kind is _ACCUMULATES:
                ends.append(node)
                leaves.append(node.variable)
                continue
            kinds.add(kind)
            following = node.next_functions
            nodes.append(node)
            edges.append(following)
            for target, _ in following:
                if target is not None and target not in seen:
                    seen[target] = None
                    waiting.append(target)
    return found


def node_of(root: Any) -> Any:
    """Return the node at which a pass from ``root`` enters, None of a leaf."""
    return root.grad_fn if isinstance(root, torch.Tensor) else root.node
