"""The node of a custom Function, which is also the ``ctx`` of its forward and backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from autograd_core.autograd.grad_mode import Line, enable_grad, no_grad
from autograd_core.autograd.node import (
    GENERAL,
    Node,
    Port,
    SavedState,
    next_sequence_nr,
    resolve,
)
from autograd_core.autograd.version import changed_at
from autograd_core.dtype import dtype
from autograd_core.op.packed import Hooks, Packed
from autograd_core.op.saved import freed, modified
from autograd_core.tensor import Tensor


class FunctionNode(Node):
    """One application of a :class:`Function`: the ``ctx`` of its forward and backward.

    Attributes:
        needs_input_grad: per argument of ``forward``, whether a gradient is wanted.
    """

    kind: ClassVar[int] = GENERAL
    runs_undefined: ClassVar[bool] = True
    _function: ClassVar[type[Any]]
    needs_input_grad: tuple[bool, ...]
    tensor_arguments: tuple[int, ...]  # positions of the arguments that are tensors
    output_shapes: list[tuple[int, ...]]
    output_dtypes: list[dtype]

    def __init__(self) -> None:
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self.output_count = 1
        self._saved: list[KeptTensor | None] | None = []
        self._to_save: tuple[Tensor | None, ...] = ()
        self._materialize = True
        self._non_differentiable: tuple[int, ...] = ()
        self._dirty: tuple[int, ...] = ()
        self._for_jvp: tuple[Tensor | None, ...] | None = None

    # what forward may call

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for ``backward``; found there as ``ctx.saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{tensors.index(tensor)} is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for ``jvp``; found there as ``ctx.saved_tensors``."""
        self._for_jvp = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs ``forward`` changed in place; they must be returned."""
        self._dirty = tuple(id(tensor) for tensor in tensors)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs carry no gradient."""
        self._non_differentiable = tuple(id(tensor) for tensor in tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros (the default) or None for an undefined gradient."""
        self._materialize = value

    # what backward may read

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What was saved, as tensors of the graph.

        Raises:
            RuntimeError: it was freed, or changed in place since.
        """
        if self._for_jvp is not None:
            return self._for_jvp
        if self._saved is None:
            raise freed(self)
        return tuple(None if kept is None else kept.unpack(self) for kept in self._saved)

    saved_variables = saved_tensors

    # the node's part

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        if self._saved is None:
            yield "saved_tensors", None, "freed"
            return
        for number, kept in enumerate(self._saved):
            if kept is not None:
                value = kept.value.tensor() if isinstance(kept.value, Packed) else kept.value
                yield f"saved_tensors[{number}]", value, kept.state

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return (("inputs", f"{self._function.__name__}.backward(ctx, g)"),)

    def release(self) -> None:
        self._saved = None

    @property
    def is_freed(self) -> bool:
        return self._saved is None

    def changed_at(self, name: str) -> tuple[Line, ...]:
        number = name.removeprefix("saved_tensors[").removesuffix("]")
        kept = self._saved[int(number)] if self._saved and number.isdigit() else None
        return () if kept is None else changed_at(kept.versions, kept.version)

    def backward(self, g: Any, keep: bool) -> list[Any]:
        with no_grad():
            gradients = self._call(
                [
                    None if each is None else Tensor.from_array(each)
                    for each in (g if self.ported else [g])
                ]
            )
        if not keep:
            self.release()
        return [None if each is None else each.array for each in gradients]

    def backward_graph(self, g: Any) -> list[Any]:
        with enable_grad():
            return self._call(list(g) if self.ported else [g])

    def __call__(self, *gradients: Any) -> Any:
        """Run ``backward`` on gradients, as tensors."""
        return tuple(self._call(list(gradients)))

    apply = __call__

    def _call(self, incoming: list[Any]) -> list[Any]:
        if self._materialize:
            incoming = [
                Tensor.from_array(np.zeros(shape, kind.dtype)) if g is None else g
                for g, shape, kind in zip(
                    incoming, self.output_shapes, self.output_dtypes, strict=True
                )
            ]
        result = self._function.backward(self, *incoming)
        return self._checked(result if isinstance(result, (tuple, list)) else (result,))

    def _checked(self, gradients: Sequence[Any]) -> list[Any]:
        """One gradient per edge, from one per argument of ``forward``."""
        expected = len(self.needs_input_grad)
        given = list(gradients)
        while len(given) > expected and given[-1] is None:
            given.pop()
        if len(given) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(gradients)})"
            )
        chosen = []
        for number, edge in zip(self.tensor_arguments, self.all_edges, strict=True):
            g = given[number]
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"expected Variable or None (got {type(g).__name__})")
            chosen.append(None if edge is None else g)
        for number, g in enumerate(given):
            if g is not None and number not in self.tensor_arguments:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different from None at position "
                    f"{number + 1}, but the corresponding forward input was not a Variable"
                )
        return chosen


class KeptTensor:
    """A tensor as a node may keep it: a result only as an array, lest both hold each other."""

    __slots__ = ("output_nr", "value", "version", "versions")

    def __init__(self, tensor: Tensor, output_nr: int | None) -> None:
        self.output_nr = output_nr
        self.value: Any = tensor if output_nr is None else tensor.array
        if tensor.version is None:
            tensor.version = [0]
        self.versions = tensor.version
        self.version = tensor.version[0]

    @property
    def state(self) -> SavedState:
        return "kept" if self.versions[0] == self.version else "changed"

    def pack(self, hooks: Hooks) -> None:
        """Hand the value to ``hooks``."""
        value = self.value
        tensor = value if isinstance(value, Tensor) else Tensor.from_array(value)
        self.value, self.versions = Packed(tensor, hooks), [self.version]

    def unpack(self, node: FunctionNode) -> Tensor:
        if self.state == "changed":
            if isinstance(self.value, Tensor):
                place = None if self.value.is_leaf else resolve(self.value.edge)
                raise modified(self.value.array, place, self.versions, self.version)
            raise modified(self.value, (node, self.output_nr or 0), self.versions, self.version)
        value = self.value.tensor() if isinstance(self.value, Packed) else self.value
        if self.output_nr is None:
            kept: Tensor = value
            return kept
        tensor = Tensor.from_array(value.array if isinstance(value, Tensor) else value)
        tensor.edge = Port(node, self.output_nr) if node.ported else node
        return tensor
