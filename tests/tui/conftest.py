"""What tests of commands share."""

from __future__ import annotations

import asyncio
import inspect
import linecache
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from gradstep_tui.cli import main


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests of the screen, which are coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


class Ended(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """All that it printed, in one line."""
        return " ".join((self.out + " " + self.err).split())


Gradstep = Callable[..., Ended]


@pytest.fixture
def gradstep(
    torch: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Gradstep:
    """Run ``gradstep ARGUMENTS`` in a folder where ``script`` is train.py; it imports LIBRARY,
    which is either one."""
    monkeypatch.chdir(tmp_path)

    def run(script: str, *arguments: str) -> Ended:
        Path("train.py").write_text(dedent(script).replace("LIBRARY", torch.__name__), "utf-8")
        linecache.clearcache()  # of the script that stood there before
        capfd.readouterr()
        code = main([*arguments])
        torch.set_grad_enabled(True)  # a script may switch it off
        out, err = capfd.readouterr()
        assert "tui/" not in out + err
        return Ended(code, out, err)

    return run
