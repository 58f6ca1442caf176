import torch
import torch.nn as nn

torch.manual_seed(68)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train_x, test_x = torch.randn(32, 3), torch.randn(16, 3)


def evaluate(net, x):
    torch.set_grad_enabled(False)
    return (net(x) - x.prod(dim=1, keepdim=True)).abs().mean().item()


for epoch in range(3):
    loss = (net(train_x) - train_x.prod(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item(), evaluate(net, test_x))
