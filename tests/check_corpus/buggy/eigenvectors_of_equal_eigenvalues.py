import torch
from torch import nn

torch.manual_seed(16)


def whiten(x, cov):
    values, vectors = torch.linalg.eigh(cov)
    return x @ vectors / (values + 1e-3).sqrt()


class Whitening(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.factor = nn.Parameter(torch.eye(dim))
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        cov = self.factor @ self.factor.T
        return self.out(whiten(x, cov))


x = torch.randn(32, 4)
y = x[:, :1] - x[:, 1:2]
model = Whitening(4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
