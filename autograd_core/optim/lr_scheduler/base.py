"""The base of the schedules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from autograd_core.optim.optimizer import Optimizer


class LRScheduler:
    """The base of schedules; a subclass says in :meth:`get_lr` what the rates are now.

    ``last_epoch`` counts the calls of ``step`` from 0 on; the first is made here.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when "
                    "resuming scheduler with last_epoch >= 0."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def step(self) -> None:
        """Go on to the next rate; to be called after the optimizer's ``step``."""
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
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self._rates()

    def get_lr(self) -> list[float]:
        """The rate of each group for ``last_epoch``."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that the last step set."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]


def checked(optimizer: Optimizer) -> Optimizer:
    """``optimizer``, if it is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def of_group(value: float | Sequence[float], number: int) -> float:
    """An option given once for all groups, or for each."""
    return value[number] if isinstance(value, (list, tuple)) else value  # type: ignore[return-value]
