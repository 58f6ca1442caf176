"""Cycles of the learning rate, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler, checked, of_groups, set_rate
from autograd_core.optim.lr_scheduler.functions import held
from autograd_core.optim.lr_scheduler.momentum import check_momentum, set_momentum
from autograd_core.optim.optimizer import Optimizer


class CyclicLR(LRScheduler):
    """Cycles between ``base_lr`` and ``max_lr``, with momentum in the opposite direction (Smith
    2015).

    Args:
        step_size_up: the number of steps up; the number down is the same, unless ``step_size_down``
            is given.
        mode: "triangular" keeps the height of cycles, "triangular2" halves it each time,
            "exp_range" multiplies it by ``gamma`` at each step.
        scale_fn: the height as a function of the number of the cycle, or of the step with
            ``scale_mode="iterations"``; replaces ``mode``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        rates = of_groups("base_lr", checked(optimizer), base_lr)
        self.max_lrs = of_groups("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        by_step = scale_mode != "cycle" if scale_fn is not None else mode == "exp_range"
        self.scale_mode = "iterations" if by_step else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_momentum(optimizer)
            self.base_momentums = of_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = of_groups("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                set_rate(group, rate)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def scale_fn(self, x: float) -> float:
        """Return the height of cycle, or step, ``x``."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return math.pow(self.gamma, x)
        return 1.0 if self.mode == "triangular" else math.pow(2, 1 - x)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        share = 1 + self.last_epoch / self.total_size - cycle
        rising = share <= self.step_ratio
        way = share / self.step_ratio if rising else (share - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, ends, strict=True):
                set_momentum(group, high - (high - low) * way * scale)
        return [
            low + (high - low) * way * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer and the function; for a callable object, its
        attributes."""
        return {**super().state_dict(), "_scale_fn_custom": held(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        kept = state_dict["_scale_fn_custom"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if kept is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(kept)
