import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab=20, width=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocab, width), nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


torch.manual_seed(0)
text = torch.randint(20, (4000,))
model = LM()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(30):
    starts = torch.randint(3900, (16,))
    x = torch.stack([text[s : s + 20] for s in starts])
    y = torch.stack([text[s : s + 20] for s in starts])
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
