import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

MASK, SYMBOLS = 0, 12


class Sentences(Dataset):
    """Each token follows from its neighbours: a walk around a circle of symbols."""

    def __init__(self, count, length=12):
        start = torch.randint(0, SYMBOLS - 1, (count, 1))
        stride = torch.randint(1, 4, (count, 1))
        self.tokens = 1 + (start + stride * torch.arange(length)) % (SYMBOLS - 1)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return self.tokens[index]


def mask_tokens(tokens, rate=0.15):
    chosen = torch.rand(tokens.shape) < rate
    chosen[:, 0] |= ~chosen.any(dim=1)
    return tokens.masked_fill(chosen, MASK), tokens.clone(), chosen


class Bert(nn.Module):
    def __init__(self, width=32, length=12):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, width)
        self.position = nn.Embedding(length, width)
        self.block = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, SYMBOLS)

    def forward(self, tokens):
        places = torch.arange(tokens.size(1))
        return self.out(self.block(self.embed(tokens) + self.position(places)))


@torch.no_grad()
def masked_accuracy(model, loader):
    model.eval()
    right = total = 0
    for tokens in loader:
        inputs, labels, chosen = mask_tokens(tokens)
        prediction = model(inputs).argmax(dim=-1)
        right += (prediction == labels)[chosen].sum().item()
        total += chosen.sum().item()
    model.train()
    return right / total


torch.manual_seed(30)
train = DataLoader(Sentences(640), batch_size=32, shuffle=True)
valid = DataLoader(Sentences(160), batch_size=80)
model = Bert()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    for tokens in train:
        inputs, labels, chosen = mask_tokens(tokens)
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {masked_accuracy(model, valid):.3f}")
