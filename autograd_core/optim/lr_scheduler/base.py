"""The base of the schedules."""

from __future__ import annotations

import warnings
from typing import Any

from autograd_core.optim.optimizer import Optimizer
from autograd_core.tensor import Tensor


class LRScheduler:
    """The base class of schedulers. A subclass defines :meth:`get_lr`, which returns the current
    rates.

    ``last_epoch`` counts the calls of ``step`` from 0; the constructor makes the first one. A
    subclass that can compute the rates of any epoch directly also defines ``_get_closed_form_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
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
            set_rate(group, rate)
        self._last_lr = self._found()

    def _found(self) -> list[Any]:
        """Return the rates that the groups have now."""
        return [_apart(group["lr"]) for group in self.optimizer.param_groups]

    def _undo(self) -> None:
        """Take back the first step, which :class:`SequentialLR` takes itself."""
        self.last_epoch -= 1


def checked(optimizer: Optimizer) -> Optimizer:
    """Return ``optimizer``, if it is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Set the rate of a group; where it is a tensor, the number in it."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def _apart(rate: Any) -> Any:
    return rate.clone() if isinstance(rate, Tensor) else rate


def of_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return an option that was given once for all groups, or for each."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {count}."
        )
    return list(value)
