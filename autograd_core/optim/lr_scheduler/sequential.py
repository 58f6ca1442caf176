"""Several schedulers, one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler, set_rate
from autograd_core.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autograd_core.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """Several schedulers in sequence. The next one starts at each epoch in ``milestones``.

    >>> from autograd_core import optim, tensor
    >>> from autograd_core.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = optim.SGD([tensor(1.0, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.5)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[2])
    >>> rates = []
    >>> for _ in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        _check_parts(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # each schedule has set its first rate already, and only one of them should have
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        self._undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Set the next rate."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer, with the states of the schedulers."""
        return {
            **super().state_dict(),
            "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)

    def _undo(self) -> None:
        for scheduler in self._schedulers:
            scheduler._undo()


def _check_parts(optimizer: Optimizer, schedulers: Sequence[LRScheduler]) -> None:
    name = "SequentialLR"
    for number, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {number} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                "kwargs to be specified when calling `step`, but got one at index "
                f"{number} in the given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got "
                f"scheduler {type(scheduler).__name__} at index {number} has "
                f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
            )
