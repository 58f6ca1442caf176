import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.heads = nn.ModuleDict(
            {"depth": nn.Linear(24, 1), "class": nn.Linear(24, 3), "normal": nn.Linear(24, 2)}
        )

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


torch.manual_seed(29)
model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(48, 6), torch.arange(48) % 3
history = []
for step in range(80):
    if step % 2:
        loss = F.mse_loss(model(x, "depth"), x[:, :1])
    else:
        loss = F.cross_entropy(model(x, "class"), y)
        history.append(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
