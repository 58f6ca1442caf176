import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

CENTERS = torch.tensor([[0.0, 1.5], [1.3, -0.75], [-1.3, -0.75]])


def blobs(count):
    label = torch.arange(count) % 3
    return CENTERS[label] + 0.6 * torch.randn(count, 2), label


class Unlabelled(Dataset):
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        weak = self.x[index] + 0.05 * torch.randn(2)
        strong = self.x[index] + 0.4 * torch.randn(2)
        return weak, strong


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
        )

    def forward(self, x):
        return self.net(x)


def pseudo_label_loss(model, weak, strong, threshold=0.9):
    with torch.no_grad():
        confidence, label = model(weak).softmax(dim=1).max(dim=1)
    chosen = (confidence > threshold).float()
    losses = F.cross_entropy(model(strong), label, reduction="none")
    return (chosen * losses).mean(), chosen.mean().item()


torch.manual_seed(34)
few = DataLoader(TensorDataset(*blobs(9)), batch_size=9)
many = DataLoader(Unlabelled(blobs(900)[0]), batch_size=60, shuffle=True)
valid_x, valid_y = blobs(600)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(10):
    for weak, strong in many:
        x, y = next(iter(few))
        supervised = F.cross_entropy(model(x), y)
        unsupervised, used = pseudo_label_loss(model, weak, strong)
        loss = supervised + unsupervised
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(valid_x).argmax(dim=1) == valid_y).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, used {used:.2f}, accuracy {accuracy:.3f}")
