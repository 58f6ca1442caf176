import torch
from torch import nn

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(1 + width, 4 * width, 3, padding=1)

    def forward(self, x, h, c):
        i, f, o, g = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


cell, head = Cell(4), nn.Conv2d(4, 1, 1)
frames = torch.rand(6, 2, 1, 8, 8)
h = c = torch.zeros(2, 4, 8, 8)
loss = 0
for t in range(5):
    h, c = cell(frames[t], h, c)
    loss = loss + nn.functional.mse_loss(head(h), frames[t + 1])
loss.backward()
