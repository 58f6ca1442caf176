import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, pixels=36, width=64, latent=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.ReLU())
        self.mean, self.log_var = nn.Linear(width, latent), nn.Linear(width, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, pixels))

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_var = self.mean(hidden), self.log_var(hidden)
        z = mean + (0.5 * log_var).exp() * torch.randn_like(mean)
        return self.decoder(z), mean, log_var


def vae_loss(logits, x, mean, log_var):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * torch.mean(1 + log_var - mean**2 - log_var.exp())
    return reconstruction + divergence


def crosses(count, size=6):
    row, column = torch.randint(0, size, (2, count))
    image = 0.05 * torch.ones(count, size, size)
    image[torch.arange(count), row] = 0.95
    image[torch.arange(count), :, column] = 0.95
    return torch.bernoulli(image).flatten(1)


@torch.no_grad()
def distance_to_data(model, data, count=300):
    samples = torch.sigmoid(model.decoder(torch.randn(count, 2)))
    return torch.cdist(samples, data).amin(dim=1).mean().item()


@torch.no_grad()
def spread_of_codes(model, data):
    return model(data)[1].std().item()


torch.manual_seed(40)
data = crosses(1280)
loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    total = 0.0
    for (x,) in loader:
        logits, mean, log_var = model(x)
        loss = vae_loss(logits, x, mean, log_var)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(data)
    if epoch % 5 == 4:
        print(f"epoch {epoch}: loss {total:.3f}, samples {distance_to_data(model, data):.3f}")
print(f"spread of the codes, which should be near 1: {spread_of_codes(model, data):.3f}")
