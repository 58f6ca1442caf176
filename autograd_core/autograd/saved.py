"""Saved values: what a node keeps from the forward pass, and what may have become of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Final

from autograd_core.autograd.grad_mode import Line
from autograd_core.autograd.node import FREED, NOT_SAVED, Node, SavedState, resolve
from autograd_core.autograd.packed import Packed
from autograd_core.autograd.version import Versions, changed_at, was_detached
from autograd_core.op.formula import rule_text
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor


class Since:
    """Stands where a result's version list stands: element 0 counts the changes since now."""

    __slots__ = ("expected", "versions")

    def __init__(self, versions: list[int]) -> None:
        self.versions = versions
        self.expected = versions[0]

    def __getitem__(self, place: int) -> int:
        return self.versions[place] - self.expected


_SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling "
    "backward."
)


def result_array(node: Node, value: Any) -> Any:
    """Return the array of a saved result that is not there as one: packed away, or freed."""
    if isinstance(value, Packed):
        return value.array
    raise freed(node)


def freed(node: Node | None) -> RuntimeError:
    """Return the error for a node whose saved values a backward pass has let go of."""
    if node is None or node.freed_at is None:
        return RuntimeError(_SECOND_TIME)
    file, line = node.freed_at
    return RuntimeError(f"{_SECOND_TIME}\nThey were freed by the pass begun at {file}:{line}.")


def changed(node: Any, name: str) -> RuntimeError:
    """Return the error for a saved value that an in-place op changed afterwards."""
    value = getattr(node, name)
    if isinstance(value, Tensor):
        versions, expected = watched(node, name)
        if was_detached(versions, expected):
            return detached()
        place = None if value.is_leaf else resolve(value.edge)
        return modified(value.array, place, versions, expected)
    differentiable = node.op.differentiable_outputs
    nr = differentiable.index(name) if name in differentiable else 0
    return modified(value, (node, nr), *watched(node, name))


def watched(node: Any, name: str) -> tuple[Versions, int]:
    """Return the version counter of a saved value, and the version it was saved at."""
    value, version = getattr(node, name), getattr(node, f"{name}_version")
    if isinstance(value, Tensor):
        return value.version or [0], version
    return (version.versions, version.expected) if isinstance(version, Since) else (version, 0)


def detached() -> RuntimeError:
    """Return PyTorch's error for a saved value that has left its graph in place."""
    return RuntimeError(
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This "
        "is not supported, please use out-of-place `.detach()` instead"
    )


def maker(node: Node) -> str:
    """Name the op behind ``node`` as PyTorch does in errors: ``Mul`` for ``MulBackward0``."""
    return re.sub(r"Backward\d*$", "", node.name())


def modified(
    array: Any, place: tuple[Node | None, int] | None, versions: Versions, expected: int
) -> RuntimeError:
    """Return PyTorch's error for a saved value, result ``place`` of a graph, that was changed in
    place; with the lines that did it, if they were traced."""
    node, nr = place or (None, 0)
    origin = "" if node is None else f", which is output {nr} of {maker(node)},"
    kind = _LEGACY.get(array.dtype.name, "torch.Tensor")
    lines = dict.fromkeys(f"{file}:{line}" for file, line in changed_at(versions, expected))
    where = f"\nIt was changed at {', '.join(lines)}." if lines else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} {list(array.shape)}]{origin} is at version {versions[0]}; "
        f"expected version {expected} instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with "
        f"torch.autograd.set_detect_anomaly(True, check_nan=False).{where}"
    )


_LEGACY = {
    "float64": "torch.DoubleTensor", "float32": "torch.FloatTensor", "float16": "torch.HalfTensor",
    "int64": "torch.LongTensor", "int32": "torch.IntTensor", "int16": "torch.ShortTensor",
    "int8": "torch.CharTensor", "uint8": "torch.ByteTensor", "bool": "CPUBoolType",
}  # fmt: skip


class _VersionSlots(dict[str, str]):
    """The slot that holds the version of a saved value: a name that is made anew each time takes
    0.4 us to look up."""

    def __missing__(self, name: str) -> str:
        slot: str = sys.intern(f"{name}_version")
        self[name] = slot
        return slot


_VERSION_OF: Final = _VersionSlots()


def _state(value: Any, version: Any) -> SavedState:
    """Return the state of a value that is not freed; ``version`` is what was saved with it."""
    if isinstance(value, Tensor):
        now = 0 if value.version is None else value.version[0]
        return "kept" if now == version else "changed"
    if isinstance(value, Packed):
        return "packed"
    return "changed" if version[0] else "kept"


class SavedNode(Node):
    """The base of every op's node class: saved values by name, with their state."""

    __slots__ = ()
    op: ClassVar[Op]

    def name(self) -> str:
        return self.op.node_name

    def state(self, name: str) -> SavedState:
        """ "kept", "changed" (in place, since it was saved), "freed" or "packed" (by hooks)."""
        value = getattr(self, name)
        return "freed" if value is FREED else _state(value, getattr(self, _VERSION_OF[name]))

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        op = self.op
        for name in op.saved:
            value = getattr(self, name)
            if value is None or value is NOT_SAVED:
                continue
            if value is not FREED:
                yield name, value, _state(value, getattr(self, _VERSION_OF[name]))
            elif hasattr(self, _VERSION_OF[name]):  # else it never was saved: all are marked
                yield name, None, "freed"
        for name in op.held:
            value = getattr(self, name)
            if value is FREED:
                yield name, None, "freed"
            elif hasattr(value, "each"):
                yield from value.each(name)

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return rules_of(self.op)

    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone, on tensors; no hooks, no reduction, nothing is freed."""
        if len(gradients) != self.output_count:
            raise TypeError(f"expected {self.output_count} arguments, got {len(gradients)} instead")
        if all(g is None for g in gradients):
            result: Any = (None,) * len(self.edges)
            return result[0] if len(result) == 1 else result
        result = self.backward_graph(list(gradients) if self.ported else gradients[0])
        several = isinstance(result, (tuple, list))
        wanted = tuple(
            None if edge is None else g
            for edge, g in zip(self.edges, result if several else (result,), strict=True)
        )
        return wanted if len(wanted) > 1 else wanted[0]

    def release(self) -> None:
        op = self.op
        for name in op.saved:
            setattr(self, name, FREED)
        for name in op.held:
            setattr(self, name, FREED)

    @property
    def is_freed(self) -> bool:
        op = self.op
        for name in op.saved:
            if getattr(self, name) is FREED:
                return True
        return bool(op.held) and any(getattr(self, name) is FREED for name in op.held)

    def changed_at(self, name: str) -> tuple[Line, ...]:
        attribute, _, number = name.removesuffix("]").partition("[")
        if number:
            return self._changed_within(getattr(self, attribute), int(number))
        known = name in self.op.saved and self.state(name) == "changed"
        return changed_at(*watched(self, name)) if known else ()

    def _changed_within(self, value: Any, number: int) -> tuple[Line, ...]:
        if value is FREED:
            return ()
        return changed_at(value.tensors[number].version, value.versions[number])


@cache
def rules_of(op: Op) -> tuple[tuple[str, str], ...]:
    """Return the derivative rules of an op: (input, text of the rule)."""
    if op.joint is not None:
        return ((", ".join(op.edges), rule_text(op.joint.function) or op.name),)
    return tuple((edge, rule_text(op.rules[edge].function) or op.name) for edge in op.edges)
