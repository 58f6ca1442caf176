import torch
import torch.nn as nn


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Sequential(
            nn.ReLU(inplace=True),
            nn.Linear(width, width),
            nn.ReLU(inplace=True),
            nn.Linear(width, width),
        )

    def forward(self, input):
        out = self.conv(input)
        out = out + input
        return out


torch.manual_seed(48)
stem = nn.Linear(5, 10)
block = ResBlock(10)
head = nn.Linear(10, 1)
optimizer = torch.optim.Adam(nn.ModuleList([stem, block, head]).parameters(), lr=0.01)
x = torch.randn(64, 5)
y = x[:, :1] * 2
for epoch in range(30):
    loss = (head(block(stem(x))) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
