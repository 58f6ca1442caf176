"""An LSTM over twenty steps of time. The loop is rolled up: first rounds and the last are drawn.

Each step sends the gradient on to the step before it, by two ways: the hidden state, and the cell,
along which it is multiplied by nothing but the forget gate.
"""

import autograd_core as torch
from autograd_core import nn

torch.manual_seed(0)
cell = nn.LSTMCell(8, 16)
series = torch.randn(20, 4, 8)
h = c = torch.zeros(4, 16)

for x in series:
    h, c = cell(x, (h, c))
loss = h.pow(2).mean()
