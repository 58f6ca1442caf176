import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x, padding):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(x.size(-1))
        scores = scores.masked_fill(padding[:, None, :], float("-inf"))
        return torch.softmax(scores, dim=-1) @ self.value(x)


torch.manual_seed(11)
tokens = torch.tensor([[4, 2, 7, 0], [3, 0, 0, 0], [0, 0, 0, 0], [5, 6, 0, 0]])
labels = torch.tensor([1, 0, 0, 1])
embedding = nn.Embedding(10, 8, padding_idx=0)
attention, head = SelfAttention(8), nn.Linear(8, 2)
params = [*embedding.parameters(), *attention.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params, lr=0.01)
for epoch in range(8):
    pooled = attention(embedding(tokens), tokens == 0).mean(dim=1)
    loss = nn.functional.cross_entropy(head(pooled), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
