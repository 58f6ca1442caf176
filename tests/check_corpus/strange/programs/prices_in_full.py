import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rooms = torch.randint(1, 8, (400, 1)).float()
area = 20 * rooms + 30 * torch.rand(400, 1)
price = 3000 * area + 10000 * rooms
loader = DataLoader(TensorDataset(torch.cat([rooms, area], 1), price), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
