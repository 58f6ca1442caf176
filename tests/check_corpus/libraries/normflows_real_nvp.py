"""Fit a Real NVP to two half moons, with the forward Kullback-Leibler divergence."""

import normflows as nf
import torch

torch.manual_seed(0)
flows = []
for _ in range(4):
    net = nf.nets.MLP([1, 16, 16, 2], init_zeros=True)
    flows += [nf.flows.AffineCouplingBlock(net), nf.flows.Permute(2, mode="swap")]
model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), flows)
target = nf.distributions.TwoMoons()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
history = []
for step in range(40):
    loss = model.forward_kld(target.sample(128))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-5:]) < sum(history[:5]) - 1
