import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
points = torch.randn(80, 4)
trainset = TensorDataset(points, points[:, :3].argmax(dim=1))
trainloader = DataLoader(trainset, batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.2)

for epoch in range(3):
    running_loss = 0.0
    for inputs, labels in trainloader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss
    print("epoch", epoch, "loss", float(running_loss) / len(trainloader))
