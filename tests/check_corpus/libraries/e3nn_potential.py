"""Fit energies and forces of atoms with equivariant convolutions."""

import torch
from e3nn import o3
from e3nn.math import soft_one_hot_linspace
from e3nn.nn import FullyConnectedNet, Gate

torch.manual_seed(0)
harmonics = o3.Irreps.spherical_harmonics(2)


class Convolution(torch.nn.Module):
    def __init__(self, given, wanted):
        super().__init__()
        self.product = o3.FullyConnectedTensorProduct(
            given, harmonics, wanted, shared_weights=False
        )
        self.radial = FullyConnectedNet(
            [8, 16, self.product.weight_numel], torch.nn.functional.silu
        )

    def forward(self, x, ends, directions, lengths, number):
        radii = soft_one_hot_linspace(lengths, 0.0, 3.0, 8, basis="smooth_finite", cutoff=True)
        messages = self.product(x[ends[0]], directions, self.radial(radii * 8**0.5))
        return x.new_zeros(number, messages.shape[1]).index_add(0, ends[1], messages) / 2


class Potential(torch.nn.Module):
    def __init__(self):
        super().__init__()
        silu, sigmoid = torch.nn.functional.silu, torch.sigmoid
        self.gate = Gate("8x0e", [silu], "4x0e", [sigmoid], "4x1o")
        self.first = Convolution("1x0e", self.gate.irreps_in)
        self.second = Convolution(self.gate.irreps_out, "1x0e")

    def forward(self, places):
        number = len(places)
        ends = (1 - torch.eye(number)).nonzero().T
        between = places[ends[1]] - places[ends[0]]
        directions = o3.spherical_harmonics(harmonics, between, True, normalization="component")
        edges = ends, directions, between.norm(dim=1), number
        x = self.gate(self.first(places.new_ones(number, 1), *edges))
        return self.second(x, *edges).sum()


model = Potential()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
history = []
for step in range(40):
    places = (torch.randn(4, 3) * 0.8).requires_grad_()
    pairs = torch.pdist(places)
    true_energy = (-(pairs**2)).exp().sum()
    (true_forces,) = torch.autograd.grad(true_energy, places)
    energy = model(places)
    (forces,) = torch.autograd.grad(energy, places, create_graph=True)
    loss = (energy - true_energy.detach()) ** 2 + (forces - true_forces).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-10:]) < 0.7 * sum(history[:10])
