"""Learning rate schedulers, under the names of ``torch.optim.lr_scheduler``.

Most of them modify the current rate, so several can be combined on one optimizer.
"""

from autograd_core.fallback import answer_missing_names
from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.lr_scheduler.cosine import CosineAnnealingLR, OneCycleLR
from autograd_core.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    StepLR,
)
from autograd_core.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autograd_core.optim.lr_scheduler.sequential import SequentialLR

_LRScheduler = LRScheduler  # its older name, from which users derive

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR",
    "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip

answer_missing_names(__name__)
