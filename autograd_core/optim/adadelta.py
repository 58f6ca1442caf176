"""Adadelta."""

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
)
from autograd_core.tensor import Tensor


class Adadelta(Optimizer):
    """Gradient descent scaled by the root mean square of past steps over that of past gradients
    (Zeiler 2012)."""

    switches = ("foreach", "capturable", "maximize", "differentiable")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        **switches: Any,
    ) -> None:
        check_options(lr=lr)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(eps=eps, weight_decay=weight_decay)
        options = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = decayed(p, g, group)
        counted(state)
        rho, eps = group["rho"], group["eps"]
        square, moved = memory(state, "square_avg", p), memory(state, "acc_delta", p)
        square *= rho
        square += (1 - rho) * (g * g)
        move = np.sqrt(moved + eps) / np.sqrt(square + eps) * g
        moved *= rho
        moved += (1 - rho) * (move * move)
        p.array -= float(group["lr"]) * move
