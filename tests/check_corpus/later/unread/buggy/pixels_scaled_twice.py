import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ToFloat:
    def __call__(self, image):
        return image.float() / 255


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, image):
        return (image / 255 - self.mean) / self.std


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


class Digits(Dataset):
    def __init__(self, count, transform, size=10):
        self.label = torch.randint(0, 4, (count,))
        image = torch.randint(0, 120, (count, 1, size, size))
        for picture, label in zip(image, self.label):
            side = 5 * (label // 2), 5 * (label % 2)
            picture[0, side[0] : side[0] + 5, side[1] : side[1] + 5] += 60
        self.image, self.transform = image.to(torch.uint8), transform

    def __len__(self):
        return len(self.label)

    def __getitem__(self, index):
        return self.transform(self.image[index]), self.label[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc1 = nn.Linear(8 * 16, 32)
        self.fc2 = nn.Linear(32, 4)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x))).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


def test(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for image, label in loader:
            right += (model(image).argmax(dim=1) == label).sum().item()
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(35)
transform = Compose(ToFloat(), Normalize(0.28, 0.16))
train = DataLoader(Digits(640, transform), batch_size=32, shuffle=True)
valid = DataLoader(Digits(200, transform), batch_size=100)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    for image, label in train:
        optimizer.zero_grad()
        loss = criterion(model(image), label)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {test(model, valid):.3f}")
