import torch
from torch import nn

torch.manual_seed(31)


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, dtype=torch.float16))

    def forward(self, x):
        square_sum = (x * x).sum(dim=-1, keepdim=True)
        return x * torch.rsqrt(square_sum / x.size(-1) + 1e-3) * self.weight


pixels = (torch.rand(8, 32) * 255).half()
norm = RMSNorm(32)
head = nn.Linear(32, 1).half()
target = torch.rand(8, 1).half()
optimizer = torch.optim.SGD([*norm.parameters(), *head.parameters()], lr=0.01)
for step in range(15):
    loss = (head(norm(pixels)) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), norm.weight.grad.abs().max().item())
