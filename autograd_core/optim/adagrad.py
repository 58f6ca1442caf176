"""Adagrad."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.optim.optimizer import Optimizer, Parameters, check_options, decayed
from autograd_core.tensor import Tensor


class Adagrad(Optimizer):
    """Descent by the gradient over the root of the sum of all squares so far (Duchi et al.)."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
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
                "maximize": maximize,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                start = np.full_like(p.array, group["initial_accumulator_value"])
                self.state[p] = {"step": 0, "sum": start}

    def update(
        self, p: Tensor, g: np.ndarray[Any, Any], state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """One step of descent."""
        g = decayed(p, g, group)
        state["step"] += 1
        state["sum"] += g * g
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        p.array -= rate * (g / (np.sqrt(state["sum"]) + group["eps"]))
