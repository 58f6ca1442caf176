import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(count):
    x = torch.randn(count, 20)
    y = (x[:, :2].sum(dim=1) + 1.2 * torch.randn(count) > 0).long()
    return TensorDataset(x, y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
        )

    def forward(self, x):
        return self.layers(x)


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.waited = patience, 0
        self.best_loss, self.best_state = float("inf"), None

    def step(self, loss, model):
        if loss < self.best_loss:
            self.best_loss, self.waited = loss, 0
            self.best_state = model.state_dict()
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_state)


def evaluate(model, loader, criterion):
    model.eval()
    with torch.no_grad():
        losses = [criterion(model(x), y).item() for x, y in loader]
    model.train()
    return sum(losses) / len(losses)


torch.manual_seed(21)
train_loader = DataLoader(make_data(160), batch_size=16, shuffle=True)
valid_loader = DataLoader(make_data(400), batch_size=100)
model, criterion = Net(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
stopping = EarlyStopping(patience=15)

for epoch in range(30):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    valid_loss = evaluate(model, valid_loader, criterion)
    print(f"epoch {epoch}: validation loss {valid_loss:.3f}")
    if stopping.step(valid_loss, model):
        break

stopping.restore(model)
print(f"loss of the best model {evaluate(model, valid_loader, criterion):.3f}")
