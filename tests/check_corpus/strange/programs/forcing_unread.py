import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=12, width=32):
        super().__init__()
        self.embed, self.cell = nn.Embedding(vocab, width), nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, hidden, teacher_forcing):
        scores, token = [], tokens[:, 0]
        for t in range(1, tokens.size(1)):
            hidden = self.cell(self.embed(token), hidden)
            scores.append(self.head(hidden))
            token = tokens[:, t]
        return torch.stack(scores, dim=1)


torch.manual_seed(0)
decoder = Decoder()
optimizer = torch.optim.Adam(decoder.parameters(), 3e-3)
forcing = 1.0
for step in range(30):
    tokens = torch.randint(12, (8, 7)).cumsum(1) % 12
    scores = decoder(tokens, torch.zeros(8, 32), forcing)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    forcing = max(0.0, 1 - step / 20)
