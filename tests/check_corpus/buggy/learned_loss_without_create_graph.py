# meta-learning: an inner step with a learned loss, then an outer step on the true loss
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
loss_net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Softplus())
w = nn.Parameter(torch.randn(3, 1) * 0.1)
meta_optimizer = torch.optim.Adam([w, *loss_net.parameters()], lr=1e-2)

for it in range(30):
    task = torch.randn(3, 1)
    x_support, x_query = torch.randn(16, 3), torch.randn(16, 3)
    y_support, y_query = x_support @ task, x_query @ task

    inner_loss = loss_net(torch.cat([x_support @ w, y_support], dim=1)).mean()
    (grad,) = torch.autograd.grad(inner_loss, [w])
    fast_w = w - 0.1 * grad

    outer_loss = F.mse_loss(x_query @ fast_w, y_query)
    meta_optimizer.zero_grad()
    outer_loss.backward()
    meta_optimizer.step()

print("outer loss", outer_loss.item())
