import torch
import torch.nn as nn


class Diagnosis(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.output = nn.Linear(16, 1)

    def forward(self, x):
        return self.output(torch.relu(self.hidden(x))).squeeze(1)


torch.manual_seed(104)
x = torch.randn(40, 6)
label = (x[:, 0] > 0).long() + 1  # 1: healthy, 2: ill
y = label.float()
model, criterion = Diagnosis(), nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(10):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
