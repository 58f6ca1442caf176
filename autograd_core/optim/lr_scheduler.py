"""Learning rate schedulers, under the names of ``torch.optim.lr_scheduler``.

Most of them modify the current rate, so several can be combined on one optimizer.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autograd_core.fallback import answer_missing_names
from autograd_core.optim.optimizer import Optimizer
from autograd_core.tensor import Tensor

__all__ = ["CosineAnnealingLR", "LRScheduler", "LambdaLR", "StepLR"]


def _apart(rate: Any) -> Any:
    return rate.clone() if isinstance(rate, Tensor) else rate


class LRScheduler:
    """The base class of schedulers. A subclass defines :meth:`get_lr`, which returns the current
    rates.

    ``last_epoch`` counts the calls of ``step`` from 0; the constructor makes the first one. A
    subclass that can compute the rates of any epoch directly also defines ``_get_closed_form_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _apart(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when "
                    "resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [_apart(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def step(self, epoch: float | None = None) -> None:
        """Set the next rate. Call this after the optimizer's ``step``.

        ``epoch``, which PyTorch deprecates, selects the rate of that epoch.
        """
        if self._step_count == 1 and not self.optimizer.was_stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: "
                "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                "result in PyTorch skipping the first value of the learning rate schedule. See "
                "more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the "
                "scheduler. During the deprecation, if epoch is different from None, the "
                "closed form is used instead of the new chainable form, where available.",
                stacklevel=2,
            )
        self._update_lr(epoch)

    def get_lr(self) -> list[Any]:
        """Return the rate of each group for ``last_epoch``."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """Return the rates that the last step set."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        self.__dict__.update(state_dict)

    def _initial_step(self) -> None:
        """Set the first rates."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _update_lr(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of ``epoch``."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch  # type: ignore[assignment]
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set_rates(closed() if closed is not None and epoch is not None else self._rates())

    def _rates(self) -> list[Any]:
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _set_rates(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(float(rate))
            else:
                group["lr"] = rate
        self._last_lr = self._found()

    def _found(self) -> list[Any]:
        """Return the rates that the groups have now."""
        return [_apart(group["lr"]) for group in self.optimizer.param_groups]


class StepLR(LRScheduler):
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

    def get_lr(self) -> list[Any]:
        due = self.last_epoch and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self._found()] if due else self._found()

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


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
        return [
            lr * factor(self.last_epoch)
            for lr, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer and the functions; for callable objects, their
        attributes."""
        held = [None if isinstance(f, FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": held}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                function.__dict__.update(kept)


answer_missing_names(__name__)
