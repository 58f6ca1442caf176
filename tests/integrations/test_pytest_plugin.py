"""The mark ``gradstep`` and the fixture ``gradstep_watch``, in runs of pytest."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.forking import run_python

ROOT = Path(__file__).parents[2]
PLUGIN = "gradstep.integrations.pytest_plugin"
TRAIN = """\
import asyncio, unittest
import pytest
import LIBRARY as torch

def train(sick):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(6, 3)
        loss = ((net(x) - x.sum(1, keepdim=not sick)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [parameter.tolist() for parameter in net.parameters()]
"""
ASYNC = """\
import asyncio, contextvars, pytest
made_before = contextvars.copy_context()

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if asyncio.iscoroutinefunction(pyfuncitem.obj):
        made_before.run(asyncio.run, pyfuncitem.obj())
        return True
"""
Ran = Callable[..., CompletedProcess[str]]


@pytest.fixture
def ran(torch: Any, tmp_path: Path) -> Ran:
    """Runs tests that begin with TRAIN."""

    def run(tests: str, *options: str, code: int = 1) -> CompletedProcess[str]:
        text = TRAIN.replace("LIBRARY", torch.__name__) + tests
        (tmp_path / "test_train.py").write_text(text, "utf-8")
        # it cannot be asked for twice
        plugin = [] if entry_points(group="pytest11", name="gradstep") else ["-p", PLUGIN]
        words = ["-m", "pytest", "-q", "--strict-markers", *plugin, *options, "test_train.py"]
        wide = {"COLUMNS": "200"}
        done = run_python(words, tmp_path, wide, with_torch=torch.__name__ == "torch")
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def summary(output: str) -> dict[str, str]:
    """What the last lines of pytest say of each test that failed."""
    lines = [line for line in output.splitlines() if line.startswith("FAILED ")]
    pairs = [line.removeprefix("FAILED test_train.py::").split(" - ", 1) for line in lines]
    return dict(pairs)


def test_a_test_fails_where_its_training_is_wrong(ran: Ran) -> None:
    done = ran(
        """
@pytest.mark.gradstep
@pytest.mark.parametrize("sick", [False, True])
def test_mark(sick):
    train(sick)

def test_fixture(gradstep_watch):
    train(True)
    assert [each.code for each in gradstep_watch.findings if each.is_bad] == ["broadcast"]

def test_neither():
    train(True)

@pytest.mark.gradstep
class TestCase(unittest.TestCase):
    def test_method(self):
        train(True)
""",
        "--color=yes",
    )
    plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    failed = summary(plain)
    assert [*failed] == ["test_mark[True]", "test_fixture", "TestCase::test_method"]
    assert all(why.startswith("sub:1 broadcasts [6, 1] with [6]") for why in failed.values())
    first = "test_mark[True]: 1 warning\n\nwarning [broadcast]  sub:1 test_train.py:11\n"
    assert first in plain
    assert "\x1b[33mwarning [broadcast]" in done.stdout
    assert "gradstep/" not in done.stdout
    assert "Traceback" not in done.stdout


def test_a_test_that_fails_by_itself_shows_what_was_found_beside(ran: Ran) -> None:
    done = ran("""
@pytest.mark.gradstep
def test_own():
    train(True)
    assert 1 == 2

@pytest.mark.gradstep
def test_raises():
    train(False)
    torch.ones(2) @ torch.ones(3)

@pytest.mark.gradstep
def test_skipped():
    train(True)
    pytest.skip("not here")

@pytest.mark.gradstep
@pytest.mark.xfail(strict=True)
def test_expected():
    train(True)
""")
    failed = summary(done.stdout)
    assert [*failed] == ["test_own", "test_raises"]
    assert failed["test_own"] == "assert 1 == 2"
    own, findings = done.stdout.split("- gradstep -")
    assert "E       assert 1 == 2" in own
    assert "warning [broadcast]" in findings
    assert "gradstep/" not in done.stdout
    assert "1 skipped, 1 xfailed" in done.stdout


def test_a_mark_has_options(ran: Ran) -> None:
    done = ran("""
@pytest.mark.gradstep(ignore=["broadcast"])
def test_ignored(): train(True)

@pytest.mark.gradstep(severity="error")
def test_severity(): train(True)

@pytest.mark.gradstep(severity="info")
def test_notes():
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()

@pytest.mark.gradstep(severty="error")
def test_option(): pass

@pytest.mark.gradstep("error")
def test_position(): pass

@pytest.mark.gradstep(severity="errors")
def test_wrong_severity(): pass

@pytest.mark.gradstep(ignore=["brodcast"])
def test_code(): pass

@pytest.mark.gradstep(ignore="broadcast")
def test_text(): pass
""")
    failed = summary(done.stdout)
    of = "Failed: the mark gradstep of "
    assert failed.pop("test_notes").endswith("[shared]")
    assert failed == {
        "test_option": f"{of}test_option: it takes severity and ignore, not severty",
        "test_position": f"{of}test_position: it takes severity and ignore, not 'error'",
        "test_wrong_severity": f"{of}test_wrong_severity: severity is one of error, warning, info, "
        "not 'errors'",
        "test_code": f"{of}test_code: there is no finding 'brodcast'; did you mean broadcast?",
        "test_text": f"{of}test_text: pass a list of codes: ['broadcast']",
    }


def test_coroutines_are_watched_whatever_context_runs_them(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ASYNC, "utf-8")
    done = ran("""
@pytest.mark.gradstep
async def test_coroutine():
    await asyncio.sleep(0)
    train(True)

@pytest.mark.gradstep
class TestCase(unittest.IsolatedAsyncioTestCase):
    async def test_method(self):
        await asyncio.sleep(0)
        train(True)
""")
    assert [*summary(done.stdout)] == ["test_coroutine", "TestCase::test_method"]


def test_a_test_that_trains_nothing_is_told(ran: Ran) -> None:
    done = ran("@pytest.mark.gradstep\ndef test_nothing(): pass\n", code=0)
    assert "PytestWarning: test_nothing: gradstep saw no backward() in it" in done.stdout


def test_a_test_computes_what_it_would(ran: Ran) -> None:
    done = ran(
        """
@pytest.mark.gradstep(severity="error")
def test_watched(): assert train(True) == plain

plain = train(True)
""",
        code=0,
    )
    assert "1 passed" in done.stdout


def test_workers_of_xdist_tell_the_same(ran: Ran) -> None:
    pytest.importorskip("xdist")
    tests = "@pytest.mark.gradstep\ndef test_mark(): train(True)\n"
    alone, beside = ran(tests), ran(tests, "-n", "1")
    assert summary(alone.stdout) == summary(beside.stdout)
    begin = "warning [broadcast]"
    shown = [each.stdout.partition(begin)[2].partition("===")[0] for each in (alone, beside)]
    assert shown[0] == shown[1] != ""


def test_nothing_is_imported_until_it_is_used() -> None:
    program = (
        f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        "gradstep", "gradstep.contract", "gradstep.contract.registry", "gradstep.integrations",
        PLUGIN,
    ]  # fmt: skip


def test_pytest_reads_few_files_to_find_it() -> None:
    """At its start it reads what belongs to each distribution that has an entry point for it."""
    whole, own = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
        for folder in (".", "pytest-gradstep")
    )
    assert "pytest11" not in whole["project"].get("entry-points", {})
    assert own["project"]["entry-points"]["pytest11"] == {"gradstep": PLUGIN}
    assert own["tool"]["hatch"]["build"]["targets"]["wheel"] == {"bypass-selection": True}
    assert own["project"]["version"] == whole["project"]["version"]
