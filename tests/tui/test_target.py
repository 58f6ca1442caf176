"""TARGET: its forms, what it leads to, and what is said when it leads nowhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import autograd_core as torch
from tui.cli import main
from tui.failure import ExitCode, Failure
from tui.target import Target, find_named, parse_target, require_file, single_scalar

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
        ("samples/quadratic.py", "quadratic"),
        ("samples/quadratic.py:Q", "quadratic-Q"),
        ("models.net:loss", "net-loss"),
        ("my.pyramid:top", "pyramid-top"),
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
    with pytest.raises(Failure, match="is no target") as caught:
        parse_target(text)
    assert caught.value.code == ExitCode.USAGE
    assert remedy in caught.value.message


def test_a_file_that_is_not_there_brings_to_mind_one_that_is(program: str) -> None:
    Path("folder.py").mkdir()
    for text, message in (
        ("progam.py", "progam.py does not exist; did you mean program.py?"),
        ("nowhere/x.py", "nowhere/x.py does not exist"),
        ("utterly_other.py", "utterly_other.py does not exist"),
        ("folder.py", "folder.py is a directory, not a script"),
    ):
        with pytest.raises(Failure) as caught:
            require_file(parse_target(text))
        assert (caught.value.message, caught.value.code) == (message, ExitCode.TARGET)


@pytest.mark.parametrize("name", ["loss", "cube", "ready", "computing"])
def test_a_name_leads_to_a_tensor(program: str, name: str) -> None:
    found = find_named(parse_target(f"{program}:{name}"), [])
    assert found.root.requires_grad
    assert found.names[name] is found.root
    assert "a" in found.names
    assert "program" not in sys.modules


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("lost", ExitCode.TARGET, "program.py has no lost; did you mean loss"),
        ("net.forwrd", ExitCode.TARGET, "program.py has no net.forwrd; did you mean forward"),
        ("qqq", ExitCode.TARGET, "program.py has no qqq"),
        ("number", ExitCode.TARGET, "is an int; name a tensor"),
        ("Net", ExitCode.TARGET, "is the class Net; name a tensor"),
        ("needy", ExitCode.TARGET, "needs arguments (x, y); name a function that needs none"),
        ("net", ExitCode.TARGET, "needs arguments (x); give it an attribute sample_inputs"),
        ("ending", ExitCode.TARGET, "is None; name a tensor"),
        ("failing", ExitCode.SCRIPT_FAILED, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_name_that_leads_to_no_tensor(
    program: str, name: str, code: ExitCode, message: str
) -> None:
    with pytest.raises(Failure) as caught:
        find_named(parse_target(f"{program}:{name}"), [])
    assert caught.value.code == code
    assert message in caught.value.message


def test_a_module_that_is_missing_is_not_one_that_misses_another(program: str) -> None:
    Path("needs_other.py").write_text("import surely_not_there\n")
    Path("quits.py").write_text("raise SystemExit\n")
    folder = Path("nested")
    folder.mkdir()
    (folder / "__init__.py").touch()
    for text, code, message in (
        ("nowhere:loss", ExitCode.TARGET, "there is no module nowhere"),
        ("nested.nowhere:loss", ExitCode.TARGET, "there is no module nested.nowhere"),
        ("quits:loss", ExitCode.TARGET, "quits ended itself while it was imported"),
        ("needs_other:loss", ExitCode.SCRIPT_FAILED, "No module named 'surely_not_there'"),
    ):
        with pytest.raises(Failure) as caught:
            find_named(parse_target(text), [])
        assert caught.value.code == code, text
        assert message in caught.value.message
        assert "importlib" not in caught.value.message


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
    with pytest.raises(Failure, match=message) as caught:
        single_scalar({f"x{number}": a * number for number in range(count)})
    assert caught.value.code == ExitCode.TARGET


@pytest.mark.torch
@pytest.mark.parametrize("name", ["script.py", "script.py:y"])
def test_a_script_that_works_with_pytorch_itself_is_told_what_to_change(
    tmp_path, monkeypatch, capsys, name
):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(
        "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()\n"
    )
    assert main(["render", name]) == 3
    said = capsys.readouterr().err
    assert "import autograd_core as torch" in said
    assert "Traceback" not in said
