"""Schedules by functions of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.optimizer import Optimizer

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
