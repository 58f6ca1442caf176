"""What commands cost a program that uses ``torch.compile``, and whether it stays compiled.

    python benchmarks/compiled.py [BACKEND]

Ratios to the same program without gradstep: of the time that one of ten steps is below, once the
program is compiled and the first calls have been described.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """\
import sys, time, torch
from torch._dynamo.utils import counters
torch.set_num_threads(1); torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256), torch.nn.Tanh(),
    torch.nn.Linear(256, 1),
)
compiled = torch.compile(net, backend=sys.argv[1])
opt, x, times = torch.optim.SGD(net.parameters(), 0.01), torch.rand(256, 256), []
for _ in range(500):
    start = time.perf_counter()
    opt.zero_grad(); compiled(x).pow(2).mean().backward(); opt.step()
    times.append(time.perf_counter() - start)
print("step", sorted(times[100:])[40], "graphs", counters["stats"]["unique_graphs"])
"""
COMMANDS = {
    "plain": [],
    "check": ["-m", "gradstep", "check"],
    "record": ["-m", "gradstep", "record", "-o", "run.gsr"],
    "--fail-on nan,inf": ["-m", "gradstep", "debug", "--fail-on", "nan,inf"],
    "render, far call": ["-m", "gradstep", "render", "--call", "1000000", "-o", "loop.svg"],
}


def measured(command: list[str], backend: str) -> tuple[float, int]:
    """Return the seconds of a step, and how many graphs were compiled."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "loop.py").write_text(SCRIPT, "utf-8")
        run = subprocess.run(
            [sys.executable, *command, "loop.py", backend], cwd=folder, capture_output=True,
            text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    found = re.search(r"step (\S+) graphs (\d+)", run.stdout)
    if found is None:
        raise SystemExit(run.stderr)
    return float(found[1]), int(found[2])


def main(backend: str) -> None:
    usual, graphs = measured(COMMANDS["plain"], backend)
    for name, command in COMMANDS.items():
        seconds, count = measured(command, backend)
        stays = "stays compiled" if count == graphs else f"{count} graphs instead of {graphs}"
        print(f"{name:20} {seconds / usual:5.2f}  {stays}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
