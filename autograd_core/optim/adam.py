"""Adam and AdamW."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.optim.optimizer import (
    Array,
    Optimizer,
    Parameters,
    checked_options,
    counted,
    decayed,
    memory,
    pieces,
)
from autograd_core.tensor import Tensor


class Adam(Optimizer):
    """Gradient descent with running averages of gradients and squared gradients (Kingma and Ba
    2014).

    Args:
        betas: the decay rates of the two averages.
        weight_decay: the multiple of the parameter that is added to its gradient or, with
            ``decoupled_weight_decay``, subtracted from the parameter (times ``lr``).
        amsgrad: divide by the largest average of squared gradients so far (Reddi et al. 2018).

    >>> from autograd_core import optim, tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> optimizer = optim.Adam([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> x
    tensor(2.9000, requires_grad=True)
    """

    switches = ("foreach", "maximize", "capturable", "differentiable", "fused")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        decoupled_weight_decay: bool = False,
        **switches: Any,
    ) -> None:
        if isinstance(lr, Tensor) and switches.get("foreach") and not switches.get("capturable"):
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        options = checked_options(lr=lr, eps=eps)  # checked in the order of PyTorch
        _check_betas(betas)
        options |= {"betas": betas, **checked_options(weight_decay=weight_decay)}
        options |= {"amsgrad": amsgrad, "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step: the mean gradient over the root of the mean square."""
        g = decayed(p, g, group, group["decoupled_weight_decay"])
        beta1, beta2 = group["betas"]
        step, amsgrad = counted(state), group["amsgrad"]
        rate = float(group["lr"]) / (1 - beta1**step)
        missing = math.sqrt(1 - beta2**step)
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if amsgrad else [])]
        kept = [memory(state, name, p) for name in names]
        for part, g_part, mean, square, *largest in pieces(p.array, g, *kept):
            mean += (1 - beta1) * (g_part - mean)
            square *= beta2
            square += (1 - beta2) * (g_part * g_part)
            most = np.maximum(largest[0], square, out=largest[0]) if amsgrad else square
            part -= rate * (mean / (np.sqrt(most) / missing + group["eps"]))


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
        **switches: Any,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **switches
        )


def _check_betas(betas: tuple[float, float]) -> None:
    for index, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
