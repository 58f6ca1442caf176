"""Adam, and AdamW, which decays the weights and not the gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.optim.optimizer import Optimizer, Parameters, check_options, decayed
from autograd_core.tensor import Tensor


class Adam(Optimizer):
    """Descent by running averages of gradients and of their squares (Kingma and Ba 2014).

    Args:
        betas: how much of both averages stays at each step.
        weight_decay: how much of the parameter is added to its gradient; with
            ``decoupled_weight_decay``, how much of it is taken away instead (times ``lr``).
        amsgrad: divide by the largest average of squares so far (Reddi et al. 2018).

    >>> from autograd_core import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> optimizer = Adam([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> x
    tensor(2.9000, requires_grad=True)
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps)
        for index, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        check_options(weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def update(
        self, p: Tensor, g: np.ndarray[Any, Any], state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """One step: the mean gradient over the root of the mean square."""
        if group["decoupled_weight_decay"]:
            p.array *= 1 - group["lr"] * group["weight_decay"]
            g = -g if group["maximize"] else g
        else:
            g = decayed(p, g, group)
        beta1, beta2 = group["betas"]
        step = state["step"] = state.get("step", 0) + 1
        mean = state.setdefault("exp_avg", np.zeros_like(p.array))
        square = state.setdefault("exp_avg_sq", np.zeros_like(p.array))
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * (g * g)
        if group["amsgrad"]:
            largest = state.setdefault("max_exp_avg_sq", np.zeros_like(p.array))
            square = np.maximum(largest, square, out=largest)
        root = np.sqrt(square) / math.sqrt(1 - beta2**step) + group["eps"]
        p.array -= group["lr"] / (1 - beta1**step) * (mean / root)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017)."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad,
            maximize=maximize, decoupled_weight_decay=True,
        )  # fmt: skip
