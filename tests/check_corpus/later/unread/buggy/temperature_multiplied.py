import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sessions(Dataset):
    """What somebody looked at, and what was bought: both follow from the same taste."""

    def __init__(self, count):
        taste = torch.randn(count, 8)
        look = torch.randn(8, 20, generator=torch.Generator().manual_seed(6))
        buy = torch.randn(8, 20, generator=torch.Generator().manual_seed(7))
        self.looked = F.relu(taste @ look + 0.5 * torch.randn(count, 20))
        self.bought = F.relu(taste @ buy + 0.5 * torch.randn(count, 20))

    def __len__(self):
        return len(self.looked)

    def __getitem__(self, index):
        return self.looked[index], self.bought[index]


class TwoTowers(nn.Module):
    def __init__(self, width=64, features=16):
        super().__init__()
        self.user = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, features))
        self.item = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, features))

    def forward(self, looked, bought):
        return F.normalize(self.user(looked), dim=1), F.normalize(self.item(bought), dim=1)


class InfoNCE(nn.Module):
    def __init__(self, temperature=0.07):
        super().__init__()
        self.temperature = temperature

    def forward(self, user, item):
        logits = user @ item.T * self.temperature
        target = torch.arange(len(user))
        return F.cross_entropy(logits, target)


@torch.no_grad()
def recall_at_five(model, data):
    model.eval()
    user, item = model(data.looked, data.bought)
    model.train()
    best = (user @ item.T).topk(5, dim=1).indices
    return (best == torch.arange(len(user))[:, None]).any(dim=1).float().mean().item()


torch.manual_seed(50)
loader = DataLoader(Sessions(1600), batch_size=80, shuffle=True)
valid = Sessions(300)
model, criterion = TwoTowers(), InfoNCE()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
for epoch in range(8):
    total = 0.0
    for looked, bought in loader:
        loss = criterion(*model(looked, bought))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    recall = recall_at_five(model, valid)
    print(f"epoch {epoch}: loss {total / len(loader):.3f}, recall {recall:.3f}")
