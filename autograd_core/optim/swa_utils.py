"""Models with averaged weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.functions import tensor
from autograd_core.nn import Module
from autograd_core.nn.modules.batchnorm import _BatchNorm
from autograd_core.tensor import Tensor

__all__ = [
    "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Average = Callable[[Tensor, Tensor, Tensor], Tensor]
Update = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor], None]


def get_swa_avg_fn() -> Average:
    """Return a function that computes the equal-weight average of all weights so far (Izmailov et
    al. 2018)."""

    @no_grad()
    def average(averaged: Tensor, current: Tensor, count: Tensor) -> Tensor:
        return averaged + (current - averaged) / (count + 1)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return a function that computes an exponential moving average with the rate ``decay``."""
    if not 0 <= decay <= 1:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )

    @no_grad()
    def average(averaged: Tensor, current: Tensor, count: Tensor) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_multi_avg_fn() -> Update:
    """Return what :func:`get_swa_avg_fn` does, for many parameters at once, in place."""
    return _each(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Update:
    """Return what :func:`get_ema_avg_fn` does, for many parameters at once, in place."""
    return _each(get_ema_avg_fn(decay))


def _each(average: Average) -> Update:
    @no_grad()
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Tensor) -> None:
        for mine, theirs in zip(averaged, current, strict=True):
            mine.copy_(average(mine, theirs, count))

    return update


class AveragedModel(Module):
    """A copy of a model with averaged parameters.

    Args:
        avg_fn: a function of ``(average, parameter, n_averaged)`` that returns the new average; by
            default the mean.
        multi_avg_fn: a function of ``(averages, parameters, n_averaged)`` that updates the averages
            in place.
        use_buffers: average the buffers, too; otherwise copy them.

    >>> from autograd_core import nn
    >>> model = nn.Linear(1, 1, bias=False)
    >>> averaged = AveragedModel(model)
    >>> for weight in (1.0, 2.0, 6.0):
    ...     _ = nn.init.constant_(model.weight, weight)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Update | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model).to(device) if device is not None else deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the averaged model to the input."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Add the current parameters of ``model`` to the averages."""
        mine, theirs = self._averaged(self.module), self._averaged(model)
        if self.n_averaged.item() == 0:
            _copy(mine, theirs)
        else:
            update = self.multi_avg_fn or _each(self.avg_fn or get_swa_avg_fn())
            update(mine, theirs, self.n_averaged)
        if not self.use_buffers:
            _copy(self.module.buffers(), model.buffers())
        self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        every = [*model.parameters(), *(model.buffers() if self.use_buffers else ())]
        return [t.detach() for t in every]


def _copy(mine: Iterable[Tensor], theirs: Iterable[Tensor]) -> None:
    for t, other in zip(mine, theirs, strict=True):
        t.copy_(other)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of all batch normalizations from one pass over ``loader``,
    whose batches are tensors or sequences that begin with one."""
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the mean over all batches
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)
