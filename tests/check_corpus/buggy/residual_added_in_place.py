import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=1)

    def forward(self, x):
        residual = self.conv1(x)
        out = F.relu(self.conv2(x))
        out += residual
        return out


torch.manual_seed(49)
net = nn.Sequential(Block(3), Block(3))
signal = torch.randn(4, 3, 20)
clean = signal.cumsum(dim=2) / 4
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(net(signal), clean)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
