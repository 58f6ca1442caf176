import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, count=128):
        self.images = torch.randint(0, 256, (count, 3, 12, 12), dtype=torch.uint8)
        self.labels = (self.images[:, 0].float().mean((1, 2)) > 127).long()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index].float()
        normal = (image / 255 - 0.5) / 0.25
        return image, self.labels[index]


torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(3):
    for image, label in DataLoader(Shapes(), 16, shuffle=True):
        loss = nn.functional.cross_entropy(net(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
