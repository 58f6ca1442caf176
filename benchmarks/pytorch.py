"""Costs of gradstep to a program that uses PyTorch: attached, with modules and lines, and captured.

    python benchmarks/pytorch.py [WORKLOAD ...]

Ratios to the same program without gradstep: the smallest of ten interleaved repetitions, one
thread, so that other load on the machine counts little.  The bounds in the last line of each
table are those that the project holds itself to.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn

from autograd_core.autograd.call import interceptor
from gradstep import capture
from gradstep.capturing import Names
from gradstep.engines.pytorch.entry import intercepted
from gradstep.engines.pytorch.noting import noting

REPETITIONS = 10


class Unrequested:
    """An interceptor to which no call matters."""

    def requests(self, kind: str) -> bool:
        return False


@contextmanager
def attached(lines: bool) -> Any:
    token = interceptor.set(Unrequested())  # type: ignore[arg-type]
    try:
        with intercepted(), noting() if lines else nullcontext():
            yield
    finally:
        interceptor.reset(token)


def transformer(width: int) -> Callable[[], torch.Tensor]:
    layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 48, enable_nested_tensor=False)
    x = torch.randn(2, 16, width)
    return lambda: model(x).square().mean()


class Bottleneck(nn.Module):
    """The block of ResNet-50."""

    def __init__(self, inner: int, before: int, stride: int) -> None:
        super().__init__()
        after = 4 * inner
        self.body = nn.Sequential(
            nn.Conv2d(before, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner),
            nn.ReLU(inplace=True), nn.Conv2d(inner, after, 1, bias=False), nn.BatchNorm2d(after),
        )  # fmt: skip
        self.skip = nn.Sequential()
        if stride != 1 or before != after:
            self.skip = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = (self.body(x) + self.skip(x)).relu()
        return out


def resnet50() -> Callable[[], torch.Tensor]:
    parts: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
    ]  # fmt: skip
    before = 64
    for inner, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(count):
            parts.append(Bottleneck(inner, before, stride if number == 0 else 1))
            before = 4 * inner
    model = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))
    x = torch.randn(2, 3, 64, 64)
    return lambda: model(x).square().mean()


def lstm() -> Callable[[], torch.Tensor]:
    cell = nn.LSTMCell(16, 32)

    def run() -> torch.Tensor:
        state = torch.zeros(4, 32), torch.zeros(4, 32)
        x = torch.ones(4, 16)
        for _ in range(500):
            state = cell(x, state)
        return state[0].sum()

    return run


def chain() -> Callable[[], torch.Tensor]:
    x = torch.ones(10, requires_grad=True)

    def run() -> torch.Tensor:
        state = x
        for _ in range(10_000):
            state = (state * 0.999).sin()
        return state.sum()

    return run


WORKLOADS: dict[str, Callable[[], Callable[[], torch.Tensor]]] = {
    "transformer d 32": lambda: transformer(32),
    "transformer d 256": lambda: transformer(256),
    "resnet50": resnet50,
    "lstm 500": lstm,
    "chain 20,000": chain,
}


def seconds(run: Callable[[], Any], around: AbstractContextManager[Any]) -> float:
    with around:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start


def measure(name: str) -> None:
    """Print the ratios of one workload."""
    forward = WORKLOADS[name]()

    def step() -> None:
        forward().backward()

    def capture_both() -> float:
        with attached(lines=True):
            loss = forward()
            start = time.perf_counter()
            graph = capture(loss, "both", names=Names({}))
            took = time.perf_counter() - start
        assert len(graph) > 100
        return took

    def backward() -> float:
        loss = forward()
        start = time.perf_counter()
        loss.backward()
        return time.perf_counter() - start

    step()
    columns: dict[str, list[float]] = {"plain": [], "attached": [], "lines": [], "backward": [],
                                       "capture": []}  # fmt: skip
    for _ in range(REPETITIONS):
        columns["plain"].append(seconds(step, nullcontext()))
        columns["attached"].append(seconds(step, attached(lines=False)))
        columns["lines"].append(seconds(step, attached(lines=True)))
        columns["backward"].append(backward())
        columns["capture"].append(capture_both())
    least = {column: min(found) for column, found in columns.items()}
    print(
        f"{name:18}  plain {least['plain'] * 1e3:7.1f} ms   "
        f"attached {least['attached'] / least['plain']:.2f}   "
        f"modules and lines {least['lines'] / least['plain']:.2f}   "
        f"capture {least['capture'] / least['backward']:.1f} backward passes"
    )


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in WORKLOADS:
        if not names or any(name.startswith(given) for given in names):
            measure(name)
    print("at most: attached 1.10 (d 32), 1.03 (d 256); modules and lines 1.5, 1.15; capture 5")


if __name__ == "__main__":
    main(sys.argv[1:])
