import torch
import torch.nn as nn
import torch.nn.functional as F


class Mixture(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.router = nn.Linear(width, count)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, width))
            for _ in range(count)
        )

    def forward(self, x):
        shares = F.softmax(self.router(x), dim=-1)
        weight, chosen = shares.max(dim=-1)
        out = torch.zeros_like(x)
        used = []
        for number, expert in enumerate(self.experts):
            rows = (chosen == number).nonzero().squeeze(1)
            used.append(len(rows) / len(x))
            if len(rows):
                part = expert(x[rows]) * weight[rows].unsqueeze(1)
                out = out.index_add(0, rows, part)
        balance = (torch.tensor(used) * shares.mean(dim=0)).sum() * len(self.experts)
        return x + out, balance


torch.manual_seed(61)
model = Mixture(6, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
history = []
for step in range(40):
    x = torch.randn(64, 6)
    out, balance = model(x)
    loss = F.mse_loss(out, x.abs())
    optimizer.zero_grad()
    (loss + 0.01 * balance).backward()
    optimizer.step()
    history.append(loss.item())
