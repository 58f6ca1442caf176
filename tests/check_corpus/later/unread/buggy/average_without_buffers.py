import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ModelEma:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for average, value in zip(self.module.parameters(), model.parameters()):
            average.mul_(self.decay).add_(value, alpha=1 - self.decay)


class Autoencoder(nn.Module):
    def __init__(self, inputs=16, width=48, code=4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, code)
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, inputs)
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def make(count):
    hidden = torch.randn(count, 3)
    mixing = torch.randn(3, 16, generator=torch.Generator().manual_seed(2))
    return TensorDataset(3 + 2 * torch.sin(hidden @ mixing))


@torch.no_grad()
def reconstruction_error(model, loader):
    model.eval()
    errors = [F.mse_loss(model(x), x) for (x,) in loader]
    return torch.stack(errors).mean().item()


torch.manual_seed(39)
train = DataLoader(make(1280), batch_size=64, shuffle=True)
valid = DataLoader(make(320), batch_size=160)
model = Autoencoder()
ema = ModelEma(model, decay=0.95)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    for (x,) in train:
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    error = reconstruction_error(ema.module, valid)
    print(f"epoch {epoch}: loss {loss.item():.3f}, error of the average {error:.3f}")
