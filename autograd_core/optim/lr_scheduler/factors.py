"""Schedulers that multiply the current rate by a factor that depends on the epoch.

Several of them can work on one optimizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.optimizer import Optimizer


class FactorLR(LRScheduler):
    """The base: :meth:`change` leads from the last epoch's rate to this one's, and
    :meth:`so_far` from the first."""

    def change(self) -> float:
        """Return what the rate of the epoch before is multiplied by."""
        raise NotImplementedError

    def so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        change = self.change()
        return [lr * change for lr in self._found()]

    def _get_closed_form_lr(self) -> list[float]:
        so_far = self.so_far()
        return [lr * so_far for lr in self.base_lrs]


class StepLR(FactorLR):
    """A scheduler that multiplies the rate by ``gamma`` every ``step_size`` epochs.

    >>> from autograd_core import optim, tensor
    >>> optimizer = optim.SGD([tensor(1.0, requires_grad=True)], lr=1.0)
    >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(5):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def change(self) -> float:
        due = self.last_epoch and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1

    def so_far(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(FactorLR):
    """A scheduler that multiplies the rate by ``gamma`` at each epoch in ``milestones``."""

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

    def change(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]

    def so_far(self) -> float:
        passed = (n for milestone, n in self.milestones.items() if milestone <= self.last_epoch)
        return self.gamma ** sum(passed)


class ExponentialLR(FactorLR):
    """A scheduler that multiplies the rate by ``gamma`` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def change(self) -> float:
        return 1 if self._is_initial else self.gamma

    def so_far(self) -> float:
        return self.gamma**self.last_epoch


class ConstantLR(FactorLR):
    """A scheduler that multiplies the rate by ``factor`` for the first ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def change(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1

    def so_far(self) -> float:
        over = self.last_epoch >= self.total_iters
        return self.factor + over * (1 - self.factor)


class LinearLR(FactorLR):
    """A scheduler that multiplies the rate by a factor, which changes linearly from
    ``start_factor`` to ``end_factor`` in ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def change(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return 1 + rise / before

    def so_far(self) -> float:
        epoch = min(self.total_iters, self.last_epoch)
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * epoch / self.total_iters


Factor = Callable[[int], float]


class LambdaLR(LRScheduler):
    """A scheduler that sets the rate to the initial rate times a function of the epoch: one
    function, or one for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._times(self.base_lrs)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer and the functions; for callable objects, their
        attributes."""
        return {**super().state_dict(), "lr_lambdas": [held(f) for f in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                function.__dict__.update(kept)

    def _times(self, rates: list[float]) -> list[float]:
        return [
            lr * factor(self.last_epoch) for lr, factor in zip(rates, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(LambdaLR):
    """A scheduler that multiplies the rate by a function of the epoch: one function, or one for
    each group."""

    def get_lr(self) -> list[float]:
        return self._found() if self._is_initial else self._times(self._found())


def held(function: Any) -> dict[str, Any] | None:
    """Return what to save of a callable: None for a function, the attributes of an object."""
    plain = function is None or isinstance(function, FunctionType)
    return None if plain else function.__dict__.copy()
