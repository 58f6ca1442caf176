import torch
import torch.nn as nn


class MF(nn.Module):
    def __init__(self, u, i, k):
        super().__init__()
        self.uf, self.itf = (nn.Embedding(u, k), nn.Embedding(i, k))
        self.ub, self.ib = (nn.Embedding(u, 1), nn.Embedding(i, 1))

    def forward(self, u, i):
        return (
            (self.uf(u) * self.itf(i)).sum(1, keepdim=True).squeeze()
            + self.ub(u).squeeze()
            + self.ib(i).squeeze()
        )


m = MF(5, 6, 3)
u, i, r = (torch.randint(0, 5, (12,)), torch.randint(0, 6, (12,)), torch.rand(12) * 5)
opt = torch.optim.Adagrad(m.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.mse_loss(m(u, i), r)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss)
R = torch.rand(4, 5)
W, H = (torch.rand(4, 2), torch.rand(2, 5))
for _ in range(10):
    H *= W.T @ R / (W.T @ W @ H)
    W *= R @ H.T / (W @ H @ H.T)
print(torch.dist(R, W @ H) < 2)
Dm = torch.randn(6, 8)
Dm /= Dm.norm(dim=0)
z = torch.zeros(8, requires_grad=True)
y = Dm[:, 1] * 2
L = torch.linalg.matrix_norm(Dm, 2) ** 2
for _ in range(20):
    l = 0.5 * (y - Dm @ z).pow(2).sum()
    (g,) = torch.autograd.grad(l, z)
    with torch.no_grad():
        z.copy_(nn.functional.softshrink(z - g / L, 0.05))
print(z)
U, S, Vh = torch.linalg.svd(R, full_matrices=False)
print(torch.allclose(U @ torch.diag(S) @ Vh, R, atol=1e-05), U[:, :2] * S[:2] @ Vh[:2], S.cumsum(0) / S.sum())
