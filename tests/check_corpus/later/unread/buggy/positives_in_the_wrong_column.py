import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    """Pictures and captions of the same things, each in its own words."""

    def __init__(self, count):
        things = torch.randn(count, 6)
        draw = torch.randn(6, 24, generator=torch.Generator().manual_seed(3))
        name = torch.randn(6, 18, generator=torch.Generator().manual_seed(4))
        self.images = torch.tanh(things @ draw) + 0.1 * torch.randn(count, 24)
        self.texts = torch.tanh(things @ name) + 0.1 * torch.randn(count, 18)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.texts[index]


def tower(inputs, width=48, features=12):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, features))


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = tower(24), tower(18)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, images, texts):
        a = F.normalize(self.image(images), dim=1)
        b = F.normalize(self.text(texts), dim=1)
        return self.log_scale.exp() * a @ b.T


class NCESoftmaxLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, scores):
        labels = torch.zeros(len(scores), dtype=torch.long)
        return self.criterion(scores, labels)


@torch.no_grad()
def retrieval(model, data):
    scores = model(data.images, data.texts)
    return (scores.argmax(dim=1) == torch.arange(len(scores))).float().mean().item()


torch.manual_seed(48)
loader = DataLoader(Captions(1280), batch_size=64, shuffle=True)
valid = Captions(100)
model, criterion = CLIP(), NCESoftmaxLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for images, texts in loader:
        scores = model(images, texts)
        loss = (criterion(scores) + criterion(scores.T)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, retrieval {retrieval(model, valid):.3f}")
