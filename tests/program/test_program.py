"""TARGET: its forms, what it leads to, and what is said when it leads nowhere."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import pytest

import autograd_core as torch
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import BadTarget, ProgramError, ScriptFailed
from gradstep.program.process import run_as_main
from gradstep.program.run import Ran, find_named, run_target, single_scalar
from gradstep.program.target import Target, parse_target, require_file

PROGRAM = """\
import autograd_core as torch

a = torch.tensor(2.0, requires_grad=True)
loss = a * a
plain = torch.tensor(1.0)
number = 3


def cube():
    return a**3


def needy(x, y, z=1):
    return a


def failing():
    return 1 / 0


def ending():
    raise SystemExit(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.linear(x).sum()


class Ready(Net):
    sample_inputs = (torch.ones(3, 2),)


class Computing(Net):
    def sample_inputs(self):
        return torch.ones(3, 2)


net, ready, computing = Net(), Ready(), Computing()
if __name__ == "__main__":
    raise AssertionError("the main part does not run")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    return "program.py"


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("train.py", "train.py", ""),
        ("train.py:", "train.py", ""),
        ("train.py:loss", "train.py", "loss"),
        ("models/net.py:net.head", "models/net.py", "net.head"),
        (r"C:\work\net.py:loss", r"C:\work\net.py", "loss"),
        ("odd:name/net.py:loss", "odd:name/net.py", "loss"),
        ("package.module:net", "package.module", "net"),
        ("my.pyramid:top", "my.pyramid", "top"),
    ],
)
def test_a_target_is_taken_apart(text: str, place: str, name: str) -> None:
    assert parse_target(text) == Target(place, name)


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("thrown_ball.py", "thrown_ball"),
        ("samples/thrown_ball.py", "samples-thrown_ball"),
        ("samples/thrown_ball.py:height", "samples-thrown_ball-height"),
        ("models.net:loss", "models-net-loss"),
        ("my.pyramid:top", "my-pyramid-top"),
    ],
)
def test_a_picture_is_named_after_its_target(text: str, stem: str) -> None:
    assert parse_target(text).stem == stem


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", "a TARGET is file.py"),
        (":", "a TARGET is file.py"),
        (":loss", "a TARGET is file.py"),
        ("program.py:a:b", "a TARGET is file.py"),
        ("program.py:net[0]", "a TARGET is file.py"),
        ("..package:loss", "a TARGET is file.py"),
        ("program", "did you mean program.py?"),
        ("package.module", "as in package.module:loss"),
        (".", "it is a directory"),
        ("notes.txt", "ends in .py"),
    ],
)
def test_what_is_no_target_is_told_what_would_be_one(program: str, text: str, remedy: str) -> None:
    Path("notes.txt").touch()
    with pytest.raises(BadTarget, match="is not a target") as caught:
        parse_target(text)
    assert remedy in str(caught.value)


def test_a_file_that_is_not_there_brings_to_mind_one_that_is(program: str) -> None:
    Path("folder.py").mkdir()
    for text, message in (
        ("progam.py", "progam.py does not exist; did you mean program.py?"),
        ("nowhere/x.py", "nowhere/x.py does not exist"),
        ("utterly_other.py", "utterly_other.py does not exist"),
        ("folder.py", "folder.py is a directory, not a script"),
    ):
        with pytest.raises(ProgramError) as caught:
            require_file(parse_target(text))
        assert str(caught.value) == message


@pytest.mark.parametrize("name", ["loss", "cube", "ready", "computing"])
def test_a_name_leads_to_a_tensor(program: str, name: str) -> None:
    found = find_named(parse_target(f"{program}:{name}"), [])
    assert found.root.requires_grad
    assert found.names.of(found.root) == name
    assert "a" in map(found.names.of, found.names.tensors())
    assert "program" not in sys.modules


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("lost", ProgramError, "program.py has no lost; did you mean loss"),
        ("net.forwrd", ProgramError, "program.py has no net.forwrd; did you mean forward"),
        ("qqq", ProgramError, "program.py has no qqq"),
        ("number", ProgramError, "is an int; name a tensor"),
        ("Net", ProgramError, "is the class Net; name a tensor"),
        ("needy", ProgramError, "needs arguments (x, y); name a function that needs none"),
        ("net", ProgramError, "needs arguments (x); give it an attribute sample_inputs"),
        ("ending", ProgramError, "is None; name a tensor"),
        ("failing", ScriptFailed, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_name_that_leads_to_no_tensor(
    program: str, name: str, kind: type[ProgramError], message: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        find_named(parse_target(f"{program}:{name}"), [])
    assert type(caught.value) is kind
    assert message in str(caught.value)


def test_a_module_that_is_missing_is_not_one_that_misses_another(program: str) -> None:
    Path("needs_other.py").write_text("import surely_not_there\n")
    Path("quits.py").write_text("raise SystemExit\n")
    folder = Path("nested")
    folder.mkdir()
    (folder / "__init__.py").touch()
    for text, kind, message in (
        ("nowhere:loss", ProgramError, "there is no module nowhere"),
        ("nested.nowhere:loss", ProgramError, "there is no module nested.nowhere"),
        ("quits:loss", ProgramError, "quits ended the program while it was imported"),
        ("needs_other:loss", ScriptFailed, "No module named 'surely_not_there'"),
    ):
        with pytest.raises(ProgramError) as caught:
            find_named(parse_target(text), [])
        assert type(caught.value) is kind, text
        assert message in str(caught.value)
        assert "importlib" not in str(caught.value)


def test_a_module_in_this_directory_is_found(program: str) -> None:
    found = find_named(parse_target("program:loss"), [])
    assert found.root.item() == 4.0
    del sys.modules["program"]


def test_a_file_that_ends_itself_is_taken_as_far_as_it_came(program: str) -> None:
    Path("early.py").write_text(
        "import autograd_core as torch\n"
        "loss = torch.tensor(1.0, requires_grad=True) * 2\nraise SystemExit\n"
    )
    assert find_named(parse_target("early.py:loss"), []).root.item() == 2.0


def test_the_one_scalar_that_nothing_was_computed_from() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = a * a
    loss = b + 1
    names = {"a": a, "b": b, "loss": loss, "same": loss, "_hidden": a * 3, "vector": loss.expand(2)}
    assert single_scalar(names) == ("loss", loss)


@pytest.mark.parametrize(
    ("count", "message"), [(0, "left no scalar with a graph"), (2, "x0, x1; name one")]
)
def test_no_scalar_or_several_must_be_named(count: int, message: str) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(ProgramError, match=message):
        single_scalar({f"x{number}": a * number for number in range(count)})


# --- python -m ---------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package ``models`` with a module that trains, and a main module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "models", raising=False)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "__init__.py").write_text("import autograd_core as torch\n")
    (folder / "parts.py").write_text("def double(x):\n    return x + x\n")
    (folder / "train.py").write_text(
        "import sys\nfrom . import torch\nfrom .parts import double\n"
        "seen = (__name__, __package__, __spec__.name, sys.argv[1:], sys.path[0])\n"
        "program = sys.argv[0]\n"
        "x = torch.tensor(3.0, requires_grad=True)\nloss = double(x)\nloss.backward()\n"
    )
    (folder / "__main__.py").write_text("from .train import loss\n")
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "models"]:
        del sys.modules[name]


def calls_of(target: Target, arguments: list[str]) -> list[InterceptedCall]:
    calls: list[InterceptedCall] = []

    def note(found: InterceptedCall) -> bool:
        assert found.names  # which can be found as long as the call lasts
        calls.append(found)
        return False

    assert run_target(target, arguments, CallSelector(None), note) == Ran()
    return calls


def test_a_module_runs_as_python_m_runs_it(package: Path) -> None:
    (call,) = calls_of(parse_target("models.train", module=True), ["--epochs", "3"])
    (root,) = call.call.roots
    assert call.names.of(root) == "loss"
    assert "models.train" not in sys.modules


def test_a_module_sees_what_python_m_shows_it(package: Path) -> None:
    from gradstep.program.process import run_as_main

    variables = run_as_main(parse_target("models.train", module=True), ["--epochs", "3"])
    assert variables["seen"] == (
        "__main__", "models", "models.train", ["--epochs", "3"], str(package),
    )  # fmt: skip
    assert variables["program"] == str(package / "models" / "train.py")


def test_a_package_runs_by_its_main_module(package: Path) -> None:
    (call,) = calls_of(parse_target("models", module=True), [])
    assert call.number == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("models.lost", "there is no module models.lost"),
        ("lost.train", "there is no module lost"),
        ("empty", "empty is a package without a module __main__; name a module in it"),
    ],
)
def test_a_module_that_cannot_be_run(package: Path, name: str, message: str) -> None:
    (package / "empty").mkdir()
    (package / "empty" / "__init__.py").touch()
    with pytest.raises(ProgramError, match=message):
        calls_of(parse_target(name, module=True), [])


def test_a_path_is_not_a_module() -> None:
    with pytest.raises(BadTarget, match=r"-m takes package.module, not 'models/train.py'"):
        parse_target("models/train.py", module=True)


@pytest.mark.parametrize("text", ["0", "-1", "first", "grad:", "grad:0", "1.5", ""])
def test_what_is_not_a_choice_of_calls(text: str) -> None:
    with pytest.raises(BadTarget, match="a call is a positive integer, last"):
        CallSelector.parse(text)


@pytest.mark.parametrize("size", [None, "2"], ids=["alone", "one of many"])
def test_what_one_process_of_many_leaves_stays_to_its_end(
    program: str, monkeypatch: pytest.MonkeyPatch, size: str | None
) -> None:
    Path("ends.py").write_text("class Kept: pass\nkept = Kept()\n", "utf-8")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if size is not None:
        monkeypatch.setenv("WORLD_SIZE", size)
    kept = weakref.ref(run_as_main(parse_target("ends.py"), [])["kept"])
    gc.collect()
    assert (kept() is not None) is (size is not None)
