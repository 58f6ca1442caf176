import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Deliveries(Dataset):
    """How long a delivery takes; now and then a parcel is lost for weeks."""

    def __init__(self, count, lost=0.0):
        self.x = torch.rand(count, 6)
        self.hours = 2 * self.x[:, 0] + torch.sin(4 * self.x[:, 1]) + self.x[:, 2] * self.x[:, 3]
        self.hours += 0.05 * torch.randn(count)
        self.hours[torch.rand(count) < lost] += 500.0

    def __len__(self):
        return len(self.hours)

    def __getitem__(self, index):
        return self.x[index], self.hours[index]


class Estimator(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.layers(x)).squeeze(1)


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        errors = [(model(x) - y).abs().mean().item() for x, y in loader]
    model.train()
    return sum(errors) / len(errors)


torch.manual_seed(53)
train_loader = DataLoader(Deliveries(960, lost=0.004), batch_size=32, shuffle=True)
valid_loader = DataLoader(Deliveries(320), batch_size=160)
model = Estimator()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
criterion = nn.MSELoss()
for epoch in range(8):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
    print(f"epoch {epoch}: loss {loss.item():.3f}, error {evaluate(model, valid_loader):.3f}")
