"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from autograd_core.optim.optimizer import Array, Optimizer, Parameters, check_options, decayed
from autograd_core.tensor import Tensor


class SGD(Optimizer):
    """Gradient descent, with momentum, weight decay and Nesterov's variant.

    >>> from autograd_core import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> optimizer = SGD([x], lr=0.1)
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
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
            },
            switches,
        )

    def update(self, p: Tensor, g: Array, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Take one step of descent."""
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
