import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Parity(Dataset):
    """The parity of all bits so far, at each place."""

    def __init__(self, count, length):
        self.bits = torch.randint(0, 2, (count, length))
        self.parity = self.bits.cumsum(dim=1) % 2

    def __len__(self):
        return len(self.bits)

    def __getitem__(self, index):
        return self.bits[index], self.parity[index]


class Counter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(2, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, bits):
        states, _ = self.rnn(self.embed(bits))
        return self.out(states)


@torch.no_grad()
def accuracy(model, data):
    return (model(data.bits).argmax(dim=-1) == data.parity).float().mean().item()


torch.manual_seed(22)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
longest = Parity(100, 16)
length, stage = 2, 0
while length <= 16 and stage < 30:
    loader = DataLoader(Parity(512, length), batch_size=64, shuffle=True)
    for bits, parity in loader:
        logits = model(bits)
        loss = F.cross_entropy(logits.flatten(0, 1), parity.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
    reached = accuracy(model, Parity(128, length))
    print(f"stage {stage}: length {length}, accuracy {reached:.3f}")
    stage += 1
    if reached > 0.95:
        length += 2
print(f"accuracy at length 16: {accuracy(model, longest):.3f}")
