"""What ``gradcheck`` asks of a function at a point, and what is said where it is not so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.function import Function
from autograd_core.autograd.gradcheck.jacobians import (
    Array,
    Block,
    FunctionAtPoint,
    GradcheckError,
    Jacobian,
    differentiable,
    tensors_in,
)
from autograd_core.tensor import Tensor


class Tolerance(NamedTuple):
    """How far two derivatives may be apart."""

    atol: float
    rtol: float

    def agree(self, found: Any, expected: Any) -> Any:
        """Return whether they agree, elementwise; NaN agrees with NaN."""
        return np.isclose(found, expected, self.rtol, self.atol, equal_nan=True)


class Check(FunctionAtPoint):
    """What is to be found out about a function at a point."""

    def __init__(
        self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, tolerance: Tolerance
    ) -> None:
        super().__init__(func, inputs, eps)
        self.tolerance = tolerance

    # the checks

    def reverse(self, nondet_tol: float, fast: bool, dtypes: bool) -> None:
        """Reverse mode finds the Jacobian that differences find, twice the same."""
        if not self.outputs:
            self._expect_zero()
            return
        if fast and self._agree_along_a_direction(nondet_tol):
            return
        analytical = self.reverse_jacobian(dtypes)
        self._compare(analytical, self.numerical_jacobian(), "")
        again = self.reverse_jacobian(dtypes)
        for block, values in analytical.items():
            apart = np.abs(values - again[block])
            if np.nanmax(apart, initial=0) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    f"gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{nondet_tol}; output {block[0]} by input {block[1]} differed by "
                    f"{np.nanmax(apart):.6g}, in {self.op(block)}."
                )

    def forward(self, fast: bool) -> None:
        """Forward mode finds the Jacobian that differences find."""
        self._compare(self.forward_jacobian(), self.numerical_jacobian(), " in forward mode")

    def scales(self) -> None:
        """A gradient of zero for the outputs gives zero for the inputs."""
        if not self.outputs:
            return
        seeds = [Tensor.from_array(np.zeros_like(t.array)) for t in self.outputs]
        for place, g in zip(self.places, self.gradients(self.outputs, seeds), strict=True):
            if g is not None and np.any(g.array):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: the gradient of input {place} is "
                    f"not 0 where that of all outputs is, in {self.op((0, place))}"
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
                gradients = self.gradients(tried, seeds)
            except Exception as error:
                listed = ", ".join(map(str, sorted(missing)))
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads, but "
                    f"{self.op((min(missing), self.places[0]))} raised {type(error).__name__}: "
                    f"{error} (undefined was the gradient of output {listed}). None stands for "
                    "zeros there."
                ) from error
            if len(missing) == count and any(g is not None and np.any(g.array) for g in gradients):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    f"undefined or zero, in {self.op((0, self.places[0]))}"
                )

    # comparisons

    def _expect_zero(self) -> None:
        like = tensors_in(self.func(*self.inputs))
        for place, x in zip(self.places, self.watched, strict=True):
            for index in np.ndindex(x._shape):
                unit = np.zeros(x._shape, x.array.dtype)
                unit[index] = 1
                for number, slope in enumerate(self.slopes({place: unit}, like)):
                    wrong = ~self.tolerance.agree(slope, 0)
                    if wrong.any():
                        raise GradcheckError(
                            "Numerical gradient for function expected to be zero, as output "
                            f"{number} requires no gradient; by element {_spot(index)} of input "
                            f"{place} it is {_number(slope[wrong][0])}"
                        )

    def _agree_along_a_direction(self, nondet_tol: float) -> bool:
        rng = np.random.default_rng(0)
        weights = [rng.standard_normal(t._shape) for t in self.outputs]
        directions = {
            place: rng.standard_normal(x._shape)
            for place, x in zip(self.places, self.watched, strict=True)
        }
        seeds = [
            Tensor.from_array(w.astype(t.array.dtype))
            for w, t in zip(weights, self.outputs, strict=True)
        ]
        gradients, again = (self.gradients(self.outputs, seeds) for _ in range(2))
        for g, other in zip(gradients, again, strict=True):
            if g is not None and np.nanmax(np.abs(g.array - other.array), initial=0) > nondet_tol:
                return False
        analytical = sum(
            float((g.array * directions[place]).sum())
            for place, g in zip(self.places, gradients, strict=True)
            if g is not None
        )
        slopes = self.slopes(directions, self.outputs)
        numerical = sum(
            float((w.reshape(-1) * s).sum()) for w, s in zip(weights, slopes, strict=True)
        )
        return bool(self.tolerance.agree(analytical, numerical))

    def _compare(self, analytical: Jacobian, numerical: Jacobian, mode: str) -> None:
        for block, expected in numerical.items():
            analytic = analytical[block]
            wrong = ~self.tolerance.agree(analytic, expected)
            if wrong.any():
                raise GradcheckError(self._mismatch(block, analytic, expected, wrong, mode))

    def _mismatch(
        self, block: Block, analytic: Array, expected: Array, wrong: Array, mode: str
    ) -> str:
        number, place = block
        apart = np.where(wrong, np.nan_to_num(np.abs(analytic - expected), nan=np.inf), -1)
        row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
        output, x = self.outputs[number], self.inputs[place]
        at = np.unravel_index(int(row), output._shape) if output._shape else ()
        by = np.unravel_index(int(column), x._shape) if x._shape else ()
        return (
            f"Jacobian mismatch for output {number} with respect to input {place}{mode},\n"
            f"numerical:{Tensor.from_array(expected.T.copy())!r}\n"
            f"analytical:{Tensor.from_array(analytic.T.copy())!r}\n\n"
            f"In {self.op(block)}:\n"
            f"the derivative of element {_spot(at)} of output {number} by element {_spot(by)} of "
            f"input {place} is\n"
            f"    analytical {_number(analytic[row, column])}\n"
            f"    numerical  {_number(expected[row, column])}\n"
            f"{int(wrong.sum())} of {wrong.size} elements disagree, this one most.\n"
        )


class _Undefined(Function):
    """Passes values on and no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None


def _spot(index: Sequence[Any]) -> str:
    return f"[{', '.join(str(int(i)) for i in index)}]"


def _number(value: Any) -> str:
    return f"{float(value):.8g}"
