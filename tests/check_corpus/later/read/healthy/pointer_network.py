import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PointerNetwork(nn.Module):
    """Points at the numbers of a set in ascending order."""

    def __init__(self, width=48):
        super().__init__()
        self.width = width
        self.embed = nn.Sequential(nn.Linear(1, width), nn.Tanh())
        self.cell = nn.GRUCell(width, width)
        self.start = nn.Parameter(torch.zeros(width))
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, values, order=None):
        count, length = values.shape
        memory = self.embed(values.unsqueeze(-1))
        keys = self.key(memory)
        hidden, given = memory.mean(dim=1), self.start.expand(count, -1)
        used = torch.zeros(count, length, dtype=torch.bool)
        rows, steps = torch.arange(count), []
        for step in range(length):
            hidden = self.cell(given, hidden)
            query = self.query(hidden).unsqueeze(1)
            logits = self.score(torch.tanh(query + keys)).squeeze(-1)
            logits = logits.masked_fill(used, float("-inf"))
            steps.append(logits)
            chosen = logits.argmax(dim=1) if order is None else order[:, step]
            used = used.scatter(1, chosen.unsqueeze(1), True)
            given = memory[rows, chosen]
        return torch.stack(steps, dim=1)


def make(count, length=5):
    values = torch.rand(count, length)
    return TensorDataset(values, values.argsort(dim=1))


@torch.no_grad()
def sorted_share(model, data):
    values, order = data.tensors
    return (model(values).argmax(dim=-1) == order).all(dim=1).float().mean().item()


torch.manual_seed(14)
loader, valid = DataLoader(make(1280), batch_size=64, shuffle=True), make(200)
model = PointerNetwork()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for values, order in loader:
        logits = model(values, order)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), order[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, sorted {sorted_share(model, valid):.3f}")
