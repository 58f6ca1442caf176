"""A recurrent policy that resets its state in place: backward() raises.

tanh keeps its result for the backward pass, and the reset at the end of an episode writes into
it. The remedy is a new tensor: ``torch.where(over.unsqueeze(1), 0.0, state)``.
"""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(3, 8)
        self.hidden = nn.Linear(8, 8)
        self.action = nn.Linear(8, 2)

    def forward(self, observed, ended):
        state, actions = torch.zeros(observed.shape[1], 8), []
        for seen, over in zip(observed, ended, strict=True):
            state = torch.tanh(self.input(seen) + self.hidden(state))
            actions.append(self.action(state))
            if over.any():
                state[over] = 0.0
        return torch.stack(actions)


torch.manual_seed(0)
torch.set_num_threads(1)
policy = Policy()
ended = torch.zeros(4, 2, dtype=torch.bool)
ended[1, 0] = True
loss = policy(torch.randn(4, 2, 3), ended).square().mean()
try:
    loss.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).split(":")[0])
