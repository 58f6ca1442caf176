"""Resilient propagation."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.optim.optimizer import (
    Array,
    Optimizer,
    Parameters,
    check_options,
    counted,
    memory,
)
from autograd_core.tensor import Tensor


class Rprop(Optimizer):
    """Steps that depend only on the sign of the gradient: they grow while it stays the same, and
    shrink when it changes (Riedmiller and Braun 1993).

    Args:
        etas: the factors by which steps shrink and grow.
        step_sizes: the shortest and the longest step.
    """

    switches = ("capturable", "foreach", "maximize", "differentiable")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        **switches: Any,
    ) -> None:
        check_options(lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes}, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = -g if group["maximize"] else g
        shorter, longer = group["etas"]
        counted(state)
        before = memory(state, "prev", p)
        length = memory(state, "step_size", p, float(group["lr"]))
        turn = np.sign(g * before)
        factor = np.where(turn > 0, longer, np.where(turn < 0, shorter, 1)).astype(g.dtype)
        np.clip(length * factor, *group["step_sizes"], out=length)
        before[...] = np.where(turn < 0, 0, g)
        p.array -= np.sign(before) * length
