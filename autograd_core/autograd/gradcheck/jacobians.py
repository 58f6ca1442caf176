"""A function at a point: its Jacobians there, by both modes of autograd and by differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.backward import grad
from autograd_core.autograd.forward_ad import dual_level, make_dual, unpack_dual
from autograd_core.autograd.node import Node, resolve
from autograd_core.dtype import float64
from autograd_core.tensor import Tensor

Array = NDArray[Any]
Block = tuple[int, int]  # which output, which input
Jacobian = dict[Block, Array]  # per block, (elements of the output, elements of the input)


class GradcheckError(RuntimeError):
    """A derivative that is not that of the function."""


class FunctionAtPoint:
    """A function and its inputs, those that require a gradient being ``watched``."""

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float) -> None:
        self.func, self.inputs, self.eps = func, inputs, eps
        self.places = _checked_places(inputs)
        self.watched: list[Tensor] = [inputs[place] for place in self.places]
        self.outputs = differentiable(func(*inputs))
        self._numerical: Jacobian | None = None

    def gradients(self, outputs: Sequence[Tensor], seeds: Sequence[Tensor]) -> Any:
        """Return those of the inputs, where ``seeds`` enter at ``outputs``."""
        return grad(outputs, self.watched, seeds, retain_graph=True, allow_unused=True)

    def reverse_jacobian(self, dtypes: bool) -> Jacobian:
        """Return the Jacobian by backward passes; ``dtypes``, with a look at those of gradients."""
        blocks = self._empty(self.outputs)
        for number, output in enumerate(self.outputs):
            for row, unit in enumerate(_units(output)):
                for place, x, g in zip(
                    self.places, self.watched, self.gradients([output], [unit]), strict=True
                ):
                    if g is None:
                        continue
                    block = (number, place)
                    if g.array.shape != x.array.shape:
                        raise GradcheckError(
                            f"Analytical gradient has incorrect size: {list(g.shape)} for input "
                            f"{place} of {list(x.shape)}, in {self.op(block)}"
                        )
                    if dtypes and g.dtype is not x.dtype:
                        raise GradcheckError(
                            f"Gradient has dtype mismatch: {g.dtype} for input {place} of "
                            f"{x.dtype}, in {self.op(block)}"
                        )
                    blocks[block][row] = g.array.reshape(-1)
        return blocks

    def forward_jacobian(self) -> Jacobian:
        """Return the Jacobian by forward mode."""
        blocks = self._empty(self.outputs)
        for place, x in zip(self.places, self.watched, strict=True):
            for column, unit in enumerate(_units(x)):
                with dual_level():
                    moved = list(self.inputs)
                    moved[place] = make_dual(x, unit)
                    outputs = differentiable(self.func(*moved))
                    tangents = [unpack_dual(t).tangent for t in outputs]
                for number, tangent in enumerate(tangents):
                    if tangent is not None:
                        blocks[number, place][:, column] = tangent.array.reshape(-1)
        return blocks

    def numerical_jacobian(self) -> Jacobian:
        """Return the Jacobian by differences, computed when first asked for."""
        if self._numerical is None:
            self._numerical = blocks = self._empty(self.outputs)
            for place, x in zip(self.places, self.watched, strict=True):
                for column, index in enumerate(np.ndindex(x._shape)):
                    unit = np.zeros(x._shape, x.array.dtype)
                    unit[index] = 1
                    slopes = self.slopes({place: unit}, self.outputs, f"on index {index} ")
                    for number, slope in enumerate(slopes):
                        blocks[number, place][:, column] = slope
        return self._numerical

    def _empty(self, outputs: Sequence[Tensor]) -> Jacobian:
        return {
            (number, place): np.zeros((output.numel(), x.numel()), output.array.dtype)
            for number, output in enumerate(outputs)
            for place, x in zip(self.places, self.watched, strict=True)
        }

    def slopes(
        self, directions: dict[int, Array], like: Sequence[Tensor], where: str = ""
    ) -> list[Array]:
        """Measure how fast the outputs change along ``directions``, one per input, flattened;
        ``where`` is for errors.

        Raises:
            AssertionError: there are more or fewer of them than ``like``, or of another shape or
                dtype.
        """
        below, above = self._values(directions, -1), self._values(directions, 1)
        perturbed = f"when inputs are perturbed {where}by {self.eps}, but got"
        for one, other in ((below, above), (like, above)):
            _check_alike(one, other, perturbed)
        return [
            ((up.array - down.array) / (2 * self.eps)).reshape(-1)
            for up, down in zip(above, below, strict=True)
        ]

    def _values(self, directions: dict[int, Array], sign: int) -> list[Tensor]:
        """Return the outputs after a step; the inputs' own data moves, so that closures see it
        too."""
        before = {place: self.inputs[place].array.copy() for place in directions}
        try:
            for place, direction in directions.items():
                self.inputs[place].array += sign * self.eps * direction
            chosen = differentiable if self.outputs else tensors_in
            return [Tensor.from_array(t.array.copy()) for t in chosen(self.func(*self.inputs))]
        finally:
            for place, array in before.items():
                self.inputs[place].array[...] = array

    def op(self, block: Block) -> str:
        """Return the op that made the output, its rule if it is alone, or those before it."""
        output = self.outputs[block[0]]
        nodes = _nodes(output)
        names = list(dict.fromkeys(node.name() for node in nodes))
        if len(nodes) == 1:
            rules = "; ".join(f"{edge}: {text}" for edge, text in nodes[0].formulas())
            return f"{names[0]} (rule for {rules})" if rules else names[0]
        shown = ", ".join(names[1:6]) + (", ..." if len(names) > 6 else "")
        before = f" (after {shown})" if shown else f" (the last of {len(nodes)})"
        return f"{names[0]}{before}" if names else "no op"


def _check_alike(some: Sequence[Tensor], others: Sequence[Tensor], perturbed: str) -> None:
    if len(some) != len(others):
        raise AssertionError(
            f"Expected `func` to return the same number of outputs {perturbed}: {len(some)} and "
            f"{len(others)}."
        )
    for one, other in zip(some, others, strict=True):
        if one._shape != other._shape:
            raise AssertionError(
                f"Expected `func` to return outputs with the same shape {perturbed}: shapes "
                f"{one.shape} and {other.shape}."
            )
        if one.dtype is not other.dtype:
            raise AssertionError(
                f"Expected `func` to return outputs with the same dtype {perturbed}: dtypes "
                f"{one.dtype} and {other.dtype}."
            )


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple of what was given, alone or in a sequence."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def tensors_in(result: Any) -> tuple[Tensor, ...]:
    """Return the tensors among the results of a function."""
    return tuple(t for t in as_tuple(result) if isinstance(t, Tensor))


def differentiable(result: Any) -> tuple[Tensor, ...]:
    """Return the results of a function that require a gradient; all have to be tensors."""
    return tuple(t for t in as_tuple(result) if t.requires_grad)


def _checked_places(inputs: tuple[Any, ...]) -> list[int]:
    """Find which inputs require a gradient."""
    places = [n for n, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not places:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for place in places:
        x = inputs[place]
        if x.dtype is not float64:
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex.",
                stacklevel=5,
            )
        if any(
            not stride and size > 1 for stride, size in zip(x.array.strides, x._shape, strict=True)
        ):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return places


def _units(t: Tensor) -> Iterator[Tensor]:
    """Yield tensors like ``t`` that are 1 in one place."""
    for place in np.ndindex(t._shape):
        unit = np.zeros(t._shape, t.array.dtype)
        unit[place] = 1
        yield Tensor.from_array(unit)


def _nodes(output: Tensor) -> list[Node]:
    """Return the nodes that ``output`` depends on, latest first, without leaves."""
    start = output.grad_fn
    seen = {start} if start is not None else set()
    stack = list(seen)
    while stack:
        for edge in stack.pop().edges:
            node = resolve(edge)[0]
            if node is not None and node.edges and node not in seen:
                seen.add(node)
                stack.append(node)
    return sorted(seen, key=lambda node: -node.sequence_nr)
