"""Variational inference with an automatic guide, of a regression with unknown noise."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
x = torch.randn(50)
y = 2 * x - 1 + 0.3 * torch.randn(50)


def model(x, y):
    slope = pyro.sample("slope", dist.Normal(0.0, 3.0))
    offset = pyro.sample("offset", dist.Normal(0.0, 3.0))
    noise = pyro.sample("noise", dist.LogNormal(0.0, 1.0))
    with pyro.plate("data", 50):
        pyro.sample("seen", dist.Normal(slope * x + offset, noise), obs=y)


guide = AutoNormal(model)
inference = SVI(model, guide, pyro.optim.ClippedAdam({"lr": 0.05}), Trace_ELBO(num_particles=4))
history = [inference.step(x, y) for _ in range(80)]
assert sum(history[-10:]) < 0.7 * sum(history[:10])
