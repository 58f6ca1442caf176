import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(depth)]
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.head(x)


torch.manual_seed(2)
x = torch.randn(48, 6)
y = (x[:, :1] * x[:, 1:2]).sin()
model = Net(depth=3, width=6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(40):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
