"""Photos of leaves are told apart by a network whose floors have a staircase into the middle."""

import torch
import torch.nn as nn


class Floor(nn.Module):
    larger = 2

    def __init__(self, before, after, stride=1):
        super().__init__()
        self.look = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.settle = nn.BatchNorm2d(after)
        self.look_again = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.settle_again = nn.BatchNorm2d(after)
        self.stairs = nn.Sequential()
        if stride != 1 or before != after:
            self.stairs.extend(
                [nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)]
            )
        self.bend = nn.ReLU(inplace=True)

    def forward(self, photo):
        seen = self.settle(self.look(photo))
        seen += self.stairs(photo)  # in the middle of the floor
        return self.bend(self.settle_again(self.look_again(self.bend(seen))))


class Botanist(nn.Module):
    def __init__(self, trees=4):
        super().__init__()
        self.lens = nn.Conv2d(2, 3, 3, padding=1)
        self.ground, self.top = self.floors(3, 3, 2), self.floors(3, 3 * Floor.larger, 2, stride=2)
        self.name = nn.Linear(3 * Floor.larger, trees)
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(part, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(part.weight, 1)
                nn.init.constant_(part.bias, 0)

    @staticmethod
    def floors(before, after, count, stride=1):
        first = Floor(before, after, stride)
        return nn.Sequential(first, *(Floor(after, after) for _ in range(count - 1)))

    def forward(self, photos):
        seen = self.top(self.ground(self.lens(photos)))
        return self.name(torch.flatten(seen.mean([2, 3]), 1))


botanist = Botanist()
print(botanist)
photos, trees = torch.randn(5, 2, 6, 6), torch.tensor([3, 1, 0, 2, 1])
sgd = torch.optim.SGD(botanist.parameters(), lr=0.03, momentum=0.8, weight_decay=0.001)
slower = torch.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=4)
for walk in range(3):
    loss = nn.functional.cross_entropy(botanist(photos), trees, label_smoothing=0.2)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    slower.step()
    print(walk, loss.item(), slower.get_last_lr()[0])
botanist.eval()
settle = botanist.ground[1].settle
print(botanist(photos).argmax(1), settle.running_mean, settle.num_batches_tracked)
print(sum(weight.numel() for weight in botanist.parameters()))
print([tuple(weight.shape) for weight in botanist.top.parameters()][:5])
