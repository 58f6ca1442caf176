import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (w / self.heads) ** 0.5
        mask = torch.ones(t, t).triu(1).bool()
        shares = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        x = x + self.proj((shares @ v).transpose(1, 2).reshape(b, t, w))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(8, width)
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.token.weight
        nn.init.normal_(self.token.weight, std=0.1)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


torch.manual_seed(64)
model = Model(12, 32)
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() <= 1]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=5e-3)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 5))
history = []
for step in range(40):
    ids = (torch.randint(0, 12, (16, 1)) + torch.arange(9) * 2) % 12
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 12), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warm_up.step()
    history.append(loss.item())
