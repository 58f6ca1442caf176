"""The cost of each command for Python loops over small tensors, on both engines.

    python benchmarks/loops.py [LIBRARY] [PROGRAM] [COMMAND]

Ratios to the same script without gradstep, of the CPU seconds of whole processes beyond those of a
script that only imports the library: one thread, each command right after a plain run, the median
of three such pairs.  ``autograd_core`` and ``torch`` are the libraries.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

REPETITIONS = 3
NET = """
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(5):
    x = torch.stack([series[s:s + 8] for s in range(step, step + 160, 10)])
    y = torch.stack([series[s + 8] for s in range(step, step + 160, 10)])
    loss = (net(x).squeeze(1) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PROGRAMS = {
    "data filled in a loop": """
series = torch.zeros({size} * 20_000)
for i in range(1, len(series)):
    series[i] = 0.9 * series[i - 1] + torch.randn(())
""" + NET,
    "the same, with numbers": """
series = torch.zeros({size} * 20_000)
for i in range(1, len(series)):
    series[i] = 0.9 * series[i - 1].item() + 0.1 * torch.randn(()).item()
""" + NET,
    "simulated and evaluated": """
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(200, 2)
for step in range({size} * 30):
    x = data[:4]
    for _ in range(300):
        x = x + 0.01 * torch.stack([x[:, 1], -x[:, 0]], 1)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        right = sum(net(row).item() > 0 for row in data)
""",
    "a cell step by step": """
net = torch.nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(200, 2)
for step in range({size} * 20):
    state, total = torch.zeros(4), 0.0
    for row in data:
        state = torch.tanh(net(torch.cat((row, state))))
        total = total + (state * state).sum()
    optimizer.zero_grad()
    (total / 200).backward()
    optimizer.step()
""",
    "numbers logged in a loop": """
w = torch.randn(3, requires_grad=True)
rows, history = torch.randn(400, 3), []
for step in range({size} * 20):
    total = torch.zeros(())
    for row in rows:
        total = total + (row @ w - 1) ** 2
        history.append(total.item())
    total.backward()
    with torch.no_grad():
        w -= 1e-5 * w.grad
        w.grad.zero_()
""",
    "one example at a time": """
w, b = torch.randn(3, requires_grad=True), torch.zeros((), requires_grad=True)
rows = torch.randn(100, 3)
for step in range({size} * 20):
    for row in rows:
        loss = (row @ w + b - 1) ** 2
        loss.backward()
        with torch.no_grad():
            for each in (w, b):
                each -= 0.01 * each.grad
                each.grad.zero_()
""",
}  # fmt: skip
SIZES = {"autograd_core": 3, "torch": 2}
COMMANDS = {
    "render": ["render", "--call", "last", "-o", "out.svg"],
    "record": ["record", "-o", "run.gsr"],
    "check": ["check"],
    "why": ["why", "--call", "last"],
    "debug --fail-on nan": ["debug", "--fail-on", "nan"],
    "film": ["film", "--call", "last", "-o", "film.html"],
    "plot": ["plot", "-o", "plot.svg"],
}


def seconds(command: list[str], folder: str) -> float:
    """Return the CPU seconds of a process, which may find what it looks for."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    before = os.times()
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, check=False
    )
    after = os.times()
    if done.returncode not in (0, 5):
        sys.exit(done.stderr.decode())
    return sum(after[2:4]) - sum(before[2:4])


def main(library: str = "", program: str = "", command: str = "") -> None:
    for used in [each for each in SIZES if library in each]:
        head = f"import {used} as torch\ntorch.manual_seed(0)\n"
        for name in [each for each in PROGRAMS if program in each]:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "nothing.py").write_text(head, "utf-8")
                text = PROGRAMS[name].format(size=SIZES[used])
                Path(folder, "train.py").write_text(head + text, "utf-8")
                least = min(seconds(["nothing.py"], folder) for _ in range(REPETITIONS))
                for each in [one for one in COMMANDS if command in one]:
                    print(f"{used:14} {name:26} {each:20} {ratio(each, name, folder, least)}")


def ratio(command: str, program: str, folder: str, least: float) -> str:
    """Return how long a command takes for ``train.py``, beyond the ``least`` of any program."""
    leaf = ["net.weight" if "net = " in PROGRAMS[program] else "w"] if command == "why" else []
    given = ["-m", "gradstep", *COMMANDS[command], "train.py", *leaf]
    ratios, plain = [], 0.0
    for _ in range(REPETITIONS):
        plain = seconds(["train.py"], folder) - least
        ratios.append((seconds(given, folder) - least) / plain)
    return f"{median(ratios):6.2f}  ({min(ratios):.2f} to {max(ratios):.2f}; {plain:.1f} s plainly)"


if __name__ == "__main__":
    main(*sys.argv[1:])
