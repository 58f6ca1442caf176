import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import prune
from torch.utils.data import DataLoader, TensorDataset


def make(count):
    x = torch.randn(count, 12)
    return TensorDataset(x, (x[:, :4].sum(dim=1) * x[:, 4] > 0).long())


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(12, width), nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def train(model, loader, epochs=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, data):
    x, y = data.tensors
    return (model(x).argmax(dim=1) == y).float().mean().item()


def rewind(model, beginning):
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(beginning[name.removesuffix("_orig")])


torch.manual_seed(33)
loader, valid = DataLoader(make(960), batch_size=60, shuffle=True), make(400)
model = Net()
beginning = copy.deepcopy(model.state_dict())
for round_number in range(4):
    loss = train(model, loader)
    kept = 1 - 0.5 * round_number / 3
    print(f"round {round_number}: loss {loss:.3f}, accuracy {accuracy(model, valid):.3f}")
    if round_number < 3:
        chosen = [(model.fc1, "weight"), (model.fc2, "weight")]
        prune.global_unstructured(chosen, prune.L1Unstructured, amount=0.4)
        rewind(model, beginning)
share = torch.cat([model.fc1.weight_mask.flatten(), model.fc2.weight_mask.flatten()]).mean()
print(f"weights that are left {share.item():.3f}")
