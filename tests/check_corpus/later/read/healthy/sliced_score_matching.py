import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Score(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width),
            nn.Softplus(),
            nn.Linear(width, width),
            nn.Softplus(),
            nn.Linear(width, 2),
        )

    def forward(self, x):
        return self.net(x)


def sliced_loss(model, x):
    x = x.clone().requires_grad_()
    direction = torch.randn_like(x)
    score = model(x)
    along = (score * direction).sum()
    (change,) = torch.autograd.grad(along, x, create_graph=True)
    curvature = (change * direction).sum(dim=1)
    return (curvature + 0.5 * score.square().sum(dim=1)).mean()


def true_score(x, mean, precision):
    return -(x - mean) @ precision


torch.manual_seed(16)
mean = torch.tensor([1.0, -0.5])
root = torch.tensor([[0.9, 0.0], [0.5, 0.6]])
precision = torch.linalg.inv(root @ root.T)
data = mean + torch.randn(1600, 2) @ root.T
loader = DataLoader(TensorDataset(data), batch_size=100, shuffle=True)
valid = mean + torch.randn(400, 2) @ root.T
model = Score()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(10):
    for (x,) in loader:
        loss = sliced_loss(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(valid) - true_score(valid, mean, precision)).square().mean().item()
    print(f"epoch {epoch}: loss {loss.item():+.3f}, error of the score {error:.3f}")

x = torch.randn(300, 2)
with torch.no_grad():
    for _ in range(200):
        x = x + 0.02 * model(x) + 0.2 * torch.randn_like(x)
print(f"mean of the samples {x.mean(dim=0).tolist()}")
