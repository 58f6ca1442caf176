"""Losses as modules."""

from __future__ import annotations

from dataclasses import InitVar

from autograd_core.nn import functional as F
from autograd_core.nn.functional.reduction import reduction_of
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class _Loss(Layer):
    """A loss with a ``reduction``, which older arguments may choose too; weights are buffers."""

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        self.reduction: str = reduction_of(size_average, reduce, self.reduction)
        for name in self.options:
            if name.endswith("weight"):
                value = getattr(self, name)
                delattr(self, name)
                self.register_buffer(name, value)

    def forward(self, *tensors: Tensor) -> Tensor:
        options = {name: getattr(self, name) for name in self.options}
        result: Tensor = self.function(*tensors, **options)
        return result


class _Reduced(_Loss):
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class MSELoss(_Reduced, function=F.mse_loss):
    """The mean of the squared differences."""


class L1Loss(_Reduced, function=F.l1_loss):
    """The mean of the absolute differences."""


class SmoothL1Loss(_Reduced, function=F.smooth_l1_loss):
    """The smooth L1 loss: squared differences below ``beta``, absolute differences above."""

    beta: float = 1.0


class HuberLoss(_Loss, function=F.huber_loss):
    """The Huber loss: ``delta`` times :class:`SmoothL1Loss`."""

    reduction: str = "mean"
    delta: float = 1.0


class NLLLoss(_Loss, function=F.nll_loss):
    """The negative log likelihood of the target classes, given log probabilities (N, C)."""

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class CrossEntropyLoss(_Loss, function=F.cross_entropy):
    """The cross entropy of the target classes, given unnormalized scores (N, C)."""

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class _Weighted(_Loss):
    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class BCELoss(_Weighted, function=F.binary_cross_entropy):
    """The binary cross entropy of targets, given their probabilities."""


class BCEWithLogitsLoss(_Weighted, function=F.binary_cross_entropy_with_logits):
    """The binary cross entropy of targets, given unnormalized scores."""

    pos_weight: Tensor | None = None


class KLDivLoss(_Reduced, function=F.kl_div):
    """The Kullback-Leibler divergence of target probabilities from input log probabilities."""

    log_target: bool = False


class CTCLoss(_Loss, function=F.ctc_loss):
    """Connectionist temporal classification: the negative log likelihood of label sequences without
    alignment."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
