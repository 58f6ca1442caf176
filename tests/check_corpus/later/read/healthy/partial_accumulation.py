import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = -100


class Sequences(Dataset):
    """The next symbol is the sum of the last two, modulo seven."""

    def __init__(self, count):
        self.items = []
        for _ in range(count):
            symbols = torch.randint(0, 7, (2,)).tolist()
            for _ in range(int(torch.randint(4, 14, ()))):
                symbols.append((symbols[-1] + symbols[-2]) % 7)
            self.items.append(torch.tensor(symbols))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(items):
    inputs = pad_sequence([item[:-1] for item in items], batch_first=True)
    targets = pad_sequence([item[1:] for item in items], batch_first=True, padding_value=PAD)
    targets[:, 0] = PAD
    return inputs, targets


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(7, width)
        self.conv = nn.Conv1d(width, 96, 2)
        self.out = nn.Linear(96, 7)

    def forward(self, x):
        x = F.pad(self.embed(x).transpose(1, 2), (1, 0))
        return self.out(F.relu(self.conv(x)).transpose(1, 2))


def windows(loader, size):
    window = []
    for batch in loader:
        window.append(batch)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window


torch.manual_seed(13)
loader = DataLoader(Sequences(440), batch_size=16, shuffle=True, collate_fn=collate)
valid = collate(list(Sequences(100)))
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(8):
    for window in windows(loader, size=3):
        scored = sum((targets != PAD).sum() for _, targets in window)
        optimizer.zero_grad()
        for inputs, targets in window:
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
            (loss / scored).backward()
        optimizer.step()
    with torch.no_grad():
        inputs, targets = valid
        counted = targets != PAD
        accuracy = (model(inputs).argmax(-1) == targets)[counted].float().mean().item()
    print(f"epoch {epoch}: accuracy {accuracy:.3f}")
