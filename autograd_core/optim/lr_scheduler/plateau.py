"""A schedule that waits for a measure to stop improving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler, checked, of_groups, set_rate
from autograd_core.optim.optimizer import Optimizer


@dataclass(eq=False, repr=False)
class ReduceLROnPlateau(LRScheduler):
    """A scheduler that multiplies the rate by ``factor`` if a metric has not improved for more than
    ``patience`` epochs."""

    optimizer: Optimizer
    mode: str = "min"
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    threshold_mode: str = "rel"
    cooldown: int = 0
    min_lr: InitVar[float | Sequence[float]] = 0
    eps: float = 1e-8

    def __post_init__(self, min_lr: float | Sequence[float]) -> None:
        if self.factor >= 1:
            raise ValueError("Factor should be < 1.0.")
        if self.mode not in ("min", "max"):
            raise ValueError(f"mode {self.mode} is unknown!")
        if self.threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {self.threshold_mode} is unknown!")
        self.min_lrs = of_groups("min_lr", checked(self.optimizer), min_lr)
        self.best = math.inf if self.mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        self.last_epoch = 0
        self._last_lr = self._found()

    def step(self, metrics: Any) -> None:  # type: ignore[override]
        """Record the metric after an epoch: a number, or a tensor with one element."""
        measure = float(metrics)
        self.last_epoch += 1
        if self._is_better(measure):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._found()

    def _is_better(self, measure: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            bar = self.best * (1 + sign * self.threshold)
        else:
            bar = self.best + sign * self.threshold
        return measure > bar if self.mode == "max" else measure < bar

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(float(group["lr"]) * self.factor, least)
            if float(group["lr"]) - rate > self.eps:
                set_rate(group, rate)
