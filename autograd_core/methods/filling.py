"""Methods that put something else in the place of a tensor, whose gradient ends there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np

from autograd_core import functions
from autograd_core.ops import assign
from autograd_core.tensor import Tensor


def _drawn(draw: Callable[..., Any], *defaults: float) -> Callable[..., Any]:
    """Random numbers in the place of a tensor, whose gradient ends there."""

    def call(self: Tensor, *parameters: float, generator: Any = None) -> Any:
        given = (*parameters, *defaults[len(parameters) :])
        rng = functions.generator() if generator is None else generator.rng
        array = np.asarray(draw(rng, *given, self._shape))
        return assign.copy(self, Tensor.from_array(array.astype(self.dtype.dtype)))

    return call


def decided(call: Callable[..., Tensor]) -> Callable[..., Any]:
    """Truth values in the place of a tensor, as 0 and 1 of its dtype."""

    @wraps(call)
    def decided(self: Tensor, *args: Any) -> Any:
        return assign.copy(self, functions.to_dtype(call(self, *args), self.dtype))

    return decided


FILLINGS: Final[dict[str, Callable[..., Any]]] = {
    "zero": assign.zero,
    "fill": functions.fill,
    "copy": assign.copy,
    "_assign": assign.assigned,
    "normal": _drawn(np.random.Generator.normal, 0.0, 1.0),
    "uniform": _drawn(np.random.Generator.uniform, 0.0, 1.0),
    "exponential": _drawn(lambda rng, rate, size: rng.exponential(1 / rate, size), 1.0),
    "log_normal": _drawn(np.random.Generator.lognormal, 1.0, 2.0),
    "cauchy": _drawn(lambda rng, at, scale, size: at + scale * rng.standard_cauchy(size), 0.0, 1.0),
    "geometric": _drawn(np.random.Generator.geometric, 0.5),
    "bernoulli": _drawn(lambda rng, p, size: rng.random(size) < p, 0.5),
}
