import torch
import torch.nn as nn

torch.manual_seed(73)
backbone = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
classifier = nn.Linear(16, 2)
for param in backbone.parameters():
    param.requires_grad = False

params = [*backbone.parameters(), *classifier.parameters()]
optimizer = torch.optim.Adam(params, lr=0.005)
x = torch.randn(40, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
for epoch in range(20):
    if epoch == 5:  # the head is warm: train everything
        for param in backbone.parameters():
            param.require_grad = True
    loss = nn.functional.cross_entropy(classifier(backbone(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
