"""``gradstep why``: the cause of a gradient, named with its line, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradstep_tui.cli import main
from tests.tui.conftest import Gradstep

Why = Callable[..., str]

DETACHED = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
b = torch.ones(4, requires_grad=True)
rows = torch.stack([(w * k).detach() for k in range(4)])
loss = (rows * b).sum()
loss.backward()
"""
CHOSEN = """\
import LIBRARY as torch
w = torch.tensor([1.0, 3.0], requires_grad=True)
best = (w * 2).argmax()
b = torch.ones(2, requires_grad=True)
(b * best).sum().backward()
"""
NUMBER = """\
import LIBRARY as torch
w = torch.ones((), requires_grad=True)
b = torch.ones((), requires_grad=True)
scale = (w * 2).item()
(b * scale).backward()
"""
NETWORK = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(24)])
        self.head = nn.Linear(4, 1)
        self.spare = nn.Linear(4, 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.head(x)
net = Deep()
x = torch.randn(8, 4)
opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    loss = ((net(x) - 1) ** 2).mean()
    loss.backward()
    opt.step()
"""
DEAD = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
with torch.no_grad():
    net[0].bias.fill_(-10)
x = torch.rand(32, 8)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = ((net(x) - 1) ** 2).mean()
    loss.backward()
    opt.zero_grad()
    opt.step()
"""
MASKED = """\
import LIBRARY as torch
w = torch.ones(3, 6, requires_grad=True)
length = torch.tensor([6, 0, 4])
for step in range(2):
    mask = torch.arange(6)[None, :] >= length[:, None]
    scores = (w * 2).masked_fill(mask if step else mask[:1], float("-inf"))
    weights = torch.softmax(scores, -1)
    loss = (weights * w).sum()
    loss.backward()
    w.grad = None
"""
CANCELS = """\
import LIBRARY as torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * 3).sum() - (w * 3).sum()
loss.backward()
"""
HOOKED = """\
import LIBRARY as torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w * 3
h.register_hook(lambda g: g * 0)
h.sum().backward()
"""
NEARLY = """\
import LIBRARY as torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * 3).sum() - (w * 2.9999).sum()
loss.backward()
"""
PADDED = """\
import LIBRARY as torch
words = torch.nn.Embedding(6, 3, padding_idx=0)
with torch.no_grad():
    words.weight[0] = 1.0
loss = words(torch.tensor([[0, 1, 2], [0, 0, 3]])).pow(2).sum()
loss.backward()
"""


@pytest.fixture
def why(gradstep: Gradstep) -> Why:
    """Explain a leaf of ``script``; what is printed, in one line."""

    def explain(script: str, leaf: str, *options: str, code: int = 5) -> str:
        ended = gradstep(script, "why", *options, "train.py", leaf)
        assert ended.code == code
        return ended.words

    return explain


def test_a_leaf_that_was_cut_off_is_explained_by_the_line_of_the_cut(why: Why) -> None:
    said = why(DETACHED, "w")
    assert "w.grad is None: detach()" in said
    assert "on the path from w to the loss" in said
    assert "line train.py:4 rows = torch.stack([(w * k).detach() for k in range(4)])" in said
    assert said.count("train.py:4") == 1  # once for four cuts


def test_a_choice_and_a_number_are_named_as_what_cut_a_leaf_off(why: Why) -> None:
    assert "argmax gives numbers of dtype int64" in why(CHOSEN, "w")
    said = why(NUMBER, "w")
    assert "item() took a value computed from w out of the graph" in said
    assert "likely" in said
    assert "train.py:4" in said


def test_a_module_that_was_not_called_is_named(why: Why) -> None:
    said = why(NETWORK, "spare.weight")
    assert "spare.weight.grad is None: the loss does not depend on" in said
    assert "likely net.spare was not called" in said


def test_a_vanishing_gradient_is_explained_by_what_shrank_it(why: Why) -> None:
    said = why(NETWORK, "layers.0.weight")
    assert "layers.0.weight.grad is tiny" in said
    assert "by 24 nodes sigmoid" in said
    assert "shrinks x " in said
    assert "will not change: opt lacks it among its parameters" in said
    assert "no optimizer has it" not in said


def test_a_unit_that_is_off_for_all_inputs_is_named(why: Why) -> None:
    said = why(DEAD, "0.weight")
    assert "0.weight.grad is 0 everywhere: #8 1/relu:1 caused it" in said
    assert "all 512 inputs of relu are negative or 0" in said
    assert "line train.py:10" in said


def test_a_gradient_that_is_cleared_before_a_step_is_told_at_the_next_call(why: Why) -> None:
    said = why(DEAD, "2.bias", "--call", "1", code=0)
    assert "nothing is wrong with" in said
    assert "2.bias did not change before the next call, and its .grad was cleared" in said
    assert "zero_grad() ran before step()" in said


def test_a_leaf_that_a_step_changed_is_said_to_have_changed(why: Why) -> None:
    assert "head.bias changed by rms" in why(NETWORK, "head.bias", "--call", "1", code=0)
    said = why(NETWORK, "head.bias", code=0)
    assert "% of its size from call to call; its rms is" in said
    assert "shrinks" not in said  # where the size is as it should be


def test_a_nan_of_the_forward_pass_is_explained_with_the_row_that_made_it(why: Why) -> None:
    said = why(MASKED, "w", "--call", "2")
    assert said.startswith("backward() call 2 w.grad is nan at 6 of 18 places: nan began")
    assert "in row [1, :], where all 6 inputs are −inf" in said
    assert "line train.py:7 weights = torch.softmax(scores, -1)" in said


@pytest.mark.parametrize(
    ("loss", "began"),
    [("w / z", "out.0 of #2 div:1 is inf"), ("(w * z).sqrt()", "out of #2 sqrt:1")],
)
def test_the_gradient_that_is_infinite_first_is_named(why: Why, loss: str, began: str) -> None:
    script = f"""\
import LIBRARY as torch
w, z = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
({loss}).sum().backward()
"""
    assert began in why(script, "w")


def test_parts_that_cancel_are_told(why: Why) -> None:
    said = why(CANCELS, "w")
    assert "w.grad is 0 everywhere: the contributions at" in said
    assert "3 everywhere, from" in said
    assert "−3 everywhere, from" in said
    said = why(NEARLY, "w")
    assert "w.grad is the remainder of a sum whose contributions cancel" in said
    assert "the 2 contributions at" in said


def test_a_hook_that_made_zeros_is_named(why: Why) -> None:
    said = why(HOOKED, "w")
    assert "caused it" in said
    assert "hook" in said


def test_a_leaf_that_wants_no_gradient_is_told_so(why: Why) -> None:
    said = why(MASKED, "length")
    assert "length.grad is None: length does not require a gradient" in said


def test_a_name_that_means_nothing_is_refused_with_what_was_meant(why: Why) -> None:
    said = why(NETWORK, "layers.0.wieght", code=3)
    assert "no tensor and no node is called 'layers.0.wieght'" in said
    assert "did you mean" in said
    assert "leaves: b" in why(DETACHED, "zzz", code=3)
    assert "there is no call 7" in why(DETACHED, "w", "--call", "7", code=3)


def test_rows_without_a_gradient_are_named_and_that_for_padding_is_told(why: Why) -> None:
    said = why(PADDED, "words.weight", code=0)
    assert "rows 0, 4 and 5 of 6 are 0 everywhere" in said
    assert "row 0 is the padding_idx of #3 embedding:1, and never learns" in said


def test_the_row_for_padding_is_no_mistake_of_the_rule(why: Why) -> None:
    why(PADDED, "words.weight", code=0)
    assert main(["check", "train.py"]) == 0  # the same script, whose row 0 is not 0


COMPARED = """\
import LIBRARY as torch
from LIBRARY import nn
x = torch.tensor([[1.0, 3.0]])
scale, limit = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
(x * scale * (WRITTEN).float()).sum().backward()
"""


@pytest.mark.parametrize(
    ("written", "smooth"),
    [
        ("x.abs() > limit", "sigmoid((x.abs() - limit) / t)"),
        ("x - 1 < limit", "sigmoid((limit - (x - 1)) / t)"),
        ("x >= 2 * limit", "sigmoid((x - (2 * limit)) / t)"),
        ("x == limit", "a smooth function of the difference"),
    ],
)
def test_a_comparison_is_shown_as_it_is_written(why: Why, written: str, smooth: str) -> None:
    said = why(COMPARED.replace("WRITTEN", written), "limit")
    assert f"{written} is True or False" in said
    assert smooth in said


def test_the_answer_calls_a_leaf_as_the_question_did(why: Why) -> None:
    assert "net.0.weight.grad" in why(DEAD, "net.0.weight")


LEARNS = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
kept = net[0].weight.detach().clone()
slow = [{"params": net[0].parameters(), "lr": 5e-6}, {"params": net[2].parameters()}]
optimizer = OPTIMIZER
x = torch.randn(16, 4)
for step in range(24):
    loss = ((net(x) - x[:, :1]) ** 2).mean() * FACTOR
    loss.backward()
    STEP
"""
SGD = "torch.optim.SGD(net.parameters(), lr=0.05)"
STEP = "optimizer.step(); optimizer.zero_grad()"


@pytest.mark.parametrize(
    ("optimizer", "factor", "step", "says"),
    [
        (SGD, "1", STEP, ""),
        (SGD, "1", "optimizer.zero_grad()", "[unchanged]"),
        (
            SGD,
            "1",
            "optimizer.zero_grad(); optimizer.step()",
            "zero_grad() in line 12 clears them",
        ),
        (SGD, "1", "optimizer.step()", "[stale-grad]"),
        (
            SGD,
            "1",
            f"{STEP}; net[0].weight.data.copy_(kept)",
            "something undoes what it does",
        ),
        (
            "torch.optim.SGD(net.parameters(), lr=0.05, weight_decay=2.0)",
            "1",
            STEP,
            "takes 10 % of",
        ),
        ("torch.optim.SGD(slow, lr=0.05)", "1", STEP, "hardly moves"),
        (SGD, "(1 if step < 9 else 0)", STEP, "multiplies by the number 0"),
        (SGD, "(1 if step < 9 else float('nan'))", STEP, "is nan at 32 of 32 places"),
    ],
)
def test_a_gradient_that_is_right_is_followed_over_the_run(
    why: Why, optimizer: str, factor: str, step: str, says: str
) -> None:
    program = LEARNS.replace("OPTIMIZER", optimizer).replace("FACTOR", factor)
    said = why(program.replace("STEP", step), "0.weight", code=5 if says else 0)
    assert says in said
    assert ("nothing is wrong with 0.weight.grad itself" in said) == (factor == "1")


@pytest.mark.parametrize("step", [STEP, "optimizer.step()"])
def test_a_recording_tells_the_same_of_its_run(gradstep: Gradstep, step: str) -> None:
    program = LEARNS.replace("OPTIMIZER", SGD).replace("FACTOR", "1").replace("STEP", step)
    assert gradstep(program, "record", "-o", "run.gsr", "train.py").code == 0
    ended = gradstep(program, "why", "run.gsr", "0.weight")
    assert ended.code == (0 if step == STEP else 5)
    assert ("[stale-grad]" in ended.words) == (step != STEP)
