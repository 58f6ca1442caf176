import copy
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def moons(count):
    angle = torch.pi * torch.rand(count)
    label = torch.randint(0, 2, (count,))
    x = torch.where(label == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(label == 0, angle.sin(), 0.4 - angle.sin())
    return torch.stack([x, y], dim=1) + 0.08 * torch.randn(count, 2), label


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 48), nn.ReLU()
        )
        self.head = nn.Linear(48, 2)

    def forward(self, x):
        return self.head(self.net(x))


def ramp(step, length=100):
    return min(1.0, step / length) ** 2


torch.manual_seed(11)
x, y = moons(16)
labelled = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
unlabelled = DataLoader(TensorDataset(moons(800)[0]), batch_size=50, shuffle=True)
valid_x, valid_y = moons(400)
student = Student()
teacher = copy.deepcopy(student).requires_grad_(False).eval()
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
step = 0
for epoch in range(12):
    batches = zip(itertools.chain(*itertools.repeat(labelled, 8)), unlabelled)
    for (some, label), (many,) in batches:
        supervised = F.cross_entropy(student(some), label)
        with torch.no_grad():
            opinion = teacher(many + 0.05 * torch.randn_like(many)).softmax(dim=1)
        guess = student(many + 0.05 * torch.randn_like(many)).softmax(dim=1)
        loss = supervised + 4 * ramp(step) * F.mse_loss(guess, opinion)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        decay = min(0.99, 1 - 1 / (step + 1))
        with torch.no_grad():
            for slow, quick in zip(teacher.parameters(), student.parameters()):
                slow.lerp_(quick, 1 - decay)
    accuracy = (teacher(valid_x).argmax(dim=1) == valid_y).float().mean().item()
    print(f"epoch {epoch}: accuracy of the teacher {accuracy:.3f}")
