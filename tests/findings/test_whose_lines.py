"""A line of a library is not the user's mistake: calls and findings go by the user's own lines."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep_tui.cli import main
from tests.check_corpus.running import as_before

LIBRARY = """\
import LIBRARY as torch

def fit(net, optimizer, x, y, encode=lambda x: x):
    for step in range(3):
        optimizer.zero_grad()
        loss(net(encode(x)), y).backward()
        optimizer.step()

def loss(output, y):
    return (output - y).pow(2).mean()

def scored(output, y):
    return loss(output, y) + (output.argmax(1) == y.argmax(1)).float().mean() + 1

def log_loss(output, y):
    return (output - output.max()).log().mean()

def fit_on_score(net, optimizer, x, y):
    for step in range(3):
        optimizer.zero_grad()
        scored(net(x), y).backward()
        optimizer.step()

def frozen(module):
    def run(x):
        with torch.no_grad():
            return module(x)
    return run
"""
PROGRAM = """\
import LIBRARY as torch
from own_trainer import fit, fit_on_score, frozen, log_loss
torch.manual_seed(0)
net, encoder = torch.nn.Linear(3, 2), torch.nn.Linear(3, 3)
x = torch.randn(8, 3)
y = x[:, :2] * 2
optimizer = torch.optim.SGD([*net.parameters()], lr=0.01)
"""
Said = Callable[..., str]


@pytest.fixture
def said(
    torch: object,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Said:
    name = torch.__name__  # type: ignore[attr-defined]
    folder = tmp_path / "vendor"  # as of pip install --target
    (folder / "own_trainer-1.0.dist-info").mkdir(parents=True)
    (folder / "own_trainer.py").write_text(LIBRARY.replace("LIBRARY", name), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "own_trainer", raising=False)

    def check(rest: str, *options: str, code: int, program: str = PROGRAM) -> str:
        Path("train.py").write_text(program.replace("LIBRARY", name) + rest, "utf-8")
        linecache.clearcache()
        with as_before(name):
            assert main(["check", *options, "train.py"]) == code
        return capfd.readouterr().out

    return check


def test_calls_are_told_apart_by_the_users_lines(said: Said) -> None:
    report = said("fit(net, optimizer, x, y)\nfit(net, optimizer, x, -y)\n", code=0)
    assert "looked at: 6 calls on 2 lines" in report


def test_what_a_library_writes_is_a_note(said: Said) -> None:
    report = said("fit_on_score(net, optimizer, x, y)\n", "--all", code=0)
    assert "info [constant-term]  vendor/own_trainer.py:13" in report


def test_a_leaf_of_the_program_that_a_library_keeps_from_learning_is_told(said: Said) -> None:
    rest = "fit(net, optimizer, x, y, encode=frozen(encoder))\n"
    assert said(rest, code=0)
    sick = PROGRAM.replace("[*net.parameters()]", "[*net.parameters(), *encoder.parameters()]")
    report = said(rest, code=5, program=sick)
    assert "warning [cut]" in report
    assert "encoder.weight" in report


def test_a_nan_that_a_library_computes_is_told(said: Said) -> None:
    report = said("log_loss(net(x), y).backward()\n", code=5)
    assert "[not-finite]" in report
    assert "own_trainer.py:16" in report
    assert "  in backward() call 1, train.py:8\n" in report
    assert "in backward() call 1\n" in said("(net(x) - 9).log().mean().backward()\n", code=5)


def test_a_program_that_was_installed_is_looked_at_as_any_other(
    said: Said, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said("", code=3)
    program = Path("train.py").read_text("utf-8").replace("from own_trainer import", "#")
    library = (tmp_path / "vendor" / "own_trainer.py").read_text("utf-8")
    rest = "fit_on_score(net, optimizer, x, y)\n"
    whole = tmp_path / "vendor" / "own_program.py"
    whole.write_text(f"{library}{program}{rest}", "utf-8")
    assert main(["check", "-m", "own_program"]) == 5
    assert "warning [constant-term]" in capfd.readouterr().out
