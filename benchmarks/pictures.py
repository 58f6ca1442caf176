"""CPU seconds from a tensor to an SVG on disk, stage by stage, for programs of any size.

    python benchmarks/pictures.py [--nodes 20000] [--view backward] [--rounds 3] [--folded]
        [--program shared] [--command]

Every backward node is drawn, unless ``--folded`` asks for what a user gets by default.  The
best of the rounds counts, stage by stage; all programs take turns in every round.  The texts
and courses of large pictures are made while they are written.

``--command`` runs a script of so many ops under ``python`` and under ``gradstep render``, on the
core and on PyTorch, and prints what the command takes beyond it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import autograd_core as torch
from autograd_core import Tensor, nn
from gradstep import capture
from gradstep_viz import render
from gradstep_viz.layout import lay_out
from gradstep_viz.output.svg import write_svg
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.model import View


def shared(nodes: int) -> Tensor:
    """Three ops a step, and two leaves that all steps share."""
    x, weight = torch.ones(4).requires_grad_(), torch.ones(4).requires_grad_()
    y = x
    for _ in range(nodes // 3):
        y = torch.tanh(y * weight + x)
    return y.sum()


def chain(nodes: int) -> Tensor:
    """One op after the other."""
    y = torch.ones(2).requires_grad_()
    for _ in range(nodes):
        y = y.sin()
    return y.sum()


def residual(nodes: int) -> Tensor:
    """Blocks of seven nodes, with a skip connection each."""
    h = torch.ones(8, 16)
    for _ in range(nodes // 7):
        weight = torch.ones(16, 16).requires_grad_()
        h = h + (torch.relu(h @ weight) * 0.5).tanh() * 0.5
    return h.sum()


def lstm(nodes: int) -> Tensor:
    """One cell, fifteen nodes a step."""
    cell = nn.LSTMCell(8, 8)
    x, h, c = torch.ones(4, 8), torch.zeros(4, 8), torch.zeros(4, 8)
    for _ in range(nodes // 15):
        h, c = cell(x, (h, c))
    return h.sum()


class Block(nn.Module):
    """A transformer block, sixty nodes."""

    def __init__(self, width: int = 16, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, 2)
        shape = (batch, time, self.heads, width // self.heads)
        q, k, v = (part.view(*shape).transpose(1, 2) for part in parts)
        mixed = torch.softmax(q @ k.transpose(-2, -1) * 0.5, -1) @ v
        x = x + self.project(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm2(x))))


def transformer(nodes: int) -> Tensor:
    model = nn.Sequential(*[Block() for _ in range(max(1, nodes // 60))])
    return model(torch.ones(2, 5, 16)).sum()


PROGRAMS: tuple[Callable[[int], Tensor], ...] = (chain, shared, residual, lstm, transformer)


class Stages(NamedTuple):
    """Seconds of each stage."""

    capture: float
    picture: float
    layout: float
    svg: float


class Drawn(NamedTuple):
    """One drawing: how long it took and what came out."""

    stages: Stages
    nodes: int
    boxes: int
    size: tuple[float, float]
    megabytes: float


def draw(tensor: Tensor, view: View, path: Path) -> Drawn:
    """Draw everything, with our own layout."""
    start = time.thread_time()
    graph = capture(tensor, view)
    captured = time.thread_time()
    picture = make_picture(graph, view)
    written = time.thread_time()
    layout = lay_out(picture)
    placed = time.thread_time()
    path.write_bytes(write_svg(picture, layout))
    done = time.thread_time()
    stages = Stages(captured - start, written - captured, placed - written, done - placed)
    size = (layout.width, layout.height)
    return Drawn(stages, len(graph), len(picture.boxes), size, path.stat().st_size / 1e6)


def draw_folded(tensor: Tensor, view: View, path: Path) -> float:
    """Draw what a user gets who says nothing but the view."""
    start = time.thread_time()
    render(tensor, path, view=view)
    return time.thread_time() - start


SCRIPT = """
import {library} as torch
x, weight = torch.ones(4).requires_grad_(), torch.ones(4).requires_grad_()
y = x
for _ in range({steps}):
    y = torch.tanh(y * weight + x)
loss = y.sum()
loss.backward()
"""


class Run(NamedTuple):
    """What a process took: seconds of CPU, and megabytes at most."""

    seconds: float
    megabytes: float


def run(*arguments: str) -> Run:
    """Run Python with these arguments."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every run compiles everything
    with subprocess.Popen(
        [sys.executable, *arguments], env=environment, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"python {' '.join(arguments)} ended with {process.returncode}")
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compare_command(nodes: int, rounds: int, folder: Path) -> None:
    """Print what ``gradstep render`` takes beyond a script of so many ops."""
    for library in ("autograd_core", "torch"):
        script = folder / f"{library}_program.py"
        script.write_text(SCRIPT.format(library=library, steps=nodes // 3))
        command = ("-m", "gradstep", "render", "-o", str(folder / "picture.svg"), str(script))
        runs = [(run(str(script)), run(*command)) for _ in range(rounds)]
        plain, drawn = (min(one[at].seconds for one in runs) for at in (0, 1))
        memory = max(one[1].megabytes for one in runs)
        print(
            f"{library:<14}{nodes:>10,} ops: plain {plain:.2f} s, drawn {drawn - plain:.2f} s "
            f"more, {memory:,.0f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--view", default="backward", choices=("forward", "backward", "both"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folded", action="store_true")
    parser.add_argument("--command", action="store_true")
    parser.add_argument("--program", choices=[program.__name__ for program in PROGRAMS])
    options = parser.parse_args()
    if options.command:
        with tempfile.TemporaryDirectory() as name:
            compare_command(options.nodes, options.rounds, Path(name))
        return
    chosen = [one for one in PROGRAMS if options.program in (None, one.__name__)]
    tensors = {program.__name__: program(options.nodes) for program in chosen}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        if options.folded:
            for name, tensor in tensors.items():
                best = min(draw_folded(tensor, options.view, path) for _ in range(options.rounds))
                print(f"{name:<13}{best:>8.2f} s {path.stat().st_size / 1e3:>8.0f} kB")
            return
        rounds = [
            {name: draw(tensor, options.view, path) for name, tensor in tensors.items()}
            for _ in range(options.rounds)
        ]
    print(f"{'seconds':<13}{'capture':>8}{'picture':>8}{'layout':>8}{'svg':>8}{'all':>8}   result")
    for name, drawn in rounds[0].items():
        best_stages = Stages(*map(min, zip(*(one[name].stages for one in rounds))))
        figures = "".join(f"{seconds:>8.2f}" for seconds in (*best_stages, sum(best_stages)))
        width, height = drawn.size
        print(
            f"{name:<13}{figures}   {drawn.nodes:,} nodes in {drawn.boxes:,} boxes, "
            f"{width:,.0f} x {height:,.0f}, {drawn.megabytes:.1f} MB"
        )
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
