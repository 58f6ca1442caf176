"""Saved values: what a node keeps from the forward pass, and what may have become of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from autograd_core.autograd.node import Node, SavedState, resolve
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


class _Mark:
    """A value that is not there, and why."""

    __slots__ = ("_why",)

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return f"<{self._why}>"


FREED: Final = _Mark("freed")
NOT_SAVED: Final = _Mark("not saved: the inputs whose rules need it need no gradient")


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
        if isinstance(value, Tensor):
            return "kept" if value._version == version else "changed"
        return "changed" if version[0] else "kept"

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        for name in self.op.saved:
            value = getattr(self, name)
            if value is not NOT_SAVED and value is not None:
                state = self.state(name)
                yield name, None if state == "freed" else value, state

    def formulas(self) -> tuple[tuple[str, str], ...]:
        op = self.op
        if op.joint is not None:
            return ((", ".join(op.edges), rule_text(op.joint.function) or op.name),)
        return tuple((edge, rule_text(op.rules[edge].function) or op.name) for edge in op.edges)

    def release(self) -> None:
        for name in self.op.saved:
            setattr(self, name, FREED)

    def backward_graph(self, g: Any) -> Any:
        from autograd_core.op.graph import differentiate  # runs ops, which are made of nodes

        return differentiate(self, g)
