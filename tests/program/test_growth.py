"""What gradstep holds does not grow with the calls of a program, nor with sessions and recordings
in it: after 100 more, it has at most 2 MB more, and no tensor or object of the program that it had
not before."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from textwrap import indent

import pytest

from tests.both import TORCH
from tests.forking import run_gradstep, run_python

PROGRAM = """
import gc, sys, tracemalloc, weakref
import gradstep
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
{each}
    optimizer.step()

def living():
    gc.collect()
    return sum(one() is not None for one in made)

for _ in range(20):
    step()
before = living()
tracemalloc.start()
sizes = [0]
for _ in range(2):
    for _ in range(50):
        step()
    after = living()
    sizes.append(tracemalloc.get_traced_memory()[0])
# what Python makes larger once, as the table of its names, grows in one half only
print(after - before, 2 * min(sizes[1], sizes[2] - sizes[1]), file=sys.stderr)
"""
COMMANDS = {
    "check": ["check"],
    "check -o page": ["check", "-o", "page.html"],
    "check --call all": ["check", "--call", "all"],
    "check --derivatives": ["check", "--derivatives"],
    "record": ["record", "-o", "run.gsr"],
    "record --when nan": ["record", "-o", "run.gsr", "--when", "nan"],
    "record --values all": ["record", "-o", "run.gsr", "--values", "all"],
    "render --call last": ["render", "--call", "last", "-o", "last.svg"],
    "render --values": ["render", "--values", "--call", "last", "-o", "last.svg"],
    "render --call 1000": ["render", "--call", "1000", "-o", "none.svg"],
    "film --call last": ["film", "--call", "last", "-o", "film.html"],
    "why --call last": ["why", "--call", "last"],
    "debug --batch": ["debug", "--batch", "--ex", "continue"],
    "debug --no-replay": ["debug", "--batch", "--no-replay", "--ex", "continue"],
    "debug --break": ["debug", "--batch", "--ex", "break tanh if rms > 1e9", "--ex", "continue"],
    "--fail-on nan": ["debug", "--fail-on", "nan"],
    "--fail-on rms": ["debug", "--fail-on", "rms > 1e9"],
    "--certify": ["debug", "--certify"],
}


CALL = "loss.backward()"
IN_PYTHON = {
    "a session that is left": """\
session = gradstep.Session(loss)
session.do("next 3")
session.abort()
""",
    "a session to its end": """\
session = gradstep.Session(loss)
session.do("continue"); session.do("back 2"); session.do("where"); session.finish()
""",
    "a session that is dropped": """\
session = gradstep.Session(loss)
session.do("break tanh if rms >= 0"); session.do("continue"); session.do("print grad")
""",
    "check": "gradstep.check(loss); loss.backward()",
    "why": "gradstep.why(loss, net[0].weight); loss.backward()",
    "render": "gradstep.render(loss, 'one.svg'); loss.backward()",
    "watch": """\
with gradstep.watch() as run:
    again = (net(batch.x) * batch.mask).mean()
    again.backward()
run.report()
""",
    "trace": """\
with gradstep.trace(values=True):
    again = (net(batch.x) * batch.mask).mean()
    again.backward()
""",
    "a recording": """\
with gradstep.record('one.gsr', values='all'):
    loss.backward()
""",
    "a flight recorder": """\
with gradstep.record('one.gsr', when='nan', keep=5):
    loss.backward()
""",
    "a recording that is read": """\
if len(made) == 5:
    with gradstep.record('one.gsr', call='all'):
        loss.backward()
else:
    loss.backward()
from pathlib import Path
from gradstep.capturing.names import Names
from gradstep.engines.recorded import RecordedCall
from gradstep.recording.reading import FileRun
with FileRun(Path('one.gsr')) as run:
    for index in run.full:
        run.flow(index)
        session = gradstep.Session.of_call(RecordedCall(run, index), names=Names())
        session.do("next 3")
""",
}
THINNED = ["max_size=200_000", "values='all', call='all', max_size=400_000"]


def see_that_nothing_grew(done: CompletedProcess[str]) -> None:
    told = [line.split() for line in done.stderr.splitlines() if line[:1].isdigit()]
    assert len(told) == 1, done.stderr
    objects, nbytes = map(int, told[0])
    assert objects <= 0
    assert nbytes <= 2_000_000


def write(folder: Path, library: str, each: str) -> None:
    text = PROGRAM.format(library=library, each=indent(each, "    "))
    (folder / "train.py").write_text(text)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_grows_with_the_calls(command: str, library: str, tmp_path: Path) -> None:
    write(tmp_path, library, CALL)
    leaf = ["0.weight"] if command.startswith("why") else []
    see_that_nothing_grew(run_gradstep([*COMMANDS[command], "train.py", *leaf], tmp_path))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("what", IN_PYTHON)
def test_nothing_grows_with_sessions_and_recordings(
    what: str, library: str, tmp_path: Path
) -> None:
    write(tmp_path, library, IN_PYTHON[what])
    see_that_nothing_grew(run_python(["train.py"], tmp_path))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("options", THINNED)
def test_nothing_grows_where_older_calls_are_thinned(
    options: str, library: str, tmp_path: Path
) -> None:
    write(tmp_path, library, CALL)
    program = (tmp_path / "train.py").read_text()
    opened = f"gradstep.record('one.gsr', {options}).__enter__()\nfor _ in range(20):"
    (tmp_path / "train.py").write_text(program.replace("for _ in range(20):", opened))
    see_that_nothing_grew(run_python(["train.py"], tmp_path))
