"""An error of ours never becomes the program's: each of our functions that a command comes to while
the program runs is made to fail, and the program ends as it does plainly."""

from __future__ import annotations

import math
import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograd_core
from gradstep.engines.native import NATIVE
from gradstep.guest import fence
from gradstep.guest.fence import (
    CallRun,
    answered,
    call_run,
    fenced,
    raised,
    read,
    text_of,
    within_fence,
)
from tests.forking import run_python

SABOTAGE = str(Path(__file__).with_name("sabotage.py"))
PROGRAM = """
import {library} as torch
from {library}.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        print("double")
        return g * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.second = torch.nn.Linear(4, 1)

    def forward(self, x):
        x = torch.dropout(self.first(x).tanh(), 0.5, True)
        return self.second(Double.apply(checkpoint(torch.sin, x, use_reentrant=True)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    loss = net(torch.rand(5, 3)).pow(2).mean()
    loss.register_hook(lambda g: print("hook", g.item()))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), sum(p.sum().item() for p in net.parameters()))
x = torch.ones(2, requires_grad=True)
print(torch.autograd.grad((x * x).sum(), x))
"""
COMMANDS = (
    "render --call last -o x.svg", "render --values --call last -o x.json",
    "film --call last -o f.html", "check --call last", "why --call last train.py first.weight",
    "debug --batch --ex next --ex continue", "debug --fail-on nan",
)  # fmt: skip
LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.mark.sampled(2, torch=1)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_function_of_ours_that_fails_leaves_the_program_alone(
    library: str, command: str, tmp_path: Path, sample: Callable[[Any, int], list[Any]]
) -> None:
    pytest.importorskip(library)
    words = [*command.split(), *[each for each in ["train.py"] if each not in command]]
    run = runner(library, tmp_path)
    assert run(SABOTAGE, "--", *words).returncode == 0
    functions = (tmp_path / "functions").read_text("utf-8").splitlines()
    assert len(functions) > 50
    see_that_the_program_is_left_alone(run, sample(functions, 2), words)


@pytest.mark.parametrize(
    ("library", "command", "functions"),
    [
        (
            "autograd_core",
            "debug --batch --ex next --ex continue",
            [
                "debugger/passes/cursor.py:Cursor._keep",
                "debugger/passes/recorded_pass.py:RecordedPass.title",
                "engines/native/driver.py:NativeDriver._run",
                "engines/native/changes.py:keep_of_user",
                "engines/native/hooks.py:Watch.wrap",
            ],
        ),
        ("autograd_core", "debug --fail-on nan", ["engines/native/changes.py:keep_of_user"]),
        pytest.param(
            "torch",
            "render --values --call last -o x.json",
            ["engines/pytorch/schema.py:is_question"],
            marks=pytest.mark.torch,
        ),
    ],
)
def test_functions_that_once_did_not_leave_the_program_alone(
    library: str, command: str, functions: list[str], tmp_path: Path
) -> None:
    pytest.importorskip(library)
    run = runner(library, tmp_path)
    see_that_the_program_is_left_alone(run, functions, [*command.split(), "train.py"])


def runner(library: str, folder: Path) -> Callable[..., Any]:
    (folder / "train.py").write_text(PROGRAM.format(library=library), "utf-8")
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    return lambda *arguments: run_python(arguments, folder, environment)


def see_that_the_program_is_left_alone(run: Any, functions: list[str], words: list[str]) -> None:
    plain = run("train.py")
    assert plain.returncode == 0, plain.stderr
    for function in functions:
        done = run(SABOTAGE, function, "--", *words)
        printed = done.stdout.splitlines()
        assert [line for line in plain.stdout.splitlines() if line not in printed] == [], function
        assert "Traceback" not in done.stderr, f"{function}: {done.stderr}"
        assert done.returncode in (0, 2, 3, 5), f"{function}: {done.stderr}"


class Call:
    arguments = None
    is_grad = True

    def __init__(self) -> None:
        self.roots = (object(),)


def noted() -> CallRun:
    found = call_run.get()
    assert found is not None
    return found


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(fence, "tell", found.append)
    monkeypatch.setattr(fence, "_told", set())
    return found


def test_before_the_pass_an_error_of_ours_leaves_the_call_to_the_engine(said: list[str]) -> None:
    def fail() -> bool:
        raise KeyError("ours")

    assert answered(Call(), fail, "call 1") is False
    assert len(said) == 1
    assert said[0].startswith("not shown: call 1, by a bug in gradstep at test_fence.py:")


def test_behind_the_pass_it_is_answered_with_what_that_gave(said: list[str]) -> None:
    released = []

    def fail() -> bool:
        run = noted()
        run.begun = run.over = True
        run.gradients, run.release = lambda: (1, 2), lambda: released.append(1)
        raise KeyError("ours")

    assert answered(Call(), fail, "call 1") == (1, 2)
    assert (released, len(said)) == ([1], 1)


def test_within_the_pass_the_rest_of_it_is_made(said: list[str]) -> None:
    made = []

    def fail() -> bool:
        run = noted()
        run.begun, run.gradients, run.finish = True, lambda: (3,), lambda: made.append(1)
        raise KeyError("ours")

    assert answered(Call(), fail, "call 1") == (3,)
    assert (made, len(said)) == ([1], 1)


def test_a_pass_that_is_half_done_and_cannot_be_finished_is_not_passed_off_as_done() -> None:
    def fail() -> bool:
        noted().begun = True
        raise KeyError("ours")

    with pytest.raises(KeyError):
        answered(Call(), fail, "call 1")


@pytest.mark.parametrize("error", [ValueError("the program's"), KeyboardInterrupt()])
def test_errors_of_the_program_go_on(error: BaseException, said: list[str]) -> None:
    def fail() -> bool:
        raised(error)
        raise error

    with pytest.raises(type(error)) as found:
        answered(Call(), fail, "call 1")
    assert found.value is error
    assert not said


class Late(Exception):
    """Raised by a signal handler."""


class Handler:
    def late(self, *_: Any) -> None:
        raise Late

    __call__ = late


WITHIN = {
    "a fenced function": lambda: fenced("nothing")(send_signal)(),
    "a fence": lambda: within_a_fence(),
    "reading": lambda: list(read(lambda: [send_signal()])),
    "the text of an object": lambda: text_of(TextIsSignal()),
    "a call": lambda: answered(Call(), send_signal, "call 1"),
}


def send_signal() -> None:
    signal.raise_signal(signal.SIGINT)


class TextIsSignal:
    def __repr__(self) -> str:
        send_signal()
        return ""


def within_a_fence() -> None:
    with within_fence("nothing"):
        send_signal()


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("handler", [Handler().late, Handler()], ids=["a method", "an object"])
def test_what_a_signal_handler_of_the_programs_raises_goes_on(
    handler: Any, within: str, said: list[str]
) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(Late):
            WITHIN[within]()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not said


def test_what_is_to_be_told_apart_goes_on(said: list[str]) -> None:
    def fail() -> bool:
        raise LookupError("no such target")

    with pytest.raises(LookupError):
        answered(Call(), fail, "call 1", apart=(LookupError,))
    assert not said


def test_an_error_is_told_once(said: list[str]) -> None:
    @fenced("a half", 0)
    def half(number: Any) -> Any:
        return number / 2

    assert [half(each) for each in (4, "4", "4", "4")] == [2, 0, 0, 0]
    assert len(said) == 1


def test_a_closed_stderr_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, "w") as closed:
        pass
    monkeypatch.setattr(sys, "stderr", closed)
    fence.tell("nobody hears this")


def test_what_can_be_read_of_an_object_is_read() -> None:
    assert list(read(lambda: (1 // number for number in (1, 0)))) == [1]


def test_distances_of_infinite_weights_do_not_warn_the_user() -> None:
    weights = autograd_core.tensor([math.inf, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (distance,) = NATIVE.running.moved([weights], [NATIVE.numbers.copy(weights)])
    assert distance is not None
    assert math.isnan(distance)
