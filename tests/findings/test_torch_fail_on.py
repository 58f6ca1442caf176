"""``--fail-on nan`` on PyTorch: each call runs plainly, and one that fails once more, recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep

pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = pytest.mark.torch

TRAINING = """\
import torch

torch.manual_seed(0)
calls = []


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sqrt()

    @staticmethod
    def backward(ctx, gradient):
        calls.append(1)
        (x,) = ctx.saved_tensors
        return gradient / (2 * x.sqrt())


weight = torch.ones(3, requires_grad=True)
for step in range(6):
    x = torch.full((3,), float(step != 4))
    loss = (Root.apply(weight * x) * x).sum()
    loss.backward()
    print(step, len(calls), weight.grad.sum().item())
"""


def test_the_first_call_that_fails_is_explained(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING, "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan", "train.py"], tmp_path)
    assert run.returncode == 5
    assert [line.split()[:2] for line in run.stdout.splitlines()] == [
        [str(step), str(step + 1)] for step in range(4)
    ]
    assert "backward() call 5: out of #3 root:1 is nan 3/3, first at [0]" in run.stderr
    assert "train.py:23  loss = (Root.apply(weight * x) * x).sum()" in run.stderr
    assert "the hooks or Functions of #3 ran twice" in run.stderr


def test_a_program_without_trouble_runs_as_it_does_plainly(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING.replace("step != 4", "step != 9"), "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan,inf", "train.py"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1] == "5 6 9.0"


def test_a_loss_that_is_nan_without_any_gradient_so_is_told(tmp_path: Path) -> None:
    script = """\
import torch

x = torch.ones(2, requires_grad=True)
(x.sum() + float("nan")).backward()
"""
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan", "train.py"], tmp_path)
    assert run.returncode == 5
    assert "call 1: the loss is nan: nan began in the forward pass, at #1 add:1" in run.stderr
    assert "gradstep check finds where it began" in run.stderr


def test_an_infinity_is_no_nan(tmp_path: Path) -> None:
    script = """\
import torch

x = torch.zeros(2, requires_grad=True)
x.sqrt().sum().backward()
print(x.grad)
"""
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan", "train.py"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan,inf", "train.py"], tmp_path)
    assert run.returncode == 5
    assert "out of #2 sqrt:1 is inf" in run.stderr


def test_a_second_backward_fails_as_it_does_plainly(tmp_path: Path) -> None:
    script = """\
import torch

x = torch.ones(2, requires_grad=True)
loss = x.exp().sum()
loss.backward()
loss.backward()
"""
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan", "train.py"], tmp_path)
    assert run.returncode == 1
    assert "backward through the graph a second time" in run.stderr
    assert "error [freed]  exp:1 train.py:4, freed at train.py:5\n" in run.stderr


def test_what_grad_did_not_run_is_not_freed(tmp_path: Path) -> None:
    script = """\
import torch

x = torch.ones(2, requires_grad=True)
y = x.exp()
(slope,) = torch.autograd.grad(y.sin().sum(), y)
y.sum().backward()
print(x.grad.sum().item())
"""
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--batch", "--fail-on", "nan", "train.py"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("5.43")


DIVIDING = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
for step in range(3):
    scale = torch.tensor([1.0, 1.0, float(step != 2)])
    loss = ((net(torch.rand(3, 3)).squeeze(1) - 1) / scale).square().mean()
    loss.backward()
    print(step)
"""
EXCHANGING = """\
import torch.distributed

store = torch.distributed.HashStore()
torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
Linear = torch.nn.Linear
torch.nn.Linear = lambda *sizes: torch.nn.parallel.DistributedDataParallel(Linear(*sizes))
"""


@pytest.mark.parametrize(
    ("script", "options"),
    [(DIVIDING, []), (DIVIDING, ["--no-replay"]), (EXCHANGING + DIVIDING, []),
     (EXCHANGING + DIVIDING, ["--no-replay"])],
    ids=["kept", "freed", "exchanged", "exchanged and freed"],
)  # fmt: skip
def test_a_division_by_zero_is_named_also_where_a_pass_runs_once(
    script: str, options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--fail-on", "nan,inf", *options, "train.py"], tmp_path)
    assert (run.returncode, run.stdout) == (5, "0\n1\n")
    told = run.stderr.splitlines()
    assert "backward() call 3: inf began in the forward pass, at #3 div:1 (--fail-on" in told[0]
    assert told[1].split(None, 1)[1] == (
        "inf at 1 of 3 places, first at [2], where it divides by 0"
    )
