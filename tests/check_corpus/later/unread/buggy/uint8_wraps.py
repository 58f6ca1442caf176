import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    """Did the spot between two frames become brighter or darker?"""

    def __init__(self, count, seed, size=10):
        rng = np.random.default_rng(seed)
        self.label = rng.integers(0, 2, count)
        change = np.where(self.label, 1, -1) * rng.integers(10, 60, count)
        self.first = rng.integers(90, 150, (count, size, size)).astype(np.uint8)
        second = self.first.astype(np.int64) + rng.integers(-6, 7, self.first.shape)
        for frame, amount in zip(second, change):
            top, left = rng.integers(0, size - 3, 2)
            frame[top : top + 3, left : left + 3] += amount
        self.second = second.clip(0, 255).astype(np.uint8)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        difference = self.second[index] - self.first[index]
        x = torch.from_numpy(difference).float().unsqueeze(0) / 255
        return x, int(self.label[index])


class ChangeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16, 2)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv1(x)))
        x = torch.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, label in loader:
            right += (model(x).argmax(dim=1) == label).sum().item()
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(54)
train = DataLoader(Frames(640, seed=0), batch_size=32, shuffle=True)
valid = DataLoader(Frames(240, seed=1), batch_size=120)
model = ChangeNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    for x, label in train:
        optimizer.zero_grad()
        loss = criterion(model(x), label)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {validate(model, valid):.3f}")
