"""A convolutional network: two convolutions with pooling, then a linear layer.

Pooling saves where each maximum was, and sends the gradient there and nowhere else.
"""

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 2 * 2, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.conv1(images)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


torch.manual_seed(0)
images, labels = torch.rand(4, 1, 8, 8), torch.randint(0, 10, (4,))
net = Net()
loss = F.cross_entropy(net(images), labels)
