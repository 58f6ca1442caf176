"""Bayesian optimization: fit a Gaussian process, and climb its expected improvement."""

import warnings

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import qLogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.filterwarnings("ignore", module="botorch")
torch.manual_seed(0)
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def objective(x):
    return -((x - 0.3) ** 2).sum(-1, keepdim=True)


x = torch.rand(6, 2, dtype=torch.float64)
y = objective(x)
first = y.max().item()
for _ in range(3):
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    improvement = qLogExpectedImprovement(model, best_f=y.max())
    new, _ = optimize_acqf(improvement, bounds, q=1, num_restarts=2, raw_samples=8)
    x, y = torch.cat([x, new]), torch.cat([y, objective(new)])
assert y.max().item() > first
