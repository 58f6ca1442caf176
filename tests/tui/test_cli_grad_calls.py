"""Scripts that call ``autograd.grad()``: such calls are counted for themselves, and every command
takes them by ``--call grad:K``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.both import on_the_core
from tests.tui.conftest import Gradstep

PENALTY = """\
import LIBRARY as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in (1, 2):
    loss = (w * w).sum()
    (g,) = torch.autograd.grad(loss, w, create_graph=True)
    (loss + (g * g).sum()).backward()
    print(g.tolist(), w.grad.tolist())
"""
PRINTED = ["[2.0, 4.0] [10.0, 20.0]", "[2.0, 4.0] [20.0, 40.0]"]
ONLY_GRAD = """\
import LIBRARY as torch

w = torch.tensor(2.0, requires_grad=True)
loss = w * w
print(torch.autograd.grad(loss, w, retain_graph=True)[0].item())
other = w * 3
"""
GRAD_FREES = ONLY_GRAD.replace(", retain_graph=True", "").replace("other = w * 3\n", "")
NAN_IN_GRAD = """\
import LIBRARY as torch

x = torch.tensor(0.0, requires_grad=True)
torch.autograd.grad(x.sqrt() * 0, x)
(x * 2).backward()
"""

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    def carry_out(
        script: str, command: str, *arguments: str, target: str = "train.py"
    ) -> tuple[int, list[str], str]:
        after = ["w"] if command == "why" else []
        code, out, err = gradstep(script, command, *arguments, target, *after)
        return code, out.splitlines(), err

    return carry_out


@pytest.fixture
def debug(run: Run) -> Run:
    def carry_out(script: str, commands: str, *arguments: str) -> tuple[int, list[str], str]:
        Path("commands").write_text(commands)
        return run(script, "debug", "--batch", "-x", "commands", *arguments)

    return carry_out


def test_by_default_it_stops_only_at_backward_calls(debug: Run) -> None:
    code, out, _ = debug(PENALTY, "info calls\nq\n" * 2)
    assert code == 0
    assert [line.split("  ")[0] for line in out if line.startswith(("call", "grad"))] == ["call 1"]
    assert [line for line in out if line in PRINTED] == PRINTED


def test_grad_stops_at_both_and_numbers_each_kind(debug: Run) -> None:
    code, out, _ = debug(PENALTY, "next\nq\n" * 3 + "info calls", "--grad")
    assert code == 0
    listed = [line.split()[:3] for line in out if line.startswith(("call", "grad "))]
    assert listed == [
        ["grad", "1", "loss.grad()"],
        ["call", "1", "output.backward()"],
        ["grad", "2", "loss.grad()"],
    ]
    assert [line for line in out if line in PRINTED] == PRINTED


def test_a_grad_call_is_chosen_by_its_number(debug: Run) -> None:
    code, out, _ = debug(PENALTY, "next", "--call", "grad:2")
    assert code == 0
    assert [out[0], out[-1]] == PRINTED
    assert out[1] == "(gradstep) next"


@on_the_core
def test_a_gradient_that_is_changed_comes_back_to_the_script(debug: Run) -> None:
    _, out, _ = debug(PENALTY, "scale 3", "--call", "grad:1")
    assert out[-2].startswith("[6.0, 12.0]")


def test_the_alarm_hears_grad_calls_too(run: Run) -> None:
    code, _, err = run(NAN_IN_GRAD, "debug", "--batch", "--fail-on", "nan")
    assert code == 5
    assert "autograd.grad() call 1: " in err
    assert "sqrt:1 is nan" in err


def test_the_alarm_lets_a_script_with_nothing_but_grad_end(run: Run) -> None:
    assert run(ONLY_GRAD, "debug", "--batch", "--fail-on", "nan") == (0, ["4.0"], "")


@pytest.mark.parametrize("call", ["grad:1", "grad:last"])
def test_pictures_and_checks_take_grad_calls(run: Run, call: str) -> None:
    code, out, err = run(PENALTY, "render", "--call", call, "-o", "out.txt")
    assert (code, "wrote out.txt" in err) == (0, True)
    assert "MulBackward0" in Path("out.txt").read_text()
    code, _, err = run(PENALTY, "film", "--call", call, "-o", "out.svg")
    assert (code, "wrote out.svg" in err) == (0, True)
    code, out, _ = run(PENALTY, "check", "--call", call, "--ignore", "stale-grad")
    assert code == 0
    assert "looked at: 1 call on 1 line" in out


def test_going_through_to_the_last_grad_call_gives_the_script_its_gradients(run: Run) -> None:
    for command, suffix in (("render", "txt"), ("film", "svg")):
        _, out, _ = run(PENALTY, command, "--call", "grad:last", "-o", f"out.{suffix}")
        assert out == PRINTED


@pytest.mark.parametrize(
    ("script", "command", "arguments", "code", "said"),
    [
        (PENALTY, "render", ("--call", "grad:3"), 3,
         "called autograd.grad() 2 times: there is no call grad:3; --call takes grad:1 to grad:2"),
        (ONLY_GRAD, "render", ("--call", "grad:2"), 3,
         "called autograd.grad() once: there is no call grad:2; omit --call"),
        ("", "render", ("--call", "grad:1"), 3, "never called autograd.grad()"),
        (ONLY_GRAD, "render", (), 3,
         "it called autograd.grad() once: --call grad:1 takes the first"),
        (PENALTY, "render", ("--call", "grad:x"), 2, "optionally after grad:"),
        (PENALTY, "debug", ("--call", "grad:last", "--batch", "--fail-on", "nan"), 2,
         "--call last is known only when the script has ended: give its number"),
        (PENALTY, "debug", ("--call", "2", "--grad", "--batch", "--fail-on", "nan"), 2,
         "leave one of them out"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_told(
    run: Run, script: str, command: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    found, _, err = run(script, command, *arguments)
    assert (found, said in err) == (code, True), err


DEBUG = ("debug", "--batch", "--ex", "quit")


def test_a_check_looks_at_calls_of_grad_alone(run: Run) -> None:
    code, out, _ = run(GRAD_FREES, "check")
    assert code == 0
    assert "looked at: 1 call" in "\n".join(out)


@pytest.mark.parametrize("command", [("render",), ("film",), DEBUG, ("why",)])
def test_a_script_whose_graph_grad_has_freed_is_told_of_its_call(
    run: Run, command: tuple[str, ...]
) -> None:
    code, _, err = run(GRAD_FREES, *command)
    assert code == 3
    reason = (
        "freed the graph of loss" if command != ("why",) else "the script calls autograd.grad()"
    )
    assert reason in err
    assert "--call grad:1 takes the first" in err


@pytest.mark.parametrize("command", [("film",), DEBUG, ("why",)])
def test_a_tensor_whose_graph_was_freed_has_no_backward_pass(
    run: Run, command: tuple[str, ...]
) -> None:
    code, _, err = run(GRAD_FREES, *command, target="train.py:loss")
    assert (code, "Traceback" in err) == (3, False)
    assert "train.py:loss: its graph was freed by an earlier backward pass" in err
