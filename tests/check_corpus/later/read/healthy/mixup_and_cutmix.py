import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, default_collate

CLASSES = 3


def images(count, size=10):
    label = torch.randint(0, CLASSES, (count,))
    image = 0.5 * torch.randn(count, CLASSES, size, size)
    image[torch.arange(count), label] += 0.6
    return TensorDataset(image, label)


def mix(batch):
    image, label = default_collate(batch)
    target = F.one_hot(label, CLASSES).float()
    share = torch.distributions.Beta(0.8, 0.8).sample().item()
    other = torch.randperm(len(image))
    if torch.rand(()) < 0.5:
        image = share * image + (1 - share) * image[other]
    else:
        side = int(image.size(-1) * (1 - share) ** 0.5)
        top = int(torch.randint(0, image.size(-1) - side + 1, ()))
        left = int(torch.randint(0, image.size(-1) - side + 1, ()))
        box = (..., slice(top, top + side), slice(left, left + side))
        image[box] = image[other][box]
        share = 1 - side * side / image.size(-1) ** 2
    return image, share * target + (1 - share) * target[other]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2), nn.ReLU()
        )
        self.fc = nn.Linear(24, CLASSES)

    def forward(self, x):
        return self.fc(self.conv(x).mean(dim=(2, 3)))


torch.manual_seed(12)
train = DataLoader(images(640), batch_size=32, shuffle=True, collate_fn=mix)
valid = DataLoader(images(200), batch_size=100)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=6 * len(train))
for epoch in range(6):
    model.train()
    for image, target in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(image), target)
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in valid)
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / 200:.3f}")
