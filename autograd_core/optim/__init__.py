"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.optim import lr_scheduler
from autograd_core.optim.adagrad import Adagrad
from autograd_core.optim.adam import Adam, AdamW
from autograd_core.optim.lbfgs import LBFGS
from autograd_core.optim.optimizer import Optimizer
from autograd_core.optim.rmsprop import RMSprop
from autograd_core.optim.sgd import SGD

__all__ = ["LBFGS", "SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
