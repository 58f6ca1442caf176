import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        count, length, _ = x.shape
        return x.view(count, self.heads, length, self.size)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.view(x.shape))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Recall(nn.Module):
    """The last token asks for the second one, or for the third."""

    def __init__(self, symbols=10, width=32, length=9):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.position = nn.Parameter(0.3 * torch.randn(length, width))
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.out = nn.Linear(width, 8)

    def forward(self, tokens):
        return self.out(self.blocks(self.embed(tokens) + self.position)[:, -1])


def make(count):
    tokens = torch.randint(0, 8, (count, 9))
    tokens[:, -1] = torch.randint(8, 10, (count,))
    answers = tokens.gather(1, tokens[:, -1:] - 7).squeeze(1)
    return TensorDataset(tokens, answers)


@torch.no_grad()
def accuracy(model, loader):
    return sum((model(x).argmax(1) == y).float().mean().item() for x, y in loader) / len(loader)


torch.manual_seed(31)
train, valid = DataLoader(make(1280), batch_size=64, shuffle=True), DataLoader(make(256), 128)
model = Recall()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for tokens, answers in train:
        loss = F.cross_entropy(model(tokens), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
