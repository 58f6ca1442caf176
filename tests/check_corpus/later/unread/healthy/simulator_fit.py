import torch
from torch import nn


class Ball(nn.Module):
    """A ball with unknown drag and bounce; both are found through the simulation."""

    def __init__(self, drag=0.1, bounce=0.5):
        super().__init__()
        self.raw_drag = nn.Parameter(torch.tensor(drag).log())
        self.raw_bounce = nn.Parameter(torch.tensor(bounce).logit())

    @property
    def drag(self):
        return self.raw_drag.exp()

    @property
    def bounce(self):
        return self.raw_bounce.sigmoid()

    def forward(self, height, speed, steps=40, dt=0.025):
        path = []
        for _ in range(steps):
            speed = speed + dt * (-9.8 - self.drag * speed * speed.abs())
            height = height + dt * speed
            hit = (height < 0) & (speed < 0)
            speed = torch.where(hit, -self.bounce * speed, speed)
            height = torch.where(hit, -height, height)
            path.append(height)
        return torch.stack(path, dim=1)


def throws(count):
    return 0.5 + torch.rand(count), 2 * torch.rand(count) - 1


torch.manual_seed(36)
with torch.no_grad():
    truth = Ball(drag=0.35, bounce=0.75)
    start = throws(60)
    seen = truth(*start) + 0.005 * torch.randn(60, 40)
model = Ball()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 40, gamma=0.5)
for iteration in range(120):
    rows = torch.randperm(60)[:20]
    path = model(start[0][rows], start[1][rows])
    loss = nn.functional.smooth_l1_loss(path, seen[rows], beta=0.05)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if iteration % 30 == 29:
        found = f"drag {model.drag.item():.3f}, bounce {model.bounce.item():.3f}"
        print(f"iteration {iteration}: loss {loss.item():.5f}, {found}")
