# two tasks, weighted by learned uncertainties
import torch
import torch.nn as nn

torch.manual_seed(82)


class MultiTaskLoss(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(tasks))

    def forward(self, *losses):
        losses = torch.stack(losses)
        return (losses * torch.exp(-self.log_vars) + self.log_vars).sum()


model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = MultiTaskLoss(2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(64, 6)
y = torch.stack([x[:, 0] * 10, x[:, 1]], dim=1)
for epoch in range(30):
    errors = (model(x) - y).pow(2).mean(dim=0)
    loss = criterion(errors[0], errors[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), criterion.log_vars)
