"""RMSprop."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.optim.optimizer import Optimizer, Parameters, check_options, decayed
from autograd_core.tensor import Tensor


class RMSprop(Optimizer):
    """Descent by the gradient over the root of its mean square.

    Args:
        alpha: how much of the mean stays at each step.
        centered: divide by the standard deviation instead.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
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
                "maximize": maximize,
            },
        )

    def update(
        self, p: Tensor, g: np.ndarray[Any, Any], state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """One step of descent."""
        g = decayed(p, g, group)
        alpha = group["alpha"]
        state["step"] = state.get("step", 0) + 1
        square = state.setdefault("square_avg", np.zeros_like(p.array))
        square *= alpha
        square += (1 - alpha) * (g * g)
        if group["centered"]:
            mean = state.setdefault("grad_avg", np.zeros_like(p.array))
            mean += (1 - alpha) * (g - mean)
            square = square - mean * mean
        scaled = g / (np.sqrt(square) + group["eps"])
        if group["momentum"]:
            velocity = state.setdefault("momentum_buffer", np.zeros_like(p.array))
            velocity *= group["momentum"]
            velocity += scaled
            scaled = velocity
        p.array -= group["lr"] * scaled
