"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.optim import lr_scheduler, swa_utils
from autograd_core.optim.adam import Adam, AdamW
from autograd_core.optim.descent import SGD, Adagrad, RMSprop
from autograd_core.optim.lbfgs import LBFGS
from autograd_core.optim.optimizer import Optimizer

__all__ = [
    "LBFGS", "SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler",
    "swa_utils",
]  # fmt: skip

answer_missing_names(__name__)
