import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(70)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
    nn.Flatten(), nn.Linear(16, 3),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
history = []
for step in range(30):
    labels = torch.randint(0, 3, (24,))
    images = torch.randn(24, 1, 8, 8)
    for image, label in zip(images, labels.tolist()):
        image[0, :, label * 2 : label * 2 + 3] += 2
    other = torch.randperm(24)
    share = 0.2 * torch.rand(1).item()
    logits = model((1 - share) * images + share * images[other])
    loss = (1 - share) * F.cross_entropy(logits, labels)
    loss = loss + share * F.cross_entropy(logits, labels[other])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    history.append(loss.item())
