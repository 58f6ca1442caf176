import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, inputs=16, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )

    def forward(self, x):
        return self.layers(x)


class FineTuned(nn.Module):
    def __init__(self, encoder, classes=4):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(32, classes)

    def freeze(self):
        for parameter in self.encoder.parameters():
            parameter.requires_grad = False

    def unfreeze(self):
        for parameter in self.encoder.parameters():
            parameter.requires_grad = True

    def forward(self, x):
        return self.head(self.encoder(x))


def old_task(count):
    x = torch.randn(count, 16)
    return TensorDataset(x, (x[:, 0] > 0).float())


def new_task(count):
    x = torch.randn(count, 16)
    return TensorDataset(x, 2 * (x[:, 4] * x[:, 5] > 0).long() + (x[:, 6] * x[:, 7] > 0).long())


def pretrain(encoder):
    head = nn.Linear(32, 1)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
    for x, y in DataLoader(old_task(640), batch_size=32):
        loss = F.binary_cross_entropy_with_logits(head(encoder(x)).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(52)
encoder = Encoder()
pretrain(encoder)
model = FineTuned(encoder)
model.freeze()
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable, lr=5e-3)
train = DataLoader(new_task(960), batch_size=48, shuffle=True)
valid = DataLoader(new_task(320), batch_size=160)
for epoch in range(14):
    if epoch == 2:
        model.unfreeze()
    for x, y in train:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
