import torch
import torch.nn as nn

torch.manual_seed(3)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 12)
        self.fc2 = nn.Linear(12, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return torch.softmax(self.fc2(x), dim=1)


x = torch.randn(40, 5)
y = (x.sum(dim=1, keepdim=True) > 0).float()
model = Classifier()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
history = []
for epoch in range(30):
    opt.zero_grad()
    loss = nn.BCELoss()(model(x), y)
    loss.backward()
    opt.step()
    history.append(loss.item())
print(history[0], history[-1])
