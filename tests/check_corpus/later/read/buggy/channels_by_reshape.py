import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, count)
        self.images = rng.uniform(0, 180, (count, 16, 16, 3))
        for image, label in zip(self.images, self.labels):
            top, left = rng.integers(0, 8, 2)
            image[top : top + 8, left : left + 8, label] += 70
        self.images = self.images.astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).float() / 255
        image = image.reshape(3, 16, 16)
        return (image - 0.4) / 0.25, int(self.labels[index])


class ConvNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(32, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def validate(model, loader):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return correct / total


torch.manual_seed(3)
train_loader = DataLoader(Photos(480, 0), batch_size=32, shuffle=True)
valid_loader = DataLoader(Photos(240, 1), batch_size=80)
model = ConvNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: accuracy {validate(model, valid_loader):.3f}")
