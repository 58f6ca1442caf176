"""An LSTM over twenty time steps. The loop is folded: only the first and last rounds are drawn.

The gradient flows to the previous step along two paths: the hidden state, and the cell state, where
only the forget gate multiplies it.
"""

import torch
from torch import nn

torch.manual_seed(0)
cell = nn.LSTMCell(8, 16)
series = torch.randn(20, 4, 8)
h = c = torch.zeros(4, 16)

for t in range(len(series)):
    h, c = cell(series[t], (h, c))
loss = h.pow(2).mean()
