"""Train a detector of torchvision on squares: boxes, classes, and images without any object."""

import torch
from torchvision.models import resnet18
from torchvision.models.detection import FCOS
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor

torch.manual_seed(0)
backbone = _resnet_fpn_extractor(resnet18(), trainable_layers=5, returned_layers=[2, 3])
anchors = AnchorGenerator(((8,), (16,), (32,)), ((1.0,),) * 3)
model = FCOS(backbone, num_classes=2, min_size=64, max_size=64, anchor_generator=anchors)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def picture(has_object):
    image = 0.1 * torch.rand(3, 64, 64)
    if not has_object:
        nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)}
        return image, nothing
    x, y = torch.randint(0, 40, (2,)).tolist()
    image[:, y : y + 20, x : x + 20] += 0.8
    boxes = torch.tensor([[x, y, x + 20.0, y + 20.0]])
    return image, {"boxes": boxes, "labels": torch.ones(1, dtype=torch.int64)}


history = []
for step in range(12):
    images, targets = zip(*(picture(number < 3) for number in range(4)))
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-3:]) < 0.95 * sum(history[:3])
