"""Batch normalization."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar
from typing import Any, ClassVar

from autograd_core import functions
from autograd_core.dtype import dtype as dtype_type
from autograd_core.dtype import int64
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class _BatchNorm(Layer):
    """The base of batch normalization: a scale, a shift, and running statistics."""

    num_features: int
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    _: KW_ONLY
    bias: InitVar[bool] = True
    shown = ("num_features", "eps", "momentum", "affine", "bias", "track_running_stats")
    placed = 1

    def __post_init__(self, device: Any, dtype: dtype_type | None, bias: bool) -> None:
        factory: Any = {"device": device, "dtype": dtype}
        size = (self.num_features,)
        self.learn("weight", size, **factory, start=functions.ones, used=self.affine)
        self.learn("bias", size, **factory, used=self.affine and bias)
        stats: dict[str, Tensor] = {
            "running_mean": functions.zeros(size, **factory),
            "running_var": functions.ones(size, **factory),
            "num_batches_tracked": functions.tensor(0, dtype=int64),
        }
        for name, value in stats.items():
            self.register_buffer(name, value if self.track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0, and reset the running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    allowed: ClassVar[tuple[int, ...]] = ()

    def _check_input_dim(self, input: Tensor) -> None:
        """Refuse an input with the wrong number of dimensions; for subclasses."""
        if not self.allowed:
            raise NotImplementedError
        if input.ndim not in self.allowed:
            expected = " or ".join(f"{dim}D" for dim in self.allowed)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        share = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.bump()
            self.num_batches_tracked.array[...] += 1  # a tenth of the time that add_ takes
            if self.momentum is None:  # the mean of all batches
                share = 1 / int(self.num_batches_tracked)
        own = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if kept else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, own, share, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L): each channel is brought to mean 0 and variance 1,
    then scaled and shifted."""

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W): each channel is brought to mean 0 and variance 1, then
    scaled and shifted."""

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (N, C, D, H, W): each channel is brought to mean 0 and variance 1,
    then scaled and shifted."""

    allowed = (5,)
