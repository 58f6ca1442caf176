"""Programs that a command once made do something else: each runs plainly and under commands, and
what it says is the same."""

from __future__ import annotations

from typing import Final

import pytest

from tests.laws.piece_programs import check_text, program_text

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

CHECK, CHECK_ALL = ["check"], ["check", "--call", "all"]
RECORD, FLIGHT = ["record", "-o", "run.gsr"], ["record", "--when", "nan", "-o", "run.gsr"]
RECORD_VALUES = ["record", "--call", "all", "--values", "all", "-o", "run.gsr"]
WHY = ["why", "--call", "last"]
RENDER, FILM = ([command, "--call", "last", "-o", "out.svg"] for command in ("render", "film"))
FAIL_ON, FAIL_ON_LARGE = (["debug", "--fail-on", what] for what in ("nan,inf", "rms > 1e30"))
DEBUG = ["debug", "--batch", "--ex", "next"]

COUNTED: Final = """
class Counted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        count("Counted")
        return super().__torch_function__(function, types, args, kwargs or {})
class Cube(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x): return x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): return g * 3 * ctx.saved_tensors[0] ** 2
v1 = torch.func.vmap(Cube.apply)(v0.as_subclass(Counted) + 1)
"""
EXEC: Final = """
exec('''
class Loss(torch.Tensor):
    def backward(self, *given, **named): return super().backward(*given, **named)
(x1 * x0).sum().as_subclass(Loss).backward()
''')
"""
RAISES: Final = """
gc.disable()
def nan(y):
    with torch.autograd.detect_anomaly(check_nan=True):
        ((y - y.detach()).sqrt() * 0).sum().backward()
def hook(y):
    def h(g): raise ValueError("h")
    z = y * 2
    z.register_hook(h)
    z.sum().backward()
def twice(y):
    s = (y * y).sum()
    s.backward()
    s.backward()
def inside(y):
    def refused(g):
        with torch.enable_grad():
            torch.autograd.grad(x2.exp().sum(), x0)
    z = y * 2
    z.register_hook(refused)
    z.sum().backward()
for work in (nan, twice, hook, twice, inside):
    def run():
        y = x1.exp()
        watch(work.__name__, y)
        attempt(lambda: work(y))
    run()
    tell("alive:", [name for name, ref in watched if ref() is not None])
"""
NUMBERS: Final = """
for _ in range(3):
    numbers = [x0.sin().grad_fn._sequence_nr(), (x1 * x2).grad_fn._sequence_nr()]
    (x0.exp() * x1).sum().backward()
    tell(numbers, x0.cos().grad_fn._sequence_nr())
"""
GOES_ON: Final = """
def told(name, *values):
    for y in values: attempt(lambda: tell(name, y.grad_fn._saved_result is None))
def twice(inputs=None):
    y, z = v0.sin().exp(), x1.tanh()
    loss = (y * 2).tanh().sum() + z.exp().sum()
    y.sum().backward(inputs=inputs)
    for _ in range(2):
        attempt(lambda: loss.backward())
        told("twice", y, z)
def changed():
    y, z = x1.exp(), x2.exp()
    loss = y.tanh().sum() + z.sum()
    y.add_(1)
    attempt(lambda: loss.backward())
    told("changed", z)
twice()
twice([v0])
changed()
tell(plain(x0.grad), plain(x1.grad), plain(x2.grad))
def hook(g): raise ValueError("hook")
y = x1.exp()
z = (y * 2).tanh()
y.register_hook(hook)
loss = z.sum()
for _ in range(2):
    attempt(lambda: loss.backward())
    told("hook", y, z)
"""
WARNS: Final = """
net.register_full_backward_hook(lambda module, gave, got: None)
def hook(g):
    for level in range(1, 6): warnings.warn(f"level {level}", stacklevel=level)
for step in range(2): net(torch.ones(2, 3)).sum().backward()
net(torch.ones(2, 3)).sum().backward()
y = x1 * 2
y.register_hook(hook)
y.sum().backward()
"""
MASKED: Final = """
from torch.masked import masked_tensor
masked = masked_tensor(v0.detach(), v0.detach() > 0, requires_grad=True)
(masked * 2).sum().backward()
tell(type(masked.grad).__name__)
"""
VERSIONS: Final = """
flat = torch.zeros(12)
parts = [flat[:9].view(3, 3), flat[9:], torch.ones(2)]
(v0 * x1).sum().backward()
torch._foreach_mul_(parts, 2.0)
torch._foreach_add_(parts, parts)
tell([part._version for part in parts])
(v0 * x1).sum().backward()
"""
FREED: Final = """
y = x1.exp()
(y * y).sum().backward()
attempt(lambda: y.grad_fn._saved_result)
def loss():
    kept = torch.rand(2, 3)
    watch("kept", kept)
    return (x1 * kept).sum()
s = loss()
s.backward()
tell("alive:", [name for name, ref in watched if ref() is not None])
"""
PACKED: Final = """
gc.disable()
def by_hooks():
    y = x1 * 2
    watch("by_hooks", y)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: [x], lambda packed: packed[0]):
        return (y * y).sum()
def by_a_checkpoint():
    y = x1 * 2
    watch("by_a_checkpoint", y)
    return checkpoint(torch.sin, y, use_reentrant=False).sum()
def by_a_copy():
    y = x1 * 2
    watch("by_a_copy", y)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        s = (y * y).sum()
        s.backward()
        tell("alive:", [name for name, ref in watched if ref() is not None])
        return s
losses = []
for loss in (by_hooks, by_a_checkpoint, by_a_copy):
    losses.append(loss())
    attempt(lambda: losses[-1].backward())
    attempt(lambda: losses[-1].backward())
    tell("alive:", [name for name, ref in watched if ref() is not None])
"""
SUBCLASS: Final = """
class Stays(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        tally("Stays")
        return super().__torch_function__(function, types, args, kwargs or {})
x1 = torch.rand(2, 3).as_subclass(Stays).requires_grad_()
for _ in range(3): (x1 * x2).as_subclass(torch.Tensor).sum().backward()
made = (x1 * 2).as_subclass(Stays)
of_names = [made, made * 2, made + 1]
s1, s2 = made.sin(), made.cos()
(x1 * v0).sum().backward()
(s1 * s2).as_subclass(torch.Tensor).sum().backward()
"""
RAISING: Final = """
def unused():
    torch.autograd.grad((v0.sin() * x1).sum(), [torch.ones(1, requires_grad=True)])
def interrupted():
    y = v0 * 1
    watch("interrupted", y)
    y.register_hook(interrupt)
    y.sum().backward()
def interrupt(g):
    raise KeyboardInterrupt
v1 = v0.exp()
watch("v1", v1)
attempt(unused)
v2 = v1.exp()
try: interrupted()
except KeyboardInterrupt: tell("interrupted")
del v1, v2
gc.collect()
tell("alive:", [name for name, ref in watched if ref() is not None])
"""
METADATA: Final = """
def say(word, x):
    tell(word)
    return x
y = v0.sin() * x1
with torch.autograd.graph.saved_tensors_hooks(
    lambda x: say("pack", x), lambda x: say("unpack", x)
):
    z = y.exp() * x2
c = checkpoint(lambda x: x.sin().exp(), z, use_reentrant=False)
c.grad_fn.register_prehook(lambda gradients: tell("before"))
s = c.sum()
s.backward()
tell([dict(each.grad_fn.metadata) for each in (y, z, c, s)])
for each in (s, z, y):
    attempt(lambda: each.sum().backward())
long = x1
for _ in range(1500): long = long * 1.0
long.sum().backward()
tell(dict(long.grad_fn.metadata))
del long
"""
EDGE: Final = """
edge = torch.autograd.graph.get_gradient_edge(v0)
tell(plain(torch.autograd.grad((v0.sin() * v0).sum(), edge)[0]))
"""
NAN_AT_ONCE: Final = """
v0.register_hook(lambda g: tell("hook", plain(g)))
(v0 - v0.detach() + x1 * 0).sqrt().sum().backward()
"""
NAN_LATER: Final = """
for step in range(4):
    v1 = x1 * 2
    v1.register_hook(lambda g: tell("hook", plain(g)))
    (((v1 - v1.detach()).sqrt() if step == 2 else v1) * x0).sum().backward()
"""
OPS: Final = """
from torch.utils._python_dispatch import TorchDispatchMode
class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        tell(op)
        return op(*args, **(kwargs or {}))
class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.x, ctx.factor = x.detach(), factor
        return x * factor
    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor + 0 * ctx.x, None
def step(p):
    with torch.no_grad(): p.sub_(p.grad.to_dense() * 0.1)
    p.grad = None
x2.register_post_accumulate_grad_hook(step)
w = x2 * 1
w.register_hook(lambda g: g * 2)
v1 = torch.sin(Kept.apply(torch.sin(v0) * x1, 2.5)) * x0 + w
s = (v1 * v0 + v1 + x2).sum()
with Seen():
    s.backward(retain_graph=True)
    s.backward()
    far = nn.Linear(3, 3, device="meta")
    far(torch.ones(1, 3, device="meta")).sum().backward()
    rows = (x0.sin().exp() * x1).sum(1)
    tell(plain(torch.autograd.grad(rows, x0, torch.eye(2), is_grads_batched=True)[0]))
"""
PASS_INSIDE: Final = """
from contextlib import contextmanager
@contextmanager
def around(name):
    tell("enter", name); yield; tell("leave", name)
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        tell("Inner")
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return torch.autograd.grad(x.exp(), x, g)[0]
for n in range(3):
    contexts = lambda: (around("forward"), around("again"))
    v = checkpoint(torch.exp, x1 * 2, use_reentrant=False, context_fn=contexts)
    v = Inner.apply(v.sin())
    def h(g):
        tell("hook"); a_pass(lambda: (x2 * 2).exp().sum().backward())
    v.register_hook(h)
    v.mean().backward()
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("statements", "commands"),
    [
        pytest.param(
            RAISING,
            [CHECK, CHECK_ALL, RECORD, FAIL_ON, DEBUG],
            id="what a call that raised knew of dies",
        ),
        pytest.param(
            COUNTED, [CHECK_ALL, FILM, RECORD_VALUES], id="a subclass is asked as often as plainly"
        ),
        pytest.param(EXEC, [WHY, CHECK], id="a leaf is named where exec() calls backward()"),
        pytest.param(
            RAISES,
            [CHECK, CHECK_ALL, WHY, FILM, RENDER, RECORD, FLIGHT, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="values of a pass that raised die with the error",
        ),
        pytest.param(
            NUMBERS,
            [CHECK, CHECK_ALL, WHY, FILM, RENDER, RECORD, FLIGHT, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="nodes have the numbers that they have plainly",
        ),
        pytest.param(
            GOES_ON,
            [CHECK, WHY, RECORD, FLIGHT, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="what ran before a call raised is freed",
        ),
        pytest.param(
            WARNS,
            [CHECK, WHY, RENDER, RECORD, FLIGHT, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="a warning in a pass is shown around it, where it is plainly",
        ),
        pytest.param(
            MASKED,
            [CHECK, RENDER, RECORD, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="a subclass that computes gradients computes those of a plain pass",
        ),
        pytest.param(VERSIONS, [CHECK_ALL, WHY], id="views that one op changes count each change"),
        pytest.param(
            FREED,
            [CHECK, CHECK_ALL, WHY, RENDER, RECORD, RECORD_VALUES, FLIGHT, FAIL_ON, FAIL_ON_LARGE],
            id="what a call saved is freed with it",
        ),
        pytest.param(
            PACKED,
            [CHECK, CHECK_ALL, WHY, RENDER, RECORD, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="so is what hooks of the program's packed",
        ),
        pytest.param(
            METADATA,
            [CHECK, CHECK_ALL, FILM, RENDER, RECORD, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="grad_fn.metadata is the program's",
        ),
        pytest.param(
            SUBCLASS,
            [CHECK, CHECK_ALL, WHY, FILM, RENDER, RECORD, FAIL_ON, FAIL_ON_LARGE, DEBUG],
            id="code of a subclass runs as often",
        ),
        pytest.param(EDGE, [CHECK, CHECK_ALL], id="an input may be a GradientEdge"),
        pytest.param(
            OPS,
            [CHECK, FILM, RENDER, RECORD, RECORD_VALUES, FAIL_ON, FAIL_ON_LARGE, DEBUG, WHY],
            id="a dispatch mode sees the ops that it sees plainly",
        ),
        pytest.param(NAN_AT_ONCE, [CHECK, CHECK_ALL], id="a first call that makes a NaN runs once"),
        pytest.param(
            NAN_LATER, [CHECK_ALL, FLIGHT], id="so does a later one, if the program goes on"
        ),
        pytest.param(
            PASS_INSIDE, [FAIL_ON, FAIL_ON_LARGE, FLIGHT], id="hooks and Functions run once"
        ),
    ],
)
def test_a_program_does_under_commands_what_it_does_plainly(
    statements: str, commands: list[list[str]]
) -> None:
    found = check_text(program_text(statements), commands)
    assert not found, "\n".join(f"{' '.join(command)}: {wrong}" for command, wrong in found)
