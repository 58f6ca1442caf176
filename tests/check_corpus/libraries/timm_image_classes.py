"""Train a small ResNet of timm with label smoothing, mixup, and an average of its weights."""

import numpy as np
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3

torch.manual_seed(0)
np.random.seed(0)
model = timm.create_model("resnet10t", num_classes=4, in_chans=1)
average = ModelEmaV3(model, decay=0.9)
mixup = Mixup(mixup_alpha=0.2, label_smoothing=0.1, num_classes=4)
criterion = SoftTargetCrossEntropy()
optimizer = create_optimizer_v2(model, opt="lamb", lr=1e-2, weight_decay=0.01)
history = []
for step in range(24):
    labels = torch.randint(4, (16,))
    images = 0.3 * torch.randn(16, 1, 32, 32)
    images[torch.arange(16), 0, :, :16] += labels.view(-1, 1, 1) - 1.5
    images, targets = mixup(images, labels)
    loss = criterion(model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model, step=step)
    history.append(loss.item())
assert sum(history[-12:]) / 12 < 0.9 * sum(history[:3]) / 3
