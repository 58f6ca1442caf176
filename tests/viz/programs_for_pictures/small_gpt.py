"""A GPT of twelve blocks."""

import torch
from torch import nn

torch.manual_seed(0)


class Attn(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.h = h
        s.c_attn = nn.Linear(d, 3 * d)
        s.c_proj = nn.Linear(d, d)

    def forward(s, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, s.h, C // s.h).transpose(1, 2) for t in s.c_attn(x).split(C, 2))
        a = (q @ k.transpose(-2, -1)) / (C // s.h) ** 0.5
        a = a.masked_fill(torch.tril(torch.ones(T, T)) == 0, float("-inf")).softmax(-1)
        return s.c_proj((a @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.ln_1 = nn.LayerNorm(d)
        s.attn = Attn(d, h)
        s.ln_2 = nn.LayerNorm(d)
        s.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(s, x):
        x = x + s.attn(s.ln_1(x))
        return x + s.mlp(s.ln_2(x))


class GPT(nn.Module):
    def __init__(s, n=12, d=16, v=32):
        super().__init__()
        s.wte = nn.Embedding(v, d)
        s.wpe = nn.Embedding(8, d)
        s.h = nn.ModuleList([Block(d, 2) for _ in range(n)])
        s.ln_f = nn.LayerNorm(d)
        s.head = nn.Linear(d, v, bias=False)

    def forward(s, t):
        x = s.wte(t) + s.wpe(torch.arange(t.shape[1]))
        for b in s.h:
            x = b(x)
        return s.head(s.ln_f(x))


m = GPT()
nn.functional.cross_entropy(
    m(torch.randint(0, 32, (2, 8))).view(-1, 32), torch.randint(0, 32, (16,))
).backward()
