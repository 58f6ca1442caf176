import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(29)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(3))
        self.classifier = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.classifier(x)


model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(32, 8)
y = (x.norm(dim=1) > 2.7).long()
for step in range(15):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step, loss.item())
