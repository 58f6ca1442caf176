import math

import torch
from torch import nn

torch.manual_seed(27)
tokens = torch.tensor([[4, 2, 7, 1], [3, 5, 0, 0], [8, 0, 0, 0], [5, 6, 2, 0]])
labels = torch.tensor([1, 0, 0, 1])
embedding = nn.Embedding(10, 8, padding_idx=0)
q, k, v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
head = nn.Linear(8, 2)
modules = nn.ModuleList([embedding, q, k, v, head])
optimizer = torch.optim.Adam(modules.parameters(), lr=0.02)
padding = tokens == 0
causal = torch.triu(torch.full((4, 4), float("-inf")), diagonal=1)
history = []
for epoch in range(25):
    x = embedding(tokens)
    scores = q(x) @ k(x).transpose(1, 2) / math.sqrt(8) + causal
    scores = scores.masked_fill(padding[:, None, :], float("-inf"))
    mixed = torch.softmax(scores, dim=-1) @ v(x)
    last = mixed[torch.arange(4), (~padding).sum(dim=1) - 1]
    loss = nn.functional.cross_entropy(head(last), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
