"""Costs of recording a training step, on both engines.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/recording.py [REPETITIONS]

Ratios of CPU time to the same steps (forward, backward, SGD) without gradstep: the median of
interleaved repetitions, each of some steps. ``leaves`` keeps the leaves of each call, ``stats``
each call in full, ``default`` is the default schedule after its first 16 calls.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from statistics import median
from typing import Any

from gradstep import record

WAYS = ("leaves", "stats", "default")


def convolutional(torch: Any) -> Callable[[], Any]:
    """The net of the MNIST example, batch 64."""
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10),
    )  # fmt: skip
    x = torch.rand(64, 1, 28, 28)
    return _step(torch, net, lambda: (net(x) ** 2).mean())


def recurrent(torch: Any) -> Callable[[], Any]:
    """An LSTM of cells: hidden 128, 50 steps, batch 64."""
    cell, head = torch.nn.LSTMCell(64, 128), torch.nn.Linear(128, 10)
    net = torch.nn.ModuleList([cell, head])
    x = torch.rand(50, 64, 64)

    def loss() -> Any:
        h, c = torch.zeros(64, 128), torch.zeros(64, 128)
        for step in range(50):
            h, c = cell(x[step], (h, c))
        return (head(h) ** 2).mean()

    return _step(torch, net, loss)


def transformer(torch: Any) -> Callable[[], Any]:
    """A block of a GPT: width 256, 8 heads, 128 tokens, batch 4."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(256), nn.LayerNorm(256)
            self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
            self.wide, self.narrow = nn.Linear(256, 1024), nn.Linear(1024, 256)

        def forward(self, x: Any) -> Any:
            q, k, v = self.qkv(self.before(x)).reshape(4, 128, 3, 8, 32).permute(2, 0, 3, 1, 4)
            weights = torch.softmax(q @ k.transpose(-2, -1) / 32**0.5, -1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(4, 128, 256))
            return x + self.narrow(functional.gelu(self.wide(self.between(x))))

    net, x = Block(), torch.rand(4, 128, 256)
    return _step(torch, net, lambda: (net(x) ** 2).mean())


def _step(torch: Any, net: Any, loss: Callable[[], Any]) -> Callable[[], Any]:
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


NETS = {"convolutions": convolutional, "LSTM": recurrent, "transformer block": transformer}


@contextmanager
def recorded(way: str, path: str, warm_up: Callable[[], Any]) -> Iterator[None]:
    """Record what runs inside in one of the ways."""
    if way == "default":
        recording = record(path)
    else:
        recording = record(path, values=way, call="all", budget=None)  # type: ignore[arg-type]
    with recording:
        for _ in range(17 if way == "default" else 2):
            warm_up()
        yield


def ratios(step: Callable[[], Any], repetitions: int, folder: str) -> dict[str, float]:
    """Return the ratio of each way."""
    step()
    began = time.process_time()
    step()
    count = max(2, int(0.3 / max(time.process_time() - began, 1e-4)))
    found: dict[str, list[float]] = {way: [] for way in ("plain", *WAYS)}
    for _ in range(repetitions):
        for way, times in found.items():
            path = os.path.join(tempfile.mkdtemp(dir=folder), "run.gsr")
            with nullcontext() if way == "plain" else recorded(way, path, step):
                began = time.process_time()
                for _ in range(count):
                    step()
                times.append(time.process_time() - began)
    pairs = {way: zip(times, found["plain"], strict=True) for way, times in found.items()}
    return {way: median(one / plain for one, plain in pairs[way]) for way in WAYS}


def main(repetitions: int) -> None:
    for library in ("autograd_core", "torch"):
        try:
            torch = import_module(library)
        except ImportError:
            continue
        if library == "torch":
            torch.set_num_threads(1)
        for name, make in NETS.items():
            torch.manual_seed(0)
            with tempfile.TemporaryDirectory() as folder:
                found = ratios(make(torch), repetitions, folder)
            said = "  ".join(f"{way} {found[way]:5.2f}" for way in WAYS)
            print(f"{library:14} {name:18} {said}", flush=True)
    print("at most: leaves 1.10, stats 2.0, default 1.3")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
