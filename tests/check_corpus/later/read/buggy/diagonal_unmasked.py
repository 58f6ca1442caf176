import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SimCLR(nn.Module):
    def __init__(self, length=32, features=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2),
            nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.head = nn.Linear(80, features)

    def forward(self, x):
        return self.head(self.encoder(x.unsqueeze(1)))


class ContrastiveLoss(nn.Module):
    def __init__(self, temperature=0.05):
        super().__init__()
        self.temperature = temperature

    def forward(self, first, second):
        z = F.normalize(torch.cat([first, second]), dim=1)
        similarity = z @ z.T / self.temperature
        count = len(first)
        targets = torch.arange(2 * count).roll(count)
        return F.cross_entropy(similarity, targets)


def augment(x):
    gain = 0.6 + 0.8 * torch.rand(len(x), 1)
    return gain * x + 0.15 * torch.randn_like(x)


def signals(count, length=32):
    time = torch.linspace(0, 1, length)
    pitch, phase = 1 + 4 * torch.rand(count, 1), 6.28 * torch.rand(count, 1)
    return torch.sin(6.28 * pitch * time + phase)


@torch.no_grad()
def retrieval(model, x):
    model.eval()
    first = F.normalize(model(augment(x)), dim=1)
    second = F.normalize(model(augment(x)), dim=1)
    model.train()
    return ((first @ second.T).argmax(dim=1) == torch.arange(len(x))).float().mean().item()


torch.manual_seed(20)
loader = DataLoader(TensorDataset(signals(1024)), batch_size=64, shuffle=True)
held_out = signals(100)
model, criterion = SimCLR(), ContrastiveLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    for (x,) in loader:
        loss = criterion(model(augment(x)), model(augment(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, retrieval {retrieval(model, held_out):.3f}")
