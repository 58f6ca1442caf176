"""Losses as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.nn import functional as F
from autograd_core.nn.functional.reduction import reduction_of
from autograd_core.nn.modules.module import OfFunction
from autograd_core.op.keywords import torch_form
from autograd_core.tensor import Tensor


class _Loss(OfFunction):
    """A function of tensors whose options are attributes of the module; those that are tensors
    are buffers."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__module__ == __name__ and "__init__" in vars(cls):
            cls.__init__ = torch_form(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = tuple(options)
        for name, value in options.items():
            if name.endswith("weight"):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *tensors: Tensor) -> Tensor:
        options = {name: getattr(self, name) for name in self._options}
        return type(self).function(*tensors, **options)


class _Reduced(_Loss):
    """One with the option ``reduction`` alone."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction_of(size_average, reduce, reduction))


class MSELoss(_Reduced, function=F.mse_loss):
    """The mean of the squared differences."""


class L1Loss(_Reduced, function=F.l1_loss):
    """The mean of the absolute differences."""


class SoftMarginLoss(_Reduced, function=F.soft_margin_loss):
    """The soft margin loss: ``log(1 + exp(-target * input))`` for targets 1 and -1."""


class MultiLabelMarginLoss(_Reduced, function=F.multilabel_margin_loss):
    """The multi-class multi-label hinge loss: every correct class should score 1 above every
    other."""


class SmoothL1Loss(_Loss, function=F.smooth_l1_loss):
    """The smooth L1 loss: squared differences below ``beta``, absolute differences above."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(reduction=reduction, beta=beta)


class HuberLoss(_Loss, function=F.huber_loss):
    """The Huber loss: ``delta`` times :class:`SmoothL1Loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction, delta=delta)


class NLLLoss(_Loss, function=F.nll_loss):
    """The negative log likelihood of the target classes, given log probabilities (N, C)."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class CrossEntropyLoss(_Loss, function=F.cross_entropy):
    """The cross entropy of the target classes, given unnormalized scores (N, C)."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )


class BCELoss(_Loss, function=F.binary_cross_entropy):
    """The binary cross entropy of targets, given their probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(_Loss, function=F.binary_cross_entropy_with_logits):
    """The binary cross entropy of targets, given unnormalized scores."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class MultiLabelSoftMarginLoss(_Loss, function=F.multilabel_soft_margin_loss):
    """The mean of :class:`BCEWithLogitsLoss` over classes."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(weight=weight, reduction=reduction)


class MultiMarginLoss(_Loss, function=F.multi_margin_loss):
    """The multi-class hinge loss: the target class should score ``margin`` above the others."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(p=p, margin=margin, weight=weight, reduction=reduction)


class KLDivLoss(_Loss, function=F.kl_div):
    """The Kullback-Leibler divergence of target probabilities from input log probabilities."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(reduction=reduction, log_target=log_target)


class PoissonNLLLoss(_Loss, function=F.poisson_nll_loss):
    """The negative log likelihood of counts, given the rate or its logarithm."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(log_input=log_input, full=full, eps=eps, reduction=reduction)


class GaussianNLLLoss(_Loss, function=F.gaussian_nll_loss):
    """The negative log likelihood of targets, given means and variances."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(full=full, eps=eps, reduction=reduction)


class _Margin(_Loss):
    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(margin=margin, reduction=reduction)


class HingeEmbeddingLoss(_Margin, function=F.hinge_embedding_loss):
    """The hinge embedding loss: the distance of similar pairs, and the shortfall from ``margin`` of
    dissimilar ones."""

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)


class MarginRankingLoss(_Margin, function=F.margin_ranking_loss):
    """The margin ranking loss: one input should be ``margin`` above the other."""


class CosineEmbeddingLoss(_Margin, function=F.cosine_embedding_loss):
    """The cosine embedding loss: ``1 - cos`` for similar pairs, and the excess of ``cos`` over
    ``margin`` for dissimilar ones."""


class TripletMarginLoss(_Loss, function=F.triplet_margin_loss):
    """The triplet loss: the negative should be ``margin`` farther from the anchor than the
    positive."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        reduction = reduction_of(size_average, reduce, reduction)
        super().__init__(margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)


class TripletMarginWithDistanceLoss(_Loss, function=F.triplet_margin_with_distance_loss):
    """:class:`TripletMarginLoss` with a custom distance."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        apart = F.pairwise_distance if distance_function is None else distance_function
        super().__init__(distance_function=apart, margin=margin, swap=swap, reduction=reduction)


class CTCLoss(_Loss, function=F.ctc_loss):
    """Connectionist temporal classification: the negative log likelihood of label sequences without
    alignment."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(blank=blank, reduction=reduction, zero_infinity=zero_infinity)
