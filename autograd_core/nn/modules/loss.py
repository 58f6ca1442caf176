"""Losses as modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar

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


class SoftMarginLoss(_Reduced, function=F.soft_margin_loss):
    """The soft margin loss: ``log(1 + exp(-target * input))`` for targets 1 and -1."""


class MultiLabelMarginLoss(_Reduced, function=F.multilabel_margin_loss):
    """The multi-class multi-label hinge loss: correct classes should score 1 above all others."""


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


class MultiLabelSoftMarginLoss(_Weighted, function=F.multilabel_soft_margin_loss):
    """The mean of :class:`BCEWithLogitsLoss` over classes."""


class MultiMarginLoss(_Loss, function=F.multi_margin_loss):
    """The multi-class hinge loss: the target class should score ``margin`` above the others."""

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class KLDivLoss(_Reduced, function=F.kl_div):
    """The Kullback-Leibler divergence of target probabilities from input log probabilities."""

    log_target: bool = False


class PoissonNLLLoss(_Loss, function=F.poisson_nll_loss):
    """The negative log likelihood of counts, given the rate or its logarithm."""

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class GaussianNLLLoss(_Loss, function=F.gaussian_nll_loss):
    """The negative log likelihood of targets, given means and variances."""

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class _Margin(_Loss):
    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class HingeEmbeddingLoss(_Margin, function=F.hinge_embedding_loss):
    """The hinge embedding loss: the distance of similar pairs, and the shortfall from ``margin`` of
    dissimilar ones."""

    margin: float = 1.0


class MarginRankingLoss(_Margin, function=F.margin_ranking_loss):
    """The margin ranking loss: one input should be ``margin`` above the other."""


class CosineEmbeddingLoss(_Margin, function=F.cosine_embedding_loss):
    """The cosine embedding loss: ``1 - cos`` for similar pairs, and the excess of ``cos`` over
    ``margin`` for dissimilar ones."""


class TripletMarginLoss(_Loss, function=F.triplet_margin_loss):
    """The triplet loss: the negative should be ``margin`` farther from the anchor than the
    positive."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class TripletMarginWithDistanceLoss(_Loss, function=F.triplet_margin_with_distance_loss):
    """:class:`TripletMarginLoss` with a custom distance."""

    _: KW_ONLY
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        super().__post_init__(size_average, reduce)
        if self.distance_function is None:
            self.distance_function = F.pairwise_distance


class CTCLoss(_Loss, function=F.ctc_loss):
    """Connectionist temporal classification: the negative log likelihood of label sequences without
    alignment."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
