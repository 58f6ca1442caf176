import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


def write_text(length, symbols=12):
    following = torch.randperm(symbols)
    text = [0]
    for _ in range(length - 1):
        if torch.rand(()) < 0.85:
            text.append(int(following[text[-1]]))
        else:
            text.append(int(torch.randint(symbols, ())))
    return torch.tensor(text)


class Chunks(Dataset):
    def __init__(self, text, length=16):
        self.text, self.length = text, length

    def __len__(self):
        return (len(self.text) - 1) // self.length

    def __getitem__(self, index):
        chunk = self.text[index * self.length : (index + 1) * self.length + 1]
        return chunk[:-1], chunk[1:]


class CharModel(nn.Module):
    def __init__(self, symbols=12, width=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, symbols)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.out(hidden)


def language_loss(logits, labels):
    shifted_logits = logits[:, :-1].reshape(-1, logits.size(-1))
    shifted_labels = labels[:, 1:].reshape(-1)
    return F.cross_entropy(shifted_logits, shifted_labels)


@torch.no_grad()
def next_token_accuracy(model, text):
    model.eval()
    prediction = model(text[None, :-1]).argmax(dim=-1)[0]
    model.train()
    return (prediction == text[1:]).float().mean().item()


torch.manual_seed(1)
text = write_text(6000)
train_text, valid_text = text[:5500], text[5500:]
loader = DataLoader(Chunks(train_text), batch_size=16, shuffle=True)
model = CharModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    for inputs, labels in loader:
        loss = language_loss(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch}: accuracy {next_token_accuracy(model, valid_text):.3f}")
