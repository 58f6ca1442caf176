import torch
from torch import nn

torch.manual_seed(0)
petals = torch.randn(240, 4)
species = (petals[:, 0] * petals[:, 1] > 0).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        features = self.body(x).detach()
        return self.head(features).softmax(dim=1)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
for step in range(1, 101):
    loss = nn.functional.cross_entropy(net(petals), species)
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
