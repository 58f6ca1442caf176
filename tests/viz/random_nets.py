"""Random nets, as text that either library runs: layers, blocks and loops of many kinds, put
together anyhow."""

from __future__ import annotations

import random

HEADER = '''\
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
torch.manual_seed({seed})

class Layers(nn.Module):
    """Some layers one after the other."""
    def __init__(self, size, count, act, norm):
        super().__init__()
        parts = []
        for _ in range(count):
            parts += [nn.Linear(size, size), act()] + ([nn.LayerNorm(size)] if norm else [])
        self.net = nn.Sequential(*parts)
    def forward(self, x):
        return self.net(x)

class Residual(nn.Module):
    def __init__(self, size, inner, scaled):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(size), inner
        self.scale = nn.Parameter(torch.full((size,), 0.1)) if scaled else None
    def forward(self, x):
        made = self.inner(self.norm(x))
        return x + made if self.scale is None else x + self.scale * made

class Gated(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate, self.up = nn.Linear(size, 2 * size), nn.Linear(size, 2 * size)
        self.down = nn.Linear(2 * size, size)
    def forward(self, x):
        return self.down(torch.sigmoid(self.gate(x)) * self.up(x))

class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
    def forward(self, x):
        weights = torch.softmax(self.query(x) @ self.key(x).transpose(-1, -2) / 3.0, -1)
        return weights @ self.value(x)

class Dense(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size + 2 * at, 2) for at in range(count))
        self.last = nn.Linear(size + 2 * count, size)
    def forward(self, x):
        maps = [x]
        for layer in self.layers:
            maps.append(torch.relu(layer(torch.cat(maps, -1))))
        return self.last(torch.cat(maps, -1))

class Ladder(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.down = nn.ModuleList(nn.Linear(size, size) for _ in range(count))
        self.up = nn.ModuleList(nn.Linear(2 * size, size) for _ in range(count))
    def forward(self, x):
        skips = []
        for layer in self.down:
            x = torch.tanh(layer(x))
            skips.append(x)
        for layer in self.up:
            x = torch.tanh(layer(torch.cat([x, skips.pop()], -1)))
        return x

class Experts(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.router = nn.Linear(size, count)
        self.experts = nn.ModuleList(Gated(size) for _ in range(count))
    def forward(self, x):
        shares = torch.softmax(self.router(x), -1)
        total = torch.zeros(x.shape)
        for number, expert in enumerate(self.experts):
            total = total + shares[..., number:number + 1] * expert(x)
        return total

class Loop(nn.Module):
    def __init__(self, size, steps):
        super().__init__()
        self.cell, self.steps = nn.Linear(2 * size, size), steps
    def forward(self, x):
        h = torch.zeros(x.shape)
        for step in range(self.steps):
            h = torch.tanh(self.cell(torch.cat([x * (step + 1), h], -1)))
        return h

class Again(nn.Module):
    def __init__(self, size, times):
        super().__init__()
        self.layer, self.times = nn.Linear(size, size), times
    def forward(self, x):
        for _ in range(self.times):
            x = torch.tanh(self.layer(x))
        return x

class Tied(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.encoder, self.bias = nn.Linear(size, 3), nn.Parameter(torch.zeros(size))
    def forward(self, x):
        code = torch.tanh(self.encoder(x))
        return code @ self.encoder.weight + self.bias

class Rerun(nn.Module):
    """Runs again in the backward pass."""
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False)

class Placed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(size))
    def forward(self, x):
        return x + self.position

class Chained(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

'''
LOSSES = (
    "outputs.pow(2).mean()", "F.mse_loss(outputs, targets)", "(outputs - targets).abs().mean()",
    "outputs.sum()",
)  # fmt: skip


def net_program(seed: int) -> str:
    """Return the program of a random net."""
    rng = random.Random(seed)
    size, rows = rng.choice((4, 6)), rng.choice(((5,), (2, 5)))
    lines = [f"net{at} = {_block(rng, size, 2)}" for at in range(rng.randint(1, 3))]
    shape = ", ".join(map(str, (*rows, size)))
    lines += [f"inputs, targets = torch.randn({shape}), torch.randn({shape})", "hidden = inputs"]
    nets = [line.partition(" ")[0] for line in lines if line.startswith("net")]
    lines += [f"hidden = {net}(hidden)" for net in nets]
    lines.append("outputs = hidden")
    losses = [f"loss_main = {rng.choice(LOSSES)}"]
    if rng.random() < 0.4:
        net = rng.choice(nets)
        losses.append(
            f"loss_other = {net}({rng.choice(('hidden.detach()', 'targets'))}).abs().mean()"
        )
    if rng.random() < 0.2:
        lines[lines.index("hidden = inputs")] = "inputs.requires_grad_(); hidden = inputs"
        losses.append(
            "slope = torch.autograd.grad(outputs.sum(), inputs, create_graph=True)[0]\n"
            "loss_slope = slope.pow(2).mean()"
        )
    if rng.random() < 0.3:
        head = f"nn.Linear({size}, 1)"
        lines.append(f"value_head = {head}")
        losses.append("value = value_head(hidden)\nloss_value = value.pow(2).mean()")
    names = [one.splitlines()[-1].partition(" ")[0] for one in losses]
    weights = " + ".join(f"{rng.choice((1, 0.5, 2))} * {name}" for name in names)
    return HEADER.format(seed=seed) + "\n".join(
        [*lines, *losses, f"loss = {weights}", "loss.backward()", ""]
    )


def _block(rng: random.Random, size: int, depth: int) -> str:
    act = rng.choice(("nn.Tanh", "nn.ReLU", "nn.Sigmoid"))
    simple = (
        f"Layers({size}, {rng.randint(1, 6)}, {act}, {rng.random() < 0.4})", f"Gated({size})",
        f"Attention({size})", f"Dense({size}, {rng.choice((2, 4, 9))})",
        f"Ladder({size}, {rng.choice((2, 3, 10))})", f"Experts({size}, {rng.choice((2, 4))})",
        f"Loop({size}, {rng.choice((2, 5, 20))})", f"Again({size}, {rng.choice((2, 3, 6))})",
        f"Tied({size})", f"Placed({size})",
    )  # fmt: skip
    kind = rng.random()
    if not depth or kind < 0.4:
        return rng.choice(simple)
    if kind < 0.7:
        return f"Residual({size}, {_block(rng, size, depth - 1)}, {rng.random() < 0.5})"
    if kind < 0.8:
        return f"Rerun({_block(rng, size, depth - 1)})"
    inside = _block(rng, size, depth - 1)
    if rng.random() < 0.6:
        return f"Chained([{inside} for _ in range({rng.choice((2, 3, 5))})])"
    others = ", ".join(_block(rng, size, depth - 1) for _ in range(rng.randint(1, 3)))
    return f"Chained([{inside}, {others}])"
