"""The modules, one file per family."""

from autograd_core.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from autograd_core.nn.modules.container import ModuleList, Sequential
from autograd_core.nn.modules.conv import Conv2d
from autograd_core.nn.modules.dropout import Dropout
from autograd_core.nn.modules.flatten import Flatten
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from autograd_core.nn.modules.module import Module
from autograd_core.nn.modules.normalization import LayerNorm
from autograd_core.nn.modules.pooling import MaxPool2d
from autograd_core.nn.modules.sparse import Embedding

__all__ = [
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "NLLLoss",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
]
