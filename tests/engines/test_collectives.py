"""No command of ours issues a collective, on any process, in programs of every kind.

A collective of ours would wait for ever for processes that issue none, or take what was meant for
one of the program's.  So each program of ``jobs`` writes down those that its processes issue, and
under every command that is, line by line, what it writes plainly.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradstep.recording.reading import FileRun
from tests.forking import ROOT, run_together

pytest.importorskip("torch.distributed", reason="PyTorch is not installed, or without processes")
pytestmark = pytest.mark.torch

JOBS = Path(__file__).parent / "jobs"
PROGRAMS = sorted(path.stem for path in JOBS.glob("*.py") if path.stem != "job")
LEAVES = {
    "ddp_unused": "module.first.weight", "differentiable": "w", "dtensors": "w", "functional": "w",
    "fsdp2": "0.linear.weight", "fsdp2_checkpoint": "last.weight", "sequence_parallel": "up.weight",
    "tensor_parallel": "up.weight",
    "fsdp1": "_fsdp_wrapped_module.0._fsdp_wrapped_module._flat_param",
}  # fmt: skip
"""What ``why`` is asked about, "0.weight" where nothing is said."""
WALK = ("next 3", "info node", "info saved", "print", "back 2", "info leaves", "continue")
COMMANDS = {
    "check": ("check", "--call", "all"),
    "derivatives": ("check", "--derivatives", "--all"),
    "why": ("why", "--call", "last"),
    "render": ("render", "--call", "last", "-o", "out.svg"),
    "first": ("render", "-o", "out.svg"),
    "values": ("render", "--values", "--call", "last", "-o", "out.html"),
    "film": ("film", "--call", "last", "-o", "out.svg"),
    "record": ("record", "-o", "out.gsr"),
    "tensors": ("record", "--values", "all", "--call", "all", "-o", "out.gsr"),
    "when": ("record", "--when", "nan,inf", "-o", "out.gsr"),
    "plot": ("plot", "-o", "out.svg"),
    "batch": ("debug", "--batch", "--call", "all", *(w for line in WALK for w in ("--ex", line))),
    "stops": ("debug", "--batch", "--break", "#2", "--ex", "print in", "--ex", "continue"),
    "fail on": ("debug", "--fail-on", "nan,inf"),
    "condition": ("debug", "--fail-on", "rms > 1e30"),
    "certify": ("debug", "--certify"),
}

ENDS_EARLY = ("first",)  # the program ends when its call is drawn
LEFT_ALONE = "Connection closed by peer"
"""What a process says that waits for one which has ended so."""


class Case(NamedTuple):
    program: str
    command: str
    on: str  # which process shows something


class Outcome(NamedTuple):
    """What a process of a job did."""

    code: int
    printed: str
    said: str
    collectives: list[str]


def cases() -> list[Case]:
    """List every program under every command, told by the first process and by all."""
    return [
        Case(program, command, on)
        for program in PROGRAMS
        for command in COMMANDS
        for on in ("0", "all")
    ]


def arguments_of(case: Case) -> list[str]:
    command, *options = COMMANDS[case.command]
    leaf = [LEAVES.get(case.program, "0.weight")] if command == "why" else []
    return [command, "--on-rank", case.on, *options, "train.py", *leaf]


def prepared(program: str, folder: Path) -> Path:
    """Put a program of ``jobs`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(JOBS / "job.py", folder)
    shutil.copy(JOBS / f"{program}.py", folder / "train.py")
    return folder


def run(words: Sequence[str], folder: Path, **more: str) -> list[Outcome]:
    """Run two processes of a program, as torchrun would start them, with ``more`` in their
    environment."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    job = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port), **more}
    ranks = [{**job, "RANK": rank, "LOCAL_RANK": rank} for rank in ("0", "1")]
    return [
        Outcome(done.returncode, done.stdout, done.stderr, collectives_of(rank, folder))
        for rank, done in enumerate(run_together(words, folder, ranks, with_torch=True))
    ]


def collectives_of(rank: int, folder: Path) -> list[str]:
    path = folder / f"collectives.{rank}"
    return path.read_text("utf-8").splitlines() if path.exists() else []


@cache
def plainly(program: str, folder: Path) -> list[Outcome]:
    outcomes = run(["train.py"], prepared(program, folder))
    assert all(each.code == 0 and each.collectives for each in outcomes), outcomes
    return outcomes


def problems(case: Case, folder: Path, plain: Sequence[Outcome]) -> list[str]:
    """List what is wrong about a command."""
    outcomes = run(["-m", "gradstep", *arguments_of(case)], prepared(case.program, folder))
    wrong = []
    for rank, (ours, theirs) in enumerate(zip(outcomes, plain, strict=True)):
        if case.command in ENDS_EARLY:
            theirs = Outcome(0, "", "", theirs.collectives[: len(ours.collectives)])
            if LEFT_ALONE in ours.said and "defect of gradstep" not in ours.said:
                ours = ours._replace(code=0, said="")
        if ours.collectives != theirs.collectives:
            wrong.append(f"{rank}: {difference(ours.collectives, theirs.collectives)}")
        if ours.code == -signal.SIGALRM:
            wrong.append(f"{rank}: it waits for ever: {ours.said[-600:]}")
        elif ours.code not in (0, 3, 5):  # nothing to draw; something was found
            wrong.append(f"{rank}: exit code {ours.code}: {ours.said[-600:]}")
        if theirs.printed.strip() not in ours.printed:
            wrong.append(f"{rank}: other parameters: {ours.printed[-300:]}")
        wrong += [
            f"{rank}: {sign}: {ours.said[-900:]}"
            for sign in ("Traceback", "defect of gradstep", "RuntimeWarning")
            if sign in ours.said
        ]
    return wrong


def difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Tell where two processes first issue another collective."""
    at = next(
        (at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    here, plain = (" ".join(each[at : at + 1]) or "nothing" for each in (ours, theirs))
    return f"collective {at} of {len(theirs)} is {here}, plainly {plain}"


def test_commands_issue_no_collective(
    tmp_path: Path, sample: Callable[[Any, int], list[Case]]
) -> None:
    wrong = []
    for case in sample(cases(), 2):
        plain = plainly(case.program, tmp_path / case.program / "plain")
        folder = tmp_path / case.program / f"{case.command} {case.on}"
        wrong += [f"{case}: {what}" for what in problems(case, folder, plain)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("takes_minutes")
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_command_issues_a_collective(program: str, tmp_path: Path) -> None:
    plain = plainly(program, tmp_path / "plain")
    wrong = []
    for case in cases():
        if case.program == program:
            found = problems(case, tmp_path / f"{case.command} {case.on}", plain)
            wrong += [f"{case}: {what}" for what in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("takes_minutes")
@pytest.mark.parametrize("program", ["fsdp2", "pipeline", "tensor_parallel"])
def test_nor_under_torchrun(program: str, tmp_path: Path) -> None:
    plain = plainly(program, tmp_path / "plain")
    folder = prepared(program, tmp_path / "torchrun")
    words = [
        "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node=2",
        sys.executable, "-m", "gradstep", "record", "train.py",
    ]  # fmt: skip
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=here, capture_output=True)
    assert done.returncode == 0, done.stderr
    for rank, theirs in enumerate(plain):
        assert collectives_of(rank, folder) == theirs.collectives
        assert theirs.printed.strip() in done.stdout.decode()  # the lines of both may be one


ADDED = {
    "dist.all_reduce(torch.ones(3))": ["c10d.allreduce_"],
    "dist.barrier()": ["c10d.barrier"],
    "dist.broadcast_object_list([1], 0)": ["c10d.broadcast_", "c10d.broadcast_"],
    "fc.all_reduce(torch.ones(3), 'sum', dist.group.WORLD).sum()": [
        "c10d.allreduce_", "_c10d_functional.wait_tensor",
    ],
    "part.full_tensor()": [
        "c10d.allgather_into_tensor_coalesced_", "_c10d_functional.wait_tensor",
    ],
    "part.sum().exp()": ["c10d.allreduce_", "_c10d_functional.wait_tensor"],
    "net(torch.ones(2, 3)).sum().backward()": ["c10d.allreduce_"],
    "dist.send(torch.ones(3), 1) if not rank else dist.recv(torch.ones(3), 0)": ["c10d."],
}  # fmt: skip
"""Statements, and the collectives that a record of them begins with."""
EACH = """
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from job import job, tell
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard

with job() as rank:
    mesh = init_device_mesh("cpu", (2,))
    part = DTensor.from_local(torch.ones(2), mesh, [Shard(0)], run_check=False)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    STATEMENT
    tell([])
"""


def test_a_collective_of_whatever_kind_is_written_down(tmp_path: Path) -> None:
    records = []
    for number, statement in enumerate(("pass", *ADDED)):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(JOBS / "job.py", folder)
        (folder / "train.py").write_text(EACH.replace("STATEMENT", statement), "utf-8")
        outcomes = run(["train.py"], folder)
        assert all(each.code == 0 for each in outcomes), outcomes
        records.append([each.collectives for each in outcomes])
    for (statement, expected), found in zip(ADDED.items(), records[1:], strict=True):
        for without, with_it in zip(records[0], found, strict=True):
            assert with_it[: len(without)] == without
            more = with_it[len(without) :]
            assert len(more) >= len(expected), (statement, more)
            assert all(map(str.startswith, more, expected)), (statement, more)


UNREAD = {
    "check": ["check"],
    "values": ["render", "--values", "--call", "last", "-o", "out.json"],
    "record": ["record", "--values", "all", "-o", "run.gsr"],
}
"""Commands that read whatever they can."""


def test_what_nobody_has_written_is_not_read(
    tmp_path: Path, sample: Callable[[Any, int], list[Any]]
) -> None:
    """Also what a collective is still writing, and what is freed: all of it is NaN here."""
    for program, command in sample([(p, c) for p in PROGRAMS for c in UNREAD], 2):
        folder = prepared(program, tmp_path / program / command)
        words = ["-m", "gradstep", *UNREAD[command], "--on-rank", "all", "train.py"]
        outcomes = run(words, folder, UNWRITTEN_IS_NAN="yes")
        for rank, done in enumerate(outcomes):
            where = f"{program}, {command}, {rank}: {done.printed} {done.said}"
            assert done.code == 0, where
            if command == "values":
                text = (folder / f"out.rank{rank}.json").read_text("utf-8")
                assert set(re.findall(r'"nans": ?(\d+)', text)) == {"0"}, where
            elif command == "record":
                with FileRun(folder / f"run.rank{rank}.gsr") as recorded:
                    calls = [call for call in recorded.calls() if call.kind == "backward"]
                    assert not any(call.is_troubled for call in calls), where
