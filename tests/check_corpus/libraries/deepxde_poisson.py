"""Solve a Poisson equation with a physics-informed net, then refine it with L-BFGS."""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import deepxde as dde
import numpy as np

dde.config.set_random_seed(0)


def equation(x, y):
    return dde.grad.hessian(y, x) + np.pi**2 * dde.backend.sin(np.pi * x)


geometry = dde.geometry.Interval(-1, 1)
edge = dde.icbc.DirichletBC(geometry, lambda x: 0, lambda x, on_boundary: on_boundary)
data = dde.data.PDE(
    geometry, equation, edge, 16, 2, solution=lambda x: np.sin(np.pi * x), num_test=50
)
model = dde.Model(data, dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform"))
model.compile("adam", lr=5e-3, metrics=["l2 relative error"], verbose=0)
first, _ = model.train(iterations=60, display_every=20, verbose=0)
dde.optimizers.set_LBFGS_options(maxiter=40)
model.compile("L-BFGS", metrics=["l2 relative error"], verbose=0)
last, _ = model.train(display_every=20, verbose=0)
assert sum(last.loss_train[-1]) < 0.1 * sum(first.loss_train[0])
