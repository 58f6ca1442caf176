import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD, CLS, KEYWORD = 0, 1, 7


class Sentences(Dataset):
    def __init__(self, count, length=12):
        self.tokens = torch.full((count, length), PAD)
        self.labels = torch.arange(count) % 2
        for row, label in zip(self.tokens, self.labels):
            end = int(torch.randint(5, length, ()))
            row[0] = CLS
            row[1:end] = torch.randint(8, 40, (end - 1,))
            if label:
                row[int(torch.randint(1, end, ()))] = KEYWORD

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.tokens[index], self.labels[index]


class Classifier(nn.Module):
    def __init__(self, vocabulary=40, width=32):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, tokens):
        x = self.embedding(tokens)
        mask = tokens != PAD
        attended, _ = self.attention(x, x, x, key_padding_mask=mask)
        return self.head(self.norm(x + attended)[:, 0])


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for tokens, labels in loader:
            right += (model(tokens).argmax(dim=1) == labels).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(0)
train = DataLoader(Sentences(512), batch_size=32, shuffle=True)
valid = DataLoader(Sentences(256), batch_size=64)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    model.train()
    for tokens, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(tokens), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: accuracy {evaluate(model, valid):.3f}")
