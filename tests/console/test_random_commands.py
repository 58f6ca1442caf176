"""Whatever is typed, a session answers, and the gradients in the end are those of a plain run."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core import nn
from gradstep import trace
from gradstep.console import complete
from gradstep.console.console import DEFECT
from gradstep.console.helping import TOPICS
from gradstep.console.session import Session
from gradstep.debugger import Reply

COMMANDS = [command for _, commands in TOPICS for command in commands]
WORDS = sorted({word for command in COMMANDS for word in (command.word, *command.short)})
CHANGING = {"set", "scale", "clip", "zero", "mute", "unmute"}
FILES = {"source", "save"}  # what they do is not for a test that types anything
PLACES = ["addmm", "relu", "#0", "#3", "0", "1", "2", "7", "0/addmm:1", "0.weight", "mean", "99"]
# fmt: off
CONDITIONS = [
    "nan", "rms > 0.1", "rms>1e-3", "ratio > 1", "zero, undefined", "hits < 2", "op ~ 'a*'",
    "1 / (rms - rms) > 1", "in.rms > out.0.rms", "0.weight.grad.rms > 0", "rms >> 1", "rsm > 1",
]
OPERANDS = [
    *PLACES, *CONDITIONS, "", "if", *[f"if {each}" for each in CONDITIONS], "leaves", "calls",
    "node", "pass", "history", "all", "rms", "in", "out.1", "saved.self", "0.weight.grad[0]", "$",
    "3 2", "end", "--pending tanh", "addmm if rms > 0", "relu rms {rms} {nonsense", "expressions",
    "split", "pair", "mul", "x.grad", "y.grad",
]
INPUTS = ["", "in", "in.0", "in.1", "in.3", f"in.{10**30}", "out.1", "out.9", "hook", "hook.5"]
NUMBERS = [
    "2", "0", "-1", "1e999", "nan", "-inf", "10**400", "1/0", "(-1)**0.5", "rms", "shape[9]",
    "in[0,0,0].rms", "9" * 5000, "\u00b2", "\u0663", "$", "",
]
# fmt: on


class Pair(torch.autograd.Function):
    """Two results, and a backward that runs a pass of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin(), x * 2

    @staticmethod
    def backward(ctx: Any, one: Any, two: Any) -> Any:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_(True)
            (inner.sin() * one).sum().backward()
        return inner.grad + two * 2


def layers() -> tuple[list[Any], Any]:
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    hidden = net(torch.ones(5, 3))
    return list(net.parameters()), (hidden * hidden + hidden).mean()


def pieces() -> tuple[list[Any], Any]:
    """Nodes with several outputs, of which some are not used, and with several inputs."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = torch.tensor([0.5], requires_grad=True)
    first, _, third, last = (x * 1.5).split(1)
    one, two = Pair.apply(first * y)
    two.register_hook(lambda g: g * 0.5)
    return [x, y], sum((one * two * third).unbind(0)) + torch.cat([last, y]).prod()


def gradients(leaves: list[Any]) -> list[Any]:
    return [None if leaf.grad is None else leaf.grad.numpy().copy() for leaf in leaves]


def plain(program: Program) -> list[Any]:
    leaves, loss = program()
    loss.backward()
    return gradients(leaves)


Program = Callable[[], tuple[list[Any], Any]]
EXPECTED = {program: plain(program) for program in (layers, pieces)}
any_program = st.sampled_from([layers, pieces])
words = st.sampled_from([word for word in WORDS if word not in FILES])
typed = st.tuples(words, st.sampled_from(OPERANDS)).map(" ".join)
addressed = st.tuples(
    st.sampled_from([*sorted(CHANGING), "until", "jump", "enter", "ignore", "next"]),
    st.sampled_from(["", *PLACES, *(f"#{turn}" for turn in range(1, 15))]),
    st.sampled_from(INPUTS),
    st.sampled_from(NUMBERS),
).map(" ".join)
garbage = st.text(string.printable + "é−∂\x00\u2028", max_size=20).filter(
    lambda line: not line.strip().startswith(tuple("s"))  # may begin source or save
)


@settings(deadline=None, max_examples=60)
@given(
    any_program,
    st.lists(typed | addressed | garbage | st.just("continue") | st.just(""), max_size=25),
)
@example(layers, ["catch rms > 0", "commands", "continue", "end", "continue", "rc", "continue"])
@example(layers, ["break addmm", "commands", "reverse-continue", "end", "continue", "continue"])
@example(layers, ["commands", "end", "end", "commands $", ""])
@example(layers, ["check", "lint", "info frames", "up", "continue", "down", "where", "list"])
@example(pieces, [f"scale #{turn} in.3 2" for turn in range(1, 15)])
@example(pieces, ["next 4", *(f"{word} in.9 1" for word in sorted(CHANGING))])
@example(pieces, [f"{word} {10**30}" for word in ("over", "finish", "reverse-finish", "next")])
@example(pieces, [f"enable {'9' * 5000}", f"jump #{'9' * 5000}", f"scale in.{'9' * 5000} 2"])
def test_no_line_raises_and_undone_edits_leave_no_trace(program: Program, lines: list[str]) -> None:
    leaves, loss = program()
    session = Session(loss)
    reply = Reply("")
    for line in lines:
        reply = session.reply(line)
        assert reply.text or not reply.error
        assert DEFECT not in reply.text
    while reply.open_block:
        reply = session.reply("end")
    while session.leave():
        pass
    while session.edit.records:
        assert not session.reply("undo").error
    session.reply("delete")
    session.finish()
    for found, expected in zip(gradients(leaves), EXPECTED[program], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_mistake_of_ours_is_an_error_message(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(layers()[1])

    def wrong(count: int) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(session, "next", wrong)
    reply = session.reply("next")
    assert reply.error
    assert reply.text == f"{DEFECT}: 'next' raised IndexError: list index out of range"


@settings(deadline=None, max_examples=60)
@given(typed | garbage, st.integers(0, 40))
def test_completion_answers_to_anything(line: str, column: int) -> None:
    with trace():
        _, loss = layers()
    session = Session(loss)
    for offer in complete(session, line, column):
        part = line[:column].split()[-1:] if line[:column].rstrip() == line[:column] else []
        assert offer.startswith("".join(part))
    assert session.position == 0
