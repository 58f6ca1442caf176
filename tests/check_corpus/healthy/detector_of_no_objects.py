import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, l1_loss

torch.manual_seed(4)
trunk = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
scores, large, small = nn.Linear(32, 8), nn.Linear(32, 16), nn.Linear(32, 16)
parts = nn.ModuleList([trunk, scores, large, small])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
x = torch.randn(16, 12)
objects = torch.zeros(16, 8)
objects[:, :3] = (x[:, :3] > 0).float()  # all of them are large
history = []
for step in range(40):
    h = trunk(x)
    boxes = torch.stack([*large(h).view(16, 4, 4).unbind(1), *small(h).view(16, 4, 4).unbind(1)], 1)
    positive = objects.bool()
    loss = binary_cross_entropy_with_logits(scores(h), objects) + l1_loss(
        boxes[positive], torch.ones(int(positive.sum()), 4)
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
