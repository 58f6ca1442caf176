"""The momentum of optimizers, which cycles against the rate."""

from __future__ import annotations

from typing import Any

from autograd_core.optim.optimizer import Optimizer


def check_momentum(optimizer: Optimizer) -> None:
    """Refuse an optimizer that has none.

    Raises:
        ValueError: it has neither "momentum" nor "betas".
    """
    if not {"momentum", "betas"} & set(optimizer.defaults):
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
