"""Schedules along a cosine (Loshchilov and Hutter 2016)."""

from __future__ import annotations

import math

from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Cosine annealing: down to ``eta_min`` in ``T_max`` epochs, along half a period of the cosine,
    and up again."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._is_initial:
            return self._found()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        before = self._height(self.last_epoch - 1)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                lr + (base - self.eta_min) * rise
                for lr, base in zip(self._found(), self.base_lrs, strict=True)
            ]
        ratio = self._height(self.last_epoch) / before
        return [ratio * (lr - self.eta_min) + self.eta_min for lr in self._found()]

    def _get_closed_form_lr(self) -> list[float]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)
