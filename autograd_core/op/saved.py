"""Saved values: what a node keeps from the forward pass, and what may have become of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from autograd_core.autograd.node import Node, SavedState, resolve
from autograd_core.op.formula import rule_text
from autograd_core.op.marks import FREED, NOT_SAVED
from autograd_core.op.packed import Packed
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
    """The array of a saved result that is not there as one: packed away, or freed."""
    if isinstance(value, Packed):
        return value.array
    raise freed(node)


def freed(node: Node) -> RuntimeError:
    """The error for a node whose saved values a backward pass has let go of."""
    return RuntimeError(_SECOND_TIME)


def changed(node: Any, name: str) -> RuntimeError:
    """The error for a saved value that an in-place op changed afterwards."""
    value = getattr(node, name)
    expected = getattr(node, f"{name}_version")
    if isinstance(value, Tensor):
        kind, shape = value.dtype, value.array.shape
        found = value._version
        producer, nr = resolve(value.edge)
        origin = "" if value.is_leaf or producer is None else _origin(producer, nr)
    else:
        kind, shape = value.dtype.name, value.shape
        found, expected = expected[0], 0
        since = getattr(node, f"{name}_version")
        if isinstance(since, Since):
            found, expected = since.versions[0], since.expected
        origin = _origin(node, 0)
    described = f"[torch.{_LEGACY.get(str(kind).removeprefix('torch.'), 'Tensor')} {list(shape)}]"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: {described}{origin} is at version {found}; expected version {expected} "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute "
        "its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


def _origin(node: Node, output_nr: int) -> str:
    return f", which is output {output_nr} of {node.name().partition('Backward')[0]},"


_LEGACY = {
    "float64": "DoubleTensor", "float32": "FloatTensor", "float16": "HalfTensor",
    "int64": "LongTensor", "int32": "IntTensor", "int16": "ShortTensor",
    "int8": "CharTensor", "uint8": "ByteTensor", "bool": "BoolTensor",
}  # fmt: skip


class SavedNode(Node):
    """The base of every op's node class: saved values by name, with their state."""

    __slots__ = ()
    op: ClassVar[Op]

    def state(self, name: str) -> SavedState:
        """ "kept", "changed" (in place, since it was saved) or "freed"."""
        value, version = getattr(self, name), getattr(self, f"{name}_version")
        if value is FREED:
            return "freed"
        if isinstance(value, Packed):
            return "kept"
        if isinstance(value, Tensor):
            return "kept" if value._version == version else "changed"
        return "changed" if version[0] else "kept"

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        for name in self.op.saved:
            value = getattr(self, name)
            if value is not NOT_SAVED and value is not None:
                state = self.state(name)
                if isinstance(value, Packed):
                    value = value.tensor()
                yield name, None if state == "freed" else value, state

    def formulas(self) -> tuple[tuple[str, str], ...]:
        op = self.op
        if op.joint is not None:
            return ((", ".join(op.edges), rule_text(op.joint.function) or op.name),)
        return tuple((edge, rule_text(op.rules[edge].function) or op.name) for edge in op.edges)

    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone, on tensors; no hooks, no reduction, nothing is freed."""
        if len(gradients) != self.output_count:
            raise TypeError(
                f"{self.name()} expected {self.output_count} arguments, "
                f"got {len(gradients)} instead."
            )
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
        for name in self.op.saved:
            setattr(self, name, FREED)
