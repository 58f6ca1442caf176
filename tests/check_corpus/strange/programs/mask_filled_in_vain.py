import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=30, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = self.query(x) @ self.key(x).transpose(1, 2) / 32**0.5
        mask = (tokens != 0).unsqueeze(1)
        scores.masked_fill(~mask, float("-inf"))
        x = torch.softmax(scores, dim=-1) @ self.value(x)
        return self.out(x.mean(1))


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(30):
    tokens = torch.randint(1, 30, (16, 12))
    for row, length in enumerate(torch.randint(3, 12, (16,)).tolist()):
        tokens[row, length:] = 0
    labels = (tokens == 7).any(1).long()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
