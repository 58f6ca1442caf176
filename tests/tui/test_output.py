"""What reaches the two output streams, and what happens when one of them fails."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gradstep_tui import output
from gradstep_tui.app.widgets.text import in_ascii
from gradstep_tui.cli import main
from gradstep_tui.commands import embed
from gradstep_tui.output import in_encoding
from tests.forking import fork_commands

ROOT = Path(__file__).parents[2]
EVIL = "a\x1b]52;c;aGk=\x07\x1b[2J\x7f\x9b31m\u202e\ud800\r\tb"

# a name in every place where the program of a user can put one
NAMED = """\
import json, os, autograd_core as torch
from autograd_core import nn

name = json.loads(os.environ["NAME"])
of_class = "".join(c for c in name if c != "\\0" and not "\\ud800" <= c <= "\\udfff") or "x"

def forward(ctx, x):
    ctx.save_for_backward(x)
    return x ** 3

def backward(ctx, g):
    if "raise" in os.environ.get("DO", ""):
        raise ValueError(name)
    (x,) = ctx.saved_tensors
    return g * 2 * x ** 2

rules = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
Cube = type(of_class, (torch.autograd.Function,), rules)

def hook(g):
    return g * 2
hook.__name__ = hook.__qualname__ = of_class

net = nn.Sequential()
net.add_module(name.replace(".", "") or "x", nn.Linear(2, 2))
weight = globals()["w" + name] = torch.ones(2, requires_grad=True)
y = net(Cube.apply(weight))
y.register_hook(hook)
y.register_hook(hook)
loss = y.sum() * globals().setdefault("c" + name, torch.tensor(2.0, requires_grad=True))
loss.backward()
if "fail" in os.environ.get("DO", ""):
    raise RuntimeError(name)
"""
COMMANDS = """\
order
info leaves
info node
logpoint mul says {name}
info breakpoints
next 3
where
frame #4
info hooks
info node
restart
catch rms > 0
continue
lint
restart
delete
continue
break {name}
"""


def lawless(text: str) -> list[str]:
    """The characters of ``text`` that may do something to a terminal."""
    bidi = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cs") or c in bidi)]


names = st.text(
    st.sampled_from("ab .#\x00\x07\x08\x1b\r\t\n\x7f\x85\x9b\u202e\u2066\ud800\ue000é量"),
    min_size=1,
    max_size=8,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.py").write_text(NAMED)
    return tmp_path


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("arguments", "do"),
    [
        (["debug", "--batch", "-x", "commands", "named.py"], ""),
        (["debug", "--batch", "-x", "commands", "named.py"], "raise"),
        (["debug", "--batch", "--fail-on", "rms > 0", "named.py"], ""),
        (["check", "--all", "named.py"], ""),
        (["check", "-q", "named.py"], "raise"),
        (["check", "named.py"], "fail"),
        (["render", "-o", "{name}.svg", "named.py"], ""),
        (["render", "--around", "{name}", "named.py"], ""),
        (["render", "--call", "2", "named.py"], "fail"),
        (["film", "-o", "{name}.svg", "named.py"], ""),
        (["film", "named.py"], "raise"),
        (["render", "{name}.py"], ""),
        (["render", "named.py:{name}"], ""),
        (["debug", "--batch", "--fail-on", "{name}", "named.py"], ""),
        (["debug", "--batch", "-x", "{name}", "named.py"], ""),
        (["ops", "{name}"], ""),
        (["embed", "{name}.md"], ""),
        (["embed", "embedding.md"], ""),
        (["render", "--view", "{name}", "named.py"], ""),
        (["--{name}"], ""),
        (["{name}"], ""),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else part,
)
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(EVIL)
@given(name=names)
def test_no_name_of_the_program_reaches_a_stream_with_control_characters(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    do: str,
    name: str,
) -> None:
    shown = name.replace("/", "").replace("\0", "").replace("\ud800", "")
    Path("commands").write_bytes(COMMANDS.format(name=shown.replace("\n", "")).encode())
    Path("embedding.md").write_bytes(
        f"<!-- gradstep: ops {shown} -->\n<!-- /gradstep -->\n".encode(errors="replace")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NAME", json.dumps(name))
        patch.setenv("DO", do)
        fork_commands(patch, embed)
        main([each.replace("{name}", shown) for each in arguments])
    out, err = capsys.readouterr()
    assert lawless(out + err) == []


def test_the_names_of_that_program_are_in_what_is_checked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAME", json.dumps("\x1b[31mred"))
    Path("commands").write_text(COMMANDS.format(name="\x1b]0;t\x07"))
    assert main(["debug", "--batch", "-x", "commands", "named.py"]) == 2  # the last one is wrong
    out, err = capsys.readouterr()
    for text in ("c�[31mred.grad", "�[31mredBackward", "hook �[31mred", "says �]0;t�", "[31mred/"):
        assert text in out
    assert "commands:18: nothing here is called '�]0;t�'" in err
    monkeypatch.setenv("DO", "fail")
    assert main(["check", "--call", "2", "named.py"]) == 1
    assert "RuntimeError: �[31mred\n" in capsys.readouterr().err


def test_an_output_that_a_script_redirects_is_for_what_the_script_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("commands").write_text("next\n")
    Path("script.py").write_text(
        dedent("""\
        import io, contextlib, sys, autograd_core as torch
        a = torch.tensor(3.0, requires_grad=True)
        a.register_hook(lambda g: print("in the hook"))
        with contextlib.redirect_stdout(io.StringIO()) as kept:
            (a * a).backward()
        print("kept", repr(kept.getvalue()))
        """)
    )
    assert main(["debug", "--batch", "-x", "commands", "script.py"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("(gradstep) next\n#2 a  AccumulateGrad\n")
    assert out.endswith("kept 'in the hook\\n'\n")


# --- encodings ------------------------------------------------------------------------------------


def spoken_constants(*, screen: bool = False) -> Iterator[str]:
    """The texts in what makes words for the two streams, or for the screen."""
    places = ["tui/gradstep_tui/app"] if screen else ["gradstep", "tui"]
    for place in places:
        for path in (ROOT / place).rglob("*.py"):
            if path.name in ("text.py", "output.py"):
                continue
            if not screen and "tui/gradstep_tui/app" in path.as_posix():
                continue
            tree = ast.parse(path.read_text("utf-8"))
            docs = {
                id(node.body[0].value)
                for node in ast.walk(tree)
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
                and node.body
                and isinstance(node.body[0], ast.Expr)
            }
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and id(node) not in docs and "\ud800" not in text:
                    yield text


def test_every_character_of_our_words_has_an_equivalent_in_ascii() -> None:
    ours = {c for text in spoken_constants() for c in text if not c.isascii()}
    assert {"·", "−", "²", "→"} <= ours
    assert {c: in_encoding(c, "ascii") for c in ours if "\\x" in in_encoding(c, "ascii")} == {}
    assert {c for c in ours if "\\u" in in_encoding(c, "ascii")} == set()


def test_every_mark_of_the_screen_has_one_in_ascii() -> None:
    marks = {c for text in spoken_constants(screen=True) for c in text if not c.isascii()}
    assert {"•", "▲", "×", "●"} <= marks
    assert {c for c in marks if in_ascii(c) == "?" and c not in "◆"} == set()


@given(st.text(), st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8", "cp437"]))
def test_any_text_can_be_written_in_any_encoding(text: str, encoding: str) -> None:
    written = in_encoding(text, encoding)
    written.encode(encoding)
    if text.isascii():
        assert written == text


# --- colours --------------------------------------------------------------------------------------

STYLES = {r"(?m)^a.*": "bold red", r"\w+\[": "green"}
RED = "\x1b[1;31m"


@pytest.mark.parametrize(
    ("is_terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TTY_COMPATIBLE": "0"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, False),
        (False, {"TTY_COMPATIBLE": "1"}, True),
    ],
)
def test_colours_are_for_terminals_and_those_who_ask_for_them(
    is_terminal: bool, environment: dict[str, str], coloured: bool,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal, raising=False)
    output.begin()
    output.show("a report", styles=STYLES)
    assert (capsys.readouterr().out == f"{RED}a report\x1b[0m\n") is coloured


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("a[]\\/: \n\t\x1b\x07\x9b\u202e\ud800é量👍🏽"), max_size=200))
@example(text="[bold]a[/bold] :smile: " * 40)
def test_colours_change_no_character(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output.begin()
    output.show(text)
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.show(text, styles=STYLES)
    monkeypatch.delenv("FORCE_COLOR")
    out = capsys.readouterr().out
    half = len(re.sub(r"\x1b\[[\d;]*m", "", out)) // 2
    assert re.sub(r"\x1b\[[\d;]*m", "", out) == out[:half] * 2


def test_where_no_colour_is_shown_rich_is_not_loaded(careful: Path) -> None:
    program = (
        "import sys; from gradstep_tui.cli import main; main(['check', '--all', 'careful.py']);"
        "sys.exit('rich' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=careful, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "gradient [4.0, 6.0]\n")


def test_progress_is_for_terminals_that_move_their_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    output.begin()
    monkeypatch.setenv("TERM", "xterm")
    assert output.progress_is_seen()
    monkeypatch.setenv("TERM", "dumb")
    assert not output.progress_is_seen()


# --- streams that fail ----------------------------------------------------------------------------

CAREFUL = """\
import sys, autograd_core as torch
a = torch.tensor([2.0, 3.0], requires_grad=True)
try:
    (a * a).sum().backward()
except Exception as error:
    sys.stderr.write(f"raised {error!r}\\n")
sys.stderr.write(f"gradient {a.grad.tolist()}\\n")
"""


def shell(line: str, folder: Path, **env: str) -> tuple[int, str, str]:
    """What a shell makes of ``line``, where ``gradstep`` is our command."""
    prelude = f'set -o pipefail; gradstep() {{ "{sys.executable}" -m gradstep "$@"; }}; '
    done = subprocess.run(
        ["bash", "-c", prelude + line],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""} | env,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def careful(tmp_path: Path) -> Path:
    (tmp_path / "careful.py").write_text(CAREFUL)
    (tmp_path / "commands").write_text("info node\nnext\ninfo node\n")
    return tmp_path


BATCH = "gradstep debug --batch -x commands careful.py"
LOST = "gradstep: cannot write to standard output ({}); redirect it elsewhere\n"
FULL, CLOSED = LOST.format("no space left on device"), LOST.format("it is closed")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def test_an_encoding_without_our_characters_gets_ascii(careful: Path) -> None:
    code, out, err = shell(BATCH, careful, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "gradient [4.0, 6.0]\n")
    assert "g * a" in out
    assert out.isascii()


@needs_full
def test_a_full_disk_does_not_disturb_backward(careful: Path) -> None:
    assert shell(f"{BATCH} > /dev/full", careful) == (2, "", "gradient [4.0, 6.0]\n" + FULL)


def test_a_closed_output_does_not_disturb_backward(careful: Path) -> None:
    assert shell(f"{BATCH} >&-", careful) == (2, "", "gradient [4.0, 6.0]\n" + CLOSED)


def test_a_reader_that_is_gone_does_not_disturb_backward(careful: Path) -> None:
    reader = "{ exec <&-; echo > gone; }"
    line = f"mkfifo gone; ( read < gone; {BATCH}; echo code $? >&2 ) | {reader}"
    assert shell(line, careful)[2] == "gradient [4.0, 6.0]\ncode 0\n"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "command",
    [
        "check --all careful.py",
        "render -o - careful.py",
        "render -o - --format png careful.py",
        "ops mul",
        "ops",
        "--help",
        "render --help",
        "--version",
    ],
)
@needs_full
def test_a_full_disk_is_told_in_one_sentence(careful: Path, command: str) -> None:
    code, _, err = shell(f"gradstep {command} > /dev/full", careful)
    assert (code, err.removeprefix("gradient [4.0, 6.0]\n")) == (2, FULL)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", ["check careful.py", "ops mul", "--help"])
def test_a_closed_output_is_told_in_one_sentence(careful: Path, command: str) -> None:
    code, _, err = shell(f"gradstep {command} >&-", careful)
    assert (code, err.removeprefix("gradient [4.0, 6.0]\n")) == (2, CLOSED)


def test_no_picture_is_made_for_a_closed_output(careful: Path) -> None:
    code, _, err = shell("gradstep render -o - careful.py >&-", careful)
    assert (code, err) == (2, "gradstep: standard output is closed; name a file with -o\n")


@needs_full
def test_the_code_of_what_was_found_outlives_a_full_disk(careful: Path) -> None:
    (careful / "wrong.py").write_text(CAREFUL.replace("(a * a)", "(a - 3).log()"))
    code, _, err = shell("gradstep check wrong.py > /dev/full", careful)
    assert code == 5
    assert err.endswith(FULL)
    (careful / "raises.py").write_text("raise ValueError('mine')\n")
    code, _, err = shell("gradstep check raises.py > /dev/full", careful)
    assert code == 1
    assert err.endswith("ValueError: mine\n")


@pytest.mark.parametrize("where", [pytest.param("/dev/full", marks=needs_full), "&-"])
def test_messages_that_nobody_can_read_change_nothing(careful: Path, where: str) -> None:
    assert shell(f"gradstep ops nothing 2>{where}", careful) == (2, "", "")


def test_no_message_strays_into_a_picture_where_there_is_no_place_for_messages(
    careful: Path,
) -> None:
    script = "print('to stdout')\n" + CAREFUL.replace("sys.stderr", "sys.stdout")
    (careful / "prints.py").write_text(script)
    code, out, _ = shell("gradstep render -o - prints.py 2>&-", careful)
    assert (code, out[:5], "to stdout" in out) == (0, "<svg ", False)


@needs_full
def test_what_the_script_could_not_print_is_told_in_one_sentence(careful: Path) -> None:
    (careful / "prints.py").write_text("print('to stdout')\n" + CAREFUL)
    code, _, err = shell("gradstep render -o x.svg prints.py > /dev/full", careful)
    assert code == 2
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert err.endswith(FULL)


def test_a_stream_that_the_script_closes_is_no_trouble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Closed:
        closed = True

    stream = output.Stream("stdout")
    stream._first = Closed()
    stream.write("to the one that is there now")
    assert capsys.readouterr().out == "to the one that is there now"
    assert stream.problem == ""


# --- interrupts -----------------------------------------------------------------------------------

INTERRUPTED = """\
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from gradstep.__main__ import main
sys.argv[1:] = ["check", "careful.py"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    "name",
    [
        "pathlib",
        "gradstep_tui",
        "gradstep_tui.cli",
        "argparse",
        "gradstep_tui.commands.check",
        "numpy",
        "gradstep.graph",
    ],
)
def test_an_interrupt_while_the_command_loads_ends_it_in_good_order(
    careful: Path, name: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name)],
        cwd=careful,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gradstep: interrupted\n")


def test_the_command_can_be_interrupted_from_its_first_line_on() -> None:
    program = "import sys; had = {*sys.modules}; import gradstep; print({*sys.modules} - had)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ast.literal_eval(done.stdout) <= {
        "__future__", "gradstep", "gradstep.contract", "gradstep.contract.registry"
    }  # fmt: skip
