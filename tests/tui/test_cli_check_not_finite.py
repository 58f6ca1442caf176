"""``gradstep check`` says "right" of no pass whose loss or gradients are NaN or infinite, on both
engines; what a gradient scaler skips is a note, unless it skips everything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.both import on_pytorch
from tests.tui.conftest import Gradstep

Check = Callable[..., tuple[int, str]]

ROOT = """\
import LIBRARY as torch
w = torch.tensor([0.0, 4.0], requires_grad=True)
loss = (w.sqrt() * w).sum()
"""
BY_A_HOOK = """\
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
y = w * 2
y.register_hook(lambda g: g / 0)
y.sum().backward()
"""
TOO_LARGE = """\
import LIBRARY as torch
w = torch.full((3,), 1e20, requires_grad=True)
((w * 1e10) * 1e30).backward(torch.full((3,), 1e5))
"""
EMPTY_ROW = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Linear(4, 3, bias=False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.rand(5, 4) * (0.0 if step == 1 else 1.0)
    opt.zero_grad()
    net(x).square().sum().sqrt().backward()
    opt.step()
"""
SEEDED = """\
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
(w * 2).backward(torch.tensor([1.0, float("nan"), 1.0]))
"""
ONCE_RUN = """\
import LIBRARY as torch
w = torch.tensor([0.0, 4.0], requires_grad=True)
torch.autograd.backward([(w.sqrt() * w).sum()], inputs=[w])
"""
RAISING = """\
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
y = w * 2
y.register_hook(lambda g: 1 / 0)
y.sum().backward()
"""


@pytest.fixture
def check(gradstep: Gradstep) -> Check:
    """Run ``gradstep check`` on a script: the exit code and the text."""

    def check(script: str, *options: str, target: str = "train.py") -> tuple[int, str]:
        ended = gradstep(script, "check", *options, target)
        return ended.code, ended.out + ended.err

    return check


@pytest.mark.parametrize("options", [(), ("--call", "all"), ("--call", "last")])
def test_a_gradient_that_only_the_pass_makes_nan_is_found_with_its_line(
    check: Check, options: tuple[str, ...]
) -> None:
    code, printed = check(f"{ROOT}loss.backward()\n", *options)
    assert code == 5
    assert "warning [not-finite]  sqrt:1 train.py:3" in printed
    assert "nan at 1 of 2 places, first at [0]" in printed
    assert "where its result is 0; w.grad is nan" in printed


def test_a_tensor_that_is_named_is_checked_alike_and_left_alone(check: Check) -> None:
    code, printed = check(ROOT, target="train.py:loss")
    assert code == 5
    assert "warning [not-finite]  sqrt:1 train.py:3" in printed


def test_a_call_of_grad_is_checked_alike(check: Check) -> None:
    script = f"{ROOT}print(torch.autograd.grad(loss, [w])[0].isnan().tolist())\n"
    code, printed = check(script, "--call", "grad:1,2")
    assert code == 5
    assert "a gradient that it returns is nan" in printed
    assert "[True, False]" in printed  # the program got what it asked for


@pytest.mark.parametrize("option", ["retain_graph", "create_graph"])
def test_a_call_of_grad_that_keeps_its_graph_is_told_with_the_op(check: Check, option: str) -> None:
    script = f"{ROOT}print(torch.autograd.grad(loss, [w], {option}=True)[0].isnan().tolist())\n"
    code, printed = check(script, "--call", "grad:1,2")
    assert code == 5
    assert "sqrt:1 train.py:3" in printed
    assert "[True, False]" in printed


def test_a_hook_that_made_it_is_named(check: Check) -> None:
    code, printed = check(BY_A_HOOK)
    assert code == 5
    assert "hook" in printed
    assert "remedy: look at the code that made it" in printed


def test_numbers_that_are_too_large_are_no_matter_of_zeros(check: Check) -> None:
    code, printed = check(TOO_LARGE)
    assert code == 5
    assert "[not-finite]" in printed
    assert "torch.where" not in printed


def test_a_gradient_that_was_given_is_said_to_be(check: Check) -> None:
    code, printed = check(SEEDED)
    assert code == 5
    assert "passed to backward()" in printed


def test_a_pass_that_can_run_only_once_is_looked_at_too(check: Check) -> None:
    code, printed = check(ONCE_RUN)
    assert code == 5
    assert "w.grad is nan" in printed


def test_in_a_loop_it_is_told_after_the_call_that_made_it_and_once(check: Check) -> None:
    code, printed = check(EMPTY_ROW)
    assert code == 5
    assert "warning [not-finite]  sqrt:1 train.py:9" in printed
    assert "in backward() call 2\n" in printed
    assert printed.count("sends on") == 1
    assert "unchanged" not in printed


def test_what_the_pass_raises_follows_what_was_found_before(check: Check) -> None:
    code, printed = check(RAISING, "--call", "1")
    assert code == 1
    assert "ZeroDivisionError" in printed


def test_hooks_run_once_where_all_is_finite(check: Check) -> None:
    script = BY_A_HOOK.replace("lambda g: g / 0", "lambda g: print('hook')")
    code, printed = check(script)
    assert (code, printed.count("hook\n")) == (0, 1)


LATE = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(300):
    y = net(torch.rand(64, 4)) * (0.0 if step == 250 else 1.0)
    loss = (y * y).log().square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_where_it_began_is_found_in_a_call_of_which_nothing_was_noted(check: Check) -> None:
    code, printed = check(LATE)
    assert code == 5
    assert "warning [not-finite]  log:1 train.py:8" in printed
    assert "at 64 of 64 places, first at [0, 0], where its input is 0" in printed
    assert "in backward() call 251" in printed
    assert "of them with their graphs" in printed


AT_CALL = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for call in range(1, AT + 5):
    scale = 0.0 if call == AT else 1.0
    y = net(torch.rand(16, 4)) * scale
    noise = torch.rand(16, 1)
    opt.zero_grad()
    LOSS
    loss.backward()
    opt.step()
"""
FORWARD = "loss = 0.1 * ((y * y).log() - 3.0 + noise).mean() + 1.0"
BACKWARD = "loss = 0.1 * ((y * y).sqrt() - 3.0 + noise).mean() + 1.0"


@pytest.mark.sampled(4, torch=2)
@pytest.mark.parametrize("call", [1, 2, 11, 134, 301])
@pytest.mark.parametrize(
    ("loss", "op", "says"),
    [
        (FORWARD, "log:1", "log:1 produces inf at 16 of 16 places, first at [0, 0]"),
        (BACKWARD, "sqrt:1", "sqrt:1 sends on is inf at 16 of 16 places, first at [0, 0]"),
    ],
)
def test_in_whatever_call_it_began_the_op_the_line_and_the_element_are_told(
    check: Check, call: int, loss: str, op: str, says: str
) -> None:
    code, printed = check(AT_CALL.replace("AT", str(call)).replace("LOSS", loss))
    assert code == 5
    assert f"warning [not-finite]  {op} train.py:11" in printed
    assert says in printed
    assert f"in backward() call {call}\n" in printed


@pytest.mark.sampled(1)
@on_pytorch
@pytest.mark.parametrize(
    ("loss", "place", "says"),
    [
        # a function of the program's own keeps no result
        # a function of the program's own keeps no result
        ("(Inverse.apply(y) + 1.0).mean()", "mean:1", "at or before mean:1\n"),
        # a constant that has gone
        ("(y + noise / scale).square().mean()", "add:1",
         "at or before add:1, whose result has inf at 16 of 16 places, first at [0, 0]\n"),
        # data, of which no op in the graph knows who made them
        ("(y + (noise := noise / scale)).square().mean()", "add:1",
         "before add:1, which was given noise with inf at 16 of 16 places, first at [0, 0]\n"),
    ],
)  # fmt: skip
def test_where_it_is_not_known_the_one_command_is_told_that_finds_it(
    gradstep: Gradstep, loss: str, place: str, says: str
) -> None:
    script = f"{INVERSE}{AT_CALL.replace('AT', '134').replace('LOSS', f'loss = {loss}')}"
    printed = gradstep(script, "check", "train.py", "--epochs", "1").out
    command = "gradstep check --call 134 train.py --epochs 1"
    assert f"warning [not-finite]  {place} train.py:20\n  inf began {says}" in printed
    assert f"remedy: {command} finds w" in printed
    assert f"next: {command}" in printed
    assert "produces" not in printed
    told = gradstep(script, "check", "--call", "134", "train.py", "--epochs", "1").out
    assert "produces" in told
    assert "gradstep check" not in told


@on_pytorch
def test_a_recording_says_where_it_began_as_far_as_it_knows(gradstep: Gradstep) -> None:
    script = AT_CALL.replace("AT", "134").replace("LOSS", BACKWARD).replace("LIBRARY", "torch")
    gradstep(script, "record", "--when", "nan", "-o", "flight.gsr", "train.py", "--epochs", "1")
    printed = gradstep(script, "check", "flight.gsr").out
    assert "warning [not-finite]  sqrt:1 train.py:11" in printed
    assert "in backward() call 134, the gradient that sqrt:1 sends on is inf" in printed
    gradstep(
        script, "record", "--call", "1,2", "--budget", "1.0001", "-o", "few.gsr", "train.py",
        "--epochs", "1",
    )  # fmt: skip
    printed = gradstep(script, "check", "few.gsr").out
    assert "gradients were finite" not in printed
    assert "remedy: gradstep check" in printed
    assert "train.py --epochs 1 finds where it began" in printed


INVERSE = """\
import torch
class Inverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / x
    @staticmethod
    def backward(ctx, g):
        return -g / ctx.saved_tensors[0] ** 2
"""


@on_pytorch
def test_what_is_known_of_where_it_began_is_data(gradstep: Gradstep) -> None:
    def began(loss: str) -> tuple[str, str]:
        script = f"{INVERSE}{AT_CALL.replace('AT', '134').replace('LOSS', loss)}"
        document = json.loads(gradstep(script, "check", "--format", "json", "train.py").out)
        (finding,) = [each for each in document["findings"] if each["code"] == "not-finite"]
        return finding["began"], finding["finds"]

    assert began(FORWARD) == ("at", "")
    assert began("loss = Inverse.apply(y).mean()") == (
        "at_or_before",
        "gradstep check --call 134 train.py",
    )


SCALED = """\
import torch
torch.manual_seed(0)
w = torch.full((4,), 3.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=1e-6)
class Trainer:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**SIZE)
    def fit(self):
        for step in range(4):
            loss = ((w * START) * 100).EXPRESSION
            opt.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(opt)
            self.scaler.update()
Trainer().fit()
"""


@on_pytorch
@pytest.mark.parametrize(
    ("size", "start", "expression", "all_calls"),
    [
        (125, "1.0", "square().sum()", 5),  # of the loss itself, in all four
        (100, "1.0", "square().sum()", 0),  # of none
        (105, "(1e4 if step == 0 else 1.0)", "square().sum()", 0),  # in the first
    ],
)
def test_what_a_scaler_skips_is_a_note_unless_it_skips_everything(
    check: Check, size: int, start: str, expression: str, all_calls: int
) -> None:
    code, printed = check(scaled(size, start, expression))
    assert code == all_calls
    assert ("every step was skipped" in printed) == bool(all_calls)
    assert "[unchanged]" not in printed


@on_pytorch
def test_a_derivative_that_is_infinite_without_a_scaler_is_no_matter_of_scale(
    check: Check,
) -> None:
    code, printed = check(scaled(4, "0.0", "sqrt().sum()"))
    assert code == 5
    assert "sqrt:1" in printed


@on_pytorch
def test_nodes_that_take_long_hide_nothing(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session hears of the engine after each node that takes long, also of the last one."""
    monkeypatch.setattr("gradstep.engines.pytorch.stepping.observed_engine._SLICE", 0.0)
    code, printed = check(scaled(4, "0.0", "sqrt().sum()"))
    assert code == 5
    assert "sqrt:1" in printed


@on_pytorch
def test_a_scaler_is_known_where_hooks_forbid_another_pass(check: Check) -> None:
    hooked = scaled(127, "2.0", "square().sum()").replace(
        "Trainer().fit()", "w.register_hook(lambda g: g * 1)\nTrainer().fit()"
    )
    code, printed = check(hooked, "--calls", "1", "--all")
    assert "info [not-finite]" in printed
    assert "self.scaler has multiplied the loss by" in printed
    assert code == 0


def scaled(size: int, start: str, expression: str) -> str:
    script = SCALED.replace("SIZE", str(size)).replace("START", start)
    return script.replace("EXPRESSION", expression)


HIDDEN_IN_A_MASK = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net, head = nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.01)
for step in range(1, 40):
    x = torch.randn(5, 4)
    mask = torch.zeros(5, 3, dtype=torch.bool)
    mask[0] = step == 37
    y = head(net(x).masked_fill(mask, float("-inf")).softmax(1))
    opt.zero_grad()
    torch.where(mask[:, :1], 0.0, y).sum().backward()
    opt.step()
"""


def test_where_the_forward_pass_had_it_the_next_command_looks_there(check: Check) -> None:
    """The loss leaves it out, and the call was not looked at closely: the gradient alone tells."""
    code, printed = check(HIDDEN_IN_A_MASK)
    assert code == 5
    assert "the gradient that head/addmm:1 sends on is nan" in printed
    (command,) = set(re.findall(r"gradstep (check --call 37 train\.py)", printed))
    assert f"next: gradstep {command}" in printed
    assert f"remedy: gradstep {command} finds where the nan of the forward pass began" in printed
    code, printed = check(HIDDEN_IN_A_MASK, "--call", "37")
    assert code == 5
    assert "masked_fill(mask, -1e9)" in printed
