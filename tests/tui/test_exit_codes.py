"""The exit code of every command, for every way in which a script may end after its calls."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.both import on_the_core
from tests.forking import run_gradstep
from tests.tui.conftest import Ended, Gradstep

Run = Callable[..., Ended]

SCRIPT = """\
import sys
import LIBRARY as torch
x = torch.tensor({start}, requires_grad=True)
for step in range(3):
    y = (x * 3).sqrt()
    if step == 2 and sys.argv[1] in ("fails", "fails-and-goes-on"):
        y.register_hook(lambda g: g[5])
    try:
        (y * y).backward()
    except IndexError:
        if sys.argv[1] == "fails":
            raise
    {clear}
match sys.argv[1]:
    case "exits":
        sys.exit(85)
    case "complains":
        sys.exit("no more data")
    case "raises":
        raise ValueError("no more data")
    case "interrupted":
        raise KeyboardInterrupt
"""
OWN_CODES = {
    "ends": 0,
    "exits": 85,
    "complains": 1,
    "raises": 1,
    "interrupted": 130,
    "fails": 1,
    "fails-and-goes-on": 0,
}
"""What ``python`` makes of each; a shell says 130 where it dies by the signal."""
COMMANDS = {
    "render": ["--call", "last"],
    "film": ["--call", "last"],
    "debug": ["--batch", "--ex", "continue"],
    "check": [],
    "why": ["--call", "last"],
}
FAIL_ON = ["debug", "--fail-on", "nan,inf"]
LEAF = {"why": ["x"]}


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Run a command on the script, which ends as is said."""

    def run(command: list[str], ending: str, *, sick: bool = False) -> Ended:
        clear = "pass" if sick else "x.grad = None; x.data += 0.5"
        script = SCRIPT.format(start="0.0" if sick else "2.0", clear=clear)
        return gradstep(script, *command, "train.py", *LEAF.get(command[0], []), ending)

    return run


@pytest.mark.sampled(16)
@pytest.mark.parametrize("ending", OWN_CODES)
@pytest.mark.parametrize("command", [*([name, *each] for name, each in COMMANDS.items()), FAIL_ON])
def test_the_scripts_own_code_is_that_of_the_command(run, command, ending) -> None:
    code, _, err = run(command, ending)
    assert code == OWN_CODES[ending]
    said = {"exits": "exit code 85", "complains": "\nno more data", "raises": "ValueError: no more"}
    assert said.get(ending, "") in f"\n{err}"
    assert ("Traceback" in err) == (ending in ("raises", "fails"))


@pytest.mark.parametrize("ending", ["fails", "fails-and-goes-on"])
@pytest.mark.parametrize("lines", ["quit 3, next, quit", "quit, next, quit, next, quit"])
def test_what_a_hook_raises_behind_a_stop_is_the_scripts(run, lines: str, ending: str) -> None:
    commands = [word for line in lines.split(", ") for word in ("--ex", line)]
    code, _, err = run(["debug", "--batch", *commands], ending)
    assert (code, "defect" in err) == (OWN_CODES[ending], False), err


@pytest.mark.sampled(10)
@pytest.mark.parametrize("ending", OWN_CODES)
@pytest.mark.parametrize("name", ["check", "why", "fail-on"])
def test_what_was_found_is_more_than_the_scripts_code(run, name: str, ending: str) -> None:
    command = FAIL_ON if name == "fail-on" else [name, *COMMANDS[name]]
    code, out, err = run(command, ending, sick=True)
    if name == "why" and ending.startswith("fails"):  # the call that it is asked about
        goes_on = ending == "fails-and-goes-on"
        assert (code, "x.grad is not there yet" in out) == (OWN_CODES[ending], goes_on)
        return
    assert code == 5, err
    assert out if name != "fail-on" else "is nan" in err


@pytest.mark.parametrize("ending", OWN_CODES)
def test_the_last_call_is_drawn_however_the_script_ends(run, ending: str) -> None:
    code, _, err = run(["render", "--call", "last", "-o", "last.txt"], ending)
    assert code == OWN_CODES[ending]
    assert "gradstep: wrote last.txt" in err
    assert "SqrtBackward0" in Path("last.txt").read_text()
    raised = "gradstep: call 3 raised IndexError; this is call 2\n"
    assert (raised in err) == ending.startswith("fails")


@pytest.mark.parametrize("command", ["render", "film"])
def test_a_call_that_raised_is_not_drawn(run, command: str) -> None:
    code, _, err = run([command, "--call", "3"], "fails-and-goes-on")
    assert (code, err) == (
        3,
        "gradstep: call 3 raised IndexError, so there is nothing to draw\n",
    )
    code, _, err = run([command, "--call", "3"], "fails")
    assert code == 1
    assert err.startswith("Traceback")


HOOKS = {
    "prints": "print('seen:', kind.__name__, error)",
    "logs": "print(*traceback.format_exception(kind, error, place))",
    "defers": "sys.__excepthook__(kind, error, place)",
    "raises": "raise KeyError('hook')",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("command", ["render", "debug"])
def test_the_programs_own_hook_tells_of_what_it_raises(
    command: str, hook: str, tmp_path: Path
) -> None:
    own = f"import sys, traceback\ndef hook(kind, error, place):\n    {HOOKS[hook]}\n"
    ends = f"{own}sys.excepthook = hook\n{SCRIPT.format(start='2.0', clear='x.grad = None')}"
    (tmp_path / "script.py").write_text(ends.replace("LIBRARY", "autograd_core"))
    plain = subprocess.run(  # by Python itself, which calls the hook
        [sys.executable, "script.py", "raises"], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    words = [command, *COMMANDS[command], "script.py", *LEAF.get(command, []), "raises"]
    run = run_gradstep(words, tmp_path)
    assert run.returncode == plain.returncode == 1
    assert all(line in run.stdout for line in plain.stdout.splitlines())
    said = [line for line in run.stderr.splitlines() if not line.startswith("gradstep:")]
    assert [line for line in said if line.strip()] == [
        line for line in plain.stderr.splitlines() if line.strip()
    ]


@on_the_core
def test_a_hook_of_the_program_goes_with_it(gradstep: Gradstep) -> None:
    hook = sys.excepthook
    script = "import sys\nsys.excepthook = print\nraise KeyError('mine')\n"
    code, out, _ = gradstep(script, "render", "train.py")
    assert code == 1
    assert "<class 'KeyError'> 'mine'" in out
    assert sys.excepthook is hook


TIMER = """\
import signal
import LIBRARY as torch

class Late(Exception):
    pass

def late(number, frame):
    raise Late

signal.signal(signal.SIGALRM, late)
x = torch.tensor(2.0, requires_grad=True)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.5, 5.0)  # one that meets a finalizer is lost
    while True:
        (x * x).backward()
        x.grad = None
except Late:
    print("late")
signal.alarm(3600)
"""


@on_the_core
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
# garbage of other tests may have finalizers; what is raised inside one, Python drops
@pytest.mark.filterwarnings(r"ignore:(?s).*\nLate\n:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("command", ["debug --fail-on nan", "check", "render -o x.txt --call last"])
def test_timers_and_what_their_handlers_raise_are_the_programs(
    command: str, gradstep: Gradstep
) -> None:
    before = signal.getsignal(signal.SIGALRM)
    try:
        code, out, err = gradstep(TIMER, *command.split(), "train.py")
        assert code in (0, 5)  # the loss is always the same
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert "late\n" in out
    assert "not shown" not in err
