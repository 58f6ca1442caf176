"""Costs of watching a training loop of small steps on PyTorch, by whole commands.

    python benchmarks/pytorch_loop.py [REPETITIONS]

Ratios to the same script without gradstep, of the CPU seconds that its loop takes and of those of
the whole process: the smallest of some interleaved repetitions, one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """\
import time, torch
torch.manual_seed(0); torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 0.01); x = torch.rand(16, 8)
start = time.process_time()
for _ in range(2000):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
print("loop", time.process_time() - start)
"""
GRADSTEP = [sys.executable, "-m", "gradstep"]
COMMANDS = {
    "plain": [sys.executable],
    "attached": [*GRADSTEP, "render", "--call", "grad:1", "-o", "loop.svg"],
    "--fail-on nan": [*GRADSTEP, "debug", "--fail-on", "nan"],
    "--fail-on 'rms>1e9'": [*GRADSTEP, "debug", "--fail-on", "rms>1e9"],
    "--break, continue": [
        *GRADSTEP, "debug", "--batch", "--break", "2.weight if nan", "--ex", "continue",
    ],
    "--break, --calls": [
        *GRADSTEP, "debug", "--batch", "--break", "2.weight if nan", "--ex", "continue --calls",
    ],
    "render --call last": [*GRADSTEP, "render", "--call", "last", "-o", "loop.svg"],
}  # fmt: skip


def seconds(command: list[str], folder: str) -> tuple[float, float]:
    """Return the CPU seconds of the loop, and of the process."""
    before = os.times()
    run = subprocess.run(
        [*command, "loop.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    after = os.times()
    (loop,) = [float(line.split()[1]) for line in run.stdout.splitlines() if line[:4] == "loop"]
    whole = after.children_user + after.children_system
    return loop, whole - before.children_user - before.children_system


def main(repetitions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "loop.py").write_text(SCRIPT, "utf-8")
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
        for _ in range(repetitions):
            for name, command in COMMANDS.items():
                found[name].append(seconds(command, folder))
    least = {name: tuple(map(min, zip(*runs, strict=True))) for name, runs in found.items()}
    loop, whole = least["plain"]
    print(f"plain  loop {loop:.2f} s, whole {whole:.2f} s")
    for name, each in least.items():
        print(f"{name:20}  loop {each[0] / loop:5.2f}   whole {each[1] / whole:5.2f}")
    print("at most, of the loop: --fail-on 1.5, all others 2.5")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
