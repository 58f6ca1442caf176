import torch
import math

dtype = torch.float
device = torch.device("cpu")
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (
    torch.full((), v, device=device, dtype=dtype, requires_grad=True) for v in (0.1, -0.2, 0.3, 0.05)
)
for t in range(60):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum()
    if t % 20 == 19:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= 1e-06 * a.grad
        b -= 1e-06 * b.grad
        c -= 1e-06 * c.grad
        d -= 1e-06 * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None
print(f"Result: y = {a.item()} + {b.item()} x + {c.item()} x^2 + {d.item()} x^3")
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
opt = torch.optim.RMSprop(model.parameters(), lr=0.001)
for t in range(5):
    loss = torch.nn.MSELoss(reduction="sum")(model(xx), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss)
print(model[0].weight)


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.randn(()))
        self.e = torch.nn.Parameter(torch.randn(()))

    def forward(self, x):
        y = self.a
        for exp in range(4, 6):
            y = y + self.e * x**exp
        return y

    def string(self):
        return f"{self.a.item():.4f} {self.e.item():.4f}"


m = DynamicNet()
m(torch.tensor(0.5)).backward()
print(m.string(), m.a.grad, m.e.grad)
