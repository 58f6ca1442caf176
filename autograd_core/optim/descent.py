"""Optimizers that follow the gradient, each with its own size of step: SGD, RMSprop and others."""

from __future__ import annotations

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


class SGD(Optimizer):
    """Gradient descent, with momentum, weight decay and Nesterov's variant.

    >>> from autograd_core import optim, tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> optimizer = optim.SGD([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> x
    tensor(2.4000, requires_grad=True)
    """

    switches = ("maximize", "foreach", "differentiable", "fused")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        **switches: Any,
    ) -> None:
        options = checked_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options.update(dampening=dampening, nesterov=nesterov)
        super().__init__(params, options, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group)
        momentum = group["momentum"]
        if momentum:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = g.copy()
                state["momentum_buffer"] = Tensor.from_array(velocity)
            else:
                velocity = velocity.array
                velocity *= momentum
                velocity += g if group["dampening"] == 0 else (1 - group["dampening"]) * g
            g = g + momentum * velocity if group["nesterov"] else velocity
        p.array -= float(group["lr"]) * g


class RMSprop(Optimizer):
    """Gradient descent scaled by the running root mean square of gradients.

    Args:
        alpha: the decay rate of the mean.
        centered: divide by the standard deviation instead.
    """

    switches = ("capturable", "foreach", "maximize", "differentiable")

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        **switches: Any,
    ) -> None:
        options = checked_options(
            lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha
        )
        super().__init__(params, {**options, "centered": centered}, switches)

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group)
        alpha, momentum, centered = group["alpha"], group["momentum"], group["centered"]
        counted(state)
        names = ["square_avg", *["momentum_buffer"] * bool(momentum), *["grad_avg"] * centered]
        kept = [memory(state, name, p) for name in names]
        for part, g_part, square, *more in pieces(p.array, g, *kept):
            square *= alpha
            square += (1 - alpha) * (g_part * g_part)
            if centered:
                mean = more[-1]
                mean += (1 - alpha) * (g_part - mean)
                square = square - mean * mean
            scaled = g_part / (np.sqrt(square) + group["eps"])
            if momentum:
                velocity = more[0]
                velocity *= momentum
                velocity += scaled
                scaled = velocity
            part -= float(group["lr"]) * scaled


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
        options = checked_options(
            lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, eps=eps,
        )  # fmt: skip
        super().__init__(params, options, switches)
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = Tensor.from_array(np.zeros((), np.float32))
                memory(state, "sum", p, group["initial_accumulator_value"])

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = decayed(p, g, group)
        step, total = counted(state), memory(state, "sum", p)
        total += g * g
        rate = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        p.array -= rate * (g / (np.sqrt(total) + group["eps"]))
