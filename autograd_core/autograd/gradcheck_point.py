"""What ``gradcheck`` does: the Jacobians of a function at a point, by reverse mode, by forward mode
and by differences, compared; and what is said where they disagree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.backward import grad
from autograd_core.autograd.forward_ad import dual_level, make_dual, unpack_dual
from autograd_core.autograd.function import Function
from autograd_core.autograd.node import Node, resolve
from autograd_core.dtype import float64
from autograd_core.tensor import Tensor

Array = NDArray[Any]
Block = tuple[int, int]  # which output, which input
Jacobian = dict[Block, Array]  # per block, (elements of the output, elements of the input)


class GradcheckError(RuntimeError):
    """A derivative that is not that of the function."""


class Tolerance(NamedTuple):
    """How far two derivatives may be apart."""

    atol: float
    rtol: float

    def agree(self, found: Any, expected: Any) -> Any:
        """Elementwise, whether they agree; NaN agrees with NaN."""
        return np.isclose(found, expected, self.rtol, self.atol, equal_nan=True)


class Check:
    """A function at a point, and what is to be found out about it there."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        eps: float,
        tolerance: Tolerance,
    ) -> None:
        self.func, self.inputs, self.eps, self.tolerance = func, inputs, eps, tolerance
        self.places = _checked_places(inputs)
        self.watched: list[Tensor] = [inputs[place] for place in self.places]
        self.outputs = differentiable(func(*inputs))
        self._numerical: Jacobian | None = None

    # the checks

    def reverse(self, nondet_tol: float, fast: bool, dtypes: bool) -> None:
        """Reverse mode finds the Jacobian that differences find, twice the same."""
        if not self.outputs:
            self._expect_zero()
            return
        if fast and self._agree_along_a_direction():
            return
        analytical = self._reverse_jacobian(dtypes)
        self._compare(analytical, self._all_numerical(), "")
        again = self._reverse_jacobian(dtypes)
        for block, values in analytical.items():
            apart = np.abs(values - again[block])
            if np.nanmax(apart, initial=0) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    f"gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{nondet_tol}; output {block[0]} by input {block[1]} differed by "
                    f"{np.nanmax(apart):.6g}, in {self._op(block)}."
                )

    def forward(self, fast: bool) -> None:
        """Forward mode finds the Jacobian that differences find."""
        self._compare(self._forward_jacobian(), self._all_numerical(), " in forward mode")

    def scales(self) -> None:
        """A gradient of zero for the outputs gives zero for the inputs."""
        if not self.outputs:
            return
        seeds = [Tensor.from_array(np.zeros_like(t.array)) for t in self.outputs]
        for place, g in zip(self.places, self._grad(self.outputs, seeds), strict=True):
            if g is not None and np.any(g.array):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: the gradient of input {place} is "
                    f"not 0 where that of all outputs is, in {self._op((0, place))}"
                )

    def undefined(self) -> None:
        """Outputs that get no gradient are understood, one by one and all together."""
        count = len(self.outputs)
        choices = [{number} for number in range(count)] if count > 1 else []
        for missing in [*choices, set(range(count))] if count else []:
            outputs = differentiable(self.func(*self.inputs))
            tried = [
                _Undefined.apply(t) if number in missing else t for number, t in enumerate(outputs)
            ]
            seeds = [Tensor.from_array(np.ones_like(t.array)) for t in tried]
            try:
                found = self._grad(tried, seeds)
            except Exception as error:
                listed = ", ".join(map(str, sorted(missing)))
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads, but "
                    f"{self._op((min(missing), self.places[0]))} raised {type(error).__name__}: "
                    f"{error} (undefined was the gradient of output {listed}). None stands for "
                    "zeros there."
                ) from error
            if len(missing) == count and any(g is not None and np.any(g.array) for g in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    f"undefined or zero, in {self._op((0, self.places[0]))}"
                )

    # Jacobians

    def _grad(self, outputs: Sequence[Tensor], seeds: Sequence[Tensor]) -> Any:
        return grad(outputs, self.watched, seeds, retain_graph=True, allow_unused=True)

    def _reverse_jacobian(self, dtypes: bool) -> Jacobian:
        found = self._empty(self.outputs)
        for number, output in enumerate(self.outputs):
            for row, unit in enumerate(_units(output)):
                for place, x, g in zip(
                    self.places, self.watched, self._grad([output], [unit]), strict=True
                ):
                    if g is None:
                        continue
                    block = (number, place)
                    if g.array.shape != x.array.shape:
                        raise GradcheckError(
                            f"Analytical gradient has incorrect size: {list(g.shape)} for input "
                            f"{place} of {list(x.shape)}, in {self._op(block)}"
                        )
                    if dtypes and g.dtype is not x.dtype:
                        raise GradcheckError(
                            f"Gradient has dtype mismatch: {g.dtype} for input {place} of "
                            f"{x.dtype}, in {self._op(block)}"
                        )
                    found[block][row] = g.array.reshape(-1)
        return found

    def _forward_jacobian(self) -> Jacobian:
        found = self._empty(self.outputs)
        for place, x in zip(self.places, self.watched, strict=True):
            for column, unit in enumerate(_units(x)):
                with dual_level():
                    moved = list(self.inputs)
                    moved[place] = make_dual(x, unit)
                    outputs = differentiable(self.func(*moved))
                    tangents = [unpack_dual(t).tangent for t in outputs]
                for number, tangent in enumerate(tangents):
                    if tangent is not None:
                        found[number, place][:, column] = tangent.array.reshape(-1)
        return found

    def _all_numerical(self) -> Jacobian:
        if self._numerical is None:
            self._numerical = found = self._empty(self.outputs)
            for place, x in zip(self.places, self.watched, strict=True):
                for column, index in enumerate(np.ndindex(x._shape)):
                    unit = np.zeros(x._shape, x.array.dtype)
                    unit[index] = 1
                    slopes = self._slopes({place: unit}, self.outputs)
                    for number, slope in enumerate(slopes):
                        found[number, place][:, column] = slope
        return self._numerical

    def _empty(self, outputs: Sequence[Tensor]) -> Jacobian:
        return {
            (number, place): np.zeros((output.numel(), x.numel()), output.array.dtype)
            for number, output in enumerate(outputs)
            for place, x in zip(self.places, self.watched, strict=True)
        }

    def _slopes(self, directions: dict[int, Array], like: Sequence[Tensor]) -> list[Array]:
        """How fast the outputs change along ``directions``, one per input, flattened."""
        above, below = self._values(directions, 1), self._values(directions, -1)
        for one, other in zip((*above, *below), (*like, *like), strict=True):
            if one.shape != other._shape:
                raise AssertionError(
                    "Expected `func` to return outputs with the same shape when inputs are "
                    f"perturbed by {self.eps}, but got: shapes {list(other._shape)} and "
                    f"{list(one.shape)}."
                )
        return [
            ((up - down) / (2 * self.eps)).reshape(-1)
            for up, down in zip(above, below, strict=True)
        ]

    def _values(self, directions: dict[int, Array], sign: int) -> list[Array]:
        """The outputs after a step; the inputs' own data moves, so that closures see it too."""
        before = {place: self.inputs[place].array.copy() for place in directions}
        try:
            for place, direction in directions.items():
                self.inputs[place].array += sign * self.eps * direction
            chosen = differentiable if self.outputs else _tensors
            return [np.array(t.array) for t in chosen(self.func(*self.inputs))]
        finally:
            for place, array in before.items():
                self.inputs[place].array[...] = array

    # comparisons

    def _expect_zero(self) -> None:
        like = _tensors(self.func(*self.inputs))
        for place, x in zip(self.places, self.watched, strict=True):
            for index in np.ndindex(x._shape):
                unit = np.zeros(x._shape, x.array.dtype)
                unit[index] = 1
                for number, slope in enumerate(self._slopes({place: unit}, like)):
                    wrong = ~self.tolerance.agree(slope, 0)
                    if wrong.any():
                        raise GradcheckError(
                            "Numerical gradient for function expected to be zero, as output "
                            f"{number} requires no gradient; by element {_spot(index)} of input "
                            f"{place} it is {_number(slope[wrong][0])}"
                        )

    def _agree_along_a_direction(self) -> bool:
        rng = np.random.default_rng(0)
        weights = [rng.standard_normal(t._shape) for t in self.outputs]
        directions = {
            place: rng.standard_normal(x._shape)
            for place, x in zip(self.places, self.watched, strict=True)
        }
        seeds = [Tensor.from_array(w.astype(t.array.dtype)) for w, t in zip(
            weights, self.outputs, strict=True)]  # fmt: skip
        found = self._grad(self.outputs, seeds)
        analytical = sum(
            float((g.array * directions[place]).sum())
            for place, g in zip(self.places, found, strict=True)
            if g is not None
        )
        slopes = self._slopes(directions, self.outputs)
        numerical = sum(
            float((w.reshape(-1) * s).sum()) for w, s in zip(weights, slopes, strict=True)
        )
        return bool(self.tolerance.agree(analytical, numerical))

    def _compare(self, analytical: Jacobian, numerical: Jacobian, mode: str) -> None:
        for block, expected in numerical.items():
            found = analytical[block]
            wrong = ~self.tolerance.agree(found, expected)
            if wrong.any():
                raise GradcheckError(self._mismatch(block, found, expected, wrong, mode))

    def _mismatch(
        self, block: Block, found: Array, expected: Array, wrong: Array, mode: str
    ) -> str:
        number, place = block
        apart = np.where(wrong, np.nan_to_num(np.abs(found - expected), nan=np.inf), -1)
        row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
        output, x = self.outputs[number], self.inputs[place]
        at = np.unravel_index(int(row), output._shape) if output._shape else ()
        by = np.unravel_index(int(column), x._shape) if x._shape else ()
        return (
            f"Jacobian mismatch for output {number} with respect to input {place}{mode},\n"
            f"in {self._op(block)}:\n"
            f"the derivative of element {_spot(at)} of output {number} by element {_spot(by)} of "
            f"input {place} is\n"
            f"    analytical {_number(found[row, column])}\n"
            f"    numerical  {_number(expected[row, column])}\n"
            f"{int(wrong.sum())} of {wrong.size} elements disagree, this one most.\n"
            f"numerical:{Tensor.from_array(expected.T.copy())!r}\n"
            f"analytical:{Tensor.from_array(found.T.copy())!r}\n"
        )

    def _op(self, block: Block) -> str:
        """The op that the output came out of, its rule if it is alone, or those before it."""
        output = self.outputs[block[0]]
        nodes = _nodes(output)
        names = list(dict.fromkeys(node.name() for node in nodes))
        if len(nodes) == 1:
            rules = "; ".join(f"{edge}: {text}" for edge, text in nodes[0].formulas())
            return f"{names[0]} (rule for {rules})" if rules else names[0]
        shown = ", ".join(names[1:6]) + (", ..." if len(names) > 6 else "")
        before = f" (after {shown})" if shown else f" (the last of {len(nodes)})"
        return f"{names[0]}{before}" if names else "no op"


class _Undefined(Function):
    """Passes values on and no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple of what was given, alone or in a sequence."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _tensors(result: Any) -> tuple[Tensor, ...]:
    return tuple(t for t in as_tuple(result) if isinstance(t, Tensor))


def differentiable(result: Any) -> tuple[Tensor, ...]:
    """The tensors among the results of a function that require a gradient."""
    return tuple(t for t in _tensors(result) if t.requires_grad)


def _checked_places(inputs: tuple[Any, ...]) -> list[int]:
    """Which inputs require a gradient."""
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
        if any(not stride and size > 1 for stride, size in zip(
            x.array.strides, x._shape, strict=True)):  # fmt: skip
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return places


def _units(t: Tensor) -> Iterator[Tensor]:
    """Tensors like ``t`` that are 1 in one place."""
    for place in np.ndindex(t._shape):
        unit = np.zeros(t._shape, t.array.dtype)
        unit[place] = 1
        yield Tensor.from_array(unit)


def _nodes(output: Tensor) -> list[Node]:
    """The nodes that ``output`` depends on, latest first, without leaves."""
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


def _spot(index: Sequence[Any]) -> str:
    return f"[{', '.join(str(int(i)) for i in index)}]"


def _number(value: Any) -> str:
    return f"{float(value):.8g}"
