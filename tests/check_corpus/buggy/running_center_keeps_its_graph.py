# center loss with a running center of the features
import torch
from torch import nn

torch.manual_seed(51)
embed = nn.Linear(6, 3, bias=False)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.05)
center = torch.zeros(3)

for step in range(25):
    features = embed(torch.randn(16, 6) + 1)
    center = 0.9 * center + 0.1 * features.mean(dim=0)
    spread = (features - center).pow(2).sum(dim=1).mean()
    loss = spread - features.norm(dim=1).clamp(max=3).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()

print("center", center.tolist())
