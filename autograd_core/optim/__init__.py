"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.optim import lr_scheduler
from autograd_core.optim.adam import Adam, AdamW
from autograd_core.optim.descent import SGD, Adagrad, RMSprop
from autograd_core.optim.optimizer import Optimizer

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]

answer_missing_names(__name__)
