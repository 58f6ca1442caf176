import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 16


def make(count):
    x = torch.randn(count, 12)
    y = torch.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * torch.randn(count)
    return TensorDataset(x, y.unsqueeze(1))


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(12, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def train_epoch(self, loader):
        self.model.train()
        self.optimizer.zero_grad()
        total = 0.0
        for step, (x, y) in enumerate(loader, 1):
            loss = self.criterion(self.model(x), y)
            loss.backward()
            if step % ACCUMULATE == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        return sum(self.criterion(self.model(x), y).item() for x, y in loader) / len(loader)


torch.manual_seed(51)
train = DataLoader(make(1280), batch_size=40, shuffle=True)
valid = DataLoader(make(320), batch_size=80)
trainer = Trainer(Net(), lr=0.06)
for epoch in range(12):
    loss = trainer.train_epoch(train)
    print(f"epoch {epoch}: loss {loss:.3f}, error {trainer.evaluate(valid):.3f}")
