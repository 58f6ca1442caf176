"""Every option of every command on PyTorch programs of every kind.

The options are those that the parsers of the commands have. Whatever is asked for, the program
prints what it prints plainly and ends as it does, nothing of ours fails, and files are whole.
"""

from __future__ import annotations

import argparse
import html.parser
import importlib
import json
import re
import signal
import socket
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradstep_tui.cli import COMMANDS
from gradstep_tui.command_line import TargetParser
from tests.forking import run_python, run_together
from tests.waiting import LIMIT

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = net(torch.rand(5, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""
NESTED = """
import torch, warnings

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
for layout in (torch.strided, torch.jagged):
    parts = [torch.rand(2, 4), torch.rand(3, 4)]
    nested = torch.nested.nested_tensor(parts, layout=layout, requires_grad=True)
    torch.nested.to_padded_tensor(net(nested), 0.0).pow(2).sum().backward()
    print(net.weight.grad.sum().item())
"""
HALF_BUILT = """
import torch

torch.manual_seed(0)
class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 2

class Net(torch.nn.Module):
    def __init__(self):
        self_target = Scale()(torch.ones(3))
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, x):
        return self.layer(x)

half = torch.nn.Module.__new__(Net)
net = Net()
net(torch.ones(2, 3)).sum().backward()
print(net.layer.weight.grad.sum().item())
"""
OPTIMIZER_INSIDE = """
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
optimizers = {p: torch.optim.SGD([p], 0.1) for p in net.parameters()}
def step(p):
    optimizers[p].step()
    optimizers[p].zero_grad()
for p in net.parameters():
    p.register_post_accumulate_grad_hook(step)
for number in range(3):
    loss = net(torch.ones(2, 3)).pow(2).sum()
    loss.backward()
    print(number, loss.item())
"""
MODES = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode

class Counter(TorchDispatchMode):
    seen = 0
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        Counter.seen += 1
        return op(*args, **(kwargs or {}))

w = torch.ones(3, requires_grad=True)
table = torch.nn.Embedding(4, 3, sparse=True)
table.weight.data.fill_(0.5)
loss = (w.exp() * 2 * table(torch.tensor([1, 2]))).sum()
with Counter():
    loss.backward()
print(Counter.seen, w.grad.sum().item())
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.register_hook(lambda g: 1 / 0)
try:
    y.sum().backward()
except ZeroDivisionError:
    print("caught")
"""
JOB = """
import signal, torch, torch.distributed as dist
from torch import nn

signal.alarm(LIMIT)  # one that waits for ever ends
dist.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
WRAP
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 4) * (dist.get_rank() + 1)).pow(2).sum()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
dist.destroy_process_group()
""".replace("LIMIT", str(LIMIT))
# fmt: off
PROGRAMS = {
    "training": TRAINING, "nested tensors": NESTED, "half built": HALF_BUILT,
    "optimizer in backward": OPTIMIZER_INSIDE, "modes and errors": MODES,
    "ddp": JOB.replace("WRAP", "net = nn.parallel.DistributedDataParallel(net)"),
    "fsdp": JOB.replace(
        "WRAP",
        "from torch.distributed.fsdp import fully_shard\n"
        "for part in net:\n"
        "    if isinstance(part, nn.Linear):\n"
        "        fully_shard(part)\n"
        "fully_shard(net)",
    ),
}
JOBS = ("ddp", "fsdp")
LEAVES = {
    "training": "0.weight", "nested tensors": "weight", "half built": "layer.weight",
    "optimizer in backward": "0.weight", "modes and errors": "w", "ddp": "module.0.weight",
    "fsdp": "0.weight",
}
VALUES: dict[str, list[str]] = {
    "--hops": ["1"], "--on-rank": ["0", "all"], "debug --call": ["1", "all", "1,2:3"],
    "ADDRESS=TEXT": ["sum:1=W x"], "FACTS": ["shapes,rms"], "T": ["bitwise"], "WHAT": ["threads"],
    "--repeat": ["2"],
    "K": ["1", "last", "all", "1,2:3"], "N": ["1", "20"], "S": ["0.1"],
    "TEXT": ["a <title> & more"], "URL": ["vscode://file/{path}:{line}"], "NAME": ["0"],
    "NODE": ["sum"], "WIDTH": ["800", "88mm"], "W:H": ["16:9"],
    "A..B": ["sum..mul"],
    "PATTERN": ["*"], "60s": ["60s"], "nan,inf": ["nan,inf"], "X": ["1.3", "none"],
    "PLACE": ["sum", "1"], "CONDITION": ["nan", "rms > 1e9", "nan,inf"], "SIZE": ["0M", "10M"],
    "CODES": ["stale-grad,unreached"], "COMMAND": ["next", "continue", "info leaves", "info node"],
}
"""What an option is given, by its name or by the word that its help has for it."""
FILES = {
    "render": [f"out.{each}" for each in ("svg", "html", "json", "txt", "dot")],
    "film": ["out.svg", "out.html"], "plot": ["out.svg", "out.html"], "debug": ["commands"],
    "record": ["out.gsr"], "check": ["out.txt"], "diff": ["out.svg", "out.html"],
}
# fmt: on


class Case(NamedTuple):
    command: str
    options: tuple[str, ...]
    program: str


def targeted() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name in COMMANDS:
        parser = importlib.import_module(f"gradstep_tui.commands.{name}").parser()
        if isinstance(parser, TargetParser):
            yield name, parser


def ways(command: str, action: argparse.Action) -> Iterator[tuple[str, ...]]:
    """List the ways of using an option."""
    names = [each for each in action.option_strings if each.startswith("-")]
    if not names or action.dest in ("help", "ranks", "screen"):  # of recordings, and in a terminal
        return
    if action.nargs == 0:
        yield from [(name,) for name in names]
        return
    metavar = str(action.metavar)
    if action.choices is not None:
        values = [str(each) for each in action.choices]
    elif metavar == "FILE" or action.dest == "output":
        values = FILES[command]
    else:
        possible = (f"{command} {names[0]}", names[0], metavar)
        key = next((each for each in possible if each in VALUES), metavar)
        assert key in VALUES, f"say above what {names[0]} {metavar} of {command} is given"
        values = VALUES[key]
    yield from [(name, value) for name in names[:1] for value in values]


def cases() -> list[Case]:
    return [
        Case(name, way, program)
        for name, parser in targeted()
        for action in parser._actions
        for way in ways(name, action)
        for program in PROGRAMS
        if (name, action.dest) != ("debug", "until")  # opens the screen
    ]


def words_of(case: Case) -> list[str]:
    words = [case.command, *case.options]
    if case.command == "debug" and "-x" not in words and "--ex" not in words:
        words += ["--batch", "--ex", "continue"]
    elif case.command == "debug":
        words += ["--batch"]
    elif "--call" not in words:
        words += ["--call", "last"]
    if case.command == "diff" and not {"--repeat", "--vary"} & {*words}:
        words += ["train.py"]
    if "--hops" in words:
        words += ["--around", "sum"]
    if case.command in ("render", "film") and "-o" not in words:
        words += ["-o", f"out.{suffix_of(case)}"]
    return [*words, "train.py", *([LEAVES[case.program]] if case.command == "why" else [])]


def suffix_of(case: Case) -> str:
    if "--format" in case.options:
        return {"mermaid": "mmd"}.get(case.options[-1], case.options[-1])
    if "--rankdir" in case.options:
        return "dot"
    return "svg"


def run(words: list[str], folder: Path, program: str) -> list[Any]:
    """Run a program, or two processes of it, as torchrun would start them."""
    if program not in JOBS:
        return [run_python(words, folder)]
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    job = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    ranks = [{**job, "RANK": rank, "LOCAL_RANK": rank} for rank in ("0", "1")]
    return run_together(words, folder, ranks)


_plain: dict[str, list[Any]] = {}


def plainly(program: str, folder: Path) -> list[Any]:
    if program not in _plain:
        _plain[program] = run(["train.py"], folder, program)
        assert all(each.returncode == 0 for each in _plain[program]), _plain[program]
    return _plain[program]


def problems(case: Case, folder: Path) -> list[str]:
    """List what is wrong about the outcome of a case."""
    (folder / "train.py").write_text(PROGRAMS[case.program], "utf-8")
    (folder / "commands").write_text("next\ninfo node\ncontinue\n", "utf-8")
    words = words_of(case)
    plain = plainly(case.program, folder)
    done = run(["-m", "gradstep", *words], folder, case.program)
    found = []
    for ours, theirs in zip(done, plain, strict=True):
        if ours.returncode == -signal.SIGALRM:
            found.append(f"it waits for ever: {ours.stderr[-600:]}")
        for sign in ("Traceback", "defect of gradstep", "not shown"):
            if sign in ours.stderr:
                found.append(f"{sign}: {ours.stderr[-600:]}")
        if re.search(r": nothing (here|that is folded) is called", ours.stderr):
            if ours.returncode != 2:
                found.append(f"exit code {ours.returncode}: {ours.stderr[-600:]}")
            continue
        # 3: nothing to draw of a call; 4: no font; 5: something was found
        if ours.returncode not in (0, 3, 5, *([4] if {"png", "pdf"} & {*words} else [])):
            found.append(f"exit code {ours.returncode}: {ours.stderr[-600:]}")
        expected = theirs.stdout.splitlines()
        printed = [line for line in ours.stdout.splitlines() if line in expected]
        if case.command == "diff":  # the programs run apart, and tell nothing
            continue
        call = words[words.index("--call") + 1] if "--call" in words else "last"
        ends = "--calls" in words or call not in ("last", "all")
        if printed != (expected[: len(printed)] if ends and case.command != "debug" else expected):
            found.append(f"printed {printed}, not {expected}: {ours.stderr[-300:]}")
    found += [f"{path.name}: {what}" for path in folder.glob("out.*") if (what := broken(path))]
    return found


def broken(path: Path) -> str:
    """Say what is wrong about a file, "" where it is whole."""
    data = path.read_bytes()
    try:
        if path.suffix == ".svg":
            ElementTree.fromstring(data)
        elif path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".html":
            html.parser.HTMLParser().feed(data.decode())
    except Exception as error:
        return repr(error)
    return "" if data.strip() else "it is empty"


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_option_of_every_command_goes_with_a_program(
    program: str, sample: Callable[[Any, int], list[Any]], tmp_path: Path
) -> None:
    own = [case for case in cases() if case.program == program]
    shift = 31 * list(PROGRAMS).index(program)  # a sample takes another option for each program
    failures = []
    for number, case in enumerate(sample(own[shift:] + own[:shift], 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        words = " ".join(words_of(case))
        failures += [f"{words}: {problem}" for problem in problems(case, folder)]
    assert not failures, "\n".join(failures)


def test_no_command_with_a_target_is_left_out() -> None:
    assert {case.command for case in cases()} == {name for name, _ in targeted()}
    assert len(cases()) > 500
