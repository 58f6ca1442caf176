"""Invertible transforms of random tensors.

Each computes the log of the absolute value of its Jacobian determinant, by which the densities of
its input and output differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.distributions import constraints
from autograd_core.distributions.constraints import Constraint
from autograd_core.distributions.distribution import sum_rightmost
from autograd_core.functions import full_like, zeros_like
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor

Shape = tuple[int, ...]


class Transform:
    """An invertible function; ``inv`` is its inverse.

    Args:
        cache_size: 1 to cache the last input and output, so that the inverse of the last output is
        exact; 0 for no cache.
    """

    bijective = True
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real
    sign: Any = 1

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = None, None

    def __call__(self, x: Tensor) -> Tensor:
        if x is self._last[0] and self._cache_size:
            known: Tensor = self._last[1]
            return known
        y = self._call(x)
        self._last = (x, y) if self._cache_size else (None, None)
        return y

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _Inverse(self)

    def invert(self, y: Tensor) -> Tensor:
        """Return the ``x`` with ``transform(x) == y``."""
        if y is self._last[1] and self._cache_size:
            known: Tensor = self._last[0]
            return known
        x = self._inverse(y)
        self._last = (x, y) if self._cache_size else (None, None)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the log of the absolute Jacobian determinant at ``x``, where ``y`` is
        ``transform(x)``."""
        raise NotImplementedError

    def forward_shape(self, shape: Shape) -> Shape:
        """Return the shape of the output for an input of this shape."""
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        """Return the shape of the input for an output of this shape."""
        return shape

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._other = transform
        self.domain, self.codomain = transform.codomain, transform.domain
        self.sign = transform.sign

    def __call__(self, x: Tensor) -> Tensor:
        return self._other.invert(x)

    @property
    def inv(self) -> Transform:
        return self._other

    def invert(self, y: Tensor) -> Tensor:
        return self._other(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._other.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Shape) -> Shape:
        return self._other.inverse_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._other.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._other!r})"


class ComposeTransform(Transform):
    """A composition of transforms, applied in order."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        self.sign = math.prod((part.sign for part in self.parts), start=1)
        self.domain = self._end([part.inv for part in reversed(self.parts)])
        self.codomain = self._end(self.parts)

    @staticmethod
    def _end(parts: Sequence[Transform]) -> Constraint:
        """Return where the last of ``parts`` leads, with the dimensions that all of them need."""
        if not parts:
            return constraints.real
        dims = parts[0].domain.event_dim
        for part in parts:
            dims += part.codomain.event_dim - part.domain.event_dim
            dims = max(dims, part.codomain.event_dim)
        last = parts[-1].codomain
        return (
            constraints.independent(last, dims - last.event_dim) if dims > last.event_dim else last
        )

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.invert(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total, dims = zeros_like(x), self.domain.event_dim
        total = sum_rightmost(total, dims)
        for part in self.parts:
            y = part(x)
            own = part.log_abs_det_jacobian(x, y)
            total = total + sum_rightmost(own, dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = y
        return total

    def forward_shape(self, shape: Shape) -> Shape:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


class AffineTransform(Transform):
    """``loc + scale * x``; the last ``event_dim`` dimensions form one event."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        moved: Tensor = self.loc + self.scale * x
        return moved

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            stretch = (
                self.scale.abs().log().expand(*np.broadcast_shapes(x._shape, self.scale._shape))
            )
        else:
            stretch = full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(stretch, self.event_dim)

    def forward_shape(self, shape: Shape) -> Shape:
        own = (v._shape for v in (self.loc, self.scale) if isinstance(v, Tensor))
        return tuple(np.broadcast_shapes(shape, *own))

    inverse_shape = forward_shape


class ExpTransform(Transform):
    """``exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class TanhTransform(Transform):
    """``tanh(x)``; use ``cache_size=1`` to avoid inverting values near -1 and 1."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))
