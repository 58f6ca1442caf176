import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

WORDS = 500


class Reviews(Dataset):
    def __init__(self, count):
        self.texts, self.labels = [], torch.randint(0, 2, (count,))
        for label in self.labels.tolist():
            common = torch.randint(100, WORDS, (int(torch.randint(5, 20, ())),))
            telling = torch.randint(50 * label, 50 * label + 50, (3,))
            self.texts.append(torch.cat([common, telling]))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.texts[index], self.labels[index]


def collate(items):
    texts, labels = zip(*items)
    lengths = torch.tensor([0, *(len(text) for text in texts[:-1])])
    return torch.cat(texts), lengths.cumsum(dim=0), torch.stack(labels)


class FastText(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.bags = nn.EmbeddingBag(WORDS, width, mode="mean", sparse=True)
        self.out = nn.Linear(width, 2)

    def forward(self, words, offsets):
        return self.out(self.bags(words, offsets))


@torch.no_grad()
def accuracy(model, loader):
    right = sum((model(w, o).argmax(1) == y).sum().item() for w, o, y in loader)
    return right / len(loader.dataset)


torch.manual_seed(37)
train = DataLoader(Reviews(960), batch_size=32, shuffle=True, collate_fn=collate)
valid = DataLoader(Reviews(300), batch_size=100, collate_fn=collate)
model = FastText()
optimizers = [
    torch.optim.SparseAdam(model.bags.parameters(), lr=0.02),
    torch.optim.Adam(model.out.parameters(), lr=0.01),
]
for epoch in range(6):
    for words, offsets, labels in train:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(words, offsets), labels)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
