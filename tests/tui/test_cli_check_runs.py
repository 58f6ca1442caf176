"""``gradstep check`` on whole runs: what only all calls together show, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep.findings.explanations import MEANINGS
from gradstep.findings.linting import CODES
from gradstep_tui.cli import main

Check = Callable[..., tuple[int, str]]

START = """\
import LIBRARY as torch
from LIBRARY import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(16, 4)
y = x[:, :1]
"""
LOOP = """\
for step in range(12):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HEALTHY = START + LOOP
PROGRAMS = {
    "stale-grad": (HEALTHY.replace("    opt.zero_grad()\n", ""), "train.py:10"),
    "unchanged": (
        HEALTHY.replace("    opt.zero_grad()\n", "").replace(
            "ward()\n", "ward()\n    opt.zero_grad()\n"
        ),
        "zero_grad() in line 11 clears them before step()",
    ),
    "eval-mode": (f"{HEALTHY}    if step == 3: net.eval()\n", "train.py:13"),
    "small-steps": (HEALTHY.replace("lr=0.05", "lr=2e-7"), "train.py:5"),
    "large-steps": (HEALTHY.replace("lr=0.05", "lr=20.0"), "train.py:5"),
    "zero-grad": (HEALTHY.replace("(net(x)", "(net(x).round()"), "the derivative of round is 0"),
    "unreached": (
        START.replace(
            "x =", "extra = nn.Linear(2, 2)\nlate = torch.optim.SGD(extra.parameters(), lr=1)\nx ="
        )
        + LOOP,
        "late is to train them",
    ),
    "untrained": (
        START.replace("x =", "net[3] = nn.Linear(6, 1)\nx =") + LOOP,
        "opt lacks them",
    ),
    "vanishing": (
        HEALTHY.replace(
            "nn.Tanh(), ",
            "*[each for _ in range(9) for each in (nn.Sigmoid(), nn.Linear(6, 6))], ",
        ),
        "nodes sigmoid",
    ),
    "misspelt": (
        HEALTHY.replace("x =", "for each in net.parameters(): each.require_grad = True\nx ="),
        "requires_grad is meant",
    ),
    "graph-grows": (
        HEALTHY.replace("for step", "state = torch.zeros(16, 1)\nfor step")
        .replace("(net(x) - y)", "state")
        .replace("    loss =", "    state = 0.5 * state + net(x) - y\n    loss =")
        .replace("backward()", "backward(retain_graph=True)")
        .replace("    opt.step()\n", ""),
        "through state",
    ),
    "softmax-dim": (
        HEALTHY.replace("nn.Linear(6, 1)", "nn.Linear(6, 2), nn.Softmax(dim=0)"),
        "16 samples",
    ),
    "exploding": (HEALTHY.replace("(net(x) - y)", "(1e9 * net(x) - y)"), "gradients explode"),
}  # fmt: skip


@pytest.fixture(params=["autograd_core", pytest.param("torch", marks=pytest.mark.torch)])
def check(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Check:
    """Run ``gradstep check`` on a script, with either library: the exit code and the text."""
    if request.param == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)

    def run(script: str, *options: str) -> tuple[int, str]:
        Path("train.py").write_text(script.replace("LIBRARY", request.param))
        code = main(["check", *options, "train.py"])
        return code, capfd.readouterr().out

    return run


@pytest.mark.parametrize("code", PROGRAMS)
def test_what_a_run_shows_is_told_with_its_line(check: Check, code: str) -> None:
    script, told = PROGRAMS[code]
    found, printed = check(script)
    assert found == 5
    assert f"warning [{code}]" in printed
    assert told in printed


def test_a_healthy_run_is_not_called_right_but_told_what_was_looked_at(check: Check) -> None:
    found, printed = check(HEALTHY)
    assert found == 0
    assert printed == (
        "train.py: nothing suspicious was found\n\n"
        "looked at: 12 calls on 1 line, each of them\n"
        "not looked at: derivatives of built-in ops (--derivatives)\n"
        "next: gradstep debug train.py\n"
    )


def test_accumulated_gradients_that_are_cleared_after_each_step_are_right(check: Check) -> None:
    script = HEALTHY.replace("    opt.zero_grad()\n", "").replace(
        "    opt.step()\n", "    if step % 3 == 2:\n        opt.step(); opt.zero_grad()\n"
    )
    assert check(script)[0] == 0


def test_a_run_ends_after_the_calls_or_the_time_that_were_asked_for(check: Check) -> None:
    _, printed = check(HEALTHY, "--calls", "3")
    assert "looked at: 3 calls" in printed
    assert "not looked at: what comes after --calls 3" in printed
    _, printed = check(HEALTHY, "--for", "0.000001s")
    assert "looked at: 1 call" in printed


def test_findings_that_are_ignored_do_not_count(check: Check) -> None:
    assert check(PROGRAMS["small-steps"][0], "--ignore", "small-steps,constant-loss")[0] == 0


def test_each_finding_is_explained() -> None:
    assert set(MEANINGS) == set(CODES)


def test_a_finding_is_explained_by_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "stale-grad"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("[stale-grad] a gradient is used in two steps\n")
    assert "    opt.zero_grad()\n    loss.backward()\n" in said
    assert main(["explain"]) == 0
    said = capsys.readouterr().out
    assert all(f"[{code}]" in said for code in CODES)
    assert main(["explain", "stale-grads"]) == 2
    assert "stale-grad" in capsys.readouterr().err
