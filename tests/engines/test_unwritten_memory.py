"""Numbers of memory that nobody has written mean nothing: `check` concludes nothing from them."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

from gradstep.engines.pytorch.engine import PYTORCH  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.schema import is_begun  # noqa: E402
from tests.forking import run_gradstep  # noqa: E402

DRY = (
    "x = torch.empty(4, 3)",
    "x = torch.empty_strided((4, 3), (3, 1)).requires_grad_()",
    "x = torch.ones(4, 3).new_empty(4, 3)",
    "x = torch.empty_like(torch.ones(4, 3)) * 2 + 1",
    "x = torch.empty(24)[:12].view(4, 3)",
    "x = torch.ones(4, 3); x.copy_(torch.empty(4, 3) + 1)",
)
WET = (
    "x = torch.ones(4, 3)",
    "x = torch.empty(4, 3).fill_(1.0)",
    "x = torch.empty(4, 3); x.data.normal_()",
    "x = torch.empty(4, 3); x.numpy()[:] = 1.0",
    "x = torch.empty(4, 3); x.data_ptr()",
    "x = torch.empty(24); part = x[:12].view(4, 3); x.zero_(); x = part",
    "x = torch.empty(4, 3); x[0] = 1.0",
    "x = torch.empty(4, 3); torch.add(torch.ones(4, 3), 1, out=x)",
    "x = torch.empty(4, 3); x = torch.zeros_like(x)",
    "torch.empty(4, 3); x = torch.rand(4, 3)",
    "x = torch.nn.functional.dropout(torch.ones(4, 3), 0.5)",
)


@pytest.mark.parametrize(
    ("statements", "is_dry"),
    [*((each, True) for each in DRY), *((each, False) for each in WET)],
)
def test_what_depends_on_memory_that_nobody_has_written_is_known(
    statements: str, is_dry: bool
) -> None:
    with noting(values=True):
        layer = torch.nn.Linear(3, 1)
        given = {"torch": torch}
        exec(statements, given)
        loss = layer(given["x"]).sum()
        assert (
            PYTORCH.running.reads_unwritten(PYTORCH.running.call(loss, None, True, False)) == is_dry
        )


PROGRAM = """
import torch

torch.use_deterministic_algorithms(True)  # memory that nobody has written is NaN
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Sigmoid(), torch.nn.Linear(8, 1))
dry = torch.empty(16, 3, requires_grad=True)
torch.autograd.grad(net(dry), dry, torch.ones(16, 1))  # what are the shapes?
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.rand(16, 3)).pow(2).mean().backward()
    optimizer.step()
"""


def test_a_dry_run_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    done = run_gradstep(["check", "train.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "looked at: 3 calls on 1 line\n" in done.stdout
    assert "1 call on memory that nobody has written (a dry run)" in done.stdout


def test_what_other_processes_write_is_not_read_before_it_is_waited_for() -> None:
    importlib.import_module("torch.distributed")
    ops = torch.ops
    begun = ops.c10d.allreduce_.default, ops._c10d_functional.all_reduce.default
    assert all(map(is_begun, begun))
    assert not is_begun(ops._c10d_functional.wait_tensor.default)
    assert not is_begun(ops.aten.add.Tensor)
