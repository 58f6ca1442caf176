import torch
import torch.nn as nn


class Best(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model


torch.manual_seed(92)
x = torch.randn(32, 4)
y = x[:, :1] - 2 * x[:, 1:2]
history, best = [], None
for start in range(3):
    model = nn.Linear(4, 1)
    for step in range(10):
        loss = (model(x) - y).pow(2).mean()
        if best is not None:  # how much better the one before was
            gap = loss.item() - (best.model(x) - y).pow(2).mean().item()
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        if start == 2:
            history.append(loss.item())
    best = Best(model)
    del model
