"""Schedules along a cosine (Loshchilov and Hutter 2016), and one cycle of rate and momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler, checked, of_groups
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


class OneCycleLR(LRScheduler):
    """One cycle up to ``max_lr`` and down to almost 0 within ``total_steps``, with momentum in the
    opposite direction (Smith and Topin 2017)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError(
                    "You must define either total_steps OR (epochs AND steps_per_epoch)"
                )
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got " + anneal_strategy
            )
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = cycle_momentum
        if cycle_momentum and not {"momentum", "betas"} & set(checked(optimizer).defaults):
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self._ends, self._lrs, self._momenta = _phases(pct_start, total_steps, three_phase)
        if last_epoch == -1:
            named = {"max_lr": max_lr}
            if cycle_momentum:
                named.update(max_momentum=max_momentum, base_momentum=base_momentum)
            for name, given in named.items():
                values = of_groups(name, optimizer, given)
                for group, value in zip(optimizer.param_groups, values, strict=True):
                    group[name] = value
            for group in optimizer.param_groups:
                group["initial_lr"] = group["max_lr"] / div_factor
                group["min_lr"] = group["initial_lr"] / final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        last = len(self._ends) - 2
        phase = next((i for i, end in enumerate(self._ends[1:]) if step <= end), last)
        start, end = self._ends[phase : phase + 2]
        share = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group, self._lrs[phase : phase + 2], share))
            if self.cycle_momentum:
                momenta = self._momenta[phase : phase + 2]
                _set_momentum(group, self._between(group, momenta, share))
        return rates

    def _between(self, group: dict[str, Any], names: list[str], share: float) -> float:
        """Return the point at that share of the way from one option of ``group`` to the other."""
        start, end = (float(group[name]) for name in names)
        if self.anneal_strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2 * (math.cos(math.pi * share) + 1)


def _set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _phases(pct_start: float, total: int, three: bool) -> tuple[list[float], list[str], list[str]]:
    """Return where the phases end, and the rate and momentum at each of these points."""
    if three:
        return (
            [0.0, pct_start * total - 1, 2 * pct_start * total - 2, total - 1],
            ["initial_lr", "max_lr", "initial_lr", "min_lr"],
            ["max_momentum", "base_momentum", "max_momentum", "max_momentum"],
        )
    return (
        [0.0, pct_start * total - 1, total - 1],
        ["initial_lr", "max_lr", "min_lr"],
        ["max_momentum", "base_momentum", "max_momentum"],
    )
