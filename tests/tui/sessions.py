"""Sessions for the tests of the screen: real backward passes of small programs."""

from __future__ import annotations

from typing import Any

import autograd_core as torch
from autograd_core import nn
from gradstep import Session, scope, trace
from gradstep.capturing import Names
from gradstep.debugger import Reply


class RecordedSession(Session):
    """A session that keeps the command lines it was given."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.commands: list[str] = []

    def reply(self, line: str, place: str = "") -> Reply:
        self.commands.append(line)
        return super().reply(line, place)


def shared_weight(kind: type[RecordedSession] = RecordedSession) -> RecordedSession:
    """``(w * (w * h + b) + h).sum()`` with ``h = tanh(w * x)``: one weight, three uses."""
    x = torch.tensor([1.0, 2.0, 3.0])
    w = torch.tensor([0.5, -0.25, 2.0], requires_grad=True)
    b = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
    b.grad = torch.zeros(3)
    with trace(values=True):
        with scope("encoder"):
            h = torch.tanh(w * x)
        with scope("decoder"):
            inner = w * h + b
            y = w * inner
        loss = (y + h).sum()
    return kind(loss, names=Names({"w": w, "b": b, "x": x, "loss": loss}))


class Trouble(torch.autograd.Function):
    """Hands on a NaN, an infinity, zeros, and nothing."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.set_materialize_grads(False)
        return torch.stack(inputs).sum(0)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        nan, inf = float("nan"), float("inf")
        return torch.tensor([nan, 1.0]), torch.tensor([inf, 1.0]), torch.zeros(2), None


def troubled() -> RecordedSession:
    """A hostile little graph: nan, inf, zero, undefined, and names with markup and escapes."""
    leaves = [torch.ones(2, requires_grad=True) for _ in range(4)]
    root = Trouble.apply(*leaves)
    words = ("[bold]nan[/bold]", "inf\x1b[31m", "zero\n行列", "undefined")
    names = {"[/] trouble": root, **dict(zip(words, leaves))}
    return RecordedSession(root, torch.ones(2), names=Names(names))


def chain(length: int, kind: type[RecordedSession] = RecordedSession) -> RecordedSession:
    """``length - 1`` multiplications, each by a little more than 1, and their leaf."""
    weight = torch.tensor(1.0, requires_grad=True)
    y = weight
    with trace():
        for index in range(length - 1):
            with scope(f"blocks.{index // 10}"):
                y = y * 1.01
    return kind(y, names=Names({"weight": weight, "y": y}))


class ResidualBlock(nn.Module):
    """``x + up(relu(norm(x)))``."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8, bias=False)
        self.up = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.up(torch.relu(self.norm(x)))


class ResidualNet(nn.Module):
    """A stack of residual blocks over embedded tokens."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(5, 8)
        self.encoder = nn.Sequential(*(ResidualBlock() for _ in range(blocks)))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.encoder(self.tokens(tokens))


def residual_net(blocks: int) -> RecordedSession:
    """The backward pass of a residual net."""
    torch.manual_seed(0)
    net = ResidualNet(blocks)
    with trace():
        out = net(torch.tensor([0, 1, 2, 3]))
    return RecordedSession(out, torch.ones(4, 8), names=Names({"net": net, "out": out}))


class Total(torch.autograd.Function):
    """The sum of all inputs, each of which gets the whole gradient."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.count = len(inputs)
        return sum(inputs[1:], inputs[0].clone())

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (g,) * ctx.count


def dense(width: int) -> RecordedSession:
    """Every node sends to every later one: more lanes than a screen has."""
    x = torch.tensor(1.0, requires_grad=True)
    totals: list[torch.Tensor] = []
    with trace(), scope("dense"):
        for _ in range(width):
            totals.append(Total.apply(*(reversed(totals) if totals else [x])))
    return RecordedSession(totals[-1], names=Names({"x": x}))
