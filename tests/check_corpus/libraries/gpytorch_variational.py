"""A sparse variational Gaussian process with a classification likelihood."""

import gpytorch
import torch
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

torch.manual_seed(0)
x = torch.rand(100, 1)
y = (torch.sin(9 * x[:, 0]) > 0).float()


class Model(gpytorch.models.ApproximateGP):
    def __init__(self, places):
        distribution = CholeskyVariationalDistribution(len(places))
        super().__init__(VariationalStrategy(self, places, distribution))
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


model = Model(torch.linspace(0, 1, 12).view(-1, 1))
likelihood = gpytorch.likelihoods.BernoulliLikelihood()
bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=100)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
history = []
for step in range(40):
    chosen = torch.randperm(100)[:25]
    loss = -bound(model(x[chosen]), y[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-5:]) < 0.9 * sum(history[:5])
