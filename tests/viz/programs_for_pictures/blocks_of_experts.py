import torch
from torch import nn

torch.manual_seed(0)


class MoE(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))
                for _ in range(experts)
            ]
        )

    def forward(self, x):
        weights, index = self.gate(x).topk(2, -1)
        weights, out = weights.softmax(-1), torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            row, col = torch.where(index == e)
            if len(row):
                out = out.index_add(0, row, expert(x[row]) * weights[row, col, None])
        return out


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.attention = (
            nn.LayerNorm(width),
            nn.MultiheadAttention(width, 2, batch_first=True),
        )
        self.norm2, self.moe = nn.LayerNorm(width), MoE(width, 4)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.moe(self.norm2(x).flatten(0, 1)).view(x.shape)


model = nn.Sequential(nn.Embedding(20, 16), Block(16), Block(16), nn.Linear(16, 20))
tokens = torch.randint(0, 20, (2, 8))
nn.functional.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
