import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def toy(count, gap=True):
    x = 4 * torch.rand(count, 1) - 2
    if gap:
        x = x[(x.abs() > 0.5).squeeze(1)]
    return x, torch.sin(2 * x) + 0.1 * torch.randn_like(x)


class UncertainNet(nn.Module):
    """Predicts a mean and a log variance; dropout gives the rest of the uncertainty."""

    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(1, width),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(0.1),
        )
        self.mean, self.log_var = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, x):
        hidden = self.body(x)
        return self.mean(hidden), self.log_var(hidden).clamp(-6, 3)


def turn_dropout_on(model):
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


@torch.no_grad()
def predict(model, x, samples=30):
    turn_dropout_on(model)
    means = torch.stack([model(x)[0] for _ in range(samples)])
    return means.mean(dim=0), means.std(dim=0)


torch.manual_seed(23)
loader = DataLoader(TensorDataset(*toy(1200)), batch_size=64, shuffle=True)
valid_x, valid_y = toy(200)
model = UncertainNet()
criterion = nn.GaussianNLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
for epoch in range(12):
    model.train()
    for x, y in loader:
        mean, log_var = model(x)
        loss = criterion(mean, y, log_var.exp())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    mean, spread = predict(model, valid_x)
    error = (mean - valid_y).abs().mean().item()
    print(f"epoch {epoch}: loss {loss.item():+.3f}, error {error:.3f}, spread {spread.mean():.3f}")
