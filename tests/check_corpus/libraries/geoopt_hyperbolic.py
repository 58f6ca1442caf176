"""Embed a tree in the Poincaré ball, with a Riemannian optimizer."""

import geoopt
import torch

torch.manual_seed(0)
ball = geoopt.PoincareBall()
points = geoopt.ManifoldParameter(ball.projx(0.1 * torch.randn(15, 2)), manifold=ball)
optimizer = geoopt.optim.RiemannianAdam([points], lr=0.05)
children = torch.arange(1, 15)
parents = (children - 1) // 2
history = []
for step in range(40):
    distances = ball.dist(points.unsqueeze(1), points.unsqueeze(0))
    near = ball.dist(points[children], points[parents])
    far = torch.logsumexp(-distances[children] + 1e9 * (torch.eye(15)[children] * -1), 1)
    loss = (near + far).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.9 * history[0]
