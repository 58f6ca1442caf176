import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def mlp(inputs, outputs, width=48):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, outputs)
    )


class BYOL(nn.Module):
    def __init__(self, decay=0.97):
        super().__init__()
        self.online = nn.Sequential(mlp(16, 32), mlp(32, 16))
        self.predictor = mlp(16, 16)
        self.target = copy.deepcopy(self.online)
        for parameter in self.target.parameters():
            parameter.requires_grad = False
        self.decay = decay

    def half(self, first, second):
        prediction = self.predictor(self.online(first))
        with torch.no_grad():
            goal = self.target(second)
        return 2 - 2 * F.cosine_similarity(prediction, goal).mean()

    def forward(self, first, second):
        return self.half(first, second) + self.half(second, first)

    @torch.no_grad()
    def follow(self):
        for ours, theirs in zip(self.online.parameters(), self.target.parameters()):
            theirs.mul_(self.decay).add_(ours, alpha=1 - self.decay)


def augment(x):
    kept = (torch.rand_like(x) > 0.15).float()
    return kept * (x + 0.1 * torch.randn_like(x))


torch.manual_seed(3)
centers = torch.randn(6, 16)
group = torch.arange(768) % 6
data = centers[group] + 0.3 * torch.randn(768, 16)
loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
model = BYOL()
trained = [*model.online.parameters(), *model.predictor.parameters()]
optimizer = torch.optim.AdamW(trained, lr=3e-3)
for epoch in range(10):
    for (x,) in loader:
        loss = model(augment(x), augment(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
    print(f"epoch {epoch}: loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    features = F.normalize(model.online[0](data), dim=1)
similar = (features @ features.T).fill_diagonal_(-2).argmax(dim=1)
print(f"neighbours of one group {(group[similar] == group).float().mean().item():.3f}")
