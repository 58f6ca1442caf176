"""``gradstep debug`` without a screen: commands from a file, and what comes of the script."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from textwrap import dedent

import pytest

import gradstep_tui
from gradstep.contract.op_records import next_number
from gradstep_tui import output
from gradstep_tui.cli import main
from gradstep_tui.terminal import why_no_screen
from gradstep_tui.waiting import Waiting
from tests.both import on_the_core
from tests.tui.conftest import Ended, Gradstep

ROOT = Path(__file__).parents[2]
SHARED_WEIGHT = str(ROOT / "samples" / "shared_weight.py")

TWO_CALLS = """\
import LIBRARY as torch

for number in (1, 2):
    a = torch.tensor(3.0, requires_grad=True)
    loss = a * a
    loss.backward()
    print("call", number, a.grad.item())
"""

Run = Callable[..., Ended]


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Carry out ``commands`` on ``script`` in batch mode, and return what came of it."""

    def batch(script: str, commands: str, *arguments: str) -> Ended:
        Path("commands").write_text(dedent(commands))
        given = arguments or ("train.py",)
        return gradstep(script, "debug", "--batch", "-x", "commands", *given)

    return batch


@on_the_core
def test_commands_and_replies_are_the_output(run: Run) -> None:
    code, out, err = run(
        "",
        """
        # the second use of the weight
        break mul

        continue
        continue
        info leaves
        back
        """,
        SHARED_WEIGHT,
    )
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "(gradstep) break mul",
        "breakpoint 1: mul (#2, #4, #6, #8)",
        "(gradstep) continue",
        "breakpoint 1: mul",
        "#2 mul:4  MulBackward0  g · other, g · weight  shared_weight.py:14",
        "(gradstep) continue",
        "breakpoint 1: mul",
        "#4 mul:3  MulBackward0  g · other, g · weight  shared_weight.py:14",
        "(gradstep) info leaves",
        "weight.grad  1 of 4 in  None",
        "(gradstep) back",
        "#3 add:3  AddBackward0  g  shared_weight.py:14",
        "last state = 12",
        "d state / d weight = 23",
    ]


def test_q_leaves_the_rest_to_the_next_call_where_breakpoints_still_stand(run: Run) -> None:
    code, out, err = run(TWO_CALLS, "break a\nq\ninfo breakpoints\ncontinue\nquit\nnever\n")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "(gradstep) break a",
        "breakpoint 1: a (#2)",
        "(gradstep) q",
        "call 1 6.0",
        "(gradstep) info breakpoints",
        "1  break a  1 node, hit 0 times",
        "(gradstep) continue",
        "breakpoint 1: a",
        "#2 a  AccumulateGrad",
        "(gradstep) quit",
        "call 2 6.0",
    ]


def test_after_the_last_command_the_script_goes_on(run: Run) -> None:
    code, out, _ = run(TWO_CALLS, "next")
    assert code == 0
    assert out.splitlines()[2:] == ["call 1 6.0", "call 2 6.0"]


def test_aborting_ends_the_script(run: Run) -> None:
    for word in ("Q", "abort"):
        code, out, err = run(TWO_CALLS, f"q\nnext\n{word}\nnever")
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == f"(gradstep) {word}"
        assert "call 1 6.0" in out
        assert "call 2" not in out


def test_breakpoints_can_be_named_before_anything_runs(run: Run) -> None:
    places = ["--break", "mul", "--break", "a"]
    code, out, _ = run(TWO_CALLS, "info breakpoints\nq\ninfo breakpoints", *places, "train.py")
    assert code == 0
    listed = ["(gradstep) info breakpoints"] + [
        f"{number}  break {place}  1 node, hit 0 times" for number, place in ((1, "mul"), (2, "a"))
    ]
    assert out.splitlines() == [*listed, "(gradstep) q", "call 1 6.0", *listed, "call 2 6.0"]


def test_call_chooses_one(run: Run) -> None:
    code, out, _ = run(TWO_CALLS, "where", "--call", "2", "train.py")
    assert code == 0
    assert out.splitlines()[:2] == ["call 1 6.0", "(gradstep) where"]


def test_a_loss_without_a_variable_is_called_loss(run: Run) -> None:
    script = "import LIBRARY as torch\nw = torch.tensor(2.0, requires_grad=True)\n"
    _, out, _ = run(f"{script}(w * w).backward()\n", "info frames")
    assert "loss.backward()" in out
    _, out, _ = run(f"{script}(w * w).expand(2).backward(torch.ones(2))\n", "info frames")
    assert "output.backward()" in out


def test_detached_it_stops_no_more(run: Run) -> None:
    code, out, _ = run(TWO_CALLS, "where\nD\nwhere\nwhere")
    assert code == 0
    assert out.count("(gradstep) where") == 1


@pytest.mark.parametrize(
    ("target", "place"), [("train.py:loss", "#1 mul:1"), ("train.py", "#1 mul:1")]
)
def test_a_scalar_that_nobody_calls_backward_on(run: Run, target: str, place: str) -> None:
    script = TWO_CALLS.replace("loss.backward()", "").replace(", a.grad.item()", "")
    for last in ("", "Q", "q"):
        code, out, err = run(script, f"where\n{last}", target)
        assert (code, err) == (0, "")
        assert place in out


@pytest.mark.sampled(torch=3)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--call", "3", "train.py"], 3, "backward() 2 times: there is no call 3; --call takes 1"),
        (["--call", "last", "train.py"], 2, "--call last is known only when the script has ended"),
        (["--break", "mull", "train.py"], 2, "--break mull: nothing here is called 'mull'; did"),
        (["-x", "nothing", "train.py"], 2, "cannot read the commands in nothing (no such file"),
        (["-x", "binary", "train.py"], 2, "cannot read the commands in binary (it is not text)"),
        (
            ["train.py:loss"],
            3,
            "freed by an earlier backward pass; call that pass with",
        ),
        (["train.py:vector"], 3, "has the shape [2], and backward() starts from a scalar"),
        (["train.py:plain"], 3, "has no graph: nothing that it was computed from"),
        (["trin.py"], 3, "trin.py does not exist; did you mean train.py?"),
    ],
)
def test_one_clear_message_and_the_documented_code(
    run: Run, arguments: list[str], code: int, said: str
) -> None:
    Path("binary").write_bytes(b"\xff\xfe\x00")
    script = TWO_CALLS + "vector = a * torch.ones(2)\nplain = torch.ones(())\n"
    found, _, err = run(script, "", *arguments)
    assert found == code
    assert err.startswith("gradstep: ")
    assert err.count("\n") == 1
    assert said in err


def test_a_wrong_command_stops_everything(run: Run) -> None:
    code, out, err = run(TWO_CALLS, "nxt\nnext")
    assert code == 2
    assert out == "(gradstep) nxt\n"
    assert err.splitlines() == [
        "gradstep: commands:1: unknown command: nxt; did you mean next? (help lists them)",
        "  nxt",
        "  ^",
    ]


def test_a_failure_of_ours_does_not_pass_through_the_handlers_of_the_script(run: Run) -> None:
    script = """
        import LIBRARY as torch
        a = torch.tensor(3.0, requires_grad=True)
        try:
            (a * a).backward()
        except Exception as error:
            print("mine?", error)
    """
    code, out, err = run(script, "nxt")
    assert (code, out) == (2, "(gradstep) nxt\n")
    assert "unknown command" in err


def test_batch_needs_commands_and_the_screen_a_terminal(gradstep: Gradstep) -> None:
    for arguments, said in (
        (
            ["debug", "--batch", "train.py"],
            "--batch runs the commands of -x FILE and --ex COMMAND, watches for --fail-on, or ",
        ),
        (
            ["debug", "train.py"],
            "use --batch with -x FILE or --ex COMMAND to run commands without a screen",
        ),
    ):
        code, out, err = gradstep(TWO_CALLS, *arguments)
        assert (code, out) == (2, "")  # the script has not run
        assert said in err


def test_commands_of_options_and_files_run_in_their_order(run: Run) -> None:
    script = """
        import sys
        import LIBRARY as torch
        torch.tensor(3.0, requires_grad=True).exp().backward()
        print(sys.argv[1:])
        """
    Path("more").write_text("next\nback")
    options = ["--ex", "info leaves", "-x", "more", "--ex", "where", "train.py", "-e", "5"]
    code, out, err = run(script, "list", *options)
    assert (code, err) == (0, "")
    asked = [line for line in out.splitlines() if line.startswith("(gradstep)")]
    assert asked == [
        f"(gradstep) {each}" for each in ("list", "info leaves", "next", "back", "where")
    ]
    assert out.endswith("['-e', '5']\n")
    assert run(script, "", "--ex", "nxt", "train.py")[2].startswith("gradstep: --ex: unknown")


CHAIN = """
    import LIBRARY as torch
    x = y = torch.ones(1000, requires_grad=True)
    for _ in range(20):
        y = y.sin()
    loss = y.sum()
"""
CHAIN_RUN = CHAIN + "    loss.backward()\n    print(x.grad[0].item())\n"


def test_the_memory_of_the_recording_is_limited_by_an_option(run: Run) -> None:
    """Of a script, and of a tensor that it names, with the same gradients in the end."""
    commands = "continue\nrestart\nnext 5\ninfo history\n"
    unlimited = run(CHAIN_RUN, commands, "train.py")[1]
    assert "of at most 1.0 GB" in unlimited
    for script, target, size in (
        (CHAIN_RUN, "train.py", "20k"),
        (CHAIN, "train.py:loss", "20.0 KB"),
    ):
        code, out, _ = run(script, commands, "--history", size, target)
        assert code == 0
        assert "of at most 20.0 KB" in out
        assert "dropped; they are computed again when needed" in out
    nothing_kept = run(CHAIN_RUN, commands, "--history", "0", "train.py")[1]
    assert nothing_kept.splitlines()[-1] == unlimited.splitlines()[-1]


@pytest.mark.sampled(torch=2)
@pytest.mark.parametrize("size", ["", "k", "1.G", "3T", "-1", "B", "1e3"])
def test_what_is_no_size_is_refused(size: str, run: Run) -> None:
    code, out, err = run(CHAIN, "", f"--history={size}", "train.py")
    assert (code, out) == (2, "")
    assert f"'{size}' is not a size such as 500M or 4G" in err


FAILING_HOOK = """
    import LIBRARY as torch
    a = torch.tensor(3.0, requires_grad=True)
    b = a * 2
    def hook(g):
        print("hook called")
        raise KeyError("in the hook")
    b.register_hook(hook)
    try:
        (b * b).backward()
    except KeyError as error:
        print("caught", error)
    print("a.grad is", a.grad)
"""


def test_what_a_hook_raises_is_shown(run: Run) -> None:
    _, out, _ = run(FAILING_HOOK, "continue\nQ")
    assert "raised KeyError: 'in the hook'" in out


def test_what_a_hook_raises_reaches_the_script_as_in_a_plain_run(run: Run) -> None:
    _, out, _ = run(FAILING_HOOK, "continue\nq")
    assert out.splitlines()[-2:] == ["caught 'in the hook'", "a.grad is None"]


def test_a_script_that_fails_after_being_debugged_has_failed(run: Run) -> None:
    code, out, err = run(TWO_CALLS + "raise ValueError('later')\n", "next")
    assert code == 1
    assert "call 2 6.0" in out
    assert err.startswith("Traceback")
    assert err.endswith("ValueError: later\n")


# where a screen can open


class Tty(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("__stdin__", "__stdout__", "__stderr__"):
        monkeypatch.setattr(sys, name, Tty())
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


def test_a_screen_needs_a_terminal_all_round(terminal: pytest.MonkeyPatch) -> None:
    assert why_no_screen() == ""
    for name in ("__stdin__", "__stdout__", "__stderr__"):
        for stream in (StringIO(), None):
            with terminal.context() as patch:
                patch.setattr(sys, name, stream)
                assert "redirected" in why_no_screen()


def test_a_screen_needs_a_terminal_that_can(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("TERM", "dumb")
    assert "dumb" in why_no_screen()


def test_a_screen_needs_the_main_thread_and_no_event_loop(terminal: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(why_no_screen()))
    thread.start()
    thread.join()

    async def inside() -> None:
        said.append(why_no_screen())

    asyncio.run(inside())
    assert "main thread" in said[0]
    assert "event loop" in said[1]


def test_debug_from_code_says_what_else_there_is() -> None:
    import autograd_core as torch

    a = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"redirected; gradstep.Session does"):
        gradstep_tui.debug(a * a)
    assert a.grad is None


def test_batch_imports_no_textual(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TWO_CALLS.replace("LIBRARY", "autograd_core"))
    (tmp_path / "commands").touch()
    program = (
        "import sys; from gradstep_tui.cli import main\n"
        "code = main(['debug', '--batch', '-x', 'commands', 'train.py'])\n"
        "sys.exit(code or ', '.join({'textual', 'rich', 'viz', 'scipy'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr.decode() == "\n"


def test_tensors_are_printed_by_name_by_condition_and_with_arithmetic(run: Run) -> None:
    script = """\
        import LIBRARY as torch
        x = torch.tensor([[1.0, 2.0], [0.0, 4.0]])
        w = torch.tensor([1.0, 0.0], requires_grad=True)
        q = torch.relu(x * w)
        loss = (q * torch.log(q)).sum()
        loss.backward()
        """
    kept = "saved.self"
    code, out, err = run(
        script,
        f"catch nan\ncontinue\nprint w\nprint out at nan\nprint {kept} where x == 0\n"
        f"print any({kept} == 0)\nprint x - 1\nprint w.grad\nprint in at [0, 0]\n",
    )
    assert code == 0, err
    text = " ".join(out.split())
    for said in (
        "forward pass",  # where the loss has its nan from
        "rms 0.707 min 0 at [1] max 1 at [0] 1 zero 0 negative 1 positive",
        "out 3 of 4 elements at",
        "[0, 1] nan 0 0 [1, 0] nan 0 0",
        f"{kept} 3 of 4 elements",
        f"any({kept} == 0) = yes",
        "x - 1 [2, 2] float32 rms 1.66 min −1 at [1, 0] max 3 at [1, 1]",
        "w.grad is None",
        "in[0, 0] [] float32",
    ):
        assert said in text


LOOP = """\
import LIBRARY as torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(6):
    w.grad = None
    loss = ((w - (step == 3) * w.detach()) / w).sqrt().sum()
    loss.backward()
print("done")
"""


def test_continue_calls_goes_on_to_the_call_that_stops(run: Run) -> None:
    code, out, err = run(LOOP, "catch inf\ncontinue --calls\nprint call\ndelete\nquit\n")
    assert code == 0, err
    assert "backward() call 4: catch 1: inf" in out
    assert "call = 4" in out
    out = run(LOOP, "break div if inf\nquit\ncontinue --calls\nabort\n").out
    assert "backward() call 4: breakpoint 1: div if inf" in out
    code, _, err = run(LOOP, "continue --calls\n")
    assert code == 2
    assert "nothing to stop at: use catch nan" in err
    out = run(LOOP, "continue --calls nan,inf\nprint call\ninfo b\nabort\n").out
    assert "call = 4" in out
    assert "catch nan,inf" in out
    code, _, err = run(LOOP, "catch rms > 1e9\ncontinue --calls\nprint call\n")
    assert code == 0
    assert "5 calls of backward() ran, and none of them stopped" in err


def test_continue_at_the_end_of_a_pass_goes_on_to_the_call_that_stops(run: Run) -> None:
    code, out, err = run(LOOP, "catch inf\ncontinue\ncontinue\nprint call\ndelete\nquit\n")
    assert code == 0, err
    assert "backward() call 4: catch 1: inf" in out
    assert "call = 4" in out
    out = run(LOOP, "logpoint div rms {rms}\ncontinue\ncontinue\nprint call\nabort\n").out
    assert "call = 1" in out  # a log point stops nowhere


def test_until_a_condition_goes_on_to_the_call_that_meets_it(run: Run) -> None:
    out = run(LOOP, "until nan,inf\nprint call\ninfo b\nabort\n").out
    assert "call = 4" in out
    assert "catch nan,inf" in out
    out = run(LOOP, "until rms > 0.1\nprint call\nabort\n").out
    assert "call = 1" in out
    code, _, err = run(LOOP, "until nowhere\n")
    assert code == 2
    assert "nowhere" in err


def test_a_recording_is_left_for_another_of_its_calls(run: Run, gradstep: Gradstep) -> None:
    words = ("record", "--call", "1,4:5", "-o", "run.gsr", "train.py")
    assert gradstep(LOOP, *words).code == 0
    moves = "call\nbreak div\ncall 4\nprint call\ncall next\nprint call\ninfo breakpoints\n"
    code, out, err = run(LOOP, moves + "info calls\ncall previous\nprint call\n", "run.gsr")
    assert code == 0, err
    assert "backward() call 1; 3 calls in full: 1, 4 and 5\n" in out
    assert re.findall(r"call = (\d)", out) == ["4", "5", "4"]
    assert re.search(r"call 1 to 4 +not in full +loss \S+ to \S+", out)
    assert "1  break div  1 node" in out
    for line, said in (
        ("call 3", "call 4 is the nearest one in full"),
        ("call 9", "call 9 was not recorded; in full: 1, 4 and 5"),
        ("call previous", "there is no call in full before backward() call 1"),
    ):
        code, _, err = run(LOOP, line, "run.gsr")
        assert code == 2
        assert said in err
    assert "only a recording can go to any call" in run(LOOP, "call 3\n").err


def test_calls_are_chosen_by_number_range_or_all(run: Run) -> None:
    commands = "print call\nquit\n" * 3
    for chosen, numbers in (("2,4:5", [2, 4, 5]), ("5:", [5, 6]), ("all", [1, 2, 3])):
        code, out, err = run(LOOP, commands, "--call", chosen, "train.py")
        assert code == 0, err
        assert [number for number in range(1, 7) if f"call = {number}" in out] == numbers
    out = run(LOOP, "quit\ninfo calls\ninfo calls w\n", "--call", "2,5", "train.py").out
    assert [line.split("  ")[0] for line in out.splitlines() if line.startswith("call ")] == [
        "call 1", "call 2", "call 3 to 4", "call 1", "call 2", "call 3 to 4"
    ]  # fmt: skip
    assert out.count("not recorded") == 4
    code, _, err = run(LOOP, commands, "--call", "4:x", "train.py")
    assert code == 2
    assert "numbers and ranges such as 1,100:110" in err


def test_check_looks_at_several_calls_and_says_each_thing_once(gradstep: Gradstep) -> None:
    out = gradstep(LOOP, "check", "--call", "all", "train.py").out
    assert "done" in out
    assert "looked at: 6 calls on 1 line" in out


def test_quit_with_a_count_passes_by_calls_and_commands_may_come_from_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        TWO_CALLS.replace("LIBRARY", "autograd_core").replace("(1, 2)", "range(1, 5)")
    )
    monkeypatch.setattr("sys.stdin", StringIO("# comments say nothing\nquit 3\nprint call\n"))
    assert main(["debug", "--batch", "-x", "-", "train.py"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "(gradstep) quit 3", "call 1 6.0", "call 2 6.0", "call 3 6.0",
        "(gradstep) print call", "call = 4", "call 4 6.0",
    ]  # fmt: skip


def test_a_program_that_runs_long_before_the_screen_opens_is_said_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gradstep_tui.waiting.SILENCE", 0.0)
    monkeypatch.setattr(output, "progress_is_seen", lambda: True)
    # that of the process, which the command takes over where it begins
    monkeypatch.setattr(output._err, "_first", None)
    err = ""
    for shown in (True, False):
        waiting = Waiting("train.py runs up to its backward(); ctrl+c ends it", shown=shown)
        waiting.start()
        while shown and " op" not in err:
            next_number()
            err += capsys.readouterr().err
        waiting.stop()
    assert err.startswith("gradstep: train.py runs up to its backward(); ctrl+c ends it\n")
    assert re.search(r"\d+ ops?, \d+ s", err)
    rest = capsys.readouterr().err
    assert re.fullmatch(r"(\x1b[78]|\x1b\[\d*[GK]|(running|[\d,]+ ops?), \d+ s)*", rest)


@pytest.mark.parametrize(("command", "ops"), [("render", 3000), ("film", 1500)])
def test_a_picture_that_takes_long_says_what_happens(
    command: str, ops: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("gradstep_tui.waiting.SILENCE", 0.0)
    monkeypatch.setattr(output, "progress_is_seen", lambda: True)
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import autograd_core as torch\n"
        "x = torch.tensor(1.0, requires_grad=True)\n"
        f"for _ in range({ops}): x = x.sin()\nx.backward()\n")  # fmt: skip
    assert main([command, "train.py"]) == 0
    err = capsys.readouterr().err
    assert re.search(r"drawing( [\d,]+ nodes)?, \d+ s", err)
    assert err.endswith("gradstep: wrote train.svg\n" if command == "render" else " frames\n")
