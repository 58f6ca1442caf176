"""Jobs of several processes of PyTorch, recorded by each of them and compared afterwards."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gradstep.comparing.ranks import RankFinding, compare_ranks
from gradstep.recording.reading import FileRun
from tests.forking import run_together

pytestmark = pytest.mark.torch

JOB = """\
import os
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module,
)
from gradstep.recording import watcher

how, trouble = sys.argv[1:]
dist.init_process_group("gloo")
rank, last = dist.get_rank(), dist.get_world_size() - 1
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x, shifts):
        h = self.first(x).tanh()
        return self.last(h + 1 if shifts else h)


net = Net()
mesh = dist.init_device_mesh("cpu", (last + 1,))
if how == "ddp":
    net = nn.parallel.DistributedDataParallel(net)
elif how == "parts":
    how_to = {"first": ColwiseParallel(), "last": RowwiseParallel()}
    net, rank = parallelize_module(net, mesh, how_to), 0  # all get the same
else:
    fully_shard(net, mesh=mesh)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.manual_seed(rank)
clock = 0.0  # that of a machine which nothing else is busy on
watcher.perf_counter = lambda: clock
for step in range(4):
    is_here = rank == last and step == 2
    x = torch.randn(16, 4)
    if trouble == "nan" and is_here:
        x[3, 1] = float("nan")
    clock += 9.0 if trouble == "slow" and rank == last else 1.0
    if trouble == "drift" and is_here:
        for parameter in net.parameters():
            parameter.data.mul_(1.5)
    optimizer.zero_grad()
    net(x, trouble == "graph" and is_here).pow(2).mean().backward()
    optimizer.step()
dist.destroy_process_group()
"""


def findings_of(folder: Path, how: str, size: int, trouble: str) -> list[RankFinding]:
    """Record a job of so many processes, and return what its ranks do differently."""
    (folder / "job.py").write_text(JOB, "utf-8")
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    job = {
        "WORLD_SIZE": str(size), "MASTER_ADDR": "localhost", "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    words = ["-m", "gradstep", "record", "--on-rank", "all", "-o", "run.gsr", "job.py"]
    ranks = [{**job, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(size)]
    for done in run_together([*words, how, trouble], folder, ranks, with_torch=True):
        assert done.returncode == 0, done.stderr
    runs = [FileRun(folder / f"run.rank{rank}.gsr") for rank in range(size)]
    try:
        assert {run.header.size for run in runs} == {size}
        return compare_ranks(runs)
    finally:
        for run in runs:
            run.close()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_the_first_rank_with_a_nan_is_found(how: str, size: int, tmp_path: Path) -> None:
    first, *_ = findings_of(tmp_path, how, size, "nan")
    assert first.ranks == (size - 1,)
    assert first.call == "backward() call 3"
    assert first.what == "nan in x"  # which the first layer saves


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("trouble", "what"),
    [
        ("graph", "backward() call 3: its graph is not that of rank 0: "),
        ("drift", "backward() call 3: module.first.weight is not that of other ranks"),
        ("slow", "between its calls (data, forward pass, optimizer) it takes "),
    ],
)
def test_a_rank_of_ddp_that_does_otherwise_is_found(
    trouble: str, what: str, tmp_path: Path
) -> None:
    found = [str(each) for each in findings_of(tmp_path, "ddp", 2, trouble)]
    assert any(each.startswith(f"rank 1: {what}") for each in found), found
    assert not any(trouble != "slow" and "it takes" in each for each in found), found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["ddp", "fsdp", "parts"])
def test_a_sound_job_has_nothing_to_tell(how: str, tmp_path: Path) -> None:
    assert findings_of(tmp_path, how, 2, "none") == []
