"""Adam and its variants: AdamW, Adamax, NAdam and RAdam."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.optim.optimizer import (
    Array,
    Optimizer,
    Parameters,
    averages,
    check_betas,
    checked_options,
    counted,
    decayed,
    memory,
    pieces,
    take_in,
)
from autograd_core.tensor import Tensor


def _options(
    lr: float, betas: tuple[float, float], eps: float, weight_decay: float, **more: float
) -> dict[str, Any]:
    """Return the options of an optimizer, checked in the order of PyTorch."""
    options = checked_options(lr=lr, eps=eps)
    check_betas(betas)
    return {**options, "betas": betas, **checked_options(weight_decay=weight_decay, **more)}


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
        options = _options(lr, betas, eps, weight_decay, amsgrad=amsgrad)
        options["decoupled_weight_decay"] = decoupled_weight_decay
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
            take_in(g_part, mean, square, beta1, beta2)
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
            params, lr, betas, eps, weight_decay, amsgrad,
            decoupled_weight_decay=True, **switches,
        )  # fmt: skip


_SWITCHES = ("foreach", "maximize", "capturable", "differentiable")


class Adamax(Optimizer):
    """Adam with a decaying maximum of gradients instead of the mean square (Kingma and Ba 2014)."""

    switches = _SWITCHES

    def __init__(
        self,
        params: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        **switches: Any,
    ) -> None:
        super().__init__(params, _options(lr, betas, eps, weight_decay), switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group)
        beta1, beta2 = group["betas"]
        step = counted(state)
        mean, largest = memory(state, "exp_avg", p), memory(state, "exp_inf", p)
        mean += (1 - beta1) * (g - mean)
        np.maximum(largest * beta2, np.abs(g) + group["eps"], out=largest)
        p.array -= float(group["lr"]) / (1 - beta1**step) * (mean / largest)


class NAdam(Optimizer):
    """Adam with Nesterov momentum (Dozat 2016)."""

    switches = _SWITCHES

    def __init__(
        self,
        params: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        **switches: Any,
    ) -> None:
        options = _options(lr, betas, eps, weight_decay, momentum_decay=momentum_decay)
        options["decoupled_weight_decay"] = decoupled_weight_decay
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group, group["decoupled_weight_decay"])
        beta1, beta2 = group["betas"]
        lr, step = float(group["lr"]), counted(state)
        product: Tensor = state.setdefault("mu_product", Tensor.from_array(np.ones((), np.float32)))
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
            for count in (step, step + 1)
        )
        product.array *= now
        so_far = float(product.array)
        mean, square = averages(state, p, g, beta1, beta2)
        root = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        p.array -= lr * (1 - now) / (1 - so_far) * (g / root)
        p.array -= lr * then / (1 - so_far * then) * (mean / root)


class RAdam(Optimizer):
    """Adam that divides by the root mean square only after enough steps (Liu et al. 2019)."""

    switches = _SWITCHES

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        **switches: Any,
    ) -> None:
        options = _options(lr, betas, eps, weight_decay)
        options["decoupled_weight_decay"] = decoupled_weight_decay
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group, group["decoupled_weight_decay"])
        beta1, beta2 = group["betas"]
        step = counted(state)
        mean, square = averages(state, p, g, beta1, beta2)
        move = mean / (1 - beta1**step)
        missing = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / missing
        if length > 5:
            above = (length - 4) * (length - 2) * longest
            below = (longest - 4) * (longest - 2) * length
            rectified = math.sqrt(above / below)
            move = move * rectified * (math.sqrt(missing) / (np.sqrt(square) + group["eps"]))
        p.array -= float(group["lr"]) * move
