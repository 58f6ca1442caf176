"""Linear layers."""

from __future__ import annotations

import math
from dataclasses import InitVar
from typing import Any

from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class Linear(Layer):
    """A linear map, ``input @ weight.T + bias``, with a weight (out_features, in_features)."""

    in_features: int
    out_features: int
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    shown = ("in_features", "out_features", "bias")

    def __post_init__(self, bias: bool, *factory: Any) -> None:
        self.learn("weight", (self.out_features, self.in_features), *factory)
        self.learn("bias", (self.out_features,), *factory, used=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters with uniform random numbers up to ``1 / sqrt(in_features)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None and self.in_features:
            bound = 1 / math.sqrt(self.in_features)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer, under the name that attention prints for its output layer."""
