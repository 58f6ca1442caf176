import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SYMBOLS = 20


class Text(Dataset):
    """Counting up by one of three strides, chosen by the first symbol."""

    def __init__(self, count, length=14):
        start = torch.randint(0, SYMBOLS, (count, 1))
        stride = 1 + start % 3
        self.ids = (start + stride * torch.arange(length + 1)) % SYMBOLS

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.ids[index, :-1], self.ids[index, 1:]


class TiedTransformer(nn.Module):
    def __init__(self, width=32, length=14):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, width)
        nn.init.normal_(self.embed.weight, std=width**-0.5)
        self.position = nn.Parameter(torch.zeros(length, width))
        self.block = nn.TransformerEncoderLayer(
            width, 4, 64, dropout=0.1, batch_first=True, norm_first=True
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, SYMBOLS, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        length = ids.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = self.embed(ids) * math.sqrt(self.embed.embedding_dim) + self.position[:length]
        return self.head(self.norm(self.block(x, src_mask=mask, is_causal=True)))


def rate(step, warmup=30, total=160):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


torch.manual_seed(38)
train = DataLoader(Text(640), batch_size=32, shuffle=True)
valid = Text(100)
model = TiedTransformer()
decayed = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=4e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
for epoch in range(8):
    model.train()
    for ids, following in train:
        loss = F.cross_entropy(model(ids).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        right = (model(valid.ids[:, :-1]).argmax(-1) == valid.ids[:, 1:]).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.3f}")
