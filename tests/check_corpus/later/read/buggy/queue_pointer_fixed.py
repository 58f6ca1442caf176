import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    """Points of 16 groups; a view adds much noise to all but the first four numbers."""

    def __init__(self, count, groups=16):
        self.group = torch.randint(groups, (count,))
        self.center = torch.randn(groups, 4, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.group)

    def view(self, index):
        signal = self.center[self.group[index]] + 0.2 * torch.randn(4)
        return torch.cat([signal, 2 * torch.randn(8)])

    def __getitem__(self, index):
        return self.view(index), self.view(index), self.group[index]


class MoCo(nn.Module):
    def __init__(self, width=16, size=256, momentum=0.95, temperature=0.2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, width))
        self.key_encoder = copy.deepcopy(self.encoder).requires_grad_(False)
        self.momentum, self.temperature, self.size = momentum, temperature, size
        self.register_buffer("queue", F.normalize(torch.randn(size, width), dim=1))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def update_keys(self):
        for ours, theirs in zip(self.encoder.parameters(), self.key_encoder.parameters()):
            theirs.lerp_(ours, 1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        pointer = int(self.pointer)
        self.queue[pointer : pointer + len(keys)] = keys
        pointer = (pointer + len(keys)) % self.size

    def forward(self, first, second):
        query = F.normalize(self.encoder(first), dim=1)
        with torch.no_grad():
            self.update_keys()
            key = F.normalize(self.key_encoder(second), dim=1)
        positive = (query * key).sum(dim=1, keepdim=True)
        negative = query @ self.queue.clone().T
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        self.enqueue(key)
        return F.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long))


@torch.no_grad()
def neighbour_accuracy(model, data):
    first, second, group = (torch.stack(each) for each in zip(*(data[i] for i in range(200))))
    similar = F.normalize(model.encoder(first), dim=1) @ F.normalize(model.encoder(second), dim=1).T
    return (group[similar.argmax(dim=1)] == group).float().mean().item()


torch.manual_seed(18)
data, valid = Views(1024), Views(200)
loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
model = MoCo()
optimizer = torch.optim.Adam(model.encoder.parameters(), lr=5e-3)
for epoch in range(8):
    for first, second, _ in loader:
        loss = model(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss:.3f}, accuracy {neighbour_accuracy(model, valid):.3f}")
