# the bias of the convolution is taken away again by the norm: useless, and harmless
import torch
import torch.nn as nn

torch.manual_seed(16)
net = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1),
    nn.BatchNorm2d(6),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(6, 2),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
images = torch.randn(32, 1, 8, 8)
labels = torch.arange(32) % 2
images[labels == 1, :, ::2] += 1.0
history = []
for epoch in range(25):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
