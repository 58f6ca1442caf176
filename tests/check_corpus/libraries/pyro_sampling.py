"""Hamiltonian sampling of two means; steps of the sampler may be refused."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS

pyro.set_rng_seed(0)
seen = torch.tensor([2.0, -1.0]) + 0.3 * torch.randn(20, 2)


def model(seen):
    mean = pyro.sample("mean", dist.Normal(torch.zeros(2), 5.0).to_event(1))
    scale = pyro.sample("scale", dist.HalfNormal(1.0))
    with pyro.plate("data", 20):
        pyro.sample("seen", dist.Normal(mean, scale).to_event(1), obs=seen)


sampler = MCMC(NUTS(model), num_samples=20, warmup_steps=20, disable_progbar=True)
sampler.run(seen)
mean = sampler.get_samples()["mean"].mean(0)
assert (mean - seen.mean(0)).abs().max() < 0.3
