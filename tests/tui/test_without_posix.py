"""Where a system has no POSIX terminal and no locks, as Windows: what needs them is left out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradstep.recording import claiming
from gradstep_tui import guardian


def test_without_termios_a_screen_has_no_parent_that_restores_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "termios", None)
    monkeypatch.setattr("os.isatty", lambda _: True)
    monkeypatch.setattr("os.fork", lambda: pytest.fail("it forked"))
    assert guardian.terminal_state() is None
    guardian.go_on_in_child()
    assert not guardian.is_guarded()


def test_without_locks_a_recording_is_claimed_by_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with open(tmp_path / "run.gsr", "wb") as one, open(tmp_path / "run.gsr", "wb") as other:
        assert claiming._lock(one)
        assert claiming._lock(other)
