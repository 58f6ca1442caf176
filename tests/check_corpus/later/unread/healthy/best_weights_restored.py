import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count):
    x = torch.randn(count, 15)
    y = (x[:, 0] - x[:, 1] + 0.8 * torch.randn(count) > 0).long()
    return TensorDataset(x, y)


class Net(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(15, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)
        )

    def forward(self, x):
        return self.net(x)


class Keeper:
    def __init__(self, patience=4):
        self.patience, self.best, self.state, self.bad = patience, float("inf"), None, 0

    def __call__(self, score, model, optimizer):
        if score < self.best - 1e-4:
            self.best, self.bad = score, 0
            self.state = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
        else:
            self.bad += 1
        return self.bad > self.patience


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(F.cross_entropy(model(x), y).item() for x, y in loader) / len(loader)


torch.manual_seed(21)
train, valid = DataLoader(make(200), batch_size=20, shuffle=True), DataLoader(make(400), 200)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
keeper = Keeper()
for epoch in range(40):
    model.train()
    for x, y in train:
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    score = validate(model, valid)
    plateau.step(score)
    print(f"epoch {epoch}: training {loss.item():.3f}, validation {score:.3f}")
    if keeper(score, model, optimizer):
        print("no better for a while: going back to the best weights")
        model.load_state_dict(keeper.state[0])
        optimizer.load_state_dict(keeper.state[1])
        break
print(f"validation loss {validate(model, valid):.3f}")
