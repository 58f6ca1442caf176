"""What commands cost the programs they watch: the tables of docs/cost.rst.

    python benchmarks/costs.py [REPETITIONS [PROGRAM [COMMAND]]]
    python benchmarks/costs.py write [REPETITIONS]      all of them, into docs/costs/

A figure is CPU time under a command, divided by CPU time without: of the loop of a program where it
has one, else of the whole process. Both are the smallest of interleaved runs on one thread. Memory
is the peak of the whole process, divided by the peak without. PROGRAM and COMMAND choose rows by a
part of their names.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).parents[1] / "docs" / "costs"

LOOP = """\
import sys, time, {library} as torch
torch.manual_seed(0)
layers = [m for _ in range({depth}) for m in (torch.nn.Linear({width}, {width}), torch.nn.Tanh())]
net = torch.nn.Sequential(*layers, torch.nn.Linear({width}, 1))
opt = torch.optim.SGD(net.parameters(), 0.01); x = torch.rand({width}, {width})
start = time.process_time()
try:
    for _ in range({steps}):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
finally:  # it may be ended at a call
    print(f"loop {{time.process_time() - start}}", file=sys.stderr)
"""
OPS = """\
import sys, time, {library} as torch
w = torch.ones(10, requires_grad=True); opt = torch.optim.SGD([w], 1e-9)
start = time.process_time()
for _ in range({steps}):
    opt.zero_grad(); y = w
    for _ in range({ops} // 2):
        y = y * 1.0; y = y + 0.0
    y.sum().backward(); opt.step()
print(f"loop {{time.process_time() - start}}", file=sys.stderr)
"""
SINES = """\
import torch
x = torch.rand(2_000_000, requires_grad=True)
for _ in range(3):
    y = x
    for _ in range(40):
        y = y.sin()
    y.sum().backward()
    x.grad = None
"""
COMPILED = """\
import sys, time, torch
from torch._dynamo.utils import counters
torch.manual_seed(0)
layers = [m for _ in range(2) for m in (torch.nn.Linear(256, 256), torch.nn.Tanh())]
net = torch.nn.Sequential(*layers, torch.nn.Linear(256, 1))
compiled = torch.compile(net)
opt, x, times = torch.optim.SGD(net.parameters(), 0.01), torch.rand(256, 256), []
for _ in range(500):
    start = time.perf_counter()
    opt.zero_grad(); compiled(x).pow(2).mean().backward(); opt.step()
    times.append(time.perf_counter() - start)
print("loop", sorted(times[100:])[40], file=sys.stderr)
print("graphs", counters["stats"]["unique_graphs"], file=sys.stderr)
"""
PICTURE = """\
import torch
torch.manual_seed(0)
block = lambda: torch.nn.TransformerEncoderLayer({width}, 4, 4 * {width}, batch_first=True)
net = torch.nn.Sequential(*[block() for _ in range({depth})], torch.nn.Linear({width}, 1))
net(torch.rand(2, 16, {width})).mean().backward()
"""


class Program(NamedTuple):
    """A script, what it is filled with, and the commands that watch it."""

    script: str
    values: Mapping[str, object] = {}
    commands: Sequence[str] = ()


COMMANDS = {
    "render --call 1000000": ["render", "--call", "1000000", "-o", "out.svg"],
    "check": ["check"],
    "check --call 301": ["check", "--call", "301"],
    "record": ["record", "-o", "run.gsr"],
    "debug --fail-on nan,inf": ["debug", "--fail-on", "nan,inf"],
    "debug --fail-on 'rms > 1e9'": ["debug", "--fail-on", "rms > 1e9"],
    "debug --break '2.weight if nan'": [
        "debug", "--batch", "--break", "2.weight if nan", "--ex", "continue",
    ],
    "debug --break '2.weight if nan', continue --calls": [
        "debug", "--batch", "--break", "2.weight if nan", "--ex", "continue --calls",
    ],
    "debug": ["debug", "--batch", "--ex", "continue"],
    "render": ["render", "-o", "out.svg"],
    "render --call last": ["render", "--call", "last", "-o", "out.svg"],
}  # fmt: skip
WATCHING = (
    "render --call 1000000", "check", "record", "debug --fail-on nan,inf",
    "debug --fail-on 'rms > 1e9'", "debug --break '2.weight if nan'",
    "debug --break '2.weight if nan', continue --calls", "render --call last",
)  # fmt: skip
STEPS = {
    f"{name}": Program(LOOP, {"library": library, "width": w, "depth": d, "steps": n}, WATCHING)
    for name, library, w, d, n in (
        ("0.1 ms", "torch", 8, 1, 4000),
        ("0.2 ms", "torch", 64, 2, 4000),
        ("0.6 ms", "torch", 128, 3, 2500),
        ("5 ms", "torch", 256, 4, 400),
        ("40 ms", "torch", 768, 6, 60),
    )
}
OTHERS = {
    "301 steps of 0.6 ms": Program(
        LOOP, {"library": "torch", "width": 128, "depth": 3, "steps": 301}, ["check --call 301"]
    ),
    "40 activations of 8 MB": Program(
        SINES, {}, ["check", "record", "debug --fail-on nan,inf"]
    ),
    "torch.compile, steps of 2 ms": Program(
        COMPILED, {}, ["render --call 1000000", "check", "record", "debug --fail-on nan,inf"]
    ),
    "one pass through 100,000 small ops": Program(
        OPS, {"library": "torch", "steps": 1, "ops": 100_000},
        ["check", "record", "debug --fail-on nan,inf"],
    ),
    "a picture of one encoder layer": Program(PICTURE, {"width": 64, "depth": 1}, ["render"]),
    "a picture of 24 encoder layers": Program(PICTURE, {"width": 512, "depth": 24}, ["render"]),
    "own engine, steps of 0.1 ms": Program(
        LOOP, {"library": "autograd_core", "width": 8, "depth": 1, "steps": 4000},
        ["check", "record", "debug --fail-on nan,inf", "debug --fail-on 'rms > 1e9'",
         "render --call last"],
    ),
    "own engine, one pass through 100,000 small ops": Program(
        OPS, {"library": "autograd_core", "steps": 1, "ops": 100_000},
        ["check", "record", "debug", "debug --fail-on nan,inf"],
    ),
}  # fmt: skip


class Cost(NamedTuple):
    """CPU seconds, megabytes at the peak, and the graphs that were compiled."""

    seconds: float
    peak: float
    graphs: str = ""


def measured(program: Program, words: Sequence[str], folder: str) -> Cost:
    """Run a program, under the command of these words if there are some."""
    Path(folder, "train.py").write_text(program.script.format(**program.values), "utf-8")
    command = [sys.executable, *(["-m", "gradstep", *words] if words else []), "train.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile() as said:
        run = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().decode().splitlines()
    if run.returncode not in (0, 3, 5):  # it found something, or there is no such call
        sys.exit("\n".join(lines))
    seconds = [float(line.split()[1]) for line in lines if line.startswith("loop ")]
    graphs = [line for line in lines if line.startswith("graphs ")]
    whole = usage.ru_utime + usage.ru_stime
    return Cost(seconds[0] if seconds else whole, usage.ru_maxrss / 1024, "".join(graphs))


def costs(program: Program, repetitions: int, chosen: str = "") -> dict[str, Cost]:
    """Return the smallest costs of the plain program (named ""), and of it under commands."""
    runs: dict[str, list[Cost]] = {"": []}
    runs |= {name: [] for name in program.commands if chosen in name}
    for _ in range(repetitions):
        for name, known in runs.items():
            with tempfile.TemporaryDirectory() as folder:
                known.append(measured(program, COMMANDS.get(name, ()), folder))
    return {name: Cost(*map(min, zip(*known, strict=True))) for name, known in runs.items()}


def ratios(program: Program, repetitions: int, chosen: str = "") -> dict[str, tuple[str, str]]:
    """Return by command what it costs, and the memory that it takes."""
    known = costs(program, repetitions, chosen)
    usual = known.pop("")
    return {
        name: (
            f"{cost.seconds / usual.seconds:.2f}"
            + ("" if cost.graphs == usual.graphs else f" ({cost.graphs} of {usual.graphs})"),
            f"{cost.peak / usual.peak:.2f}",
        )
        for name, cost in known.items()
    }  # fmt: skip


def write(repetitions: int) -> None:
    """Measure all, and write the tables."""
    of_steps = {name: ratios(program, repetitions) for name, program in STEPS.items()}
    with (TABLES / "steps.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["command", *of_steps])
        for command in WATCHING:
            rows.writerow([f"``{command}``", *(of_steps[name][command][0] for name in of_steps)])
    with (TABLES / "programs.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["program", "command", "CPU time", "peak of memory"])
        for name, program in OTHERS.items():
            for command, figures in ratios(program, repetitions).items():
                rows.writerow([name, f"``{command}``", *figures])


def main(repetitions: int = 3, program: str = "", command: str = "") -> None:
    for name, each in {**STEPS, **OTHERS}.items():
        if program in name:
            for watching, figures in ratios(each, repetitions, command).items():
                print(f"{name:48} {watching:32} {figures[0]:>6}   memory {figures[1]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(*map(int, sys.argv[2:3] or [3]))
    else:
        main(*map(int, sys.argv[1:2]), *sys.argv[2:4])
