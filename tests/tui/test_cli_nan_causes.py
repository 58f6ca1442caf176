"""What made a NaN or an infinity of finite numbers is said: by ``check``, and by ``--fail-on``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.conftest import Gradstep

Run = Callable[..., str]

HEAD = """\
import LIBRARY as torch
F = torch.nn.functional
w = torch.ones(6, 5, requires_grad=True)
"""
LEARNS = """\
x = torch.ones(4)
w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    ((w * x) ** 2).sum().backward()
    if step == 1:
        w.grad.mul_(1e38).mul_(1e38).mul_(0)  # as clipping by an infinite norm does
    opt.step()
"""
OLDER = "look at what wrote it there: its initialization, the step() after an earlier call, or code"

CAUSES = [
    ("F.cross_entropy(w, torch.full((6,), -100))", "all 6 targets are ignore_index (−100)"),
    (
        "F.nll_loss(w.log_softmax(1), torch.full((6,), 3), ignore_index=3)",
        "all 6 targets are ignore_index (3): a mean of none",
    ),
    (
        "F.cross_entropy(w, torch.full((6,), 1), weight=torch.tensor([1.0, 0, 1, 1, 1]))",
        "the classes of all its targets have the weight 0",
    ),
    (
        "(w[:1] / w[:1].std(0)).sum()",
        "because it is computed from 1 element, and divides by 1 − 1",
    ),
    ("w[:0].mean() + w.sum()", "because its input has no elements"),
    ("torch.acos(w * 1.0000001).mean()", "where its input is 1.0000001"),
]
OVERFLOWS = [
    ("torch.exp(w * 1000).mean()", "input is 1000 (the largest float32 is 3.4e38)"),
    (
        "(w * 1e30).matmul(torch.ones(5, 5) * 1e30).mean()",
        "although its inputs are finite (the largest float32 is 3.4e38)",
    ),
    ("((w * 300).half() * (w * 300).half()).mean()", "300 and 300 (the largest float16 is 65,504)"),
]


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Run ``gradstep`` on a script, in which it must find something; what is printed, in one
    line."""

    def run(script: str, *command: str) -> str:
        ended = gradstep(HEAD + script, *command, "train.py")
        assert ended.code == 5
        return ended.words

    return run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "cause"), [*CAUSES, *OVERFLOWS])
def test_check_says_what_made_it(run: Run, loss: str, cause: str) -> None:
    assert cause in run(f"({loss}).backward()", "check")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("parts", "what"), [("eigh(m)[1]", "eigenvalues"), ("svd(m)[0]", "singular values")]
)
def test_check_says_which_values_are_equal_where_a_derivative_divides_by_their_difference(
    run: Run, parts: str, what: str
) -> None:
    script = (
        "m = torch.eye(3) * (2 * w[:3, :3])\n(torch.linalg.{} @ torch.arange(3.0)).sum().backward()"
    )
    cause = f"as two {what} are equal (2): it divides by their difference"
    assert cause in run(script.format(parts), "check")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "cause"), [CAUSES[0], CAUSES[1], CAUSES[2], CAUSES[5]])
def test_an_alarm_says_so_too_even_if_every_gradient_is_finite(
    run: Run, loss: str, cause: str
) -> None:
    said = run(
        f"for bad in (False, True):\n    (({loss}) if bad else w.sum()).backward()",
        "debug", "--fail-on", "nan",
    )  # fmt: skip
    assert "backward() call 2: " in said
    assert cause in said


@pytest.mark.filterwarnings("ignore")
def test_a_weight_that_was_nan_before_is_told_from_one_that_became_so(run: Run) -> None:
    assert OLDER in run(LEARNS, "check", "--call", "3")
    said = run(LEARNS, "debug", "--fail-on", "nan")
    assert "call 3: w contained nan before the forward pass, used by " in said
    assert OLDER in said


@pytest.mark.filterwarnings("ignore")
def test_an_alarm_names_the_command_that_knows_more_with_its_call(run: Run) -> None:
    said = run(
        "for scale in (1.0, 1e20):\n    (scale * w.exp()).pow(2).mean().backward()",
        "debug", "--fail-on", "inf",
    )  # fmt: skip
    assert "the loss itself is inf: " in said
    assert "(gradstep check --call 2 train.py finds where it began)" in said


@pytest.mark.filterwarnings("ignore")
def test_an_infinity_that_became_nan_on_its_way_to_the_leaf_is_found(run: Run) -> None:
    script = """\
for step in range(4):
    w.grad = None
    (w * float(step != 2)).sqrt().sum().backward()
"""
    said = run(script, "debug", "--fail-on", "inf")
    assert "backward() call 3: out of #2 sqrt:1 is inf 30/30" in said
    assert "this pass ran twice, to find where that began" in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", ["torch.tensor(float('nan'))", "torch.full((5,), float('nan'))"])
def test_a_constant_is_nan_on_purpose_until_an_op_uses_it(run: Run, made: str) -> None:
    kept = f"unused = torch.ones(1, requires_grad=True)\ntorch.where(w[0] > 0, w[0], {made})"
    said = run(f"{kept}.sum().backward()", "check")
    assert "[unreached]" in said
    assert "[not-finite]" not in said
    said = run(f"(torch.where(w[0] > 1, w[0], {made})).sum().backward()", "check")
    assert "where:1 produces nan at 5 of 5 places, first at [0]; its input is" in said
