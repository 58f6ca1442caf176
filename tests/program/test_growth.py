"""What a command holds does not grow with the calls of a program: after 100 more, it has at most
2 MB more, and no tensor or object of the program that it had not before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.both import TORCH
from tests.forking import run_gradstep

PROGRAM = """
import gc, sys, tracemalloc, weakref
import {library} as torch
from {library} import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
made = []

class Batch:
    def __init__(self):
        self.x, self.mask = torch.rand(32, 8), torch.ones(32, 1)

def step():
    batch = Batch()
    out = net(batch.x) * batch.mask
    loss = (out * out).mean()
    made.extend(map(weakref.ref, (batch, batch.x, batch.mask, out, loss)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def living():
    gc.collect()
    return sum(one() is not None for one in made)

for _ in range(20):
    step()
before = living()
tracemalloc.start()
for _ in range(100):
    step()
after = living()
print(after - before, tracemalloc.get_traced_memory()[0], file=sys.stderr)
"""
COMMANDS = {
    "check": ["check"],
    "record": ["record", "-o", "run.gsr"],
    "record --values all": ["record", "-o", "run.gsr", "--values", "all"],
    "render --call last": ["render", "--call", "last", "-o", "last.svg"],
    "render --call 1000": ["render", "--call", "1000", "-o", "none.svg"],
    "film --call last": ["film", "--call", "last", "-o", "film.html"],
    "why --call last": ["why", "--call", "last"],
    "debug --batch": ["debug", "--batch", "--ex", "continue"],
    "debug --break": ["debug", "--batch", "--ex", "break tanh if rms > 1e9", "--ex", "continue"],
    "--fail-on nan": ["debug", "--fail-on", "nan"],
    "--fail-on rms": ["debug", "--fail-on", "rms > 1e9"],
    "--certify": ["debug", "--certify"],
}


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_grows_with_the_calls(command: str, library: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(library=library))
    leaf = ["0.weight"] if command.startswith("why") else []
    done = run_gradstep([*COMMANDS[command], "train.py", *leaf], tmp_path)
    told = [line.split() for line in done.stderr.splitlines() if line[:1].isdigit()]
    assert len(told) == 1, done.stderr
    objects, nbytes = map(int, told[0])
    assert objects <= 0
    assert nbytes <= 2_000_000
