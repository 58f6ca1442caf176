"""The node of a custom Function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from autograd_core.autograd.grad_mode import Line, enable_grad, no_grad
from autograd_core.autograd.node import GENERAL, InputMetadata, Node, SavedState, next_sequence_nr
from autograd_core.autograd.packed import SavedTensor
from autograd_core.autograd.version import changed_at
from autograd_core.dtype import dtype, float32
from autograd_core.tensor import Tensor


class Output(NamedTuple):
    """A tensor that ``forward`` returned."""

    shape: tuple[int, ...]
    dtype: dtype
    differentiable: bool


# What the gradient of an output looks like that has none.
_NO_PLACE: Final = Output((), float32, False)


class FunctionNode(Node):
    """One application of a :class:`Function`; has the user's attributes of its ``ctx`` too."""

    __slots__ = (
        "__weakref__", "all_edges", "ctx", "output_count", "outputs", "ported",
        "tensor_arguments",
    )  # fmt: skip

    kind: ClassVar[int] = GENERAL
    runs_undefined: ClassVar[bool] = True
    _function: ClassVar[type[Any]]
    tensor_arguments: tuple[int, ...]  # positions of the arguments that are tensors
    outputs: Sequence[Output | None]  # of what ``forward`` returned, what is a tensor

    def __init__(self) -> None:
        self.sequence_nr = next_sequence_nr()
        self.notes = None
        self.ctx = self._function._ctx_class(self)

    def describe(self, outputs: Sequence[Output | None]) -> None:
        """Take note of what ``forward`` returned."""
        self.outputs = outputs
        self.output_count = len(outputs)
        self.ported = len(outputs) > 1
        for output in outputs:
            if output is not None and output.differentiable:
                self.output_shape, self.output_dtype = output.shape, output.dtype
                return
        self.output_shape, self.output_dtype = _NO_PLACE.shape, _NO_PLACE.dtype

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        places = [o if o is not None and o.differentiable else _NO_PLACE for o in self.outputs]
        return tuple(InputMetadata(place.shape, place.dtype) for place in places)

    @property
    def output_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the gradients that arrive."""
        return [data.shape for data in self._input_metadata]

    def __getattr__(self, name: str) -> Any:
        if name != "ctx" and name in vars(self.ctx):
            return vars(self.ctx)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        of_ctx = (name for name in vars(self.ctx) if not name.startswith("_"))
        return [*super().__dir__(), "apply", "saved_tensors", *of_ctx]

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object>"

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        saved: tuple[Tensor | None, ...] = self.ctx.saved_tensors
        return saved

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        saved: tuple[SavedTensor, ...] = self.ctx._raw_saved_tensors
        return saved

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        if self.ctx._saved is None:
            yield "saved_tensors", None, "freed"
            return
        for number, kept in enumerate(self.ctx._saved):
            if kept is not None:
                yield f"saved_tensors[{number}]", kept.value, kept.state

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return (("inputs", f"{self._function.__name__}.backward(ctx, g)"),)

    def release(self) -> None:
        self.ctx._saved = None

    @property
    def is_freed(self) -> bool:
        return self.ctx._saved is None

    def changed_at(self, name: str) -> tuple[Line, ...]:
        number = name.removeprefix("saved_tensors[").removesuffix("]")
        known = self.ctx._saved
        kept = known[int(number)] if known and number.isdigit() else None
        return () if kept is None else changed_at(kept.versions, kept.version)

    def backward(self, g: Any, keep: bool | None) -> list[Any]:
        with no_grad():
            gradients = self._call(
                [
                    None if gradient is None else Tensor.from_array(gradient)
                    for gradient in (g if self.ported else [g])
                ]
            )
        if not keep:
            self.release()
        return [None if gradient is None else gradient.array for gradient in gradients]

    def backward_graph(self, g: Any) -> list[Any]:
        with enable_grad():
            return self._call(list(g) if self.ported else [g])

    def apply(self, *gradients: Any) -> Any:
        """Run ``backward`` on gradients, as tensors."""
        results: list[Any] = [None] * len(self.ctx.needs_input_grad)
        for number, g in zip(self.tensor_arguments, self._call(list(gradients)), strict=True):
            results[number] = g
        return tuple(results) if len(results) > 1 else results[0]

    def _call(self, incoming: list[Any]) -> list[Any]:
        if self.ctx._materialize:
            incoming = [
                Tensor.from_array(np.zeros(output.shape, output.dtype.dtype))
                if g is None and output is not None
                else g
                for g, output in zip(incoming, self.outputs, strict=True)
            ]
        result = self._function._derivative()(self.ctx, *incoming)
        return self._checked(result if isinstance(result, tuple) else (result,))

    def _checked(self, gradients: Sequence[Any]) -> list[Any]:
        """Check the gradients, one per argument of ``forward``; return one per edge."""
        expected = len(self.ctx.needs_input_grad)
        given = list(gradients)
        while len(given) > expected and given[-1] is None:
            given.pop()
        if len(given) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(gradients)})"
            )
        for number, g in enumerate(given):
            if g is None:
                continue
            if number not in self.tensor_arguments:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{number + 1}, but the corresponding forward input was not a Variable"
                )
            if not isinstance(g, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
        return [given[number] for number in self.tensor_arguments]
