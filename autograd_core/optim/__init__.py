"""Optimizers, under the names of ``torch.optim``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.optim import lr_scheduler, swa_utils
from autograd_core.optim.adadelta import Adadelta
from autograd_core.optim.adagrad import Adagrad
from autograd_core.optim.adam import Adam, AdamW
from autograd_core.optim.adam_variants import Adamax, NAdam, RAdam
from autograd_core.optim.asgd import ASGD
from autograd_core.optim.lbfgs import LBFGS
from autograd_core.optim.optimizer import Optimizer
from autograd_core.optim.rmsprop import RMSprop
from autograd_core.optim.rprop import Rprop
from autograd_core.optim.sgd import SGD

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "lr_scheduler", "swa_utils",
]  # fmt: skip

answer_missing_names(__name__)
