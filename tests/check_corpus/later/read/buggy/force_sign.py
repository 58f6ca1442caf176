import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def true_energy(distance):
    return (1 - torch.exp(-1.2 * (distance - 1.1))) ** 2


class Trimers(Dataset):
    def __init__(self, count):
        corners = torch.tensor([[0.0, 0.0], [1.2, 0.0], [0.6, 1.0]])
        positions = (corners + 0.15 * torch.randn(count, 3, 2)).requires_grad_()
        energy = true_energy(pair_distances(positions)).sum(dim=1)
        (slope,) = torch.autograd.grad(energy.sum(), positions)
        self.positions, self.energy = positions.detach(), energy.detach()
        self.forces = -slope

    def __len__(self):
        return len(self.positions)

    def __getitem__(self, index):
        return self.positions[index], self.energy[index], self.forces[index]


def pair_distances(positions):
    first, second = torch.tensor([0, 0, 1]), torch.tensor([1, 2, 2])
    return (positions[:, first] - positions[:, second]).norm(dim=-1)


class Potential(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.pair = nn.Sequential(
            nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )

    def forward(self, positions):
        positions = positions.requires_grad_()
        energy = self.pair(pair_distances(positions).unsqueeze(-1)).sum(dim=(1, 2))
        (forces,) = torch.autograd.grad(energy.sum(), positions, create_graph=self.training)
        return energy, forces


def evaluate(model, loader):
    model.eval()
    errors = [(model(x)[1] - f).abs().mean().item() for x, _, f in loader]
    model.train()
    return sum(errors) / len(errors)


torch.manual_seed(14)
train = DataLoader(Trimers(512), batch_size=32, shuffle=True)
valid = DataLoader(Trimers(128), batch_size=64)
model = Potential()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(12):
    for positions, energy, forces in train:
        predicted_energy, predicted_forces = model(positions)
        loss = (predicted_energy - energy).square().mean()
        loss = loss + (predicted_forces - forces).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}, force error {evaluate(model, valid):.4f}")
