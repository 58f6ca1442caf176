"""Water for one field, carried in one go or in several buckets; and spouts that limit the flow."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
rows = torch.randn(30, 4)
water = (rows @ torch.tensor([2.0, 0.5, -1.0, 0.0])).unsqueeze(1)
field = TensorDataset(rows, water)
buckets = DataLoader(field, batch_size=10, shuffle=False)
pump = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
at_once = copy.deepcopy(pump)
F.mse_loss(at_once(rows), water).backward()
for number, (some, wanted) in enumerate(buckets, 1):
    (F.mse_loss(pump(some), wanted) / len(buckets)).backward()
    print(number, pump[0].bias.grad.norm())
same = [
    torch.allclose(one.grad, other.grad, atol=1e-6)
    for one, other in zip(pump.parameters(), at_once.parameters())
]
print(all(same), len(field), field[3][1].shape)

pressure = nn.utils.clip_grad_norm_(pump.parameters(), max_norm=0.7)
left = torch.sqrt(sum(weight.grad.pow(2).sum() for weight in pump.parameters()))
print(pressure, left)
torch.nn.utils.clip_grad_value_(pump.parameters(), 0.04)
print(max(weight.grad.abs().max().item() for weight in pump.parameters()))
norms = [torch.norm(weight.grad.detach(), 2) for weight in pump.parameters()]
print(torch.norm(torch.stack(norms), 2), torch.norm(torch.stack(norms), float("inf")))

valve = torch.optim.RMSprop(pump.parameters(), lr=0.005)
for hour in range(4):
    spilled = 0.0
    for some, wanted in buckets:
        valve.zero_grad(set_to_none=True)
        loss = F.smooth_l1_loss(pump(some), wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(pump.parameters(), 0.3, norm_type=float("inf"))
        valve.step()
        spilled += loss.item()
    print(f"hour {hour}: {spilled:.4f} spilled")

flat = nn.utils.parameters_to_vector(pump.parameters())
print(flat.shape, flat.grad_fn.name())
nn.utils.vector_to_parameters(torch.zeros_like(flat), pump.parameters())
print(pump(rows).abs().sum())
