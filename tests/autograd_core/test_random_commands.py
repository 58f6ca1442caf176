"""Whatever is typed, a session answers, and the gradients in the end are those of a plain run."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core import nn
from autograd_core.dag import trace
from autograd_core.debug import Session
from autograd_core.debug.commands import complete
from autograd_core.debug.commands.helping import TOPICS

COMMANDS = [command for _, commands in TOPICS for command in commands]
WORDS = sorted({word for command in COMMANDS for word in (command.word, *command.short)})
CHANGING = {"set", "scale", "clip", "zero", "mute", "unmute"}
FILES = {"source", "save"}  # what they do is not for a test that types anything
PLACES = ["addmm", "relu", "#0", "#3", "0", "1", "2", "7", "0/addmm:1", "0.weight", "mean", "99"]
CONDITIONS = [
    "nan", "rms > 0.1", "rms>1e-3", "ratio > 1", "zero, undefined", "hits < 2", "op ~ 'a*'",
    "1 / (rms - rms) > 1", "in.rms > out.0.rms", "0.weight.grad.rms > 0", "rms >> 1", "rsm > 1",
]  # fmt: skip
OPERANDS = [
    *PLACES, *CONDITIONS, "", "if", *[f"if {each}" for each in CONDITIONS], "leaves", "ledger",
    "node", "plan", "history", "all", "rms", "in", "out.1", "saved.a", "0.weight.grad[0]", "$",
    "3 2", "end", "--pending tanh", "addmm if rms > 0", "relu rms {rms} {nonsense", "expressions",
]  # fmt: skip


def program() -> tuple[Any, Any]:
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    hidden = net(torch.ones(5, 3))
    return net, (hidden * hidden + hidden).mean()


def gradients(net: Any) -> list[Any]:
    return [None if p.grad is None else p.grad.numpy().copy() for p in net.parameters()]


def plain() -> list[Any]:
    net, loss = program()
    loss.backward()
    return gradients(net)


EXPECTED = plain()
typed = st.tuples(
    st.sampled_from([word for word in WORDS if word not in FILES]), st.sampled_from(OPERANDS)
).map(" ".join)
garbage = st.text(string.printable + "é−∂\x00\u2028", max_size=20).filter(
    lambda line: not line.strip().startswith(tuple("s"))  # may begin source or save
)


@settings(deadline=None, max_examples=60)
@given(st.lists(typed | garbage | st.just("continue") | st.just(""), max_size=25))
@example(["catch rms > 0", "commands", "continue", "end", "continue", "rc", "continue"])
@example(["break addmm", "commands", "reverse-continue", "end", "continue", "continue"])
@example(["commands", "end", "end", "commands $", ""])
@example(["check all", "lint", "info frames", "up", "up", "continue", "down", "where", "list"])
def test_no_line_raises_and_undone_edits_leave_no_trace(lines: list[str]) -> None:
    net, loss = program()
    session = Session(loss)
    for line in lines:
        reply = session.do(line)
        assert isinstance(reply.text, str)
        assert reply.text or not reply.error
    while session.console.open_block:
        session.do("end")
    while session.edit.records:
        assert not session.do("undo").error
    session.do("delete")
    session.finish()
    for found, expected in zip(gradients(net), EXPECTED, strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=30)
@given(st.lists(typed.filter(lambda line: line.split()[0] not in {*CHANGING, "undo"}), max_size=15))
def test_looking_stopping_and_moving_change_no_gradient(lines: list[str]) -> None:
    net, loss = program()
    session = Session(loss)
    for line in lines:
        session.do(line)
    assert not session.edit.records
    session.finish()
    for found, expected in zip(gradients(net), EXPECTED, strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=60)
@given(typed | garbage, st.integers(0, 40))
def test_completion_answers_to_anything(line: str, column: int) -> None:
    with trace():
        _, loss = program()
    session = Session(loss)
    for offer in complete(session, line, column):
        part = line[:column].split()[-1:] if line[:column].rstrip() == line[:column] else []
        assert offer.startswith("".join(part))
    assert session.position == 0
