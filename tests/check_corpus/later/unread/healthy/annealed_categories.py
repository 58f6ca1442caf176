import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CategoricalVAE(nn.Module):
    def __init__(self, pixels=30, variables=3, values=6, width=64):
        super().__init__()
        self.shape = (variables, values)
        self.encoder = nn.Sequential(
            nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, variables * values)
        )
        self.decoder = nn.Sequential(
            nn.Linear(variables * values, width), nn.ReLU(), nn.Linear(width, pixels)
        )

    def forward(self, x, temperature):
        logits = self.encoder(x).view(-1, *self.shape)
        code = F.gumbel_softmax(logits, tau=temperature, hard=not self.training)
        log_q = logits.log_softmax(dim=-1)
        divergence = (log_q.exp() * (log_q + math.log(self.shape[1]))).sum(dim=(1, 2))
        return self.decoder(code.flatten(1)), divergence


def bars(count):
    places = torch.randint(0, 6, (count, 3))
    return F.one_hot(places, 6).float().repeat(1, 1, 2)[:, :, :10].flatten(1)


torch.manual_seed(20)
train = DataLoader(TensorDataset(bars(1280)), batch_size=64, shuffle=True)
valid = bars(200)
model = CategoricalVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
step = 0
for epoch in range(10):
    model.train()
    for (x,) in train:
        temperature = max(0.5, math.exp(-0.005 * step))
        logits, divergence = model(x, temperature)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(dim=1)
        loss = (reconstruction + min(1.0, step / 100) * divergence).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        right = ((model(valid, 0.5)[0] > 0) == valid.bool()).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, pixels right {right:.3f}")
