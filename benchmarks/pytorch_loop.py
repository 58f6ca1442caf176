"""What commands cost over a training loop on PyTorch, as rows of docs/cost.rst.

    python benchmarks/pytorch_loop.py [REPETITIONS [STEPS]]

Each row is a program with the commands that watch it, run in turn on one thread. A figure is the
smallest CPU time of the loop under a command, divided by the smallest one without; memory is the
peak of the whole process. STEPS chooses rows, by the end of their names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """\
import resource, sys, time, torch
torch.manual_seed(0); torch.set_num_threads(1)
width, depth, steps = map(int, sys.argv[1:])
layers = [m for _ in range(depth) for m in (torch.nn.Linear(width, width), torch.nn.Tanh())]
net = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
opt = torch.optim.SGD(net.parameters(), 0.01); x = torch.rand(width, width)
start = time.process_time()
for _ in range(steps):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
took = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"loop {took} {peak}", file=sys.stderr)
"""
STEPS = {  # width, layers, steps
    "0.1 ms": (8, 1, 4000),
    "0.2 ms": (64, 2, 4000),
    "0.6 ms": (128, 3, 2500),
    "5 ms": (256, 4, 200),
    "40 ms": (768, 6, 40),
}
COMMANDS = {
    "attached": ["render", "--call", "1000000", "-o", "loop.svg"],
    "check": ["check"],
    "record": ["record", "-o", "run.gsr"],
    "--fail-on nan,inf": ["debug", "--fail-on", "nan,inf"],
    "--fail-on 'rms>1e9'": ["debug", "--fail-on", "rms>1e9"],
    "--break if": ["debug", "--batch", "--break", "2.weight if nan", "--ex", "continue"],
    "--break, --calls": [
        "debug", "--batch", "--break", "2.weight if nan", "--ex", "continue --calls",
    ],
    "render --call last": ["render", "--call", "last", "-o", "loop.svg"],
}  # fmt: skip


def measured(command: list[str], arguments: tuple[int, ...]) -> tuple[float, float]:
    """Return the CPU seconds of the loop, and the peak of the process in MB."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "loop.py").write_text(SCRIPT, "utf-8")
        run = subprocess.run(
            [*command, "loop.py", *map(str, arguments)], cwd=folder, capture_output=True,
            text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    (told,) = [line.split("loop ")[1] for line in run.stderr.splitlines() if "loop " in line]
    seconds, peak = map(float, told.split()[:2])
    return seconds, peak


def main(repetitions: int, chosen: str) -> None:
    commands = {"plain": [sys.executable]}
    commands.update(
        (name, [sys.executable, "-m", "gradstep", *words]) for name, words in COMMANDS.items()
    )
    for steps, arguments in STEPS.items():
        if not steps.endswith(chosen):
            continue
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(repetitions):
            for name, command in commands.items():
                runs[name].append(measured(command, arguments))
        least = {
            name: [min(each) for each in zip(*pairs, strict=True)] for name, pairs in runs.items()
        }
        took, peak = least.pop("plain")
        print(f"steps of {steps} ({1000 * took / arguments[2]:.2f} ms here), {peak:.0f} MB")
        for name, (seconds, held) in least.items():
            print(f"   * - {name:22} {seconds / took:5.2f}   memory {held / peak:.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, "".join(sys.argv[2:3]))
