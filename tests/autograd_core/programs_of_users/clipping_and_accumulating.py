import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(32, 5)
Y = (X @ torch.tensor([1., -2., 0.5, 0., 3.])).unsqueeze(1)
ds = TensorDataset(X, Y)
loader = DataLoader(ds, batch_size=8, shuffle=False)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
big = copy.deepcopy(model)
F.mse_loss(big(X), Y).backward()
accumulation_steps = 4
for i, (inputs, labels) in enumerate(loader):
    loss = F.mse_loss(model(inputs), labels) / accumulation_steps
    loss.backward()
for p, q in zip(model.parameters(), big.parameters()):
    print(torch.allclose(p.grad, q.grad, atol=1e-6))
print(len(loader), len(ds), ds[0][0].shape)
total_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
print(total_norm)
print(torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters())))
nn.utils.clip_grad_value_(model.parameters(), 0.05)
print(max(p.grad.abs().max().item() for p in model.parameters()))
print(torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in model.parameters()]), 2))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
for epoch in range(5):
    running = 0.0
    for i, data in enumerate(loader, 0):
        inputs, labels = data
        optimizer.zero_grad(set_to_none=True)
        loss = F.smooth_l1_loss(model(inputs), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5, norm_type=float('inf'))
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1} loss {running / len(loader):.4f}")
vec = nn.utils.parameters_to_vector(model.parameters())
print(vec.shape, vec.grad_fn.name())
nn.utils.vector_to_parameters(vec * 0, model.parameters())
print(model(X).abs().sum())
