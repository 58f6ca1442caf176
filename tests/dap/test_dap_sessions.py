"""Sessions of an editor, from its first message to its last, each with a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.dap.editor import Editor, Failed, start
from tests.waiting import LIMIT, until

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]

SQUARES = """\
import {library} as torch
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x = torch.tensor([2.0, 0.0, 1.0])
y = w * x
z = y * y
loss = z.sum() + (w * 2).sum()
print("forward is done")
loss.backward()
print("grad", w.grad.tolist())
"""
ROOTS = """\
import autograd_core as torch
x = torch.tensor([0.0, 1.0], requires_grad=True)
for _ in range(3):
    x.grad = None
    y = torch.sqrt(x)
    (y * 0).sum().backward()
print("nan", x.grad.tolist())
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    process = start(tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    yield Editor(process.stdin, process.stdout)
    with suppress(OSError):
        process.stdin.close()
    assert process.wait() == 0
    assert process.stderr.read() == b""


def write(folder: Path, text: str, library: str = "autograd_core") -> Path:
    file = folder / "squares.py"
    file.write_text(text.replace("{library}", library))
    return file


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pass_is_stepped_through_looked_at_and_changed(
    library: str, editor: Editor, tmp_path: Path
) -> None:
    stop = editor.begin(write(tmp_path, SQUARES, library))
    assert (stop["reason"], stop["text"]) == ("entry", "before the first node")
    assert editor.until_printed("\n") == "forward is done\n"
    assert editor.ask("threads")["threads"][0]["name"] == "backward() call 1"
    assert editor.frames() == ["#1 add:1"]
    before = {"#2 sum:2", "#2 sum:1"}
    assert editor.move("next", threadId=1)["reason"] == "step"
    assert editor.frames()[0] in before
    # to the product that the sum of squares sends to
    for _ in range(9):
        if editor.frames()[0].endswith("mul:2"):
            break
        editor.move("next", threadId=1)
    names = editor.frames()
    assert names[0].endswith("mul:2")
    assert names[-1] == "#1 add:1"
    frame = int(names[0].split()[0][1:])

    inputs = editor.variables(editor.scope("Inputs", frame))
    assert inputs["in"]["value"] == "1 everywhere"
    assert inputs["in"]["type"] == "float32 [3]"
    numbers = editor.variables(inputs["in"]["variablesReference"])
    assert [numbers[f"[{n}]"]["value"] for n in range(3)] == ["1.0", "1.0", "1.0"]
    saved = editor.variables(editor.scope("Saved values", frame))
    assert saved["self"]["value"] == "rms 2.08, 0 to 3, 1 of 3 are 0"
    with pytest.raises(Failed, match="self cannot be changed"):
        editor.ask("setVariable", variablesReference=editor.scope("Saved values", frame),
                   name="self", value="1")  # fmt: skip

    # phase by phase, and back
    assert editor.move("stepIn", threadId=1)["text"] == "formula"
    editor.move("stepBack", threadId=1)
    assert editor.frames()[0] == names[0]

    # a change of one number, and of all by an expression
    inside = editor.variables(editor.scope("Inputs", frame))["in"]["variablesReference"]
    assert editor.ask("setVariable", variablesReference=inside, name="[0]", value="5")
    assert editor.event("invalidated") == {"areas": ["variables"]}
    scope = editor.scope("Inputs", frame)
    with pytest.raises(Failed, match="unknown word 'rms_'"):
        editor.ask("setVariable", variablesReference=scope, name="in", value="rms_")
    changed = editor.ask("setVariable", variablesReference=scope, name="in", value="in * 2")
    assert changed["value"] == "rms 6, 2 to 10"

    # the whole way back and on to the end
    assert editor.move("reverseContinue", threadId=1)["reason"] == "step"
    assert editor.frames() == ["#1 add:1"]
    assert editor.end() == 0
    editor.event("terminated")
    # 2 w x² times 10, 2 and 2, and 2 for the other way to w
    assert editor.printed().splitlines()[-1] == "grad [82.0, 2.0, 14.0]"


def test_stops_at_lines_ops_leaves_and_nans(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, ROOTS)
    editor.launch(file, stopOnEntry=False)
    source = {"path": str(file)}
    told = editor.ask("setBreakpoints", source=source, breakpoints=[
        {"line": 5, "hitCondition": "2"}, {"line": 6, "logMessage": "rms {rms}"},
        {"line": 6, "condition": "rms >"}, {"line": 6, "hitCondition": "often"}, {"line": 1}
    ])["breakpoints"]  # fmt: skip
    assert [each["verified"] for each in told] == [False] * 5
    assert "id" in told[0]
    assert "this ends too early" in told[2]["message"]
    assert told[3]["message"].startswith("'often' is not a number of hits")
    filters = [{"filterId": "nan"}]
    assert editor.ask("setExceptionBreakpoints", filters=[], filterOptions=filters)
    editor.ask("configurationDone")
    assert editor.event("breakpoint")["breakpoint"] == {"id": told[0]["id"], "verified": True}

    # 0/0 is met first, in the first call; then the line, in the second one
    stop = editor.event("stopped")
    assert stop["reason"] == "exception"
    assert editor.ask("exceptionInfo", threadId=0)["exceptionId"] == "nan"
    assert "sqrt" in stop["text"]
    said = [m["body"]["output"] for m in editor.heard if m.get("event") == "output"]
    assert "#1 sum:1: rms 1\n" in said

    assert editor.ask("setExceptionBreakpoints", filters=[])["breakpoints"] == []
    stop = editor.move("continue", threadId=0)
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [told[0]["id"]])
    assert stop["text"].endswith(": squares.py:5")
    threads = editor.ask("threads")["threads"]
    assert [each["name"] for each in threads] == ["backward() call 2"]
    targets = editor.ask("gotoTargets", source=source, line=6)["targets"]
    assert [each["label"] for each in targets] == ["#1 sum:1", "#2 mul:1"]
    assert editor.move("goto", threadId=0, targetId=targets[0]["id"])["reason"] == "goto"
    assert editor.frames() == ["#1 sum:1"]

    # a watch on a leaf, and an op by its name
    editor.ask("setBreakpoints", source=source, breakpoints=[])
    leaves = editor.scope("Leaves", 1)
    info = editor.ask("dataBreakpointInfo", variablesReference=leaves, name="x.grad")
    assert info["dataId"] == "x"
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": "x"}])
    function = editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "mul"}, {"name": ""}])
    assert [each["verified"] for each in function["breakpoints"]] == [True, False]
    assert editor.move("continue", threadId=0)["text"].endswith("mul")
    assert editor.move("continue", threadId=0)["reason"] == "data breakpoint"
    editor.ask("setDataBreakpoints", breakpoints=[])
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    assert editor.end() == 0


@pytest.mark.torch
def test_the_session_of_the_page_is_as_it_says(editor: Editor) -> None:
    root = Path(__file__).parents[2]
    page = " ".join((root / "docs" / "how_to" / "editors.rst").read_text("utf-8").split())
    stop = editor.begin(root / "samples" / "bugs" / "nan_from_sqrt.py")
    said = [stop["text"], *editor.frames()]
    editor.ask("setExceptionBreakpoints", filters=["nan"])
    said.append(editor.move("continue", threadId=0)["text"])
    said.append(", ".join(f"``{each}``" for each in editor.frames()))
    for frame, scope, name in (
        (4, "Outputs", "out"), (4, "Inputs", "in"), (4, "Saved values", "self"),
        (2, "Inputs", "in"), (2, "Outputs", "out"), (2, "Node", "gradient of self"),
    ):  # fmt: skip
        variable = editor.variables(editor.scope(scope, frame))[name]
        said.append(variable["value"])
        if (frame, name) == (4, "in"):
            rows = editor.variables(variable["variablesReference"])
            assert rows["[0]"]["value"] == "[inf, inf, inf]"
    editor.move("stepBack", threadId=0)
    assert editor.frames()[0] == "#4 pow:1"
    editor.ask("setVariable", variablesReference=editor.scope("Inputs", 4), name="in", value="0.03")
    assert editor.end() == 0
    editor.event("terminated")
    said.append(editor.printed().splitlines()[-1])
    assert [each for each in said if each not in page] == []


def test_the_language_is_spoken_in_the_console(editor: Editor, tmp_path: Path) -> None:
    editor.begin(write(tmp_path, SQUARES), call="all")
    answer = editor.ask("evaluate", expression="next 2", context="repl")["result"]
    assert answer.startswith("#3 ")
    assert editor.event("stopped")["reason"] == "step"
    assert len(editor.frames()) == 3
    watched = editor.ask("evaluate", expression="rms > 10", context="watch", frameId=3)
    assert watched["result"] == "rms > 10 = no"
    tensor = editor.ask("evaluate", expression="w", context="hover", frameId=3)
    assert "[1]" in editor.variables(tensor["variablesReference"])
    with pytest.raises(Failed, match="unknown command: nxt"):
        editor.ask("evaluate", expression="nxt", context="repl")
    offers = editor.ask("completions", text="break mu", column=9)["targets"]
    assert offers[0] == {"label": "mul", "start": 6, "length": 2}
    sources = editor.ask("loadedSources")["sources"]
    assert [each["name"] for each in sources] == ["squares.py"]
    lines = editor.ask("breakpointLocations", source=sources[0], line=1, endLine=9)["breakpoints"]
    assert [each["line"] for each in lines] == [4, 5, 6]
    with pytest.raises(Failed, match="no answer to the request 'readMemory'"):
        editor.ask("readMemory")
    editor.ask("evaluate", expression="abort", context="repl")
    assert editor.event("exited")["exitCode"] == 0
    assert "grad" not in editor.printed()


@pytest.mark.sampled(torch=0)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pass_inside_another_is_a_thread(library: str, editor: Editor, tmp_path: Path) -> None:
    text = """
import {library} as torch
from {library} import nn
from {library}.utils.checkpoint import checkpoint
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
y = checkpoint(net, torch.ones(2, 3, requires_grad=True), use_reentrant=True)
y.sum().backward()
"""
    editor.begin(write(tmp_path, text, library))
    with pytest.raises(Failed, match="#1 is in no module"):
        editor.ask("stepOut", threadId=1)
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "tanh"}])
    inner = editor.move("continue", threadId=0)["threadId"]
    outer, inside = editor.ask("threads")["threads"]
    assert (outer["name"], inside["id"]) == ("backward() call 1", inner)
    below = editor.ask("stackTrace", threadId=outer["id"])["stackFrames"]
    assert [each["name"].partition(",")[2] for each in below] == [" inside which another pass runs"]
    assert editor.frames() == ["#5 1/tanh:1", "#1 2/addmm:1"]
    editor.move("stepOut", threadId=inner)
    assert editor.frames()[0] == "#6 0/addmm:1"
    assert editor.end() == 0


def test_a_program_that_fails_ends_as_it_would(editor: Editor, tmp_path: Path) -> None:
    text = SQUARES.replace("loss.backward()", "y.register_hook(lambda g: 1 / 0)\nloss.backward()")
    editor.begin(write(tmp_path, text))
    assert editor.move("continue", threadId=0)["reason"] == "exception"
    assert editor.ask("exceptionInfo", threadId=0)["exceptionId"] == "ZeroDivisionError"
    assert editor.end() == 1
    editor.event("terminated")
    assert editor.printed().endswith("ZeroDivisionError: division by zero\n")
    assert "gradstep" not in editor.printed()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_child_that_goes_on_does_not_hide_the_end(editor: Editor, tmp_path: Path) -> None:
    forks = (
        "import os, time\nchild = os.fork()\n"
        f"if not child:\n    time.sleep({LIMIT})\n    os._exit(0)\n"
    )
    text = f"{SQUARES}{forks}print(child)\n"
    editor.launch(write(tmp_path, text), stopOnEntry=False)
    editor.ask("configurationDone")
    assert editor.event("exited")["exitCode"] == 0
    os.kill(int(editor.printed().split()[-1]), signal.SIGKILL)  # it is still there
    editor.event("terminated")


def test_wrong_launches_are_refused(editor: Editor, tmp_path: Path) -> None:
    editor.ask("initialize")
    with pytest.raises(Failed, match="no program runs"):
        editor.ask("threads")
    with pytest.raises(Failed, match="'console' is internalConsole"):
        editor.ask("launch", program="x.py", console="elsewhere")
    with pytest.raises(Failed, match="this editor offers no terminal"):
        editor.ask("launch", program="x.py", console="integratedTerminal")
    with pytest.raises(Failed, match="cannot start nowhere"):
        editor.ask("launch", program="x.py", python="nowhere")
    with pytest.raises(Failed, match=r"x\.py does not exist"):
        editor.ask("launch", program="x.py")
    assert editor.event("exited")["exitCode"] == 3


def test_what_is_no_message_harms_nobody(editor: Editor, tmp_path: Path) -> None:
    for text in (b"{", b"[]", b'{"type": 3}', b'{"type": "request", "command": []}'):
        editor.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
    text = b'{"type": "request", "seq": 90, "command": "initialize", "arguments": [1]}'
    editor.write(b"content-length:%d\r\nContent-Type: x\r\n\r\n%b" % (len(text), text))
    with pytest.raises(Failed, match="'arguments' is not a JSON object"):
        editor.response(90)
    with pytest.raises(Failed, match="'env' is not a JSON object"):
        editor.ask("launch", program="x.py", env=[1])
    with pytest.raises(Failed, match="'source' is not a JSON object"):
        editor.ask("setBreakpoints", source="x.py")
    editor.begin(write(tmp_path, SQUARES))
    for arguments in ({}, {"threadId": "x"}, {"threadId": 7}):
        with pytest.raises(Failed, match=r"threadId|no thread"):
            editor.ask("stackTrace", **arguments)
    with pytest.raises(Failed, match="no longer known"):
        editor.ask("variables", variablesReference=10**9)
    with pytest.raises(Failed, match="no frame"):
        editor.ask("scopes", frameId=100)
    editor.write(b"GET / HTTP/1.1\r\n\r\n")
    while "the connection ends" not in editor.event("output")["output"]:
        pass


def is_over(number: int) -> bool:
    """Whether a process has ended."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    with suppress(OSError):  # one that nobody waits for is over, too
        return Path(f"/proc/{number}/stat").read_text().split()[2] == "Z"
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("kills", [False, True], ids=["stream closed", "adapter killed"])
def test_the_program_ends_with_an_editor_that_vanishes(kills: bool, tmp_path: Path) -> None:
    process = start(tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor(process.stdin, process.stdout)
    editor.begin(write(tmp_path, f"import os\nprint(os.getpid())\n{SQUARES}"))
    program = int(editor.until_printed("\n").split()[0])
    if kills:
        process.send_signal(signal.SIGKILL)
    process.stdin.close()
    process.wait()
    until(lambda: is_over(program))


def test_a_program_is_restarted_terminated_and_left(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, SQUARES)
    editor.launch(file)
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "mul:2"}])
    editor.ask("configurationDone")
    assert editor.event("stopped")["reason"] == "entry"
    assert editor.move("continue", threadId=0)["reason"] == "breakpoint"
    assert editor.move("restart")["reason"] == "entry"
    assert editor.move("continue", threadId=0)["text"] == "breakpoint 1: mul:2"
    editor.ask("terminate")
    assert editor.event("exited")["exitCode"] == 128 + signal.SIGTERM
    editor.event("terminated")
    editor.begin(file)
    editor.ask("disconnect", terminateDebuggee=False)


def test_a_long_move_is_paused_and_goes_on_after_questions(editor: Editor, tmp_path: Path) -> None:
    slow = """
        import time, autograd_core as torch
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(20_000):
            y = y * 1
            y.register_hook(lambda g: time.sleep(0.02))
        y.backward()
    """
    file = write(tmp_path, "\n".join(line.strip(" ") for line in slow.splitlines()).replace(
        "\ny = y", "\n    y = y").replace("\ny.reg", "\n    y.reg"))  # fmt: skip
    editor.begin(file)
    editor.ask("continue", threadId=0)
    assert editor.event("progressStart")["cancellable"] is True
    assert editor.event("progressUpdate")["message"].endswith("of 20,001 nodes")
    assert len(editor.ask("threads")["threads"]) == 1  # met on the way
    with pytest.raises(Failed, match="the program is running: pause it first"):
        editor.ask("stackTrace", threadId=0)
    editor.ask("pause", threadId=0)
    editor.event("progressEnd")
    assert editor.event("stopped")["reason"] == "pause"
    first = int(editor.frames()[0].split()[0][1:])
    assert 1 < first < 20_001
    editor.ask("continue", threadId=0)
    progress = editor.event("progressStart")["progressId"]
    editor.ask("cancel", progressId=progress)
    assert editor.event("stopped")["reason"] == "pause"
    assert first < int(editor.frames()[0].split()[0][1:]) < 20_001


def test_what_waits_is_cancelled(editor: Editor, tmp_path: Path) -> None:
    slow = """
import sys, time
from gradstep.dap.server import Server
def hook(g):
    print("slow")
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("self"), Server):
        frame = frame.f_back
    while len(frame.f_locals["self"]._waiting) < 2:
        time.sleep(0.01)
y.register_hook(hook)
loss.b"""
    editor.begin(write(tmp_path, SQUARES.replace("loss.b", slow)))
    editor.ask("continue", threadId=0)
    editor.until_printed("slow")
    waits = editor.send("threads")
    editor.send("cancel", requestId=waits)
    with pytest.raises(Failed, match="cancelled"):
        editor.response(waits)
    assert editor.event("exited")["exitCode"] == 0


def test_a_tensor_and_a_module_are_debugged(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, SQUARES.replace("loss.backward()", "").replace("w.grad.tolist()", "w"))
    assert editor.begin(f"{file.name}:loss")["reason"] == "entry"
    assert editor.frames() == ["#1 add:1"]
    assert editor.end() == 0
    editor.event("terminated")
    write(tmp_path, f"import sys\n{SQUARES}print(sys.argv[1:])\n")
    editor.begin("", module="squares", args=["--fast"])
    assert editor.end() == 0
    editor.event("terminated")
    assert editor.printed().endswith("['--fast']\n")


def test_a_recording_is_debugged_with_the_text_it_kept(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, SQUARES)
    command = [sys.executable, "-m", "gradstep", "record", "--values", "all", "-o", "run.gsr"]
    subprocess.run([*command, file.name], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "elsewhere").mkdir()
    file = file.rename(tmp_path / "elsewhere" / file.name)
    editor.launch("run.gsr", stopOnEntry=False)
    told = editor.ask("setBreakpoints", source={"path": str(file)}, breakpoints=[{"line": 5}])
    editor.ask("configurationDone")
    assert editor.event("stopped")["hitBreakpointIds"] == [told["breakpoints"][0]["id"]]
    source = editor.ask("loadedSources")["sources"][0]
    text = editor.ask("source", source=source, sourceReference=source["sourceReference"])
    assert text["content"] == file.read_text()
    frame = int(editor.frames()[0].split()[0][1:])
    with pytest.raises(Failed, match="recording"):
        editor.ask(
            "setVariable", variablesReference=editor.scope("Inputs", frame), name="in", value="1"
        )
    assert editor.end() == 0


def test_a_program_reads_and_writes_in_a_terminal_of_the_editor(
    editor: Editor, tmp_path: Path
) -> None:
    text = f"name = input()\n{SQUARES}print('bye', name)\n"
    editor.ask("initialize", supportsRunInTerminalRequest=True)
    number = editor.send(
        "launch", program=str(write(tmp_path, text)), console="integratedTerminal",
        env={"WORD": "x"},
    )  # fmt: skip
    while (asked := editor._next()).get("command") != "runInTerminal":
        pass
    given = asked["arguments"]
    assert given["env"]["WORD"] == "x"
    with subprocess.Popen(
        given["args"], cwd=given["cwd"], env={**os.environ, **given["env"]},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as terminal:  # fmt: skip
        editor.response(number)
        editor.ask("configurationDone")
        assert terminal.stdin is not None
        terminal.stdin.write(b"Ada\n")
        terminal.stdin.flush()
        assert editor.event("stopped")["reason"] == "entry"
        assert editor.end() == 0
        assert terminal.stdout is not None
        assert terminal.stdout.read().decode().splitlines()[-1] == "bye Ada"
