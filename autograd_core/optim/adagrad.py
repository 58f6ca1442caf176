"""Adagrad."""

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


class Adagrad(Optimizer):
    """Gradient descent scaled by the root of the sum of all squared gradients (Duchi et al.
    2011)."""

    switches = ("foreach", "maximize", "differentiable", "fused")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        **switches: Any,
    ) -> None:
        check_options(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
                      initial_accumulator_value=initial_accumulator_value, eps=eps)  # fmt: skip
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
            },
            switches,
        )
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = Tensor.from_array(np.zeros((), np.float32))
                memory(state, "sum", p, group["initial_accumulator_value"])

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = decayed(p, g, group)
        step, total = counted(state), memory(state, "sum", p)
        total += g * g
        rate = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        p.array -= rate * (g / (np.sqrt(total) + group["eps"]))
