"""``gradstep debug --fail-on``, for CI, on both engines: one exit code, and the first node in
words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.both import on_pytorch, on_the_core
from tests.forking import run_gradstep
from tests.tui.conftest import Ended, Gradstep

ROOT = Path(__file__).parents[2]
BUGS = ROOT / "samples" / "bugs"
Debug = Callable[..., Ended]

GROWING = """\
import LIBRARY as torch

w = torch.tensor(1.0, requires_grad=True)
for number in (1, 2, 3):
    w.grad = None
    loss = w * 10.0**number
    loss.backward()
    print("call", number)
"""


@pytest.fixture
def debug(gradstep: Gradstep) -> Debug:
    """Run ``gradstep debug --batch`` on a script."""
    return lambda script, *options: gradstep(script, "debug", "--batch", *options, "train.py")


def sample(name: str) -> str:
    """A program of samples/bugs, for either library."""
    text = (BUGS / f"{name}.py").read_text("utf-8")
    return text.replace("import torch\n", "import LIBRARY as torch\n").replace(
        "from torch import", "from LIBRARY import"
    )


def test_the_first_gradient_in_question_is_named_and_the_exit_code_is_5(debug: Debug) -> None:
    code, out, err = debug(sample("nan_from_sqrt"), "--fail-on", "nan,inf")
    assert (code, out) == (5, "")
    heading, *rows = err.splitlines()
    assert heading == (
        "gradstep: backward() call 1: out of #2 sqrt:1 is inf 1/5, first at [0] (--fail-on nan,inf)"
    )
    told = dict(row.split(None, 1) for row in rows if row[2] != " ")
    assert told["in"] == "0.2 everywhere; there 0.2"
    assert told["rule"] == "g / (2 · result)"
    assert told["line"].startswith("train.py:15  distance = ")
    assert "it began in the backward pass," in told["why"]


def test_what_began_in_the_forward_pass_is_named_there_in_whatever_call(debug: Debug) -> None:
    script = """\
        import LIBRARY as torch
        w = torch.eye(2, requires_grad=True)
        for step in range(3):
            h = torch.ones(2)
            for _ in range(30):
                h = w @ h
            loss = ((h - 3) ** 2).mean()
            w.grad = None
            loss.backward()
            w.data -= 1e30 * w.grad
        """
    code, _, err = debug(script, "--fail-on", "nan,inf")
    assert code == 5
    heading, *rows = err.splitlines()
    assert "backward() call 2: inf began in the forward pass, at #32 mv:2 " in heading
    told = dict(row.split(None, 1) for row in reversed(rows) if row[2] != " ")
    assert told["there"].startswith("inf at 2 of 2 places, first at [0]")
    assert told["line"] == "train.py:6  h = w @ h"


CUSTOM = """\
import random
import LIBRARY as torch

random.seed(3)
drawn = []


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sqrt()

    @staticmethod
    def backward(ctx, gradient):
        drawn.append(random.random())
        (x,) = ctx.saved_tensors
        return gradient / (2 * x.sqrt())


weight = torch.ones(3, requires_grad=True)
try:
    for step in range(6):
        x = torch.full((3,), float(step != 4))
        loss = (Root.apply(weight * x) * x).sum()
        loss.backward()
finally:
    print(len(drawn), len(set(drawn)), weight.grad.tolist()[0])
"""


def test_code_of_the_programs_runs_once_in_a_call_that_fails(debug: Debug) -> None:
    code, out, err = debug(CUSTOM, "--fail-on", "nan")
    assert code == 5
    assert out.split()[0] == "5"
    assert "backward() call 5: out of #3 root:1 is nan 3/3, first at [0]" in err
    assert "train.py:25  loss = (Root.apply(weight * x) * x).sum()" in err
    assert "ran twice" not in err
    script = CUSTOM.replace("step != 4", "step != 9")
    assert debug(script, "--fail-on", "nan,inf") == (0, "6 6 3.0\n", "")


@pytest.mark.parametrize("how", [["--fail-on", "nan"], ["--call", "all", "--ex", "continue"]])
def test_a_call_that_is_watched_frees_what_it_ran(debug: Debug, how: list[str]) -> None:
    script = """\
        import LIBRARY as torch
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        (slope,) = torch.autograd.grad(y.sin().sum(), y)  # which does not run the node of exp
        loss = y.sum()
        loss.backward()
        print(x.grad.sum().item(), flush=True)
        loss.backward()
        """
    code, out, err = debug(script, *how)
    assert code == 1
    assert "5.43" in out
    assert "backward through the graph a second time" in err
    assert "error [freed]  exp:1 train.py:3" in err


def test_a_loss_that_is_nan_without_any_gradient_so_is_told(debug: Debug) -> None:
    script = """\
        import LIBRARY as torch
        x = torch.ones(2, requires_grad=True)
        (x.sum() + float("nan")).backward()
        """
    ended = debug(script, "--fail-on", "nan")
    assert ended.code == 5
    assert "call 1: the loss is nan: nan began in the forward pass, at #1 add:1" in ended.words


def test_an_infinity_is_no_nan(debug: Debug) -> None:
    script = """\
        import LIBRARY as torch
        x = torch.zeros(2, requires_grad=True)
        x.sqrt().sum().backward()
        """
    assert debug(script, "--fail-on", "nan") == (0, "", "")
    code, _, err = debug(script, "--fail-on", "nan,inf")
    assert code == 5
    assert "out of #2 sqrt:1 is inf" in err


@pytest.mark.parametrize(
    ("condition", "code", "calls"),
    [
        ("rms>1e3", 0, 3),
        ("rms>=1e3", 5, 2),
        ("rms > 99", 5, 1),
        ("nan,inf,zero", 0, 3),
        ("'rms > 1e9', nan", 2, 0),
        ("call == 2 and rms > 99", 5, 1),
        ("rms > 99 and op == 'mul'", 5, 1),
    ],
)
def test_every_call_of_the_script_is_watched(
    debug: Debug, condition: str, code: int, calls: int
) -> None:
    ended = debug(GROWING, "--fail-on", condition)
    assert ended.code == code
    assert ended.out.splitlines() == [f"call {number}" for number in range(1, calls + 1)]
    assert (f"backward() call {calls + 1}: " in ended.err) == (code == 5)


def test_commands_and_an_alarm_go_together(debug: Debug) -> None:
    Path("commands").write_text("info breakpoints\nbreak w\ncontinue\nquit\ncontinue\nnever\n")
    code, out, err = debug(GROWING, "-x", "commands", "--fail-on", "rms>50")
    assert code == 5
    assert "1  catch rms>50  hit 0 times" in out
    assert out.count("breakpoint 2: w") == 2  # set, and reached
    assert "never" not in out
    assert err.startswith(
        "gradstep: backward() call 2: out.0 of #1 mul:1 is 100 (--fail-on rms>50)"
    )


def test_what_a_node_raises_is_raised_in_the_script(debug: Debug) -> None:
    code, out, _ = debug(sample("changed_in_place"), "--fail-on", "nan")
    assert code == 0
    assert out.startswith("RuntimeError: one of the variables needed")


def test_a_condition_to_fail_on_opens_no_screen(gradstep: Gradstep, debug: Debug) -> None:
    ended = gradstep(GROWING, "debug", "--fail-on", "rms > 1", "train.py")
    assert ended == debug(GROWING, "--fail-on", "rms > 1")
    assert ended.code == 5


@on_the_core
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--batch", "--fail-on", "nann"], "--fail-on nann: unknown word 'nann'; did you mean nan"),
        (["--batch", "--fail-on", "nan,rms"], "rms is a number, no condition"),
        (["--batch", "--fail-on", "rms>>1"], "unexpected '>' (at character 5)"),
        (["--batch", "--fail-on", ""], "an expression is missing here"),
        (["--fail-on", "nann"], "--fail-on nann: unknown word 'nann'; did you mean nan"),
        (
            ["--batch"],
            "--batch runs the commands of -x FILE and --ex COMMAND, watches for --fail-on, or",
        ),
        (["--batch", "--fail-on", "nan", "--break", "w if rsm"], "--break w if rsm: unknown word"),
    ],
)
def test_a_wrong_condition_is_told_before_the_script_runs(
    gradstep: Gradstep, arguments: list[str], said: str
) -> None:
    code, out, err = gradstep(GROWING, "debug", *arguments, "train.py")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@on_the_core
def test_breakpoints_with_conditions_from_the_command_line(debug: Debug) -> None:
    Path("commands").write_text("continue\nquit\ncontinue\nquit\ncontinue\nwhere\n")
    breakpoints = ["--break", "w if rms > 500", "--break", "if rms > 50"]
    code, out, _ = debug(GROWING, "-x", "commands", *breakpoints)
    assert code == 0
    replies = out.split("(gradstep) ")
    assert replies[1].splitlines()[1] == "end of the backward pass"
    assert "out.0 of #1 mul:1 is 100" in replies[3]
    assert "breakpoint 1: w if rms > 500" in replies[5]


@on_the_core
def test_an_error_in_a_file_of_commands_is_told_with_its_line(debug: Debug) -> None:
    Path("commands").write_text("\n# fine\nnext\n  break mul if rms >> 10\nnext\n")
    code, out, err = debug(GROWING, "-x", "commands")
    assert code == 2
    assert out.splitlines()[-1] == "(gradstep)   break mul if rms >> 10"
    assert err.splitlines() == [
        "gradstep: commands:4: unexpected '>'",
        "    break mul if rms >> 10",
        "                      ^",
    ]
    Path("commands").write_text("break w\ncommands\nprint rms\n")
    code, _, err = debug(GROWING, "-x", "commands")
    assert code == 2
    assert "end inside a block of commands; add end" in err


def test_the_shell_gets_the_exit_code_and_the_alarm(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(GROWING.replace("LIBRARY", "autograd_core"))
    done = subprocess.run(
        [sys.executable, "-m", "gradstep", "debug", "--batch", "--fail-on", "rms>50", "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (5, "call 1\n")
    assert "out.0 of #1 mul:1 is 100" in done.stderr


def test_a_gradient_in_a_pass_inside_a_node_is_found(debug: Debug) -> None:
    script = """\
        import LIBRARY as torch
        from LIBRARY.utils.checkpoint import checkpoint

        x = torch.zeros(2, requires_grad=True)
        checkpoint(lambda v: v.sqrt() * 0, x, use_reentrant=True).sum().backward()
        """
    code, _, err = debug(script, "--fail-on", "nan")
    assert code == 5
    assert "sqrt:1 is nan" in err


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


@pytest.mark.torch
@pytest.mark.parametrize("options", [[], ["--no-replay"]], ids=["kept", "freed"])
@pytest.mark.parametrize("script", [DIVIDING, EXCHANGING + DIVIDING], ids=["alone", "exchanged"])
def test_a_division_by_zero_is_named_also_where_a_pass_runs_once(
    script: str, options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(script, "utf-8")
    run = run_gradstep(["debug", "--fail-on", "nan,inf", *options, "train.py"], tmp_path)
    assert (run.returncode, run.stdout) == (5, "0\n1\n")
    heading, there, *_ = run.stderr.splitlines()
    assert "backward() call 3: inf began in the forward pass, at #3 div:1 (--fail-on" in heading
    assert "inf at 1 of 3 places, first at [2], where its inputs are" in there
    assert run.stderr.splitlines()[2].split() == ["0"]


@on_pytorch
def test_where_an_infinity_began_is_told_though_an_optimizer_stepped(
    debug: Debug,
) -> None:
    script = """\
        import torch
        from torch.utils.checkpoint import checkpoint
        w, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.register_post_accumulate_grad_hook(lambda _: optimizer.step())
        (checkpoint(lambda x: x * w, x, use_reentrant=True) * float("inf")).sum().backward()
        """
    code, _, err = debug(script, "--fail-on", "inf")
    assert code == 5
    assert "call 1: inf began in the forward pass, at #2 mul:1 or earlier (--fail-on inf)" in err
    assert "ran twice" not in err
