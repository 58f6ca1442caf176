import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, h, tokens):
        states = []
        for t in range(tokens.size(1)):
            h = self.cell(self.embed(tokens[:, t]), h)
            states.append(h)
        return self.out(torch.stack(states, 1).data)


torch.manual_seed(64)
recipes = torch.randint(15, (10, 7))
images = torch.randn(10, 8)
decoder = Decoder(15, 8)
optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
for step in range(12):
    logits = decoder(images, recipes[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), recipes[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
