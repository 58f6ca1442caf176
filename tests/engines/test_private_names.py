"""The private names of PyTorch that are used: that they are there, and what happens without."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.contract import lookup  # noqa: E402
from gradstep.engines.pytorch import entry, private  # noqa: E402  # imports torch
from gradstep.engines.pytorch.attach import attached  # noqa: E402
from tests.forking import can_fork, run_python  # noqa: E402

pytestmark = pytest.mark.torch

SCRIPT = """\
import torch
x = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
loss.backward()
"""
WITHOUT = """\
import os
import sys
from pathlib import Path

import torch
import gradstep.engines
import gradstep_tui.commands.render
from gradstep.__main__ import main

# PyTorch itself needs most of them, so only the place that looks them up does not find the name
file = Path(gradstep.engines.__file__).parent / "pytorch" / "private.py"
source = file.read_text("utf-8")
looks = "    value: Any = torch\\n"
assert source.count(looks) == 1
for number, hidden in enumerate(sys.argv[1:]):
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    sys.stderr = open(f"{number}.txt", "w", encoding="utf-8")
    changed = source.replace(looks, f"    value: Any = None if path == {hidden!r} else torch\\n")
    private = type(sys)("gradstep.engines.pytorch.private")
    private.__file__ = str(file)
    sys.modules[private.__name__] = private
    exec(compile(changed, str(file), "exec"), private.__dict__)
    sys.argv[1:] = ["render", "-o", f"{number}.svg", "train.py"]
    sys.exit(main())
"""
OLD = """\
import sys
import torch
from gradstep.__main__ import main

torch.__version__ = "2.3.1"
for command in ("render", "check", "why", "film", "debug --batch --ex next", "record -o r"):
    sys.argv[1:] = [*command.split(), "train.py", *["x"][:command == "why"]]
    print(main())
"""


@pytest.mark.parametrize("name", [*private.NAMES, *private.NODE_ATTRIBUTES], ids=lambda n: n.path)
def test_pytorch_still_has_each_private_name(name: private.PrivateName) -> None:
    assert name not in private.missing(), f"without {name.path}, {name.lost}"


@pytest.mark.parametrize("name", private.FSDP_ATTRIBUTES, ids=lambda n: n.path)
def test_fsdp_still_has_each_private_name(name: private.PrivateName) -> None:
    found = importlib.util.find_spec("torch.distributed.fsdp._fully_shard")
    assert found is not None
    (folder,) = found.submodule_search_locations or ()
    assert any(
        re.search(rf"\b{name.path}\b", file.read_text("utf-8"))
        for file in Path(folder).glob("*.py")
    ), f"without {name.path}, {name.lost}"


def test_no_file_but_private_uses_a_private_name() -> None:
    names = (*private.NAMES, *private.FSDP_ATTRIBUTES)
    last = {name.path.rpartition(".")[2] for name in names}
    for file in Path(private.__file__).parent.glob("*.py"):
        if file.name != "private.py":
            text = file.read_text("utf-8")
            assert not [name for name in last if f".{name}" in text], file


def test_a_name_that_is_gone_is_told_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run_backward() is not None  # it was looked up when the module was loaded
    monkeypatch.delattr(torch.autograd.graph, "_engine_run_backward")
    x = torch.ones(3, requires_grad=True)
    with attached():
        (x * 2).sum().detach()
    said = f"gradstep: PyTorch {torch.__version__} has no autograd.graph._engine_run_backward: "
    assert capsys.readouterr().err == f"{said}backward() calls are not intercepted\n"


@pytest.mark.skipif(not can_fork, reason="a process for each name would take a minute")
def test_a_script_is_drawn_without_each_private_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "without.py").write_text(WITHOUT, "utf-8")
    ran = run_python(
        ["without.py", *(name.path for name in private.NAMES)], tmp_path, with_torch=False
    )
    assert ran.returncode == 0, ran.stderr
    said = [(tmp_path / f"{n}.txt").read_text("utf-8") for n in range(len(private.NAMES))]
    assert ran.stdout.split() == ["0"] * len(private.NAMES), said
    for number, name in enumerate(private.NAMES):
        told = f"has no {name.path}: {name.lost}\n"
        assert (told in said[number]) == (not name.older)
        assert "Traceback" not in said[number]
        assert ElementTree.parse(tmp_path / f"{number}.svg").getroot() is not None


def test_a_pytorch_that_is_too_old_is_told_and_the_script_runs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{SCRIPT}print(x.grad.tolist())\n", "utf-8")
    (tmp_path / "old.py").write_text(OLD, "utf-8")
    ran = run_python(["old.py"], tmp_path, with_torch=False)
    assert ran.stdout == "[2.0, 2.0]\n3\n" * 6
    said = "gradstep: PyTorch 2.3.1 is too old for gradstep; install 2.6 or newer"
    assert {line for line in ran.stderr.splitlines() if "no call was" not in line} == {said}
    assert not (tmp_path / "train.svg").exists()


@pytest.mark.parametrize(
    ("version", "old"), [("2.5.1", True), ("2.10.0a0+git1", False), ("x", False)]
)
def test_versions_are_told_apart(version: str, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    assert bool(lookup.unreadable()) is old
