"""The modules, one file per family."""

# ruff: noqa: I001  an index reads well where lines are full
# fmt: off

from autograd_core.fallback import answer_missing_names
from autograd_core.nn.modules.activation import (
    ELU, GELU, SELU, Hardtanh, LeakyReLU, LogSoftmax, PReLU, ReLU, Sigmoid, SiLU, Softmax,
    Softplus, Tanh,
)
from autograd_core.nn.modules.attention import MultiheadAttention
from autograd_core.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from autograd_core.nn.modules.cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from autograd_core.nn.modules.container import ModuleDict, ModuleList, Sequential
from autograd_core.nn.modules.conv import (
    Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
)
from autograd_core.nn.modules.dropout import Dropout, Dropout1d, Dropout2d, Dropout3d
from autograd_core.nn.modules.flatten import Flatten, Identity, Unflatten
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.loss import (
    BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, CTCLoss, HuberLoss, KLDivLoss, L1Loss,
    MSELoss, NLLLoss, SmoothL1Loss,
)
from autograd_core.nn.modules.module import Module
from autograd_core.nn.modules.normalization import GroupNorm, LayerNorm, RMSNorm
from autograd_core.nn.modules.pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AvgPool1d, AvgPool2d, AvgPool3d,
    MaxPool1d, MaxPool2d, MaxPool3d,
)
from autograd_core.nn.modules.rnn import GRU, LSTM, RNN, RNNBase
from autograd_core.nn.modules.sparse import Embedding
from autograd_core.nn.modules.transformer import TransformerEncoder, TransformerEncoderLayer

__all__ = [
    "ELU", "GELU", "GRU", "LSTM", "RNN", "SELU", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss",
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "CTCLoss", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "CrossEntropyLoss", "Dropout",
    "Dropout1d", "Dropout2d", "Dropout3d", "Embedding", "Flatten", "GRUCell", "GroupNorm",
    "Hardtanh", "HuberLoss", "Identity", "KLDivLoss", "L1Loss", "LSTMCell", "LayerNorm",
    "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool1d", "MaxPool2d", "MaxPool3d",
    "Module", "ModuleDict", "ModuleList", "MultiheadAttention", "NLLLoss", "PReLU", "RMSNorm",
    "RNNBase", "RNNCell", "RNNCellBase", "ReLU", "Sequential", "SiLU", "Sigmoid",
    "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "TransformerEncoder",
    "TransformerEncoderLayer", "Unflatten",
]

answer_missing_names(__name__)
