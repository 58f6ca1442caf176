"""Schedules that go by the number of the epoch alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.optimizer import Optimizer


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch, or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [
            base * factor(self.last_epoch)
            for base, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer and the functions."""
        return {name: v for name, v in super().state_dict().items() if name != "lr_lambdas"}


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        due = self.last_epoch and self.last_epoch % self.step_size == 0
        return [lr * self.gamma if due else lr for lr in self._rates()]


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each of the epochs ``milestones``."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        due = self.milestones[self.last_epoch]
        return [lr * self.gamma**due if due else lr for lr in self._rates()]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [lr * self.gamma if self.last_epoch else lr for lr in self._rates()]


class CosineAnnealingLR(LRScheduler):
    """Down to ``eta_min`` in ``T_max`` epochs, as half a period of the cosine, and up again."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._step_count == 1:
            if self.last_epoch == 0:
                return self._rates()
            height = self._height(self.last_epoch)
            return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]
        before = self._height(self.last_epoch - 1)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                lr + (base - self.eta_min) * rise
                for lr, base in zip(self._rates(), self.base_lrs, strict=True)
            ]
        ratio = self._height(self.last_epoch) / before
        return [ratio * (lr - self.eta_min) + self.eta_min for lr in self._rates()]

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)
