"""Attention over padded texts: a batch with an empty text makes every weight nan.

All scores of that text are masked with -inf, and the softmax of nothing but -inf is 0 / 0. The
first batch is harmless; the second one is not.
"""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.score = nn.Linear(8, 1)
        self.output = nn.Linear(8, 2)

    def forward(self, words, lengths):
        vectors = self.embedding(words)
        padding = torch.arange(words.shape[1]) >= lengths.unsqueeze(1)
        scores = self.score(vectors).squeeze(2).masked_fill(padding, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return self.output((weights.unsqueeze(2) * vectors).sum(1))


torch.manual_seed(0)
torch.set_num_threads(1)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for lengths in ([5, 3, 4], [2, 0, 5]):
    words, labels = torch.randint(20, (3, 5)), torch.tensor([0, 1, 0])
    loss = nn.functional.cross_entropy(model(words, torch.tensor(lengths)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss = {loss.item():.4f}")

print("weights that are nan:", sum(int(p.isnan().sum()) for p in model.parameters()))
