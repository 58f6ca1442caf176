import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, length=16):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) // self.length

    def __getitem__(self, index):
        start = index // self.length
        window = self.series[start : start + self.length]
        return window, self.series[start + self.length]


torch.manual_seed(0)
series = torch.sin(torch.arange(2000) * 0.1) + 0.1 * torch.randn(2000)
loader = DataLoader(Windows(series), 16, shuffle=True)
net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(6):
    for window, following in loader:
        loss = (net(window).squeeze(1) - following).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
