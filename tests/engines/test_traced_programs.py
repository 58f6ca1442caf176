"""Programs that have PyTorch trace, export, compile or transform what they compute.

What comes of it is, to the letter, what comes of it plainly, whatever watches the program; and the
program is watched on afterwards.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forking import run_python

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

START = """
import io, warnings
import torch
from torch import nn

torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.second(torch.nn.functional.relu(self.first(x)) * 2 + 1)

def function(x):
    return ((x * 2 + 1).relu() ** 2 / 3).sum()

net, x, w = Net(), torch.rand(5, 3), torch.ones(3, requires_grad=True)
w = torch.nn.Parameter(w)
"""
END = """
(net(x * w).pow(2).sum() + function(w)).backward()
print(w.grad.tolist(), [p.grad.tolist() for p in net.parameters()])
"""
PROGRAMS = {
    "jit.trace": """
traced, module = torch.jit.trace(function, (x,)), torch.jit.trace(net, (x,))
print(traced.graph, traced.code, module.graph, module.inlined_graph, module.code)
for _ in range(3):
    (traced(x * w) + module(x * w).sum()).backward()
    print(w.grad.tolist())
""",
    "jit.script": """
class Loop(Net):
    def forward(self, x, count: int):
        for number in range(count):
            x = x * 2 + number
        return self.second(torch.relu(self.first(x)))

scripted, module = torch.jit.script(function), torch.jit.script(Loop())
print(scripted.graph, scripted.code, module.graph, module.code)
for _ in range(3):
    (scripted(x * w) + module(x * w, 2).sum()).backward()
    print(w.grad.tolist())
print(torch.jit.freeze(module.eval()).code)
""",
    "fx": """
class Tracer(torch.fx.Tracer):
    record_stack_traces = True

graph = Tracer().trace(net)
print(graph, [node.meta.get("stack_trace") for node in graph.nodes])
traced = torch.fx.symbolic_trace(net)
print(traced.code)
traced(x * w).sum().backward()
print(w.grad.tolist())
""",
    "make_fx": """
from torch.fx.experimental.proxy_tensor import make_fx

def gradient(x):
    return torch.autograd.grad(function(x), x)[0]

for mode in ("real", "fake", "symbolic"):
    traced = make_fx(lambda x: function(nn.functional.dropout(x)), tracing_mode=mode)(x)
    print(traced.print_readable(print_output=False))
print(make_fx(gradient)(w).code, make_fx(torch.func.functionalize(function))(x).code)
""",
    "export": """
warnings.simplefilter("ignore")
for strict in (False, True):
    exported = torch.export.export(net, (x,), strict=strict)
    print(exported, exported.module()(x).tolist())
""",
    "compile": """
def backend(module, given):
    print(module.print_readable(print_output=False))
    return module.forward

@torch.compile(backend=backend)
def compiled(x):
    if torch.compiler.is_compiling():
        x = x + 1
    y = nn.functional.relu(x * 2)
    torch._dynamo.graph_break()
    return (y - 1).sum()

class Around(nn.Module):
    def forward(self, x):
        return compiled(x) * 2

torch.compile(net, backend=backend)(x)
fast = torch.compile(net, backend="aot_eager")
for _ in range(2):
    (compiled(w) + Around()(w) + fast(x * w).sum()).backward()
    print(w.grad.tolist(), [p.grad.tolist() for p in net.parameters()])
with torch.device("cpu"):
    compiled(w).backward()
print(w.grad.tolist(), torch._dynamo.utils.counters["stats"])
""",
    "compile within": """
def backend(module, given):
    print(module.print_readable(print_output=False))
    return module.forward

class Model(Net):
    @staticmethod
    @torch.compile(backend=backend)
    def triple(x):
        return x * 3

    def forward(self, x):
        return super().forward(self.triple(x))

@torch.compile(backend=backend)
class Doubling:
    def __call__(self, x):
        return x * 2

model, double = Model(), Doubling()
model.compile(backend=backend)
twice = torch.compile(torch.compile(lambda x: model(x) + double(x)[:, :2], backend=backend))
both = torch.compile(lambda x: twice(x).sum() + double(x).sum(), backend=backend, fullgraph=True)
for _ in range(2):
    (model(x * w).sum() + both(x * w) + double(w).sum()).backward()
    print(w.grad.tolist(), [p.grad.tolist() for p in model.parameters()])
""",
    "compile with hooks": """
from torch.utils.checkpoint import checkpoint

class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3
    @staticmethod
    def backward(ctx, g):
        return g * 3

def eager(x):
    for number in range(2):
        torch._dynamo.graph_break()  # in a loop, where nothing is compiled but what is called
        y = x * number
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        y = y.clone().detach_() + x.data + x.detach() * float(x.sum().item())
        x.backward(torch.ones_like(x), retain_graph=True)
        torch.autograd.grad(net(x).sum(), x)
        nn.utils.clip_grad_norm_(list(net.parameters()), 1.0)
        sgd.step()
        sgd.zero_grad()
        with torch.no_grad():
            z = torch.stack(list(y)).relu().tanh()
        x = x + z + checkpoint(net.first, x, use_reentrant=False).sum()
    return x.sum()

handle = net.first.register_full_backward_hook(lambda module, gave, got: print(got))
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
fast = torch.compile(nn.Sequential(net, nn.Tanh()), backend="aot_eager")
fast(Triple.apply(x * w)).sum().backward()
torch.compile(lambda x: Triple.apply(x) * 2, backend="aot_eager")(w).sum().backward()
handle.remove()  # what runs inside of backward() there is not compiled
torch.compile(eager, backend="aot_eager")(x * w)
counters = torch._dynamo.utils.counters
print(w.grad.tolist(), counters["stats"], counters["graph_break"], counters["resumes"])
""",
    "func": """
from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap

print(vmap(function)(x), grad(function)(x), jvp(function, (x,), (x,)), hessian(function)(x[0]))
parameters = dict(net.named_parameters())
print(grad(lambda p: functional_call(net, p, (x,)).pow(2).sum())(parameters))
print(vmap(net)(x), jacrev(net)(x[0]))
vmap(lambda x: function(x * w))(x).sum().backward()
print(w.grad.tolist())
""",
    "fake tensors": """
from torch._subclasses.fake_tensor import FakeTensorMode

warnings.simplefilter("error")
with FakeTensorMode() as mode:
    fake, layer = torch.rand(5, 4, requires_grad=True), nn.Linear(4, 2)
    print(layer(fake), layer(fake).relu() * 2)
    layer(fake).sum().backward()
    print(fake.grad, layer.weight.grad)
print(mode.from_tensor(w))
""",
    "onnx": """
warnings.simplefilter("ignore")
print(torch.jit._get_trace_graph(net, (x,))[0])  # what it exports
try:
    torch.onnx.export(net, (x,), io.BytesIO(), dynamo=False)
except Exception as error:  # a package is not installed
    print(error)
""",
}
COMMANDS = (
    ["check"], ["why", "--call", "last"], ["film", "--call", "last", "-o", "out.svg"],
    ["render", "--call", "last", "-o", "out.svg"], ["record", "-o", "out.gsr"],
    ["render", "--values", "--call", "last", "-o", "out.svg"], ["debug", "--fail-on", "nan"],
)  # fmt: skip
CASES = [(name, command) for name in PROGRAMS for command in COMMANDS]


def test_what_is_traced_is_as_it_is_plainly(
    sample: Callable[[Any, int], list[Any]], tmp_path: Path
) -> None:
    plain: dict[str, str] = {}
    wrong = []
    for name, command in sample(CASES, 3):
        (tmp_path / "train.py").write_text(START + PROGRAMS[name] + END, "utf-8")
        if name not in plain:
            done = run_python(["train.py"], tmp_path)
            assert done.returncode == 0, done.stderr
            plain[name] = done.stdout.replace(f"{tmp_path}/", "")
        leaf = ["w"] if command[0] == "why" else []
        done = run_python(["-m", "gradstep", *command, "train.py", *leaf], tmp_path)
        where = f"{command} of {name}"
        if done.returncode not in (0, 5) or "defect of gradstep" in done.stderr:
            wrong.append(f"{where}: {done.stdout[-300:]} {done.stderr[-900:]}")
        elif not (printed := done.stdout.replace(f"{tmp_path}/", "")).startswith(plain[name]):
            pairs = zip(plain[name].splitlines(), printed.splitlines(), strict=False)
            wrong.append(f"{where}: {[pair for pair in pairs if pair[0] != pair[1]][:2]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*PROGRAMS, "no compiler, but its modules"])
def test_a_program_is_watched_on_afterwards(name: str, tmp_path: Path) -> None:
    traced = PROGRAMS.get(name, "import torch._dynamo\ntorch.manual_seed(1)\n")
    overflow = "loss = net(x * w).exp().mean() * float('inf')\nloss.backward()\n"
    (tmp_path / "train.py").write_text(START + traced + overflow, "utf-8")
    done = run_python(["-m", "gradstep", "check", "train.py"], tmp_path)
    line = (START + traced + overflow).splitlines().index(overflow.splitlines()[0]) + 1
    assert re.search(rf"\[not-finite\] +mul:\d+ train.py:{line}\n", done.stdout), done.stdout


def test_what_is_compiled_stays_so_where_the_compiler_is_imported_later(tmp_path: Path) -> None:
    """The other processes have imported what compiles before they watch anything."""
    (tmp_path / "train.py").write_text(
        "import torch\n@torch.compile(backend='aot_eager')\n"
        "def double(x):\n    return x * 2\n"
        "loss = double(torch.ones(3, requires_grad=True)).sum()\n"
        "print(loss.grad_fn.next_functions[0][0].name())\nloss.backward()\n",
        "utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "gradstep", "check", "train.py"], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.startswith("CompiledFunctionBackward\n"), done.stdout + done.stderr
