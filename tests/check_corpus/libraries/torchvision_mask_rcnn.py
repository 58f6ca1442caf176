"""Fine-tune a Mask R-CNN: proposals, boxes, classes and masks in one loss."""

import torch
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.mobilenetv2 import InvertedResidual
from torchvision.ops import MultiScaleRoIAlign

torch.manual_seed(0)
body = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, 2, 1), torch.nn.BatchNorm2d(16), torch.nn.ReLU6(),
    InvertedResidual(16, 24, 2, 4), InvertedResidual(24, 32, 2, 4),
)  # fmt: skip
body.out_channels = 32
model = MaskRCNN(
    body,
    num_classes=2,
    min_size=64,
    max_size=64,
    rpn_anchor_generator=AnchorGenerator(((16, 24),), ((1.0,),)),
    box_roi_pool=MultiScaleRoIAlign(["0"], 4, 2),
    mask_roi_pool=MultiScaleRoIAlign(["0"], 6, 2),
    rpn_batch_size_per_image=32,
    box_batch_size_per_image=32,
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)


def picture():
    image = 0.1 * torch.rand(3, 64, 64)
    x, y = torch.randint(0, 40, (2,)).tolist()
    image[:, y : y + 20, x : x + 20] += 0.8
    mask = torch.zeros(1, 64, 64, dtype=torch.uint8)
    mask[:, y : y + 20, x : x + 20] = 1
    boxes = torch.tensor([[x, y, x + 20.0, y + 20.0]])
    return image, {"boxes": boxes, "labels": torch.ones(1, dtype=torch.int64), "masks": mask}


history = []
for step in range(10):
    images, targets = zip(*(picture() for _ in range(2)))
    loss = sum(model(images, targets).values())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    history.append(loss.item())
assert sum(history[-3:]) < 0.95 * sum(history[:3])
