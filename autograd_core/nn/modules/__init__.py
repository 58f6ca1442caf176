"""The modules, one file per family."""

from autograd_core.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from autograd_core.nn.modules.container import ModuleList, Sequential
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from autograd_core.nn.modules.module import Module

__all__ = [
    "CrossEntropyLoss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
]
