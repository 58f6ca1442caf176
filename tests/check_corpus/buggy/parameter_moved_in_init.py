import torch
import torch.nn as nn

device, dtype = torch.device("cpu"), torch.float64


class Scaled(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.gain = nn.Parameter(torch.full((dim,), 0.1)).to(device, dtype)

    def forward(self, x):
        return self.linear(x) * self.gain


torch.manual_seed(40)
model = Scaled(4).to(device, dtype)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(32, 4, dtype=dtype)
for epoch in range(30):
    loss = (model(x) - 3 * x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), model.gain)
