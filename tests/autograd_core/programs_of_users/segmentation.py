import torch
import torch.nn as nn
import torch.nn.functional as F


def double(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1),
        nn.GroupNorm(2, cout),
        nn.SiLU(),
        nn.Conv2d(cout, cout, 3, padding=1),
        nn.SiLU(),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = (double(1, 4), double(4, 8))
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.u1 = double(8, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.up(b)
        c = F.pad(c, [0, a.size(3) - c.size(3), 0, a.size(2) - c.size(2)])
        return self.out(self.u1(torch.cat([a, c], dim=1)))


def dice(p, t, eps=1e-06):
    i = (p * t).sum((-1, -2))
    u = p.sum((-1, -2)) + t.sum((-1, -2))
    return (1 - (2 * i + eps) / (u + eps)).mean()


net = UNet()
x = torch.randn(2, 1, 7, 9)
t = (x > 0).float()
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
for i in range(3):
    o = net(x)
    loss = F.binary_cross_entropy_with_logits(o, t) + dice(torch.sigmoid(o), t)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    print(loss)
print(
    F.interpolate(o, scale_factor=2, mode="bilinear", align_corners=False).shape,
    F.interpolate(o, size=(4, 4), mode="nearest").sum(),
)
