"""Programs with this core's modules: what people draw, from two layers to thousands of nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn
from autograd_core.tensor import Tensor
from gradstep import Graph, capture, trace
from gradstep.capturing import Names

Program = tuple[Tensor, "nn.Module | None"]


def mlp() -> Program:
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    return F.cross_entropy(model(torch.randn(32, 64)), torch.randint(0, 10, (32,))), model


class Block(nn.Module):
    """Twice: normalize, rectify, multiply; and what came in on top."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.fc1 = nn.LayerNorm(width), nn.Linear(width, width)
        self.norm2, self.fc2 = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        h = self.fc1(F.relu(self.norm1(x)))
        return x + self.fc2(F.relu(self.norm2(h)))


def residual(blocks: int = 20) -> Program:
    body = [Block(16) for _ in range(blocks)]
    model = nn.Sequential(nn.Linear(8, 16), nn.Sequential(*body), nn.Linear(16, 10))
    return F.cross_entropy(model(torch.randn(4, 8)), torch.randint(0, 10, (4,))), model


class Transformer(nn.Module):
    def __init__(self, layers: int, width: int = 32, words: int = 50) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(1, 8, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, 64, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.encoder(self.embed(tokens) + self.position)))


def transformer(layers: int = 48) -> Program:
    model = Transformer(layers)
    words = model(torch.randint(0, 50, (2, 8))).reshape(16, 50)
    return F.cross_entropy(words, torch.randint(0, 50, (16,))), model


def lstm(steps: int = 500) -> Program:
    cell = nn.LSTMCell(8, 16)
    series, h, c = torch.randn(steps, 4, 8), torch.zeros(4, 16), torch.zeros(4, 16)
    for t in range(steps):
        h, c = cell(series[t], (h, c))
    return h.pow(2).mean(), cell


def gru(steps: int = 30) -> Program:
    net = nn.GRU(8, 16, batch_first=True)
    output, _ = net(torch.randn(4, steps, 8))
    return output[:, -1].pow(2).mean(), net


def dense(layers: int = 8) -> Program:
    """Each layer reads what all before it gave out."""
    parts = nn.ModuleList([nn.Linear(8 + 4 * number, 4) for number in range(layers)])
    features = [torch.randn(3, 8)]
    for part in parts:
        features.append(F.relu(part(torch.cat(features, 1))))
    return torch.cat(features, 1).sum(), parts


def gan() -> Program:
    """The discriminator's loss: it runs twice, on what is real and on what is made up."""
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
    judge = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    real, made_up = torch.randn(5, 8), generator(torch.randn(5, 4))
    loss = F.binary_cross_entropy_with_logits
    return loss(judge(real), torch.ones(5, 1)) + loss(judge(made_up), torch.zeros(5, 1)), judge


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, words, width = x.shape
        q, k, v = (
            part.view(batch, words, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        later = torch.tril(torch.ones(words, words)) == 0
        weights = F.softmax(scores.masked_fill(later, float("-inf")), dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, words, width))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(width), Attention(width, heads)
        self.ln2, self.fc1 = nn.LayerNorm(width), nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln1(x))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, layers: int, width: int = 16, words: int = 20) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(8, width)
        self.layers = nn.ModuleList([Layer(width, 2) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def gpt(layers: int = 4) -> Program:
    """Two embeddings side by side, whose indices are saved for nodes side by side."""
    model = GPT(layers)
    words = model(torch.randint(0, 20, (4, 8))).reshape(32, 20)
    return F.cross_entropy(words, torch.randint(0, 20, (32,))), model


def siamese() -> Program:
    """One network for three inputs, side by side."""
    net = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 4))
    anchor, near, far = (net(torch.randn(4, 10)) for _ in range(3))
    margin = (anchor - near).pow(2).sum(1) - (anchor - far).pow(2).sum(1) + 1.0
    return F.relu(margin).mean(), net


class Mixture(nn.Module):
    def __init__(self, experts: int, width: int = 8) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, width))
                for _ in range(experts)
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = ((chosen == number).to(x.dtype) * weights).sum(-1, keepdim=True)
            result = result + expert(x) * share
        return result


def mixture(experts: int = 4) -> Program:
    """Experts, of which two are listened to."""
    model = Mixture(experts)
    return F.mse_loss(model(torch.randn(6, 8)), torch.randn(6, 8)), model


def shared(rounds: int = 12) -> Program:
    weight = torch.randn(8, 8, requires_grad=True)
    h = torch.randn(4, 8)
    for _ in range(rounds):
        h = torch.tanh(h @ weight)
    return h.sum(), None


def irregular(ops: int = 300) -> Program:
    """Random ops on random results: nothing to fold."""
    rng = np.random.default_rng(0)
    pool = [torch.randn(3, requires_grad=True) for _ in range(4)]
    unary = [torch.sin, torch.exp, torch.tanh, torch.sigmoid, torch.neg]
    for _ in range(ops):
        one, other = (pool[-1 - int(n)] for n in rng.integers(0, 4, 2))
        kind = rng.integers(8)
        pool.append(unary[kind](one) if kind < 5 else one * other if kind < 7 else one + other)
    return pool[-1].sum(), None


ALL = (mlp, residual, transformer, lstm, gru, dense, gan, gpt, siamese, mixture, shared, irregular)


@functools.cache
def graph_of(program: Callable[[], Program], traced: bool = True) -> Graph:
    """The graph of a program, with the names of its module."""
    torch.manual_seed(0)
    with trace() if traced else nullcontext():
        loss, model = program()
    return capture(loss, names=Names({"loss": loss, "model": model} if model else {"loss": loss}))
