import torch
import torch.nn as nn


class Patch(nn.Module):
    def __init__(self, p, d):
        super().__init__()
        self.proj = nn.Conv2d(3, d, p, p)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2 = (nn.LayerNorm(d), nn.LayerNorm(d))
        self.attn = nn.MultiheadAttention(d, h, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.0), nn.Linear(2 * d, d))

    def forward(self, x):
        y = self.n1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class ViT(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.patch = Patch(4, d)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.zeros(1, 5, d))
        self.blocks = nn.ModuleList([Block(d, 2) for _ in range(2)])
        self.head = nn.Linear(d, 3)

    def forward(self, x):
        x = self.patch(x)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), 1) + self.pos
        for b in self.blocks:
            x = b(x)
        return self.head(x[:, 0])


net = ViT()
x, y = (torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 0]))
decay = [p for n, p in net.named_parameters() if p.ndim > 1]
rest = [p for n, p in net.named_parameters() if p.ndim <= 1]
opt = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=0.01
)
sched = torch.optim.lr_scheduler.SequentialLR(
    opt,
    [
        torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=2),
        torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4),
    ],
    milestones=[2],
)
for i in range(4):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    print(f"{loss.item():.4f}", sched.get_last_lr())
print(net)
print(net.cls.grad)
