"""The private names of PyTorch that are used: that they are there, and what happens without."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.contract import lookup  # noqa: E402
from gradstep.engines.pytorch import entry, private  # noqa: E402  # imports torch
from gradstep.engines.pytorch.attach import attached  # noqa: E402
from tests.forking import can_fork, run_python  # noqa: E402
from tests.test_structure import MODULES, is_within  # noqa: E402

pytestmark = pytest.mark.torch

ITS_OWN = ("autograd_core", "gradstep.engines.native", private.__name__)
"""The core, which none of this is about, and where all of it belongs."""
HAVE_OBJECTS = tuple(
    f"gradstep.{name}"
    for name in (
        "records", "graph", "contract", "capturing", "recording", "comparing", "engines",
        "debugger", "findings", "console",
    )
)  # fmt: skip
"""The layers that read objects of the program's; below them is the fence that they do so by, above
them are what runs programs and what draws."""
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


@pytest.mark.parametrize(
    ("thing", "names"),
    [
        (torch.nn.Module(), private.MODULE_ATTRIBUTES),
        (torch.amp.GradScaler("cpu"), private.SCALER_ATTRIBUTES),
    ],
)
def test_modules_and_scalers_still_have_each_private_name(
    thing: object, names: tuple[private.PrivateName, ...]
) -> None:
    for name in names:
        assert hasattr(thing, name.path), f"without {name.path}, {name.lost}"


class Pair(NamedTuple):
    """Has what Python gives to each NamedTuple, which some of PyTorch's objects are."""

    first: int


@cache
def names_of_pytorch() -> set[str]:
    """Return the names of attributes that objects of PyTorch have, but for those that Python gives
    to objects, functions, classes and modules."""
    leaf = torch.ones(2, requires_grad=True)
    node = (leaf * 2).grad_fn
    objects = (
        torch, torch.autograd, torch.autograd.graph, torch.autograd.Function, leaf, node,
        torch.nn.Linear(1, 1), torch.nn.Linear, torch.optim.SGD([leaf]), leaf.untyped_storage(),
        torch.ops.aten.add, torch.ops.aten.add.Tensor, leaf.dtype, leaf.device, private,
        torch.autograd.graph.GradientEdge(node, 0), torch.autograd.function.BackwardCFunction,
        torch.autograd.function.FunctionCtx, torch.utils._python_dispatch.TorchDispatchMode,
        torch.amp.GradScaler("cpu"),
    )  # fmt: skip
    of_python = {
        *dir(Pair(1)),
        *dir(object),
        *dir(test_no_file_but_private_knows_what_pytorch_does_not_document),
        *dir(type),
        *dir(sys),
        *dir(ast),
    }
    return {name for each in objects for name in dir(each)} - of_python


def own_names(layer: str) -> set[str]:
    """Return the names of attributes that classes of a layer, and of the contract, declare or give
    to their objects."""
    layers = (layer, "gradstep.contract")
    files = [file for name, file in MODULES.items() if is_within(name, layers)]
    return set().union(*map(names_declared_in, files))


@cache
def names_declared_in(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {node.attr} if is_of_us(node.value) else set()
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    names.add(each.target.id)
    return names


def is_of_us(node: ast.expr) -> bool:
    """Whether an attribute is asked for of an object of the class that the code is of."""
    if isinstance(node, ast.Call):
        node = node.func
        return isinstance(node, ast.Name) and node.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_of_torch(node: ast.expr) -> bool:
    """Whether an attribute is one of PyTorch's modules', but for those that have switches."""
    path = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return isinstance(node, ast.Name) and node.id == "torch" and path[-1] != "backends"


def uses(tree: ast.AST, names: set[str], own: set[str], has_objects: bool) -> Iterator[str]:
    """Yield what code does with objects of PyTorch that only private.py may do.

    Code that ``has_objects`` of the program's asks none of them, and no class of theirs, for its
    dictionary, and gives none an attribute; other code does so with modules of Python's.
    """
    hidden = {name for name in names if name.startswith("_") and not name.endswith("__")}
    hidden |= {"__func__", "__wrapped__"} | ({"__dict__"} if has_objects else set())
    nodes = [*ast.walk(tree)]
    slots = {
        id(part)
        for node in nodes
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__"
        for part in ast.walk(node.value)
    }
    for node in nodes:
        seen = False
        match node:
            case ast.Attribute(value=owner, attr=attribute) if not is_of_us(owner):
                of_torch = is_of_torch(node)
                is_private = attribute.startswith("_") and not attribute.endswith("__")
                changes = not isinstance(node.ctx, ast.Load)
                seen = (
                    attribute in hidden
                    or (of_torch and (changes or is_private))
                    or (has_objects and changes and attribute in names - own)
                )
            case ast.Call(func=ast.Name(id=function), args=[owner, *_]) if not is_of_us(owner):
                seen = has_objects and function in ("vars", "setattr", "delattr")
            case ast.Constant(value=str() as text) if id(node) not in slots:
                seen = text in hidden and not hasattr(private, text)
        if seen:
            yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in MODULES} - {""}))
def test_no_file_but_private_knows_what_pytorch_does_not_document(package: str) -> None:
    """No file but private.py knows what PyTorch does not document, or changes its objects.

    A name counts as PyTorch's if one of its objects has it. What is assigned to may also be of
    ours, if a class of ours has that name.
    """
    names, own = names_of_pytorch(), own_names(".".join(package.split(".")[:2]))
    has_objects = is_within(package, HAVE_OBJECTS)
    for module, file in MODULES.items():
        if module.rpartition(".")[0] == package and not is_within(module, ITS_OWN):
            tree = ast.parse(file.read_text("utf-8"))
            assert [*uses(tree, names, own, has_objects)] == [], module


@pytest.mark.parametrize(
    "code",
    [
        "tensor._version",
        "torch._C",
        "torch.nn.Module.__call__ = f",
        "kind.step.__wrapped__",
        "vars(torch.optim)",
        "leaf.grad = None",
        "setattr(kind, name, f)",
        "f.__func__",
        "getattr(module, '_forward_hooks', ())",
        "del torch.Tensor.add",
        "module.__dict__",
        "attribute_of(scaler, '_scale')",
        "TABLES = ('_forward_hooks', '_backward_hooks')",
    ],
)
def test_what_only_private_may_do_is_seen(code: str) -> None:
    assert [
        *uses(ast.parse(code), names_of_pytorch(), own_names("gradstep.engines"), has_objects=True)
    ]


@pytest.mark.parametrize("code", ["vars(main)", "main.__dict__", "module.__file__ = path"])
def test_code_that_has_no_object_of_the_program_reads_modules_of_pythons(code: str) -> None:
    assert not [
        *uses(ast.parse(code), names_of_pytorch(), own_names("gradstep.engines"), has_objects=False)
    ]


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
def test_a_script_is_drawn_without_each_private_name(
    tmp_path: Path,
    sample: Callable[[Sequence[private.PrivateName], int], list[private.PrivateName]],
) -> None:
    names = sample(private.NAMES, 8)
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "without.py").write_text(WITHOUT, "utf-8")
    ran = run_python(["without.py", *(name.path for name in names)], tmp_path, with_torch=False)
    assert ran.returncode == 0, ran.stderr
    said = [(tmp_path / f"{n}.txt").read_text("utf-8") for n in range(len(names))]
    assert ran.stdout.split() == ["0"] * len(names), said
    for number, name in enumerate(names):
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
