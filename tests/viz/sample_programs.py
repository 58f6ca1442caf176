"""Programs with this core's modules: what people draw, from two layers to thousands of nodes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn
from autograd_core.dag import Graph, Names, capture, trace
from autograd_core.tensor import Tensor

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


ALL = (mlp, residual, transformer, lstm, gru, dense, gan, shared, irregular)


def graph_of(program: Callable[[], Program], traced: bool = True) -> Graph:
    """The graph of a program, with the names of its module."""
    torch.manual_seed(0)
    with trace() if traced else nullcontext():
        loss, model = program()
    return capture(loss, names=Names({"loss": loss, "model": model} if model else {"loss": loss}))
