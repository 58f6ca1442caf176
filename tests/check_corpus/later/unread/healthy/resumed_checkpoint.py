import io

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count):
    x = torch.rand(count, 4)
    return TensorDataset(x, torch.stack([x.prod(dim=1), x.amax(dim=1)], dim=1))


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)
        )

    def forward(self, x):
        return self.net(x)


class Job:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-3)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=12)
        self.epoch = 0

    def save(self):
        file = io.BytesIO()
        parts = self.model, self.optimizer, self.schedule
        torch.save({"epoch": self.epoch, "parts": [part.state_dict() for part in parts]}, file)
        return file.getvalue()

    def load(self, checkpoint):
        state = torch.load(io.BytesIO(checkpoint), weights_only=True)
        self.epoch = state["epoch"]
        for part, values in zip((self.model, self.optimizer, self.schedule), state["parts"]):
            part.load_state_dict(values)

    def run(self, loader, until):
        while self.epoch < until:
            for x, y in loader:
                loss = F.huber_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.schedule.step()
            self.epoch += 1
            print(f"epoch {self.epoch}: rate {self.schedule.get_last_lr()[0]:.5f}, loss {loss:.6f}")


torch.manual_seed(35)
loader, valid = DataLoader(make(960), batch_size=64, shuffle=True), make(300)
first = Job()
first.run(loader, until=5)
checkpoint = first.save()
del first
second = Job()
second.load(checkpoint)
second.run(loader, until=12)
with torch.no_grad():
    x, y = valid.tensors
    print(f"error {(second.model(x) - y).abs().mean().item():.4f}")
