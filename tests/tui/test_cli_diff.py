"""``gradstep diff``: what it takes, and how it ends."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from gradstep_tui.cli import main

SCRIPT = """\
import autograd_core as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * 2).sin()
loss = y.sum()
loss.backward()
"""
CHANGED = SCRIPT.replace("* 2", "* 2.5").replace("import", "# one more line\nimport", 1)
NAMED = SCRIPT.replace("loss.backward()\n", "")


def diff(*words: str) -> int:
    return main(["diff", *words])


def test_recordings_graphs_and_targets_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in [("a.py", SCRIPT), ("b.py", CHANGED), ("c.py", NAMED)]:
        Path(name).write_text(f"print('printed')\n{text}")
    for name in "ab":
        assert main(["record", "--values", "all", "-o", f"{name}.gsr", f"{name}.py"]) == 0
    assert main(["render", "--format", "json", "-o", "a.json", "a.py"]) == 0
    capfd.readouterr()
    assert diff("a.gsr", "a.gsr") == 0
    assert capfd.readouterr().out.startswith("a.gsr and a.gsr: equal\n")
    assert diff("a.gsr", "b.gsr") == 5
    assert "changed  mul:1 a.py:4 and b.py:5: arguments " in capfd.readouterr().out
    assert diff("-o", "a.svg", "-o", "a.html", "a.gsr", "b.gsr") == 5
    assert not Path("a.svg").exists()
    assert "a.gsr | b.gsr: the graphs differ" in Path("a.html").read_text()
    assert diff("-o", "a.dot", "a.json", "b.gsr") == 5
    assert "≠ arguments" in Path("a.dot").read_text()
    assert diff("-o", "a.gif", "a.gsr", "b.gsr") == 2
    assert diff("--view", "flow", "-o", "rows.svg", "a.gsr", "b.gsr") == 5
    assert "Blue: the second run." in Path("rows.svg").read_text("utf-8")
    assert diff("--view", "flow", "-o", "rows.html", "a.gsr", "b.gsr") == 2
    assert diff("a.json", "a.gsr") == 0
    assert diff("a.json", "c.py:loss") == 0
    capfd.readouterr()
    assert diff("--format", "json", "a.py", "b.gsr") == 5
    out, err = capfd.readouterr()
    assert json.loads(out)["first"]["what"] == "the result of mul:1"
    assert json.loads(out)["first"]["certain"]
    assert err.startswith("printed")


def test_what_cannot_be_compared_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("no.json").write_text("[")
    nothing = {"format": "gradstep-graph", "version": 1, "nodes": [], "edges": []}
    Path("none.json").write_text(json.dumps(nothing))
    Path("none.py").write_text("")
    for words, code, said in [
        (("a.gsr",), 2, "name two runs, A and B"),
        (("a.gsr", "b.gsr"), 3, "cannot read a.gsr"),
        (("no.json", "no.json"), 3, "no.json is not a graph: this is not JSON"),
        (("there.json", "no.json"), 3, "cannot read there.json"),
        (("none.json", "none.py"), 3, "have no call of backward() in common"),
        (("a.py", "b.py"), 3, "a.py does not exist"),
        (("--tolerance", "9x", "a.py", "b.py"), 2, "it is dtype, 1e-5, 4ulp, or bitwise"),
        (("--tolerance", "nan", "a.py", "b.py"), 2, "'nan' is not a tolerance"),
    ]:
        assert diff(*words) == code, words
        assert said in capfd.readouterr().err


def test_commands_for_a_module_run_as_they_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SCRIPT.replace("2.0", "float(sys.argv[1])")
    Path("own_module.py").write_text(f"import sys\n{text}")
    for number in "23":
        assert main(["record", "-o", f"{number}.gsr", "-m", "own_module", number, "a b"]) == 0
    capfd.readouterr()
    assert diff("--format", "json", "2.gsr", "3.gsr") == 5
    command = json.loads(capfd.readouterr().out)["first"]["command"]
    assert command == "gradstep record --call 1 --values all -m own_module 2 'a b'"
    assert main(shlex.split(command)[1:]) == 0
    assert main(["check", "2.gsr"]) == 0
    assert "gradstep check -m own_module 2 'a b'\n" in capfd.readouterr().out


def test_the_call_that_differs_first_is_looked_at_op_by_op(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        "import autograd_core as torch",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)",
        "for step in range(3):",
        "    factor = torch.tensor(2 + 0.5 * (step == 1))",
        "    (x.sin() * factor).sum().backward()",
    ]
    Path("a.py").write_text("\n".join(lines))
    Path("b.py").write_text("\n".join(lines).replace("0.5", "0.25"))
    assert diff("--call", "3", "--format", "json", "a.py", "b.py") == 5
    out, err = capfd.readouterr()
    assert json.loads(out)["first"]["call"] == "backward() call 2"
    assert json.loads(out)["first"]["certain"]
    assert "the programs run again" in err


UNSTEADY = {
    "random numbers without a seed": "x = torch.rand(3, requires_grad=True)",
    "the order of a set, or hash()": "x = torch.tensor(hash('a') / 2.0**64, requires_grad=True)",
    "time.time()": "import time; x = torch.tensor(time.time() % 1, requires_grad=True)",
}


@pytest.mark.sampled(1)
@pytest.mark.slow  # each runs in eight processes
@pytest.mark.parametrize("cause", UNSTEADY)
def test_why_a_program_does_not_repeat_itself_is_named(
    cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["import autograd_core as torch", UNSTEADY[cause], "x.sin().sum().backward()"]
    Path("a.py").write_text("\n".join(lines))
    assert diff("--repeat", "2", "a.py") == 5
    out = capfd.readouterr().out
    assert "first difference, here: x\n" in out
    assert [line for line in out.splitlines() if line.startswith("cause: ")] == [
        f"cause: {cause}; without it, two runs are equal"
    ]


def test_a_program_that_repeats_itself_runs_in_a_copy_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("part").mkdir()
    Path("part/beside.py").write_text("number = 2\n")
    Path("data.txt").write_text("1 2")
    Path("part/a.py").write_text(
        "import beside\nnumbers = open('data.txt', 'r+'); read = numbers.read()\n"
        "numbers.write(' 3')\n" + SCRIPT.replace("* 2)", "* beside.number * len(read))")
    )
    assert diff("--repeat", "2", "part/a.py") == 0
    assert capfd.readouterr().out.startswith("part/a.py (run 1) and run 2: equal\n")
    assert Path("data.txt").read_text() == "1 2"
    assert diff("--vary", "threads", "part/a.py") == 2
    assert diff("--repeat", "2", "a.py:loss") in (2, 3)
    assert "is for programs of PyTorch" in capfd.readouterr().err
