"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.optim import lr_scheduler, swa_utils
from autograd_core.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from autograd_core.optim.descent import ASGD, SGD, Adadelta, Adagrad, RMSprop, Rprop
from autograd_core.optim.lbfgs import LBFGS
from autograd_core.optim.optimizer import Optimizer

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "lr_scheduler", "swa_utils",
]  # fmt: skip

answer_missing_names(__name__)
