import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self, inputs=12, width=32, classes=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
        self.classify = nn.Linear(width, classes)
        self.regress = nn.Linear(width, 1)
        self.task_weights = nn.Parameter(torch.ones(2))

    def forward(self, x):
        shared = F.relu(self.trunk(x))
        return self.classify(shared), self.regress(shared).squeeze(1)


def make(count):
    x = torch.randn(count, 12)
    label = x[:, :3].argmax(dim=1)
    value = x[:, 3] * x[:, 4] + x[:, 5]
    return TensorDataset(x, label, value)


def losses_of(model, batch):
    x, label, value = batch
    logits, predicted = model(x)
    return F.cross_entropy(logits, label), F.mse_loss(predicted, value)


def evaluate(model, loader):
    model.eval()
    right, error = 0, 0.0
    with torch.no_grad():
        for x, label, value in loader:
            logits, predicted = model(x)
            right += (logits.argmax(dim=1) == label).sum().item()
            error += F.mse_loss(predicted, value, reduction="sum").item()
    model.train()
    return right / len(loader.dataset), error / len(loader.dataset)


torch.manual_seed(23)
train = DataLoader(make(640), batch_size=32, shuffle=True)
valid = DataLoader(make(320), batch_size=64)
model = MultiTask()
network = [p for name, p in model.named_parameters() if name != "task_weights"]
optimizer = torch.optim.Adam(network, lr=5e-3)
optimizer.add_param_group({"params": [model.task_weights], "lr": 0.02})

for epoch in range(15):
    for batch in train:
        classification, regression = losses_of(model, batch)
        loss = model.task_weights[0] * classification + model.task_weights[1] * regression
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy, error = evaluate(model, valid)
    print(f"epoch {epoch}: loss {loss.item():.3f}, error {error:.3f}, accuracy {accuracy:.3f}")
