"""``gradstep check`` as a user runs it: what it prints, and the code it ends with."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from gradstep_tui.cli import main
from tests.both import on_pytorch
from tests.tui.conftest import Ended, Gradstep

ROOT = Path(__file__).parents[2]
Run = Callable[..., Ended]

WRONG = """\
import LIBRARY as torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x


x = torch.tensor([[1.0, 0.5, 2.0]], requires_grad=True)
loss = Cube.apply(x).sum()
loss.backward()
print("after")
"""

RIGHT = """\
import sys
import LIBRARY as torch

x = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
for number in range(2):
    loss = x.exp().sum()
    loss.backward()
    print("call", number, sys.argv[1:])
"""


@pytest.fixture
def run(gradstep: Gradstep, tmp_path: Path) -> Run:
    """Check ``script`` with these arguments, and return what came of it."""

    def check(script: str, *arguments: str) -> Ended:
        ended = gradstep(script, "check", *(arguments or ("train.py",)))
        assert str(tmp_path) not in ended.out
        return ended

    return check


def test_a_wrong_backward_is_explained_well_enough_to_mend_it(run: Run) -> None:
    code, out, err = run(WRONG, "--call", "1", "train.py")
    assert (code, err) == (5, "")
    assert out == dedent("""\
        train.py: 1 error

        error [derivative]  cube:1 train.py:17, its backward at train.py:13
          the backward of Cube is wrong: gradient for x is wrong at [0, 2]: rule 6.00, finite \
differences 12.00 (ratio 0.5); a factor x is missing
            17 | loss = Cube.apply(x).sum()
          remedy: return the derivative of forward, times the gradient that backward was given

        looked at: 1 call on 1 line; the derivatives of 1 custom Function
        not looked at: calls that --call leaves out; derivatives of built-in ops (--derivatives)
        what it means: gradstep explain derivative
        next: gradstep debug train.py
        """)


CHANGES_GRADIENTS = """\
import LIBRARY as torch

w = torch.ones(1, requires_grad=True)
u, v = (torch.ones(1, requires_grad=True) for _ in range(2))
u.grad, v.grad = torch.full((1,), 3.0), torch.full((1,), 3.0)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            (w * 0.25 + v * 0.5).sum().backward()
        u.grad = u.grad * 2
        w.data += 1
        return g * 2


x = torch.ones(2, requires_grad=True)
Double.apply(Double.apply(x)).sum().backward()
print([t.grad.tolist() for t in (w, v, u, x)], w.tolist(), v.grad._version)
"""


def test_what_a_backward_changes_is_changed_as_often_as_plainly(run: Run) -> None:
    code, out, err = run(CHANGES_GRADIENTS)
    assert (code, err) == (0, "")
    assert out == dedent("""\
        [[0.5], [4.0], [12.0], [4.0, 4.0]] [3.0] 2
        train.py: nothing suspicious was found

        looked at: 1 call on 1 line; the derivatives of 1 custom Function
          loss: 8
          gradients: rms 4 (x)
        not looked at: derivatives of built-in ops (--derivatives)
        next: gradstep debug train.py
        """)


FREED = """\
import gc, weakref
import LIBRARY as torch

net = torch.nn.Linear(3, 1)


def step():
    y = net(torch.ones(2, 3))
    y.pow(2).sum().backward()
    return weakref.ref(y)


kept = step()
gc.collect()
print("freed" if kept() is None else "alive")
"""


@pytest.mark.parametrize("command", ["check", "why"])
def test_what_the_program_lets_go_of_goes(gradstep: Gradstep, command: str) -> None:
    words = [command, "train.py", *(["net.weight"] if command == "why" else [])]
    assert gradstep(FREED, *words).out.startswith("freed\n")


RAISES_ONCE = """\
import threading
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
calls = []
def hook(g):
    calls.append(threading.current_thread() is threading.main_thread())
    if len(calls) == 1:
        raise ValueError("once")
h = w * w
h.register_hook(hook)
try:
    h.sum().backward()
except ValueError as error:
    print(error, calls, w.grad)
"""
STEPS_AND_NAN = """\
import LIBRARY as torch
w = torch.ones(2, requires_grad=True)
def step(p):
    with torch.no_grad():
        p.add_(1.0)
    print(p.tolist())
w.register_post_accumulate_grad_hook(step)
(w * float("nan")).sum().backward()
"""


@pytest.mark.parametrize("command", ["check", "why"])
def test_a_hook_is_called_as_often_and_in_the_thread_as_plainly(
    gradstep: Gradstep, command: str
) -> None:
    words = [command, "train.py", *(["w"] if command == "why" else [])]
    thresholds = gc.get_threshold()
    assert gradstep(RAISES_ONCE, *words).out.startswith("once [True] None\n")
    assert gc.get_threshold() == thresholds


def test_an_optimizer_of_a_call_that_is_not_finite_steps_once(run: Run) -> None:
    out = run(STEPS_AND_NAN).out
    assert out.startswith("[2.0, 2.0]\n")
    assert "[3.0, 3.0]" not in out  # on the core it steps again, after that was undone
    assert "[not-finite]" in out


def test_a_right_program_ends_at_its_call_with_code_0(run: Run) -> None:
    code, out, err = run(RIGHT, "--call", "1", "--derivatives", "train.py")
    assert (code, err) == (0, "")
    assert out == dedent("""\
        call 0 []
        train.py: nothing suspicious was found

        looked at: 1 call on 1 line; the derivatives of 2 nodes, 2 of them right
          loss: 11.8
          gradients: rms 4.64 (x)
        not looked at: calls that --call leaves out
        next: gradstep debug train.py
        """).removeprefix("call 0 []\n")


def test_in_a_process_of_its_own_the_exit_code_is_the_same(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    for text, code in ((WRONG, 5), (RIGHT, 0)):
        script.write_text(text.replace("LIBRARY", "autograd_core"))
        done = subprocess.run(
            [sys.executable, "-m", "gradstep", "check", "-q", str(script)], cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (code, "")
        assert ("the backward of Cube is wrong" in done.stdout) is (code == 5)


def test_quiet_prints_one_line_for_each_thing_that_is_wrong(run: Run) -> None:
    code, out, _ = run(WRONG, "-q", "--call", "1", "train.py")
    assert code == 5
    assert out == (
        "train.py:17: error: the backward of Cube is wrong: gradient for x is wrong at [0, 2]: "
        "rule 6.00, finite differences 12.00 (ratio 0.5); a factor x is missing [derivative]\n"
    )
    assert run(RIGHT, "-q", "--call", "1", "train.py")[:2] == (0, "")


def test_another_call_can_be_chosen_and_the_script_gets_its_arguments(run: Run) -> None:
    code, out, _ = run(RIGHT, "--call", "2", "train.py", "--epochs", "1")
    assert code == 0
    assert out.startswith("call 0 ['--epochs', '1']\ntrain.py: nothing suspicious")
    code, out, _ = run(RIGHT, "--call", "last", "train.py")
    assert code == 0
    assert "call 1 []" in out
    assert "looked at: 1 call on 1 line" in out
    code, _, err = run(RIGHT, "--call", "3", "train.py")
    assert code == 3
    assert "there is no call 3" in err


def test_all_lists_what_is_good_to_know(run: Run) -> None:
    script = """\
        import LIBRARY as torch
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x.detach()).sum()
        loss.backward()
        """
    code, out, _ = run(script)
    assert code == 0
    assert "\n1 note: --all lists it\n" in out
    _, out, _ = run(script, "--all", "train.py")
    assert "info [cut]  train.py:3\n  detach()" in out
    assert "    3 | loss = (x * x.detach()).sum()\n      |              ^^^^^^^^^\n" in out


def test_lint_findings_come_with_both_lines_and_a_remedy(run: Run) -> None:
    code, out, _ = run("""\
        import LIBRARY as torch
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        loss = (y * 2).sum()
        y += 1
        loss.backward()
        """)
    assert code == 5
    assert (
        "error [changed]  exp:1 train.py:3, changed at train.py:5\n"
        "  exp:1 saved result, which was changed in place afterwards\n"
        "    3 | y = x.exp()\n"
        "      |      ^^^^^^\n"
        "  remedy: change a copy"
    ) in out


def test_what_cannot_be_checked_is_said_and_is_no_failure(run: Run) -> None:
    code, out, _ = run("""\
        import LIBRARY as torch
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        x.relu().sum().backward()
        """, "--derivatives", "train.py")  # fmt: skip
    assert code == 0
    assert "the derivatives of 2 nodes, 1 of them right\n" in out
    assert "not looked at: gradient for " in out


def test_a_named_tensor_and_a_script_without_backward_are_checked(run: Run) -> None:
    code, _, err = run(WRONG, "train.py:loss")
    assert code == 3
    assert "its graph was freed by an earlier backward pass" in err
    script = WRONG.replace("loss.backward()\n", "")
    code, out, _ = run(script, "train.py:loss")
    assert code == 5
    assert "train.py:loss: 1 error\n\nerror [derivative]  cube:1" in out
    code, out, _ = run(script)
    assert code == 5
    assert "after\ntrain.py:loss: 1 error\n\nerror [derivative]" in out


def test_of_grad_nothing_is_said_about_other_leaves(run: Run) -> None:
    script = """
        import LIBRARY as torch
        x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        x.sum().backward()
        torch.autograd.grad((x * x).sum(), x)
        """
    assert run(script, "--call", "grad:1", "train.py").code == 0


def test_mistakes_in_use_end_with_the_codes_of_all_commands(run: Run) -> None:
    code, out, err = run(RIGHT, "--ignore", "everything", "train.py")
    assert (code, out) == (2, "")
    assert "there is no finding 'everything'; gradstep explain lists them" in err
    assert run(RIGHT, "missing.py")[0] == 3
    assert run("1 / 0")[0] == 1
    assert run("x = 1")[0] == 3


def test_the_samples_are_right() -> None:
    samples = {*(ROOT / "samples").glob("*.py")} - {*(ROOT / "samples").glob("pytorch_*.py")}
    for sample in sorted(samples):  # programs of PyTorch are not checked yet
        short = ["--epochs", "2"] if sample.name == "digits_mlp.py" else []
        assert main(["check", "-q", str(sample), *short]) == 0, sample.name


def test_progress_is_shown_on_a_terminal_when_it_takes_long(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(1000))
    monkeypatch.setattr("gradstep_tui.waiting.monotonic", lambda: float(next(times)))
    assert run(RIGHT, "--derivatives", "train.py")[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = run(RIGHT, "--derivatives", "train.py")[2]
    assert "\rchecked 3 of 3 nodes" in shown
    assert "nodes\r\x1b[K\x1b7" in shown  # the line is cleared before the program goes on
    assert "\x1b[Kcall 2, " in shown


SIGN = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
project, read = nn.Linear(5, 7), nn.Linear(7, 1)
out = read(project(torch.ones(3, 5)).sign()){}
out.sum().backward()
"""


def test_a_comment_in_the_program_leaves_a_finding_out(run: Run) -> None:
    assert "[zero-grad]" in run(SIGN.format(""))[1]
    code, out, _ = run(SIGN.format("  # gradstep: ignore[zero-grad, dead-units]"))
    assert (code, "[zero-grad]" in out) == (0, False)
    assert run(SIGN.format("  # gradstep: ignore[dead-units]"))[0] == 5


def test_json_has_the_fields_of_its_schema(run: Run) -> None:
    code, out, _ = run(SIGN.format(""), "--format", "json", "train.py")
    document = json.loads(out)
    assert code == 5
    found = document["findings"][0]
    assert (found["code"], found["severity"]) == ("zero-grad", "warning")
    assert (found["role"], found["confidence"]) == ("cause", "observed")
    assert (found["at"]["file"], found["at"]["line"], found["call"]) == ("train.py", 5, None)
    assert sorted(found["leaves"]) == ["project.bias", "project.weight"]


TWO = """
import LIBRARY as torch
from LIBRARY import nn

A, B, x = nn.Linear(3, 1), nn.Linear(3, 1), torch.rand(4, 3)
MORE
opt = torch.optim.SGD([*A.parameters(), *B.parameters()], 0.1)
A(x).pow(2).mean().backward()
opt.step()
opt.zero_grad()
B(x).pow(2).mean().backward()
opt.step()
"""
HELD = """
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.A, self.B = A, B
both = Both()
A, B = both.A, both.B
"""
FORGOTTEN = """
import LIBRARY as torch
from LIBRARY import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.forgotten = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.used(x)

net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
net(torch.rand(4, 3)).pow(2).mean().backward()
opt.step()
"""


@pytest.mark.parametrize("more", ["", HELD], ids=["apart", "held by a module that does not run"])
def test_a_model_that_another_call_trains_is_a_note(run: Run, more: str) -> None:
    ended = run(TWO.replace("MORE", more), "--all", "train.py")
    said = ended.words
    assert (ended.code, ended.err, "warning" in said) == (0, "", False)
    assert said.count("info [unreached]") == 2
    if not more:  # else B looks like a template of the part that is a copy of it
        assert said.count("whose modules did not run in this forward pass") == 2
    first, second = said.split("call 2")
    assert "B" in first
    assert "B.weight" not in second.partition("looked at")[0]


LAZY = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.norm, self.later = nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(1)
    def forward(self, x):
        return self.norm(self.used(x)).relu()

net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(2):
    loss = (net(torch.rand(8, 3)) - 0.3).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@on_pytorch
def test_a_parameter_without_a_shape_is_passed_over(run: Run) -> None:
    ended = run(LAZY, "--all", "train.py")
    assert (ended.code, ended.err) == (0, "")
    assert "looked at: 2 calls on 1 line" in ended.words


def test_a_layer_that_its_model_forgets_is_a_note(run: Run) -> None:
    ended = run(FORGOTTEN, "--all", "train.py")
    assert ended.code == 0  # it may be one for later
    assert "info [unreached]" in ended.words
    told = "forgotten.weight and forgotten.bias never get a gradient: opt has them"
    assert told in ended.words
