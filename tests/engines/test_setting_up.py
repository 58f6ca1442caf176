"""What happens before a program runs: with every PyTorch, and where it fails."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import gradstep  # noqa: E402
from tests.forking import run_python  # noqa: E402

pytestmark = pytest.mark.torch

PROGRAM = """\
import torch

torch.manual_seed(0)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = Double.apply(net(torch.rand(5, 3))).pow(2).mean()
    loss.register_hook(lambda gradient: print("hook", gradient.item()))
    loss.backward()
    optimizer.step()
    print(step, loss.item(), net[0].weight.grad.sum().item())
"""
FAULTY = """\
import contextlib
import importlib
import sys
import torch
from gradstep.__main__ import main

how, where, name, *command = sys.argv[1:]


def fail(*given, **named):
    raise LookupError("gone")


@contextlib.contextmanager
def failing(*given, **named):
    if how == "enter":
        fail()
    with context(*given, **named):
        yield
    fail()


if how == "import":
    for loaded in [each for each in sys.modules if each.startswith("gradstep.engines.pytorch")]:
        del sys.modules[loaded]
    sys.modules[where] = None
else:
    module = importlib.import_module(where)
    context = getattr(module, name)
    setattr(module, name, fail if how == "call" else failing)
sys.argv[1:] = command
sys.exit(main())
"""
# fmt: off
COMMANDS = (
    "check", "check --call last", "render -o x.svg --call last",
    "render --values -o x.svg --call last",
    "record -o r.gsr", "film -o f.html --call last", "why --call last", "debug --fail-on nan",
    "debug --batch --ex continue",
)
PYTORCH = "gradstep.engines.pytorch"
CONTEXTS = (
    "_noting_hooks", "hooks_noted", "passed_over", "backward_passed_over", "noting_functions",
    "_ops_noted",
)
# fmt: on
PARTS = ("attach", "entry", "noting", "ops", "engine")
FAULTS = [
    *(f"import {PYTORCH}.{part} -" for part in PARTS),
    *(
        f"call {PYTORCH}.noting {name}"
        for name in (*CONTEXTS, "Origins", "Modules", "Lines", "Ops")
    ),
    *(f"{how} {PYTORCH}.noting {name}" for how in ("enter", "leave") for name in CONTEXTS),
    *(f"{how} {PYTORCH}.noting noting" for how in ("call", "enter", "leave")),
    *(f"{how} {PYTORCH}.entry intercepted" for how in ("call", "enter", "leave")),
    f"call {PYTORCH}.private complaint",
]


def failing(fault: str, command: str, folder: Path) -> Any:
    (folder / "train.py").write_text(PROGRAM, "utf-8")
    (folder / "faulty.py").write_text(FAULTY, "utf-8")
    leaf = ["0.weight"] if "why" in command else []
    return run_python(["faulty.py", *fault.split(), *command.split(), "train.py", *leaf], folder)


ADDS_TO_BUFFERS = """\
import torch


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        buffer = getattr(ctx, "input_grad_buffers", [None])[0]
        if buffer is None:
            return gradient @ weight.T, x.T @ gradient
        buffer.addmm_(gradient, weight.T)
        return None, x.T @ gradient


torch.manual_seed(0)
leaf, weight = (torch.rand(3, 3, requires_grad=True) for _ in range(2))
for _ in range(2):
    x = leaf * 1.3
    (Linear.apply(x, weight).sum() + (x.sin() * x).sum()).backward()
    print(leaf.grad.tolist(), weight.grad.tolist())
"""
LENDING = """\
import sys
import torch
from gradstep.__main__ import main
from gradstep.engines.pytorch import private

private._LENDS_BUFFERS = True
sys.exit(main())
"""


def test_a_function_that_adds_to_sums_of_the_pass_is_left_alone(
    tmp_path: Path, sample: Callable[[Any, int], list[Any]]
) -> None:
    """PyTorch lends these sums since 2.15, but not to a node with a hook of ours."""
    (tmp_path / "train.py").write_text(ADDS_TO_BUFFERS, "utf-8")
    (tmp_path / "lending.py").write_text(LENDING, "utf-8")
    plain = run_python(["train.py"], tmp_path).stdout
    for command in sample([command for command in COMMANDS if "--fail-on" not in command], 3):
        leaf = ["leaf"] if "why" in command else []
        done = run_python(["lending.py", *command.split(), "train.py", *leaf], tmp_path)
        assert done.stdout.startswith(plain), command
        said = done.stderr.splitlines()
        assert said[0] == (
            "gradstep: not shown: calls through LinearBackward, which uses ctx.input_grad_buffers; "
            "PyTorch allows no hooks there"
        )
        assert sum("not shown" in line for line in said) == 1, command


def test_where_setting_up_fails_the_program_runs_as_plainly(
    tmp_path: Path, sample: Callable[[Any, int], list[Any]]
) -> None:
    cases = [(fault, command) for fault in FAULTS for command in COMMANDS]
    plain = None
    for fault, command in sample(cases, 6):
        done = failing(fault, command, tmp_path)
        plain = plain or run_python(["train.py"], tmp_path).stdout.splitlines()
        case = f"{fault}: {command}\n{done.stdout}\n{done.stderr}"
        printed = done.stdout.splitlines()
        assert [line for line in plain if line not in printed] == [], case
        assert "Traceback" not in done.stderr, case
        assert done.returncode in (0, 3), case


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", PARTS)
def test_a_pytorch_that_cannot_be_read_costs_one_sentence(part: str, tmp_path: Path) -> None:
    """As one would that lacks what our reading of its graphs needs."""
    done = failing(f"import {PYTORCH}.{part} -", "check", tmp_path)
    assert done.stdout == run_python(["train.py"], tmp_path).stdout
    said = done.stderr.splitlines()
    assert said[0].startswith("gradstep: ")
    assert "ModuleNotFoundError: " in said[0]
    assert said[1:] in (
        [],
        ["gradstep: no call of train.py was seen, because of what failed above"],
    )
    assert done.returncode == 3


def test_all_is_freed_at_the_end_where_triton_would_report_a_leak(tmp_path: Path) -> None:
    program = """\
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count()))  # the last that runs
TRITON
import torch
print(gc.get_freeze_count() > 0)
"""
    for line, count in ("pass", "[1-9][0-9]+"), ("sys.modules['triton'] = sys", "0"):
        (tmp_path / "train.py").write_text(program.replace("TRITON", line), "utf-8")
        command = [sys.executable, "-m", "gradstep", "record", "-o", "r.gsr", "train.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert re.fullmatch(f"True\\n{count}\\n", done.stdout), (done.stdout, done.stderr)


@pytest.mark.parametrize("is_inherited", [False, True])
def test_custom_functions_are_checked_where_their_apply_is_of_c(
    is_inherited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is since PyTorch 2.14, and as it would be in a class below."""
    of_c = vars(torch._C._FunctionBase)["apply"]
    if is_inherited:
        monkeypatch.delattr(torch.autograd.Function, "apply")
    else:
        monkeypatch.setattr(torch.autograd.Function, "apply", of_c)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient

    with gradstep.trace(values=True):
        loss = Double.apply(torch.ones(3, requires_grad=True)).sum()
        verdicts = {node.op: node.verdict for node in gradstep.check(loss).derivatives}
    assert verdicts == {"DoubleBackward": "wrong", "SumBackward0": "right"}
    assert vars(torch.autograd.Function).get("apply") is (None if is_inherited else of_c)


@pytest.mark.parametrize("command", ["check", "record"])
def test_no_command_imports_the_compiler(command: str, tmp_path: Path) -> None:
    program = (
        PROGRAM[: PROGRAM.index("optimizer =")]
        + """
import sys
Double.apply(net(torch.rand(5, 3))).sum().backward()
print("torch._dynamo" in sys.modules)
"""
    )
    (tmp_path / "train.py").write_text(program, "utf-8")
    done = run_python(["-m", "gradstep", command, "train.py"], tmp_path, with_torch=False)
    assert (done.returncode, done.stdout.partition("\n")[0]) == (0, "False"), done.stderr
