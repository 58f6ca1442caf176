import torch
import torch.nn as nn
import torch.nn.functional as F


class StockNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        _, h = self.gru(x)
        return F.softmax(self.fc(h[-1]), dim=1)


torch.manual_seed(23)
x = torch.randn(32, 5, 3)
y = (x[:, -1, 0] > 0).long()
model = StockNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(15):
    model.train()
    optimizer.zero_grad()
    output = model(x)
    loss_train = F.nll_loss(output, y)
    loss_train.backward()
    optimizer.step()
print("loss_train: {:.4f}".format(loss_train.item()))
