"""RMSprop."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.optim.optimizer import (
    Array,
    Optimizer,
    Parameters,
    check_options,
    counted,
    decayed,
    memory,
    pieces,
)
from autograd_core.tensor import Tensor


class RMSprop(Optimizer):
    """Gradient descent scaled by the running root mean square of gradients.

    Args:
        alpha: the decay rate of the mean.
        centered: divide by the standard deviation instead.
    """

    switches = ("capturable", "foreach", "maximize", "differentiable")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        **switches: Any,
    ) -> None:
        check_options(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
            },
            switches,
        )

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = decayed(p, g, group)
        alpha, momentum, centered = group["alpha"], group["momentum"], group["centered"]
        counted(state)
        names = ["square_avg", *["momentum_buffer"] * bool(momentum), *["grad_avg"] * centered]
        kept = [memory(state, name, p) for name in names]
        for part, g_part, square, *more in pieces(p.array, g, *kept):
            square *= alpha
            square += (1 - alpha) * (g_part * g_part)
            if centered:
                mean = more[-1]
                mean += (1 - alpha) * (g_part - mean)
                square = square - mean * mean
            scaled = g_part / (np.sqrt(square) + group["eps"])
            if momentum:
                velocity = more[0]
                velocity *= momentum
                velocity += scaled
                scaled = velocity
            part -= float(group["lr"]) * scaled
