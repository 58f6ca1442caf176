import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
encoder, decoder = nn.Linear(8, 4), nn.Linear(4, 8)
classifier = nn.Linear(4, 2)
modules = nn.ModuleList([encoder, decoder, classifier])
optimizer = torch.optim.Adam(modules.parameters(), lr=0.02)
x = torch.randn(64, 8)
y = (x[:, 0] > 0).long()
history = []
for epoch in range(60):
    code = torch.tanh(encoder(x))
    if epoch < 20:  # first learn to describe, then to decide
        loss = F.mse_loss(decoder(code), x)
    elif epoch < 40:
        loss = F.mse_loss(decoder(code), x) + F.cross_entropy(classifier(code), y)
    else:
        loss = F.cross_entropy(classifier(code), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(F.cross_entropy(classifier(code), y).item())
