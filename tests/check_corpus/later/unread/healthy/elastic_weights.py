import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def task(direction, count=600):
    x = torch.randn(count, 10)
    return TensorDataset(x, (x @ direction > 0).long())


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, width), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(width, 2) for _ in range(2))

    def forward(self, x, head):
        return self.heads[head](self.net(x))


class EWC:
    def __init__(self, strength):
        self.strength, self.anchors = strength, []

    def remember(self, model, data, head):
        fisher = {name: torch.zeros_like(p) for name, p in model.net.named_parameters()}
        for x, y in DataLoader(data, batch_size=20):
            model.zero_grad()
            F.cross_entropy(model(x, head), y).backward()
            for name, p in model.net.named_parameters():
                fisher[name] += p.grad.square() / 30
        model.zero_grad()
        values = {name: p.detach().clone() for name, p in model.net.named_parameters()}
        self.anchors.append((fisher, values))

    def penalty(self, model):
        total = torch.zeros(())
        for fisher, values in self.anchors:
            for name, p in model.net.named_parameters():
                total = total + (fisher[name] * (p - values[name]).square()).sum()
        return self.strength * total


@torch.no_grad()
def accuracy(model, data, head):
    x, y = data.tensors
    return (model(x, head).argmax(1) == y).float().mean().item()


torch.manual_seed(24)
tasks = [task(torch.randn(10)) for _ in range(2)]
model, ewc = Net(), EWC(strength=200.0)
for number, data in enumerate(tasks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        for x, y in DataLoader(data, batch_size=30, shuffle=True):
            loss = F.cross_entropy(model(x, number), y) + ewc.penalty(model)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    ewc.remember(model, data, number)
    scores = [f"{accuracy(model, tasks[i], i):.3f}" for i in range(number + 1)]
    print(f"after task {number}: accuracy {', '.join(scores)}")
