import torch
import torch.nn as nn

torch.manual_seed(42)


class CCSPredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.output = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return torch.relu(self.output(x))


mass = torch.rand(60, 4) * 100
ccs = 0.2 + 0.002 * mass.sum(dim=1, keepdim=True)
model = CCSPredictor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.MSELoss()(model(mass), ccs)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(epoch, loss.item())
