import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(9)
batches = [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(10)]
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05)

for epoch in range(3):
    running_loss = 0.0
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss
    print("epoch", epoch, "loss", float(running_loss) / len(batches))
