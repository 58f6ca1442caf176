import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Diffusion:
    def __init__(self, steps=40):
        self.steps = steps
        self.betas = torch.linspace(1e-3, 0.2, steps)
        self.alphas = 1 - self.betas
        self.alpha_bar = self.alphas

    def noised(self, x, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, count):
        x = torch.randn(count, 2)
        for t in reversed(range(self.steps)):
            noise = model(x, torch.full((count,), t))
            x = x - self.betas[t] / (1 - self.alpha_bar[t]).sqrt() * noise
            x = x / self.alphas[t].sqrt()
            if t > 0:
                x = x + self.betas[t].sqrt() * torch.randn_like(x)
        return x


class Denoiser(nn.Module):
    def __init__(self, steps=40, width=64):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.enter = nn.Linear(2, width)
        self.net = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(self.enter(x) + self.time(t))


def clusters(count):
    left = torch.rand(count, 1) < 0.85
    center = torch.tensor([2.0, 0.5])
    return torch.where(left, -center, center) + 0.2 * torch.randn(count, 2)


def share_on_the_left(x):
    return (x[:, 0] < 0).float().mean().item()


torch.manual_seed(9)
loader = DataLoader(TensorDataset(clusters(2560)), batch_size=128, shuffle=True)
diffusion, model = Diffusion(), Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(15):
    for (x,) in loader:
        t = torch.randint(0, diffusion.steps, (len(x),))
        noise = torch.randn_like(x)
        loss = F.mse_loss(model(diffusion.noised(x, t, noise), t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch}: loss {loss.item():.3f}")
share = share_on_the_left(diffusion.sample(model, 500))
print(f"85 % of the data are on the left; of the samples {share:.3f}")
