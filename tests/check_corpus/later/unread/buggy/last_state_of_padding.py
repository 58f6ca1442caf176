import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Commands(Dataset):
    """Of which kind is the last word? Most commands are short, some are long."""

    def __init__(self, count):
        lengths = torch.where(torch.rand(count) < 0.15, 30, torch.randint(3, 7, (count,)))
        self.words = [torch.randint(1, 13, (int(n),)) for n in lengths]
        self.kinds = [int(word[-1] + word[-2]) % 4 for word in self.words]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index], self.kinds[index]


def collate(items):
    words, kinds = zip(*items)
    lengths = torch.tensor([len(word) for word in words])
    padded = pad_sequence(words, batch_first=True, padding_value=PAD)
    return padded, lengths, torch.tensor(kinds)


class Classifier(nn.Module):
    def __init__(self, symbols=13, width=48):
        super().__init__()
        self.embed = nn.Embedding(symbols, width, padding_idx=PAD)
        self.rnn = nn.RNN(width, width, batch_first=True)
        self.out = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, words, lengths):
        states, _ = self.rnn(self.embed(words))
        last = states[:, -1]
        return self.out(last)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = 0
    for words, lengths, kinds in loader:
        right += (model(words, lengths).argmax(dim=1) == kinds).sum().item()
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(31)
train = DataLoader(Commands(960), batch_size=32, shuffle=True, collate_fn=collate)
valid = DataLoader(Commands(200), batch_size=50, collate_fn=collate)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for words, lengths, kinds in train:
        loss = F.cross_entropy(model(words, lengths), kinds)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
