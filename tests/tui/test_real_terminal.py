"""The debugger in a real terminal: its screen inside ``backward()``, driven through tmux."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forking import run_gradstep
from tests.waiting import LIMIT, let_pass, until

ROOT = Path(__file__).parents[2]
SHARED_WEIGHT = str(ROOT / "samples" / "shared_weight.py")

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """One tmux window, on a server of its own: type, and wait for what the screen shows."""

    def __init__(self, socket: Path, folder: Path, size: tuple[int, int], command: str) -> None:
        self._socket = str(socket)
        width, height = map(str, size)
        shell = command if " exec " in command else f"{command}; echo exit code $?; sleep 3600"
        self._tmux("new-session", "-d", "-x", width, "-y", height, "-c", str(folder), shell)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-f", os.devnull, "-S", self._socket, *arguments]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
        # a size that a test runner passes on would hide that of the terminal
        for name in ("COLUMNS", "LINES"):
            env.pop(name, None)
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type all of ``text`` at once, as a paste or a slow line delivers it."""
        self._tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def tty(self) -> str:
        return self._tmux("display", "-p", "#{pane_tty}").strip()

    def state(self) -> tuple[str, str]:
        """What programs may leave behind: flags of the screen and the mouse, and the settings."""
        flags = self._tmux("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}")
        settings = subprocess.run(
            ["stty", "-a", "-F", self.tty], capture_output=True, text=True, check=True
        )
        return flags.strip(), settings.stdout

    def wait_for(self, *patterns: str) -> str:
        """The screen, as soon as it shows all of the patterns."""

        def shown() -> str:
            text = self.text()
            return text if all(re.search(pattern, text) for pattern in patterns) else ""

        return until(shown, lambda: f"{patterns} did not come up:\n{self.text()}")

    def hang_up(self) -> None:
        """Close the window; the server stays."""
        self._tmux("set-option", "-g", "exit-empty", "off")
        self._tmux("kill-session")

    def close(self) -> None:
        self._tmux("kill-server")


Open = Callable[..., Terminal]


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []
    # the path of a socket must be short, which that of tmp_path need not be
    with tempfile.TemporaryDirectory(prefix="tmux") as sockets:

        def start(command: str, size: tuple[int, int] = (80, 24)) -> Terminal:
            socket = Path(sockets) / str(len(opened))
            opened.append(Terminal(socket, tmp_path, size, command))
            return opened[-1]

        yield start
        for terminal in opened:
            terminal.close()


def until_there(name: str, meanwhile: str = "pass") -> str:
    """Lines of a program that wait for a file of that name."""
    return (
        f"import os, time\nwhile not os.path.exists({name!r}):\n"
        f"    {meanwhile}\n    time.sleep(0.005)\n"
    )


def python(*arguments: str) -> str:
    return shlex.join([sys.executable, *arguments])


# On a busy machine a step may last: a key that came meanwhile would be refused, and a line beside
# what the program prints would tell how long.
PATIENT = f"""\
import sys
from gradstep_tui import waiting
from gradstep_tui.app.worker import SessionWorker
SessionWorker.grace = {LIMIT}
waiting.SILENCE = {LIMIT}
from gradstep.__main__ import main
sys.exit(main())
"""


def gradstep(*arguments: str) -> str:
    return python("-c", PATIENT, *arguments)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_a_gradient_accumulates_back_and_forth_and_is_that_of_a_plain_run(
    open_terminal: Open, size: tuple[int, int]
) -> None:
    terminal = open_terminal(gradstep("debug", SHARED_WEIGHT), size)
    first = terminal.wait_for(r"0/9 run", r"PAUSED", r"▶ ◉ +#1 add:4", r"q go on")
    assert max(map(len, first.splitlines())) <= size[0]
    wide = size[0] > 100

    def leaf(pending: int, boxes: str) -> str:
        """The line of the leaves, or their pane, where its contributions have come so far."""
        return (
            rf"weight +scalar .*{boxes} .* pending {pending}"
            if wide
            else rf"weight None \+ {pending} {boxes}"
        )

    terminal.press("n", "n")
    terminal.wait_for(r"2/9 run", leaf(5, "■□□□"), r"1/4" if wide else "")
    terminal.press("n", "n")
    terminal.wait_for(r"4/9 run", leaf(11, "■■□□"))
    terminal.press("N", "N")
    terminal.wait_for(r"2/9 run", r"PAST", leaf(5, "■□□□"))
    terminal.press("#", "6", "n")
    terminal.wait_for(r"8/9 run", leaf(23, "■■■■"))
    terminal.press("c")
    terminal.wait_for(r"FINISHED", r"= sum +23", r"q continue the script")
    terminal.press("q")
    last = terminal.wait_for(r"last state = 12\n.*weight = 23\nexit code 0")
    assert "Traceback" not in last


def test_a_terminal_may_change_its_size_and_be_too_small(open_terminal: Open) -> None:
    terminal = open_terminal(gradstep("debug", SHARED_WEIGHT), (40, 10))
    terminal.wait_for(r"gradstep needs 60x16", r"this terminal: 40x10")
    terminal.resize(80, 24)
    terminal.wait_for(r"0/9 run", r"──\[1 gradient\]")
    terminal.press("n")
    terminal.wait_for(r"1/9 run")
    terminal.resize(160, 48)
    terminal.wait_for(r"1/9 run", r"─\[1 gradient\]", r"─\[6 leaves\]", r"─\[source\]")
    terminal.resize(50, 24)
    terminal.wait_for(r"gradstep needs 60x16", r"this terminal: 50x24")
    terminal.press("q")
    terminal.wait_for(r"weight = 23\nexit code 0")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_what_is_typed_behind_the_key_that_opens_the_prompt_goes_to_the_prompt(
    open_terminal: Open, size: tuple[int, int]
) -> None:
    terminal = open_terminal(gradstep("debug", SHARED_WEIGHT), size)
    terminal.wait_for(r"0/9 run", r"PAUSED")
    for line in [":info leaves", "/mul:2", ":nNcsqQDxe0", "W#9 if rms > 7"]:
        terminal.type(line)
        said = re.escape(f"watch {line[1:]}" if line[0] == "W" else line[1:])
        terminal.wait_for(rf"\n {said} *\n", r"0/9 run")
        terminal.press("Escape")
        # a key right behind an escape would be one with Alt
        terminal.wait_for(rf"^(?![\s\S]*\n {said} *\n)")


def test_what_is_typed_before_the_screen_opens_is_carried_out(
    open_terminal: Open, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(
        f"print('soon')\n{until_there('typed')}{Path(SHARED_WEIGHT).read_text()}"
    )
    terminal = open_terminal(gradstep("debug", "slow.py"))
    terminal.wait_for("soon|runs up to")
    terminal.type(":next 2\rn")  # the enter arrives as a line feed
    (tmp_path / "typed").touch()
    terminal.wait_for(r"3/9 run")


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_ops_and_seconds_are_counted_until_the_screen_opens(
    open_terminal: Open, tmp_path: Path, library: str
) -> None:
    (tmp_path / "slow.py").write_text(
        f"import {library} as torch\n"
        "x = torch.ones(3, requires_grad=True)\n"
        f"y = x\n{until_there('counted', 'y = y * 1.01')}"
        "y.sum().backward()\n"
    )
    terminal = open_terminal(python("-m", "gradstep", "debug", "slow.py"))
    terminal.wait_for(r"slow\.py runs up to its backward", r"\b[1-9]\d* ops, [1-9]\d* s")
    (tmp_path / "counted").touch()
    terminal.wait_for("PAUSED")


def test_the_prompt_gets_every_letter_however_fast_they_come(open_terminal: Open) -> None:
    terminal = open_terminal(gradstep("debug", SHARED_WEIGHT))
    terminal.wait_for(r"0/9 run", r"PAUSED")
    for steps, gap in enumerate((0.01, 0.06, 0.2)):
        for letter in ":info leaves\r":
            terminal.type(letter)
            let_pass(gap)
        terminal.wait_for(rf"{steps}/9 run", r"\n weight\.grad +\d of 4 in +None")
        terminal.press("n")
        terminal.wait_for(rf"{steps + 1}/9 run", rf"\n #{steps + 1} \S+ sent ")


def test_recordings_of_a_job_are_opened_one_after_the_other_and_beside_each_other(
    open_terminal: Open, tmp_path: Path
) -> None:
    (tmp_path / "job.py").write_text(
        "import os, autograd_core as torch\n"
        "a = torch.tensor(3.0 + int(os.environ['RANK']), requires_grad=True)\n"
        "(a * a).backward()\n"
    )
    for rank in ("0", "1"):
        words = ["record", "--values", "all", "--on-rank", "all", "-o", "run.gsr", "job.py"]
        run_gradstep(words, tmp_path, {"RANK": rank, "WORLD_SIZE": "2"})
    recordings = "run.rank0.gsr", "run.rank1.gsr"
    terminal = open_terminal(gradstep("debug", *recordings))
    terminal.wait_for(r"run\.rank0\.gsr .* 0/2 run")
    terminal.type(":rank 1\r")
    terminal.wait_for(r"run\.rank1\.gsr .* 0/2 run")
    terminal.press("c")
    terminal.wait_for(r"FINISHED", r"8")
    terminal.press("q")
    terminal.wait_for(r"exit code 0")
    terminal = open_terminal(gradstep("diff", "--screen", *recordings), (120, 36))
    terminal.wait_for(r"run\.rank0\.gsr \| run\.rank1\.gsr", r"\} goes to the next difference")
    terminal.type("}}")
    terminal.wait_for(r"≠ run\.rank1\.gsr a: ")
    terminal.press("q")
    terminal.wait_for(r"exit code 5")


def test_the_screen_opens_at_each_call_and_leaves_the_process_alone(
    open_terminal: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("viz", "tui"):
        (folder / f"{name}.py").write_text(f"name = 'my {name}'\n")
    (folder / "script.py").write_text(
        "import signal, sys, autograd_core as torch\n"
        "def state():\n"
        "    names = 'SIGTSTP SIGCONT SIGWINCH SIGTTIN SIGTTOU SIGINT'.split()\n"
        "    signals = [signal.getsignal(getattr(signal, name)) for name in names]\n"
        "    return signals, sys.stdin, sys.stdout, sys.excepthook\n"
        "before = state()\n"
        "for number in (1, 2):\n"
        "    a = torch.tensor(3.0, requires_grad=True)\n"
        "    (a * a).backward()\n"
        "    import viz, tui\n"
        "    print(f'call {number}', a.grad.item(), viz.name, tui.name)\n"
        "print('as before:', state() == before)\n"
    )
    command = gradstep("debug", "--break", "a", "mine/script.py")
    terminal = open_terminal(command)
    terminal.wait_for(r"backward 1 · 0/2 run")
    terminal.press("c")
    terminal.wait_for(r"1/2 run", r"breakpoint 1")
    terminal.press("q")
    terminal.wait_for(r"backward 2 · 0/2 run")
    terminal.press("c")
    terminal.wait_for(r"1/2 run", r"breakpoint 1")  # it outlives the call
    terminal.press("q")
    text = terminal.wait_for(r"as before: True\nexit code 0")
    assert "call 1 6.0 my viz my tui\ncall 2 6.0 my viz my tui" in text


def test_the_debugger_opens_from_code_too(open_terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import autograd_core as torch, gradstep\n"
        "weight = torch.tensor(3.0, requires_grad=True)\n"
        "loss = weight * weight\n"
        "gradstep.debug(loss)\n"
        "print('gradient', weight.grad.item())\n"
    )
    run = python("script.py")
    terminal = open_terminal(f"{run}; echo first $?; {run}")
    terminal.wait_for(r"0/2 run", r"\+= weight")
    terminal.press("n")
    terminal.wait_for(r"1/2 run")
    terminal.press("q")
    terminal.wait_for(r"0/2 run")
    terminal.press("Q")
    text = terminal.wait_for(r"exit code 0")
    assert "gradient 6.0\nfirst 0\nexit code 0" in text


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_a_hook_that_asks_for_input_gets_it(
    open_terminal: Open, tmp_path: Path, library: str
) -> None:
    pytest.importorskip(library)
    (tmp_path / "script.py").write_text(
        f"import {library} as torch\n"
        "a = torch.tensor(3.0, requires_grad=True)\n"
        "b = a * 2\n"
        "def ask(g):\n"
        "    print('the gradient is', g.item())\n"
        "    return g * float(input('factor? '))\n"
        "b.register_hook(ask)\n"
        "(b * b).backward()\n"
        "print('gradient', a.grad.item())\n"
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/3 run")
    terminal.press("c")
    terminal.wait_for(r"the gradient is 12\.0\nfactor\? $|the gradient is 12\.0\nfactor\?\n")
    terminal.press("5", "Enter")
    terminal.wait_for(r"FINISHED", r"120")
    terminal.press("q")
    text = terminal.wait_for(r"gradient 120\.0\nexit code 0")
    assert text.count("factor?") == 1


@pytest.mark.parametrize("imported", ["import getpass as ask", "from getpass import getpass"])
def test_a_hook_that_asks_for_a_password_gets_it_unseen(
    open_terminal: Open, tmp_path: Path, imported: str
) -> None:
    ask = "ask.getpass" if imported.endswith("ask") else "getpass"
    (tmp_path / "script.py").write_text(
        "import autograd_core as torch\n"
        f"{imported}\n"
        "a = torch.tensor(3.0, requires_grad=True)\n"
        "b = a * 2\n"
        f"b.register_hook(lambda g: g * float({ask}('factor? ')))\n"
        "(b * b).backward()\n"
        "print('gradient', a.grad.item(), 'behind', repr(input('more? ')))\n"
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/3 run")
    terminal.press("c")
    terminal.wait_for(r"^factor\?\s*$")
    terminal.press("5", "Enter")
    terminal.wait_for(r"FINISHED", r"120")
    terminal.press("q")
    terminal.wait_for(r"more\? *\n")
    terminal.type("yes\r")
    text = terminal.wait_for(r"more\? yes\ngradient 120\.0 behind 'yes'\nexit code 0")
    assert re.findall(r"factor\?(.*)", text) == [""]


def test_ctrl_c_at_a_question_interrupts_the_node(open_terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import autograd_core as torch\n"
        "a = torch.tensor(3.0, requires_grad=True)\n"
        "b = a * 2\n"
        "b.register_hook(lambda g: g * float(input('factor? ')))\n"
        "(b * b).backward()\n"
        "print('gradient', a.grad.item())\n"
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/3 run")
    for answer, said in (("C-c", r"1/3 run"), ("5", r"FINISHED")):
        terminal.press("c")
        terminal.wait_for(r"(^|\n)factor\? *\n")
        terminal.press(answer, *([] if answer == "C-c" else ["Enter"]))
        terminal.wait_for(said)
    terminal.press("q")
    terminal.wait_for(r"gradient 120\.0\nexit code 0")


ENDING = """\
import {imports}
import os, ctypes, signal, sys
open("pids", "w").write(f"{{os.getpid()}} {{os.getppid()}}")
print("before the screen")
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
def end(g):
    print("in the hook")
    {ending}
y.register_hook(end)
{backward}
print("never said")
"""
CRASHES = {
    "abort": ("os.abort()", signal.SIGABRT),
    "segmentation fault": ("ctypes.string_at(0)", signal.SIGSEGV),
    "out of memory": ("os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL),
}


def ends_in_order(terminal: Terminal, code: int, *said: str) -> None:
    text = terminal.wait_for(rf"(^|\n)exit code {code}\n")
    assert terminal.state() == ("0 0 1", COOKED), text
    lines = [line for line in text.splitlines() if line and "the script ended" not in line]
    assert [line for line in lines if line in ("before the screen", "in the hook")] == [*said], text
    assert lines[-1] == f"exit code {code}"
    assert "Traceback" not in text


COOKED = ""  # the settings of a terminal in which nothing has run


@pytest.fixture(autouse=True)
def cooked(open_terminal: Open) -> None:
    global COOKED
    if not COOKED:
        terminal = open_terminal("echo begun")
        terminal.wait_for("begun")
        COOKED = terminal.state()[1]


@pytest.mark.parametrize("name", CRASHES)
def test_the_terminal_is_given_back_when_the_program_crashes(
    open_terminal: Open, tmp_path: Path, name: str
) -> None:
    ending, number = CRASHES[name]
    (tmp_path / "script.py").write_text(
        ENDING.format(
            imports="autograd_core as torch", ending=ending, backward="(y * y).backward()"
        )
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/3 run")
    terminal.press("c")
    ends_in_order(terminal, 128 + number, "before the screen", "in the hook")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opened", ["command", "call"])
@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("to", [0, 1], ids=["to the program", "to the command"])
def test_the_terminal_is_given_back_when_a_signal_ends_the_program(
    open_terminal: Open, tmp_path: Path, signal_: signal.Signals, opened: str, to: int
) -> None:
    in_code = opened == "call"
    (tmp_path / "script.py").write_text(
        ENDING.format(
            imports="autograd_core as torch, gradstep",
            ending="return g",
            backward="gradstep.debug(y * y)" if in_code else "(y * y).backward()",
        )
    )
    command = python("script.py") if in_code else gradstep("debug", "script.py")
    terminal = open_terminal(command)
    terminal.wait_for(r"0/3 run")
    terminal.press("c")
    terminal.wait_for(r"FINISHED")
    pids = (tmp_path / "pids").read_text().split()
    os.kill(int(pids[0 if in_code else to]), signal_)
    ends_in_order(terminal, 128 + signal_, "before the screen", "in the hook")


def test_a_handler_of_the_program_s_own_ends_it_in_order(
    open_terminal: Open, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        + ENDING.format(
            imports="autograd_core as torch", ending="return g", backward="(y * y).backward()"
        )
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/3 run")
    terminal.press("c")
    terminal.wait_for(r"FINISHED")
    os.kill(int((tmp_path / "pids").read_text().split()[1]), signal.SIGTERM)
    ends_in_order(terminal, 7, "before the screen", "in the hook")


def test_the_program_ends_with_a_terminal_that_is_closed(
    open_terminal: Open, tmp_path: Path
) -> None:
    """The kernel tells the leader of the session alone, which the command may be: in a terminal
    that was opened for it, or over a connection that is lost."""
    terminal = open_terminal(f"echo $$ > leader; exec {gradstep('debug', SHARED_WEIGHT)}")
    terminal.wait_for("PAUSED")
    leader = int((tmp_path / "leader").read_text())
    (child,) = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    terminal.hang_up()
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in (leader, child)))


@pytest.mark.parametrize("opened", ["command", "call"])
def test_ctrl_z_suspends_and_fg_comes_back(
    open_terminal: Open, tmp_path: Path, opened: str
) -> None:
    (tmp_path / "script.py").write_text(
        "import autograd_core as torch, gradstep\n"
        "a = torch.tensor(3.0, requires_grad=True)\n"
        f"{'gradstep.debug(a * a)' if opened == 'call' else '(a * a).backward()'}\n"
        "print('gradient', a.grad.item())\n"
    )
    terminal = open_terminal("bash --norc --noprofile -i")
    terminal.type("PS1='$ '\r")
    command = python("script.py") if opened == "call" else gradstep("debug", "script.py")
    terminal.type(f"{command}; echo code $?\r")
    terminal.wait_for(r"0/2 run")
    terminal.press("n")
    terminal.wait_for(r"1/2 run")
    terminal.press("C-z")
    terminal.wait_for(r"Stopped")
    assert terminal.state()[0] == "0 0 1"
    terminal.type("echo here; fg\r")
    terminal.wait_for(r"1/2 run", r"PAUSED")
    terminal.press("n")
    terminal.wait_for(r"FINISHED")
    terminal.press("q")
    terminal.wait_for(r"here\n", r"gradient 6\.0")


def test_a_screen_that_is_continued_twice_has_one_reader_of_keys(
    open_terminal: Open, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(
        "import os, pathlib, autograd_core as torch\n"
        "pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "a = torch.tensor(3.0, requires_grad=True)\n"
        "(a * a).backward()\n"
    )
    terminal = open_terminal(gradstep("debug", "script.py"))
    terminal.wait_for(r"0/2 run")
    terminal.press("n")
    terminal.wait_for(r"1/2 run", r"PAUSED")
    process = int((tmp_path / "pid").read_text())
    threads = len(os.listdir(f"/proc/{process}/task"))
    status = Path(f"/proc/{process}/status")
    for _ in range(3):
        os.kill(process, signal.SIGCONT)
        until(lambda: "ShdPnd:\t0000000000000000" in status.read_text())  # or they become one
    terminal.press("n")
    terminal.wait_for(r"FINISHED")
    assert len(os.listdir(f"/proc/{process}/task")) == threads
    terminal.press("q")
    terminal.wait_for(r"exit code 0")


def test_ctrl_z_stays_where_no_shell_could_come_back(open_terminal: Open) -> None:
    terminal = open_terminal(gradstep("debug", SHARED_WEIGHT))
    terminal.wait_for(r"0/9 run", r"PAUSED")
    terminal.press("C-z")
    terminal.wait_for(r"no shell started this")
    terminal.press("n")
    terminal.wait_for(r"1/9 run")


def test_without_a_terminal_there_is_a_way_out(open_terminal: Open) -> None:
    debug = gradstep("debug", SHARED_WEIGHT)
    terminal = open_terminal(f"{debug} 2> log; cat log; TERM=dumb {debug}")
    text = terminal.wait_for(r"exit code 2").replace("\n", "")
    assert "input or output is redirected; use --batch with -x FILE" in text
    assert "TERM says that this one is 'dumb'; use --batch with -x FILE" in text
