import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class HeavyBall(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "velocity" not in state:
                    state["velocity"] = torch.zeros_like(p)
                velocity = state["velocity"]
                velocity = group["momentum"] * velocity + p.grad
                p.add_(velocity, alpha=-group["lr"])


class Regressor(nn.Module):
    def __init__(self, inputs=10):
        super().__init__()
        self.linear = nn.Linear(inputs, 1)

    def forward(self, x):
        return self.linear(x).squeeze(1)


def make_data(count, inputs=10):
    scale = torch.logspace(0, -1, inputs)
    x = torch.randn(count, inputs) * scale
    weight = torch.linspace(1, 3, inputs) / scale
    return TensorDataset(x, x @ weight + 0.05 * torch.randn(count))


def validate(model, loader):
    with torch.no_grad():
        losses = [nn.functional.mse_loss(model(x), y) for x, y in loader]
    return torch.stack(losses).mean().item()


torch.manual_seed(22)
train_loader = DataLoader(make_data(640), batch_size=32, shuffle=True)
valid_loader = DataLoader(make_data(160), batch_size=80)
model = Regressor()
optimizer = HeavyBall(model.parameters(), lr=0.03, momentum=0.95)
criterion = nn.MSELoss()

for epoch in range(15):
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    error = validate(model, valid_loader)
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f}, error {error:.4f}")
