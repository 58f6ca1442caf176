import torch
import torch.nn as nn
import torch.nn.functional as F


class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(8, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16)
        )
        self.encoder[3].bias.requires_grad = False  # a norm follows
        self.norm = nn.BatchNorm1d(16, affine=False)
        self.predictor = nn.Sequential(nn.Linear(16, 4), nn.ReLU(), nn.Linear(4, 16))

    def forward(self, x1, x2):
        z1, z2 = self.norm(self.encoder(x1)), self.norm(self.encoder(x2))
        return self.predictor(z1), self.predictor(z2), z1.detach(), z2.detach()


torch.manual_seed(4)
model = SimSiam()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
history = []
for step in range(40):
    x = torch.randn(64, 8)
    p1, p2, z1, z2 = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = -(F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean()) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(1 + loss.item())
