import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 4


class Maps(Dataset):
    """Fields of kinds 0 and 3 side by side, with small spots of the kinds 1 and 2."""

    def __init__(self, count, size=24, resized=12):
        self.masks = torch.zeros(count, size, size, dtype=torch.long)
        for mask in self.masks:
            for row in range(0, size, 4):
                mask[row : row + 2] = 3
            for kind in (1, 2):
                top, left = torch.randint(0, size - 6, (2,)).tolist()
                mask[top : top + 6, left : left + 6] = kind
        colour = torch.tensor([-1.0, 0.5, -0.5, 1.0])
        self.images = colour[self.masks] + 0.2 * torch.randn(count, size, size)
        self.resized = (resized, resized)

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, index):
        image, mask = self.images[index][None, None], self.masks[index][None, None]
        image = F.interpolate(image, self.resized, mode="nearest")
        mask = F.interpolate(mask.float(), self.resized, mode="bilinear", align_corners=True)
        return image[0], mask[0, 0].long()


class SegmentationNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, CLASSES, 1),
        )

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def pixel_accuracy(model, data):
    model.eval()
    images = F.interpolate(data.images.unsqueeze(1), data.resized, mode="nearest")
    masks = F.interpolate(data.masks.unsqueeze(1).float(), data.resized, mode="nearest")
    prediction = model(images).argmax(dim=1)
    model.train()
    return (prediction == masks.squeeze(1)).float().mean().item()


torch.manual_seed(34)
train, valid = Maps(320), Maps(40)
loader = DataLoader(train, batch_size=32, shuffle=True)
model = SegmentationNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    for image, mask in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(image), mask)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {pixel_accuracy(model, valid):.3f}")
