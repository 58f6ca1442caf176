"""Programs that put functions of their own in the place of PyTorch's.

What they put there runs as often as it does plainly, in the same order, and the gradients are the
same to the bit: whatever watches a program calls none of its functions under PyTorch's names.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.forking import run_python

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

WAYS = {
    "a function": "def put(owner, name, old):\n    setattr(owner, name, counted(name, old))",
    "functools.wraps": (
        "def put(owner, name, old):\n"
        "    setattr(owner, name, functools.wraps(old)(counted(name, old)))"
    ),
    "twice": (
        "def put(owner, name, old):\n"
        "    setattr(owner, name, counted(name + ' outside', counted(name, old)))"
    ),
    "an object": (
        "class Counted:\n"
        "    def __init__(self, call):\n"
        "        self.call = call\n"
        "    def __get__(self, instance, owner=None):\n"
        "        return self if instance is None else functools.partial(self.call, instance)\n"
        "    def __call__(self, *given, **named):\n"
        "        return self.call(*given, **named)\n"
        "def put(owner, name, old):\n"
        "    setattr(owner, name, Counted(counted(name, old)))"
    ),
    "a decorator of PyTorch's": (
        "def put(owner, name, old):\n"
        "    setattr(owner, name, torch.enable_grad()(counted(name, old)))"
    ),
    "for a while": (
        "def put(owner, name, old):\n"
        "    setattr(owner, name, counted(name, old))\n"
        "    undone.append(lambda: setattr(owner, name, old))"
    ),
}
"""Statements that put a function which counts its calls in the place of another."""
REPLACING = """
import functools, operator, torch, types

order, undone = [], []

def counted(name, old):
    def counting(*given, **named):
        order.append(name)
        return old(*given, **named)
    return counting

PUT

FUNCTIONS = [
    (torch.autograd, "backward"), (torch.autograd, "grad"), (torch.Tensor, "backward"),
    (torch.Tensor, "register_hook"), (torch.Tensor, "retain_grad"), (torch.nn.Module, "__call__"),
    (torch.nn.functional, "relu"), (torch.nn.functional, "dropout"), (torch, "einsum"),
    (torch.nn.functional, "mse_loss"), (torch.Tensor, "norm"), (torch.Tensor, "split"),
    (torch.Tensor, "add"), (torch.Tensor, "mul_"), (torch, "exp"),
    (torch.optim.SGD, "step"), (torch.optim.SGD, "zero_grad"),
    (torch.optim.Optimizer, "zero_grad"), (torch.autograd.graph, "increment_version"),
]
KINDS = (
    types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
OPERATORS = {*vars(operator), "__radd__", "__rmul__", "__rsub__", "__bool__", "__float__"}
OPERATORS |= {"__int__", "__len__", "__iter__", "__array__", "__dlpack__", "__dlpack_device__"}
MODULES = (
    torch, torch.linalg, torch.nn.functional, torch.random, torch.autograd, torch.autograd.graph
)
CLASSES = [
    (torch, "no_grad"), (torch, "enable_grad"), (torch, "set_grad_enabled"), (torch, "autocast"),
    (torch, "inference_mode"), (torch.autograd, "set_detect_anomaly"),
]
# by which PyTorch asks modes, and what draws on each kind of device: those that this process has
# are known to PyTorch alone
LEFT = {"is_tensor_like", "cast", "fork_rng", "get_rng_state", "set_rng_state"}
def everything():
    for name, method in {**vars(torch.Tensor.__base__), **vars(torch.Tensor)}.items():
        if isinstance(method, KINDS) and (name[0] != "_" or name in OPERATORS):
            yield torch.Tensor, name
    for module in MODULES:
        for name, function in vars(module).items():
            is_inner = name in LEFT or "torch_function" in name
            if isinstance(function, KINDS) and name[0] != "_" and not is_inner:
                yield module, name
    yield from CLASSES

def replace():
    for owner, name in dict.fromkeys([*FUNCTIONS, *(list(everything()) if WHOLE else ())]):
        put(owner, name, getattr(owner, name))

softmax = torch.nn.functional.softmax
torch.nn.functional.softmax = torch.softmax  # which takes other arguments
read = torch.Tensor.mT.__get__
torch.Tensor.mT = property(lambda tensor: (order.append("mT"), read(tensor))[1])
"""
PROGRAM = """
import torch
from replacing import order, replace, softmax, undone

if not REPLACED:
    replace()

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.ops.aten.mul(x, 2)  # whatever checks it runs it again
    @staticmethod
    def backward(ctx, g):
        return torch.ops.aten.mul(g, 2)

class Loss(torch.Tensor):
    def backward(self, *given, **named):
        order.append("Loss.backward")
        return super().backward(*given, **named)

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(4, 1)
)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
w, v = torch.ones(3, requires_grad=True), torch.ones(2).as_subclass(Loss).requires_grad_()
for step in range(3):
    optimizer.zero_grad()
    x = torch.rand(5, 3) * w
    h = Doubled.apply(x).add(1)
    h.retain_grad()
    h.register_hook(lambda g: g * 3)
    left, right = torch.nn.functional.relu(h).split([2, 1], dim=1)
    h = torch.cat([left + 1, right], 1)
    h.mul_(0.5)
    h = h + softmax(h, dim=1)
    loss = torch.nn.functional.mse_loss(net(h), torch.zeros(5, 1)) + h.mT.norm()
    loss = loss + torch.einsum("i,i->", w, w).exp().sum()
    if step == 0:
        loss.backward()
    elif step == 1:
        torch.autograd.backward(loss, inputs=[*net.parameters(), w])
    else:
        (loss.as_subclass(Loss) + (v * v).sum()).backward()
    optimizer.step()
    if step == 1:
        for undo in reversed(undone):
            undo()
    calls, order[:] = list(order), []
    print('plain:', [p.grad.tolist() for p in net.parameters()], w.grad.tolist(), calls)
    w.grad = None
print('plain:', torch.autograd.grad((w * w).exp().sum(), w)[0].tolist(), order)
"""
BEFORE = """
import runpy, sys
from replacing import replace

replace()
sys.argv[:] = sys.argv[1:]
if sys.argv[0] == "gradstep":
    runpy.run_module("gradstep", run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
COMMANDS = (
    ["check"], ["why", "--call", "last"], ["film", "--call", "last", "-o", "out.svg"],
    ["render", "--call", "last", "-o", "out.svg"], ["record", "-o", "out.gsr"],
    ["render", "--values", "--call", "last", "-o", "out.svg"], ["debug", "--fail-on", "nan"],
    ["debug", "--call", "all", "--batch", "--ex", "continue", "--ex", "continue"],
    ["debug", "--certify", "--call", "all", "--batch", "--ex", "continue", "--ex", "continue"],
)  # fmt: skip


class Case(NamedTuple):
    way: str
    is_before: bool
    command: list[str]


CASES = [
    Case(way, is_before, command)
    for way in WAYS
    for is_before in (False, True)
    for command in COMMANDS
]


def run(case: Case, folder: Path, words: list[str]) -> list[str]:
    """Run a program, or what watches it; return what the program printed."""
    # that decorator calls what it would replace
    whole = str(case.way != "a decorator of PyTorch's")
    text = REPLACING.replace("PUT", WAYS[case.way]).replace("WHOLE", whole)
    (folder / "replacing.py").write_text(text, "utf-8")
    (folder / "train.py").write_text(PROGRAM.replace("REPLACED", str(case.is_before)), "utf-8")
    (folder / "before.py").write_text(BEFORE, "utf-8")
    start = ["before.py"] if case.is_before else ["-m"] if words[0] == "gradstep" else []
    done = run_python([*start, *words], folder)
    assert done.returncode in (0, 5), done.stderr
    assert "defect of gradstep" not in done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("plain:")]


def differences(ours: str, expected: str) -> str:
    """Say which names were called more or less often, or else that the gradients differ."""
    counts = [Counter(re.findall(r"'([\w. ]+)'", line)) for line in (ours, expected)]
    counts[0].subtract(counts[1])
    return str({name: count for name, count in counts[0].items() if count} or (ours, expected))


def test_what_a_program_replaced_runs_as_often_as_plainly(
    sample: Callable[[Any, int], list[Any]], tmp_path: Path
) -> None:
    plain: dict[tuple[str, bool], list[str]] = {}
    wrong = []
    for case in sample(CASES, 6):
        if case[:2] not in plain:
            plain[case[:2]] = run(case, tmp_path, ["train.py"])
            assert len(plain[case[:2]]) == 4
        leaf = ["w"] if case.command[0] == "why" else []
        done = run(case, tmp_path, ["gradstep", *case.command, "train.py", *leaf])
        for ours, expected in zip(done, plain[case[:2]], strict=True):
            if ours != expected:
                wrong.append(f"{case}: {differences(ours, expected)}")
    assert not wrong, "\n".join(wrong)


_NESTED = ("overrides.py", "backend_registration.py")  # functions inside others, which are none


def parameters_of(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]


def test_what_pytorch_does_not_pass_on_to_modes_may_be_none() -> None:
    torch = pytest.importorskip("torch")
    dropped = set()
    for path in Path(torch.__file__).parent.glob("**/*.py"):
        text = path.read_text("utf-8", errors="ignore")
        if "handle_torch_function(" not in text or path.name in _NESTED:
            continue
        for function in filter(
            lambda each: isinstance(each, ast.FunctionDef), ast.walk(ast.parse(text))
        ):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "handle_torch_function":
                    given = {ast.unparse(each) for each in call.args[2:]}
                    given |= {keyword.arg or "**" for keyword in call.keywords}
                    if not any(each.startswith("*") for each in given):
                        dropped |= {(function.name, each) for each in parameters_of(function)} - {
                            (function.name, each.removesuffix("_tuple")) for each in given
                        }
    assert dropped <= {
        ("dim_order", "ambiguity_check"), ("l1_loss", "weight"), ("backward", "grad_variables"),
    }  # fmt: skip
