import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, TAGS = 0, 5


class Sentences(Dataset):
    """Tag each word by itself and the word before; most sentences are short, a few are long."""

    def __init__(self, count):
        lengths = torch.where(torch.rand(count) < 0.1, 40, torch.randint(2, 5, (count,)))
        self.words = [torch.randint(1, 12, (int(n),)) for n in lengths]
        before = [torch.cat([word[:1], word[:-1]]) for word in self.words]
        self.tags = [1 + (word + other) % 4 for word, other in zip(self.words, before)]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index], self.tags[index]


def collate(pairs):
    words, tags = zip(*pairs)
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True)


class Tagger(nn.Module):
    def __init__(self, symbols=12, width=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, width, padding_idx=PAD)
        self.conv = nn.Conv1d(width, 64, 2)
        self.out = nn.Linear(64, TAGS)

    def forward(self, words):
        x = self.embed(words).transpose(1, 2)
        x = torch.cat([x[:, :, :1], x], dim=2)
        return self.out(torch.relu(self.conv(x)).transpose(1, 2))


@torch.no_grad()
def accuracy(model, loader):
    right = total = 0
    for words, tags in loader:
        real = tags != PAD
        right += (model(words).argmax(dim=-1) == tags)[real].sum().item()
        total += real.sum().item()
    return right / total


torch.manual_seed(32)
train = DataLoader(Sentences(960), batch_size=32, shuffle=True, collate_fn=collate)
valid = DataLoader(Sentences(200), batch_size=50, collate_fn=collate)
model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    for words, tags in train:
        logits = model(words)
        loss = criterion(logits.reshape(-1, TAGS), tags.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
