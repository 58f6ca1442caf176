import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    """One picture in twelve has a faint spot."""

    def __init__(self, count, size=12):
        self.label = (torch.rand(count) < 1 / 12).float()
        self.image = 0.5 * torch.randn(count, 1, size, size)
        for image, label in zip(self.image, self.label):
            if label:
                top, left = torch.randint(0, size - 4, (2,)).tolist()
                image[0, top : top + 4, left : left + 4] += 0.9

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        return self.image[index], self.label[index]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
        )
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        return self.fc(self.conv(x).amax(dim=(2, 3))).squeeze(1)


def balanced_accuracy(model, loader):
    model.eval()
    scores, labels = [], []
    with torch.no_grad():
        for image, label in loader:
            scores.append(model(image))
            labels.append(label)
    model.train()
    found, label = torch.cat(scores) > 0, torch.cat(labels).bool()
    return (found[label].float().mean() + (~found[~label]).float().mean()).item() / 2


torch.manual_seed(33)
data, held_out = Scans(960), Scans(480)
train = DataLoader(data, batch_size=48, shuffle=True)
valid = DataLoader(held_out, batch_size=160)
positive = data.label.sum()
negative = len(data) - positive
model = Detector()
criterion = nn.BCEWithLogitsLoss(pos_weight=positive / negative)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    total = 0.0
    for image, label in train:
        optimizer.zero_grad()
        loss = criterion(model(image), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    score = balanced_accuracy(model, valid)
    print(f"epoch {epoch}: loss {total / len(train):.4f}, balanced accuracy {score:.3f}")
