import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.conv = nn.Conv1d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32, 4)

    def forward(self, tokens):
        x = F.dropout(self.embed(tokens), 0.3, training=self.training).transpose(1, 2)
        x = F.dropout1d(F.relu(self.conv(x)), 0.3, training=self.training)
        return self.fc(x.transpose(1, 2))


tokens = torch.randint(30, (16, 10))
tags = tokens % 4
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
history = []
for epoch in range(30):
    model.train()
    loss = F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        history.append(F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten()).item())
