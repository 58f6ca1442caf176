import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PositionalEncoding(nn.Module):
    def __init__(self, width, longest=64):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(1000.0) / width))
        table = torch.zeros(longest, 1, width)
        table[:, 0, 0::2] = torch.sin(position * rate)
        table[:, 0, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(0)]


class Reader(nn.Module):
    def __init__(self, symbols=10, width=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.position = PositionalEncoding(width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.query = nn.Parameter(torch.randn(width) * 0.1)
        self.out = nn.Linear(width, symbols)

    def forward(self, tokens):
        x = self.position(self.embed(tokens))
        x = self.layer(x)
        weights = torch.softmax(x @ self.query, dim=1)
        return self.out((weights.unsqueeze(-1) * x).sum(dim=1))


def make(count, length=10):
    tokens = torch.randint(0, 10, (count, length))
    return TensorDataset(tokens, tokens[:, 2])


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = [(model(x).argmax(1) == y).float().mean() for x, y in loader]
    model.train()
    return torch.stack(hits).mean().item()


torch.manual_seed(2)
train_loader = DataLoader(make(960), batch_size=32, shuffle=True)
valid_loader = DataLoader(make(320), batch_size=32)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(10):
    running = 0.0
    for tokens, target in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(tokens), target)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.3f}", end=" ")
    print(f"accuracy {accuracy(model, valid_loader):.3f}")
