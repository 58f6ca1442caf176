"""``gradstep check`` over loops: one entry per cause, and what only calls together show."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.tui.conftest import Gradstep

Check = Callable[..., str]

CUT = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
b = torch.ones(4, requires_grad=True)
rows = torch.stack([(w * k).detach() for k in range(4)])
(rows * b).sum().backward()
"""
CLEARED = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    opt.zero_grad()
    opt.step()
"""
GAN = """\
import LIBRARY as torch
make = torch.nn.Linear(2, 3)
judge = torch.nn.Linear(3, 1)
opt_make = torch.optim.SGD(make.parameters(), lr=0.1)
opt_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
noise = torch.ones(4, 2)
for step in range(2):
    opt_judge.zero_grad()
    judge(make(noise).detach()).mean().backward()
    opt_judge.step()
    opt_make.zero_grad()
    (-judge(make(noise)).mean()).backward()
    opt_make.step()
"""
UNDETACHED_GAN = """\
import LIBRARY as torch
torch.manual_seed(0)
make = torch.nn.Linear(2, 3)
judge = torch.nn.Linear(3, 1)
opt_make = torch.optim.SGD(make.parameters(), lr=0.1)
opt_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
noise = torch.ones(4, 2)
for step in range(3):
    opt_judge.zero_grad()
    opt_make.zero_grad()
    judge(make(noise)).mean().backward()
    opt_judge.step()
    CLEAR
    (-judge(make(noise)).mean()).backward()
    opt_make.step()
"""
TWO_LOSSES = """\
import LIBRARY as torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    net(torch.ones(4, 2)).mean().backward()
    net(torch.ones(4, 2) * 3).mean().backward()
    opt.step()
"""
TARGET_NETWORK = """\
import copy
import LIBRARY as torch
net = torch.nn.Linear(2, 1)
target = copy.deepcopy(net)
opt = torch.optim.SGD(TRAINED.parameters(), lr=0.1)
net(torch.ones(4, 2)).mean().backward()
opt.step()
"""
SQUASHED = """\
import LIBRARY as torch; torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(nn.Linear(3, 4), SQUASH)
loss = LOSS
loss.backward()
"""
ONE_ROW = """\
import LIBRARY as torch
w = torch.ones(1, 4, requires_grad=True)
torch.softmax(w * 2, dim=0)[0, 1].log().backward()
"""
UNITS = """\
import LIBRARY as torch
altitude = torch.ones(16, 1) * 4000.0
w = torch.ones(1, 4, requires_grad=True)
torch.tanh(altitude @ w).mean().backward()
"""
ROUNDS = """\
import LIBRARY as torch
nn = torch.nn
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Sigmoid())
for step in range(2):
    for each in net.parameters():
        each.data.fill_(1e4)
    net.zero_grad()
    h = torch.ones(8, 4)
    for _ in range(3 + step):
        h = net(h)
    h.mean().backward()
"""
TEACHER = """\
import LIBRARY as torch
nn = torch.nn
pupil = nn.Linear(2, 3)
teacher = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 3))
opt = torch.optim.SGD([*pupil.parameters(), *MORE], lr=0.1)
with torch.no_grad():
    goal = teacher(torch.ones(4, 2))
(pupil(torch.ones(4, 2)) - goal).square().sum().backward()
opt.step()
"""
NEVER_STEPPED = """\
import LIBRARY as torch
torch.manual_seed(0)
make = torch.nn.Linear(2, 3)
teacher = torch.nn.Linear(2, 3)
opt = torch.optim.Adam(make.parameters(), lr=RATE)
for step in range(3):
    with torch.no_grad():
        goal = teacher(torch.ones(4, 2))
    make.zero_grad()
    (make(torch.ones(4, 2)) - goal).square().sum().backward()
    STEP
"""
SATURATES_MORE = """\
import LIBRARY as torch
w = torch.ones(16, 4, requires_grad=True)
for step in range(3):
    w.grad = None
    rows = torch.softmax(w * torch.arange(4.0) * (torch.arange(16.0) > step).unsqueeze(1) * 1e3, 1)
    rows.square().sum().backward()
"""
RULES = """\
import LIBRARY as torch
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 3
x = torch.ones(3, requires_grad=True)
y = x
for _ in range(5):
    y = Twice.apply(y)
y.sum().backward()
"""

BROADCAST = """\
import LIBRARY as torch
model = torch.nn.Linear(3, 1)
loss = ((model(torch.ones(16, 3)) - torch.arange(16.0)) ** 2).mean()
loss.backward()
"""
PAIRS = """\
import LIBRARY as torch
x = torch.arange(16.0, requires_grad=True)
far = x.unsqueeze(1) - x.unsqueeze(0)
(far ** 2).mean().backward()
"""
SATURATED = """\
import LIBRARY as torch
w = torch.ones(16, 4, requires_grad=True)
rows = torch.softmax(w * torch.arange(4.0) * 1000.0, 1)
(torch.sigmoid(w * 1000.0).mean() + rows.max()).backward()
"""
DEAD = """\
import LIBRARY as torch
hidden = torch.nn.Linear(3, 8)
hidden.bias.data.copy_(torch.tensor([-10.0] * 7 + [10.0]))
out = torch.nn.Linear(8, 1)
out(torch.relu(hidden(torch.ones(16, 3)))).mean().backward()
"""
LOOPS = """\
import LIBRARY as torch
w = torch.tensor([1.0], requires_grad=True)
first = torch.ones(2, 2, requires_grad=True)
second = torch.full((2, 2), 1e7, requires_grad=True)
for step in range(6):
    w.grad = first.grad = second.grad = None
    ((w * 10.0 ** step) ** 2).sum().backward()
    (first @ second).mean().backward()
    (w * 0.0).sum().backward()
"""
ROUNDED = (
    "a step is lost in rounding, as float32 keeps about 7 digits and the learning rate of opt is "
    "1e−12"
)


@pytest.fixture
def check(gradstep: Gradstep) -> Check:
    """Check ``script``; what is printed."""

    def check(script: str, *options: str, code: int) -> str:
        ended = gradstep(script, "check", *options, "train.py")
        assert ended.code == code
        return ended.out

    return check


def test_a_cut_in_a_loop_is_one_finding_with_a_count(check: Check) -> None:
    said = check(CUT, code=5)
    assert said.count("[cut]") == 1
    assert "so w gets no gradient (4 times)" in said


def test_a_gradient_that_is_cleared_before_its_step_is_found_between_calls(check: Check) -> None:
    said = check(CLEARED, code=5)
    assert "warning [unchanged]  train.py:7, and train.py:6" in said
    assert "w has gradients and has not changed in the whole run: zero_grad() in line 7" in said
    assert said.count("[unchanged]") == 1


@pytest.mark.parametrize(
    ("rate", "step", "cause"),
    [
        ("0.0", "opt.step()", "the learning rate of opt is 0"),
        ("1e-12", "opt.step()", ROUNDED),
        ("0.1", "pass", "opt.step() does not run"),
    ],
)
def test_a_leaf_that_does_not_change_is_told_with_its_cause(
    check: Check, rate: str, step: str, cause: str
) -> None:
    said = check(NEVER_STEPPED.replace("RATE", rate).replace("STEP", step), code=5)
    told = re.search(r"(.*) have gradients and have not changed in the whole run: (.*)", said)
    assert told is not None
    names = [each.rpartition(".")[2] for each in told[1].strip().split(" and ")]
    assert (sorted(names), told[2]) == (["bias", "weight"], cause)  # not those of the teacher
    assert said.count("[unchanged]") == 1


def test_a_leaf_of_nothing_but_nan_is_not_called_unchanged(check: Check) -> None:
    script = NEVER_STEPPED.replace("RATE", "0.1").replace("STEP", "opt.step()")
    said = check(script.replace("goal = ", "goal = float('nan') * "), "--call", "all", code=5)
    assert "[not-finite]" in said
    assert "[unchanged]" not in said


def test_a_gradient_of_another_models_loss_is_told_where_the_next_step_will_use_it(
    check: Check,
) -> None:
    said = check(UNDETACHED_GAN.replace("CLEAR", "pass"), "--call", "all", code=5)
    assert said.count("warning [stale-grad]  train.py:14, and train.py:11") == 1
    assert "have a .grad from a backward() on another line, after which step() changed" in said
    for right in (UNDETACHED_GAN.replace("CLEAR", "opt_make.zero_grad()"), GAN, TWO_LOSSES):
        assert "[stale-grad]" not in check(right, "--call", "all", code=0)


@pytest.mark.parametrize(
    ("trained", "why"),
    [
        ("net", "which no optimizer has"),
        ("torch.nn.ModuleList([net, target])", "did not run in this forward pass"),
    ],
)
def test_parameters_that_no_optimizer_has_or_that_did_not_run_need_not_be_in_the_loss(
    check: Check, trained: str, why: str
) -> None:
    said = check(TARGET_NETWORK.replace("TRAINED", trained), "--all", code=0)
    assert "info [unreached]" in re.sub(" +", " ", said)
    assert why in " ".join(said.split())


@pytest.mark.parametrize(
    ("squash", "loss", "found"),
    [
        ("nn.Softmax(1)", "nn.CrossEntropyLoss()(net(torch.ones(2, 3)), torch.tensor([1, 2]))", 1),
        (
            "nn.Sigmoid()",
            "nn.BCEWithLogitsLoss()(net(torch.ones(2, 3)).flatten(), torch.ones(8))",
            1,
        ),
        ("nn.Softmax(1)", "nn.NLLLoss()(net(torch.ones(2, 3)).log(), torch.tensor([1, 2]))", 0),
        ("nn.Sigmoid()", "nn.BCELoss()(net(torch.ones(2, 3)), torch.ones(2, 4))", 0),
        ("nn.ReLU()", "nn.CrossEntropyLoss()(net(torch.ones(2, 3)), torch.tensor([1, 2]))", 0),
    ],
)
def test_probabilities_instead_of_scores_are_found(
    check: Check, squash: str, loss: str, found: int
) -> None:
    script = SQUASHED.replace("SQUASH", squash).replace("LOSS", loss)
    said = check(script, code=5 if found else 0)
    assert said.count("[squashed-twice]") == found
    if found:
        name = "softmax" if "Softmax" in squash else "sigmoid"
        assert f"1/{name}:1 train.py:4\n" in said
        assert f"the scores, without the {name}" in said


def test_a_softmax_along_a_dimension_of_one_element_is_told_by_its_dimension(check: Check) -> None:
    said = check(ONE_ROW, code=5)
    assert "softmax runs over one element, so its result is always 1" in said
    assert "remedy: let it run over another dim, which has more elements" in said
    assert "sigmoid" not in said


def test_a_saturated_result_is_told_with_the_range_of_its_inputs(check: Check) -> None:
    said = check(UNITS, code=5)
    assert "tanh is saturated, exactly 1 everywhere; its inputs are all 4000" in said
    assert "[saturated]" not in said  # the same, seen twice


def test_a_teacher_under_no_grad_is_no_mistake_unless_an_optimizer_has_it(check: Check) -> None:
    said = check(TEACHER.replace("MORE", "[]"), "--all", code=0)
    assert said.count("[cut]") == 1
    assert "info [cut]  train.py:7" in said
    said = check(TEACHER.replace("MORE", "teacher.parameters()"), code=5)
    assert said.count("warning [cut]  train.py:7") == 1


def test_one_mistake_in_each_round_of_a_recurrence_is_one_finding(check: Check) -> None:
    said = check(ROUNDS, code=5)
    assert said.count("is saturated, exactly") == 1
    assert "[saturated]" not in said


def test_a_gradient_of_zeros_and_nan_is_not_called_zero(check: Check) -> None:
    script = (
        "import LIBRARY as torch\n"
        "w = torch.tensor([0.0, 1.0], requires_grad=True)\n"
        "(w * torch.tensor([float('nan'), 0.0])).sum().backward()\n"
    )
    assert "[zero-grad]" not in check(script, code=5)


def test_a_mistake_with_other_numbers_in_each_call_is_told_once(check: Check) -> None:
    said = check(SATURATES_MORE, "--call", "all", code=5)
    assert said.count("[saturated]") == 1


def test_the_other_model_of_a_gan_is_no_warning(check: Check) -> None:
    assert "info [cut]  train.py:9" in check(GAN, "--all", code=0)


def test_a_wrong_rule_that_ran_several_times_is_one_entry(check: Check) -> None:
    said = check(RULES, code=5)
    assert said.count("error [derivative]") == 1
    assert "its backward at train.py:8\n" in said
    assert "(5 times)\n" in said


@pytest.mark.parametrize(
    ("script", "code", "what"),
    [
        (BROADCAST, "broadcast", "sub:1 broadcasts [16, 1] with [16]: its result has 256 elements"),
        (SATURATED, "saturated", "64 of the 64 elements of sigmoid:1 are exactly 0 or 1"),
        (
            SATURATED,
            "zero-grad",
            "exactly 0 or 1 everywhere; its inputs are between 0 and 3000",
        ),
        (DEAD, "dead-units", "7 of the 8 units of relu:1 are 0 for all 16 samples"),
    ],
)
def test_what_keeps_a_loss_from_learning_is_found_before_it_runs(
    check: Check, script: str, code: str, what: str
) -> None:
    said = " ".join(check(script, code=5).split())
    assert f"warning [{code}]" in said
    assert what in said


def test_a_difference_of_all_pairs_is_no_mistake(check: Check) -> None:
    assert "broadcast" not in check(PAIRS, code=0)


def test_gradients_of_all_calls_are_looked_over_and_each_line_is_told_once(check: Check) -> None:
    said = " ".join(check(LOOPS, "--ignore", "unreached", code=5).split())
    for found in (
        "[vanishing] train.py:8 gradients vanish: the gradient shrinks by a factor of 1e7",
        "[constant-loss] train.py:8 the loss has been exactly 2e7 in 5 consecutive calls",
    ):
        assert said.count(found) == 1, said


HOOKED = """\
import LIBRARY as torch
from LIBRARY import nn
def shrink(*given):
    return None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1)
    def forward(self, x):
        return self.inner(x)
net = Net()
WHAT.REGISTER(shrink)
for step in range(3):
    WHAT.REGISTER(
        shrink
    )
    net.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
"""


@pytest.mark.parametrize(
    "registering",
    [
        "net.inner.weight.register_hook",
        "net.inner.bias.register_post_accumulate_grad_hook",
        "net.inner.register_forward_hook",
        "net.register_full_backward_hook",
    ],
)
def test_a_hook_is_shown_where_it_is_registered_and_once(check: Check, registering: str) -> None:
    what, _, register = registering.rpartition(".")
    script = HOOKED.replace("WHAT", what).replace("REGISTER", register)
    found = check(script, code=5)
    assert found.count("[duplicate-hook]") == 1
    assert "train.py:12, and train.py:14" in found
