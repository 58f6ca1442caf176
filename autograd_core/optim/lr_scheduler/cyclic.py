"""Cycles of the learning rate and the momentum: many, or one over a whole training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.optim.lr_scheduler.base import LRScheduler, checked, of_groups, set_rate
from autograd_core.optim.lr_scheduler.factors import held
from autograd_core.optim.optimizer import Optimizer


class CyclicLR(LRScheduler):
    """Cycles between ``base_lr`` and ``max_lr``, with momentum in the opposite direction (Smith
    2015).

    Args:
        step_size_up: the number of steps up; the number down is the same, unless ``step_size_down``
            is given.
        mode: "triangular" keeps the height of cycles, "triangular2" halves it each time,
            "exp_range" multiplies it by ``gamma`` at each step.
        scale_fn: the height as a function of the number of the cycle, or of the step with
            ``scale_mode="iterations"``; replaces ``mode``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        rates = of_groups("base_lr", checked(optimizer), base_lr)
        self.max_lrs = of_groups("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        by_step = scale_mode != "cycle" if scale_fn is not None else mode == "exp_range"
        self.scale_mode = "iterations" if by_step else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_momentum(optimizer)
            self.base_momentums = of_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = of_groups("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                set_rate(group, rate)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def scale_fn(self, x: float) -> float:
        """Return the height of cycle, or step, ``x``."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return math.pow(self.gamma, x)
        return 1.0 if self.mode == "triangular" else math.pow(2, 1 - x)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        share = 1 + self.last_epoch / self.total_size - cycle
        rising = share <= self.step_ratio
        way = share / self.step_ratio if rising else (share - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, ends, strict=True):
                set_momentum(group, high - (high - low) * way * scale)
        return [
            low + (high - low) * way * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, without the optimizer and the function; for a callable object, its
        attributes."""
        return {**super().state_dict(), "_scale_fn_custom": held(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a :meth:`state_dict`."""
        kept = state_dict["_scale_fn_custom"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if kept is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(kept)


def check_momentum(optimizer: Optimizer) -> None:
    """Refuse an optimizer that has none.

    Raises:
        ValueError: it has neither "momentum" nor "betas".
    """
    if not {"momentum", "betas"} & set(optimizer.defaults):
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


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
        if cycle_momentum:
            check_momentum(checked(optimizer))
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
                set_momentum(group, self._between(group, momenta, share))
        return rates

    def _between(self, group: dict[str, Any], names: list[str], share: float) -> float:
        """Return the point at that share of the way from one option of ``group`` to the other."""
        start, end = (float(group[name]) for name in names)
        if self.anneal_strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2 * (math.cos(math.pi * share) + 1)


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
