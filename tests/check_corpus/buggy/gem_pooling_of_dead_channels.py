import torch
import torch.nn as nn


class GeM(nn.Module):
    def __init__(self, p=3.0):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1) * p)

    def forward(self, x):
        return x.pow(self.p).mean(dim=(2, 3)).pow(1.0 / self.p)


torch.manual_seed(44)
conv = nn.Conv2d(1, 4, 3)
with torch.no_grad():
    conv.bias[2] = -10.0  # a channel that never fires
gem, fc = GeM(), nn.Linear(4, 2)
optimizer = torch.optim.SGD([*conv.parameters(), *gem.parameters(), *fc.parameters()], lr=0.01)
images, labels = torch.randn(8, 1, 6, 6), torch.randint(2, (8,))
for epoch in range(6):
    descriptor = gem(torch.relu(conv(images)))
    loss = nn.functional.cross_entropy(fc(descriptor), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
