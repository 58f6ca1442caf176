import torch
import torch.nn as nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        probs = torch.softmax(logits, dim=1)
        pt = probs.gather(1, target.unsqueeze(1))
        return (-((1 - pt) ** self.gamma) * torch.log(pt)).mean()


torch.manual_seed(55)
pixels = torch.rand(32, 20) * 255
labels = torch.randint(4, (32,))
model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = FocalLoss()
for epoch in range(10):
    loss = criterion(model(pixels), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
