import torch
import torch.nn as nn


class LanguageModel(nn.Module):
    """The output layer shares its weight with the embedding."""

    def __init__(self, vocabulary, dim):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocabulary)
        self.decoder.weight = nn.Parameter(self.encoder.weight.clone())

    def forward(self, tokens):
        h, _ = self.rnn(self.encoder(tokens))
        return self.decoder(h)


torch.manual_seed(25)
text = torch.randint(12, (8, 9))
lm = LanguageModel(12, 6)
optimizer = torch.optim.Adam(lm.parameters(), lr=0.01)
for epoch in range(10):
    logits = lm(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 12), text[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
