import torch
import torch.nn as nn


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        h, _ = self.gru(self.embed(tokens))
        return self.out(h)


torch.manual_seed(8)
text = (torch.arange(80) * 7 % 12).view(8, 10)
model = TinyLM(12, 16)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
history = []
for epoch in range(30):
    logits = model(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
