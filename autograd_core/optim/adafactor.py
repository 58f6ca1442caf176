"""Adafactor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.optim.optimizer import Array, Optimizer, Parameters, check_options, counted
from autograd_core.tensor import Tensor


class Adafactor(Optimizer):
    """Gradient descent scaled by the root mean square of gradients; of a matrix, only the mean
    squares of rows and columns are kept (Shazeer and Stern 2018).

    Args:
        beta2_decay: the exponent of the step count in the weight of new squares.
        eps: lower bounds of squared gradients, and of the parameter scale.
        d: the largest root mean square of a step.
    """

    switches = ("foreach", "maximize")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        **switches: Any,
    ) -> None:
        if d < 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_options(lr=lr, weight_decay=weight_decay)
        options = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
        }
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
        g = -g if group["maximize"] else g
        lr, step = float(group["lr"]), counted(state)
        least, shortest = group["eps"]
        least = float(np.finfo(g.dtype).eps) if least is None else least
        length = max(shortest, _root_mean_square(p.array)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"]:
            p.array *= 1 - lr * group["weight_decay"]
        square = _square(g, state, step ** group["beta2_decay"], least)
        move = g / np.sqrt(np.maximum(square, least * least))
        p.array -= length / max(1, _root_mean_square(move) / group["d"]) * move


def _root_mean_square(x: Array) -> float:
    return float(np.linalg.norm(x.ravel())) / math.sqrt(x.size)


def _square(g: Array, state: dict[str, Any], share: float, least: float) -> Array:
    """Return the running mean of squares; of matrices, as far as rows and columns tell."""
    squares = g * g
    if g.ndim < 2:
        return _moved(state, "variance", squares, share)
    rows = _moved(state, "row_var", squares.mean(-1, keepdims=True), share)
    columns = _moved(state, "col_var", squares.mean(-2, keepdims=True), share)
    mean: Array = (rows @ columns) / np.maximum(rows.mean(-2, keepdims=True), least)
    return mean


def _moved(state: dict[str, Any], name: str, towards: Array, share: float) -> Array:
    kept: Tensor = state.setdefault(name, Tensor.from_array(np.zeros_like(towards)))
    found: Array = kept.array
    found += share * (towards - found)
    return found
