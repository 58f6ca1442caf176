"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.optim.optimizer import Optimizer
from autograd_core.optim.sgd import SGD

__all__ = ["SGD", "Optimizer"]
