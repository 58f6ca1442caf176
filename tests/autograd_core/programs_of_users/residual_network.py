import torch
import torch.nn as nn


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = (
            nn.Sequential()
            if stride == 1 and cin == cout
            else nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        )
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.layer1 = self._make(4, 4, 2, 1)
        self.layer2 = self._make(4, 8, 2, 2)
        self.fc = nn.Linear(8, 5)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def _make(self, cin, cout, n, stride):
        return nn.Sequential(
            *[BasicBlock(cin if i == 0 else cout, cout, stride if i == 0 else 1) for i in range(n)]
        )

    def forward(self, x):
        return self.fc(torch.flatten(self.layer2(self.layer1(self.stem(x))).mean([2, 3]), 1))


net = ResNet()
print(net)
x, y = (torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 3]))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.0005)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)
for i in range(3):
    loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sch.step()
    print(i, loss.item(), sch.get_last_lr()[0])
net.eval()
print(net(x).argmax(1), net.layer1[0].bn1.running_mean, net.layer1[0].bn1.num_batches_tracked)
print(sum((p.numel() for p in net.parameters())), [tuple(p.shape) for p in net.layer2.parameters()][:4])
