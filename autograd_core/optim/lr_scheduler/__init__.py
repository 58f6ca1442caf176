"""Schedules of the learning rate, under the names of ``torch.optim.lr_scheduler``.

Most go from one step to the next by changing the rate that they find, so that several can
work on one optimizer.
"""

from autograd_core.optim.lr_scheduler.base import LRScheduler
from autograd_core.optim.lr_scheduler.epochs import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    MultiStepLR,
    StepLR,
)
from autograd_core.optim.lr_scheduler.one_cycle import OneCycleLR
from autograd_core.optim.lr_scheduler.plateau import ReduceLROnPlateau

__all__ = [
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "StepLR",
]
