"""What ``gradstep check`` says of a program is true of that program, on both engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep.recording.reading import FileRun
from tests.tui.conftest import Gradstep

Check = Callable[..., str]


@pytest.fixture
def check(gradstep: Gradstep) -> Check:
    return lambda script, *options: gradstep(script, "check", *options, "train.py").out


SAMPLER = """\
import LIBRARY as torch
torch.manual_seed(0)
theta = torch.zeros(3, requires_grad=True)
for step in range(12):
    (theta ** 2).sum().backward()
    with torch.no_grad():
        theta += 0.01 * torch.randn(3) / (0.0 if step == 6 else 1.0) - 0.01 * theta.grad
    theta.grad = None
"""


@pytest.mark.filterwarnings("ignore")
def test_what_a_sampler_changes_itself_is_no_step_of_an_optimizer(check: Check) -> None:
    said = check(SAMPLER)
    assert "theta became NaN or infinite between two calls, although its gradients were" in said
    assert "remedy: look at what changes it between the calls" in said
    assert "learning rate" not in said


SKIPS = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(5, 3)
    if step in BAD:
        x[1, 1] = float("inf")
    loss = (net(x) - 1.0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if STEPS:
        optimizer.step()
"""


@pytest.mark.filterwarnings("ignore")
def test_steps_that_the_program_leaves_out_are_a_note(check: Check) -> None:
    said = check(SKIPS.replace("BAD", "(20,)").replace("STEPS", "norm.isfinite()"), "--all")
    assert said.startswith("train.py: nothing suspicious was found\n")
    assert "info [not-finite]" in said
    assert "looked at: 30 calls" in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("bad", "steps"),
    [("(20,)", "True"), ("(20,)", "norm.isfinite() or True"), ("range(6, 30)", "norm.isfinite()")],
    ids=["asks nothing", "steps all the same", "leaves out most"],
)
def test_a_program_that_steps_or_leaves_out_most_is_sick(
    check: Check, bad: str, steps: str
) -> None:
    said = check(SKIPS.replace("BAD", bad).replace("STEPS", steps))
    assert "warning [not-finite]" in said


COPIED = """\
import copy
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
step = torch.optim.SGD(q.parameters(), lr=0.01).step
for _ in range(8):
    with torch.no_grad():
        wanted = target(torch.randn(32, 4)).max(1).values
    loss = (q(torch.randn(32, 4)).max(1).values - wanted).pow(2).mean()
    q.zero_grad()
    loss.backward()
    step()
"""


def test_a_target_network_is_none_that_lacks_a_gradient_though_no_optimizer_is_known(
    check: Check,
) -> None:
    assert "nothing suspicious was found" in check(COPIED)
    assert "warning [cut]" in check(COPIED.replace("    step()\n", ""))


RECURRENT = """\
import LIBRARY as torch
torch.manual_seed(0)
weight = (torch.eye(8) * 1.3).requires_grad_()
state = torch.randn(2, 8)
for _ in range(40):
    state = state @ weight + 0.01 * torch.randn(2, 8)
state.sum().backward()
"""


def test_what_makes_the_gradient_of_the_only_weight_larger_is_named(check: Check) -> None:
    said = check(RECURRENT)
    assert "times the size of weight; most of it in " in said
    assert " nodes mm (x " in said


RAISED = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=10.0)
x = torch.randn(16, 4)
for _ in range(20):
    optimizer.zero_grad()
    (model(x) - 1.0).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
"""


def test_a_schedule_that_raises_the_rate_is_why_steps_are_large(check: Check) -> None:
    said = check(RAISED)
    assert "[large-steps]  train.py:6, and train.py:5\n" in said
    assert "(its learning rate is 1000) changes model.weight by " in said
    assert ": a schedule has raised it from 0.01\n" in said


def test_a_recording_has_the_learning_rates_of_the_end(gradstep: Gradstep) -> None:
    gradstep(RAISED.replace("range(20)", "range(18)"), "record", "-o", "run.gsr", "train.py")
    with FileRun(Path("run.gsr")) as run:
        (group,) = run.training.groups
    assert group.options["lr"] == pytest.approx(100)


def test_a_loss_of_zeros_alone_is_one_finding(check: Check) -> None:
    said = check("""\
        import LIBRARY as torch
        from LIBRARY import nn
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        with torch.no_grad():
            net[0].bias -= 10.0
        net(torch.randn(16, 4)).pow(2).mean().backward()
        """)
    assert said.startswith("train.py: 1 warning\n")
    assert "all 128 inputs of relu are negative or 0" in said


PENALTY = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
critic = nn.Linear(3, 1)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
def penalty():
    mixed = torch.randn(5, 3).requires_grad_()
    (grads,) = torch.autograd.grad(critic(mixed).tanh().sum(), mixed)
    return (grads.norm(dim=1) - 1).pow(2).mean()
for _ in range(6):
    loss = critic(torch.randn(5, 3)).mean() + penalty()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_leaf_that_the_program_has_no_name_for_is_not_what_lacks_a_gradient(
    check: Check,
) -> None:
    said = check(PENALTY, "--all")
    assert "[create-graph]  train.py:8" in said
    assert "a leaf of shape" not in said


def test_parameters_made_anew_are_not_counted_short(check: Check) -> None:
    said = check("""\
        import LIBRARY as torch
        from LIBRARY import nn
        torch.manual_seed(0)
        body = nn.Linear(6, 12)
        optimizer = torch.optim.SGD(body.parameters(), lr=0.01)
        def model(x):
            head = nn.Linear(12, 3)
            return head(torch.relu(body(x)))
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.randn(4, 6)).pow(2).mean().backward()
            optimizer.step()
        """)
    assert "[made-anew]" in said
    assert "1 parameter" not in said


def test_small_steps_of_vanishing_gradients_are_no_finding_of_their_own(
    check: Check, gradstep: Gradstep
) -> None:
    said = gradstep(
        """\
        import LIBRARY as torch
        from LIBRARY import nn
        torch.manual_seed(0)
        layers = [nn.Linear(1, 16), nn.Sigmoid()]
        for _ in range(7):
            layers += [nn.Linear(16, 16), nn.Sigmoid()]
        model = nn.Sequential(*layers, nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.linspace(-3, 3, 64).unsqueeze(1)
        for _ in range(12):
            loss = (model(x) - torch.sin(2 * x)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        "check", "--format", "json", "train.py",
    ).out  # fmt: skip
    found = [each["code"] for each in json.loads(said)["findings"] if each["severity"] != "info"]
    assert found == ["vanishing"]


def test_a_function_of_the_program_is_not_said_to_be_given_large_numbers(check: Check) -> None:
    said = check("""\
        import LIBRARY as torch
        class Inverse(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 1 / x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return -g / x**2
        w = torch.zeros(3, requires_grad=True)
        (Inverse.apply(w * 2) + 1).mean().backward()
        """)
    assert "inverse:1 produces inf at 3 of 3 places" in said
    assert "too large" not in said
