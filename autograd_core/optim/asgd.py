"""Averaged stochastic gradient descent."""

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


class ASGD(Optimizer):
    """Gradient descent with a decaying learning rate. The state "ax" holds the average of the
    parameters from step ``t0`` on (Polyak and Juditsky 1992)."""

    switches = ("foreach", "maximize", "differentiable", "capturable")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        **switches: Any,
    ) -> None:
        check_options(lr=lr, weight_decay=weight_decay)
        options = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = decayed(p, g, group)
        lr, fading = float(group["lr"]), group["lambd"]
        step = counted(state)
        rate: Tensor = state.setdefault("eta", _number(lr))
        share: Tensor = state.setdefault("mu", _number(1.0))
        mean = memory(state, "ax", p)
        eta, mu = float(rate.array), float(share.array)
        p.array *= 1 - fading * eta
        p.array -= eta * g
        mean += (p.array - mean) * mu if mu != 1 else p.array - mean
        rate.array[...] = lr / (1 + fading * lr * step) ** group["alpha"]
        share.array[...] = 1 / max(1, step - group["t0"])


def _number(value: float) -> Tensor:
    return Tensor.from_array(np.array(value, np.float32))
