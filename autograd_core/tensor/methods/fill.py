"""Methods that fill a tensor with other values, where its gradient ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_core import functions
from autograd_core.dtype import bool_
from autograd_core.ops.indices import assign
from autograd_core.random import generator as random_numbers
from autograd_core.tensor import Tensor


def _drawn(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return random numbers in the place of a tensor, whose gradient ends there.

    ``draw`` takes NumPy's generator, the tensor and the method's own parameters.
    """

    def call(self: Tensor, *parameters: float, generator: Any = None, **named: float) -> Any:
        rng = random_numbers() if generator is None else generator.rng
        array = np.asarray(draw(rng, self, *parameters, **named))
        return assign.copy(self, Tensor.from_array(array.astype(self.dtype.dtype)))

    return call


def _integers(rng: Any, x: Tensor, *bounds: int) -> Any:
    """Return integers from the first bound, or 0, up to the last, or all that the dtype holds."""
    if x.is_floating_point():
        limit = 2 ** (np.finfo(x.array.dtype).nmant + 1)
    else:
        limit = 1 if x.dtype is bool_ else int(np.iinfo(x.array.dtype).max)
    low, high = {0: (0, limit + 1), 1: (0, *bounds), 2: bounds}[len(bounds)]
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    return rng.integers(low, high - 1, x._shape, endpoint=True)


def _copied(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Return ``src``, broadcast over what was there; its gradient ends at whole numbers."""
    whole = not self.dtype.is_floating_point and isinstance(src, Tensor) and src.requires_grad
    return assign.copy(self, src.detach() if whole else src)


FILLS: Final[dict[str, Callable[..., Any]]] = {
    "zero": assign.zero,
    "fill": functions.fill,
    "copy": _copied,
    "_assign": assign.assigned,
    "random": _drawn(_integers),
    "normal": _drawn(lambda rng, x, mean=0.0, std=1.0: rng.normal(mean, std, x._shape)),
    "uniform": _drawn(lambda rng, x, low=0.0, to=1.0: rng.uniform(low, to, x._shape)),
    "exponential": _drawn(lambda rng, x, lambd=1.0: rng.exponential(1 / lambd, x._shape)),
    "log_normal": _drawn(lambda rng, x, mean=1.0, std=2.0: rng.lognormal(mean, std, x._shape)),
    "cauchy": _drawn(
        lambda rng, x, median=0.0, sigma=1.0: median + sigma * rng.standard_cauchy(x._shape)
    ),
    "geometric": _drawn(lambda rng, x, p: rng.geometric(p, x._shape)),
    "bernoulli": _drawn(lambda rng, x, p=0.5: rng.random(x._shape) < p),
}
