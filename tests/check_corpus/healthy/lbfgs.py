import torch

torch.manual_seed(10)
xy = torch.tensor([-1.5, 2.0], requires_grad=True)
optimizer = torch.optim.LBFGS([xy], lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
history = []


def closure():
    optimizer.zero_grad()
    x, y = xy
    loss = (1 - x) ** 2 + 100 * (y - x**2) ** 2
    loss.backward()
    return loss


for _ in range(10):
    history.append(optimizer.step(closure).item())
