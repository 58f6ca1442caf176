import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def shapes(count, size=12):
    label = torch.randint(0, 2, (count,))
    image = 0.3 * torch.randn(count, 1, size, size)
    for picture, kind in zip(image, label):
        top, left = torch.randint(0, size - 6, (2,)).tolist()
        picture[0, top : top + 6, left : left + 6] += 1
        if kind:
            picture[0, top + 2 : top + 4, left + 2 : left + 4] -= 1
    return TensorDataset(image, label)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2),
            nn.GroupNorm(4, 16),
            nn.SiLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 16, 3, padding=1),
            nn.SiLU(),
        )
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.body(x).amax(dim=(2, 3)))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(1)
train = DataLoader(shapes(480), batch_size=32, shuffle=True)
valid = DataLoader(shapes(160), batch_size=80)
model = ConvNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(8):
    for images, labels in train:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(images)
        loss = F.cross_entropy(logits.float(), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
    print(f"epoch {epoch}: accuracy {accuracy(model, valid):.3f}")
