"""Random programs, as text that either library runs: what users do in and around ``backward()``.

A program is made of statements, each of a few lines, in sections: some ops, hooks of all kinds,
and calls of ``backward()`` or ``grad()``.  What it left behind is compared by :func:`evidence`.
"""

from __future__ import annotations

import io
import random
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from textwrap import indent
from types import CodeType
from typing import Any, NamedTuple

HEADER = """\
import asyncio, random
import numpy as np
import {library} as torch
from {library} import nn, optim
from {library}.utils.checkpoint import checkpoint

events, kept, inside = [], {{}}, []
def seen(name, *gradients):
    events.append((name, [g if g is None else g.detach().tolist() for g in gradients]))
def a_pass(work):
    if not inside:
        inside.append(work)
        try:
            with torch.enable_grad(): work()
        finally:
            inside.clear()
def inside_another(x1, reentrant):
    return lambda y, z: checkpoint(lambda w: (w * z).tanh(), y * x1, use_reentrant=reentrant) + y
"""
SHOWN = """
for name, each in kept.items():
    if isinstance(each, torch.Tensor):
        print(name, each.tolist(), each.grad is not None and each.grad.tolist())
    elif isinstance(each, nn.Module):
        for p in each.parameters():
            print(name, p.tolist(), p.grad is not None and p.grad.tolist())
"""
START = """\
torch.manual_seed({seed}); random.seed({seed}); np.random.seed({seed})
x0, x1, x2 = [torch.rand(2, 3).mul(2).sub(1).requires_grad_() for _ in range(3)]
net, norm = nn.Linear(3, 3), nn.BatchNorm1d(3)
sgd = optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
adam = optim.Adam([x0], lr=0.1)"""

FUNCTIONS = {
    "Twice": """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2""",
    "Pair": """\
class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h""",
    "Inner": """\
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (y.sin() * g.detach() + x2 * 0.5).sum().backward()
        return y.grad""",
    "InnerGrad": """\
class InnerGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.tanh()
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            found, = torch.autograd.grad((y.tanh() * g.detach()).sum(), [y])
        seen("InnerGrad", g)
        return found""",
    "Buffer": """\
class Buffer(torch.autograd.Function):
    buffer = torch.zeros(2, 3)
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        with torch.no_grad():
            return Buffer.buffer.copy_(g.detach() * 2)""",
    "Deep": """\
class Deep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1.5
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            checkpoint(lambda y: net(y).tanh(), x.detach().requires_grad_(),
                       use_reentrant=True).sum().backward()
        return g * 1.5""",
}
PURE_FUNCTIONS = ("Twice", "Pair")

# fmt: off
UNARY = (
    "{a}.sin()", "{a}.tanh()", "({a} * 0.3).exp()", "{a} * 2", "{a} + 1", "{a}.relu()", "-{a}",
    "{a}.t().t()", "{a}[0] + {a}", "{a}.reshape(3, 2).reshape(2, 3)", "{a}.clamp(min=0)",
    "{a} * {a}", "{a}.sum(0) + {a}", "{a}.max(1, keepdim=True)[0] * {a}", "{a}.clone()",
    "torch.cat({a}.split(1, 0))", "torch.stack({a}.unbind(0)[::-1])", "{a}.detach() * {a}",
    "net({a})", "net({a}.tanh())", "nn.functional.linear({a}, net.weight)", "{a}.sigmoid()",
    "{a}.abs().sqrt()", "{a}[:, [0, 0, 2]]", "{a}.expand(2, 3)", "{a}.softmax(1)",
)
BINARY = (
    "{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} * x0", "{a} * x1", "{a} + x2",
    "torch.where({a} > 0, {a}, {b})", "torch.cat([{a}[:1], {b}[1:]])", "({a} @ {b}.t()) @ {a}",
    "{a} * {b}.sum()", "{a} / (1 + {b} * {b})", "torch.maximum({a}, {b})",
)
RANDOM = ("nn.functional.dropout({a}, 0.5)", "{a} * torch.rand(2, 3)", "norm({a})")
IN_PLACE = (
    "{v} = {a} * 1.0; {v}.mul_({b})", "{v} = {a} * 1.0; {v}[0].mul_(2)",
    "{v} = {a} * 1.0; {v}[0] = {b}[1]", "{v} = {a} * 1.0; {v}.exp_()",
    "{v} = {a} * 1.0; {v}.t()[1].add_({b}[:, 0])", "{v} = {a} + 0; {v}[:, 1].tanh_()",
    "{v} = ({a} * 1.0).relu_()",
)
CHECKPOINTS = (
    "checkpoint(lambda y: net(y).tanh(), {a}, use_reentrant={reentrant})",
    "checkpoint(lambda y: (y * x1).sin() * y, {a}, use_reentrant={reentrant})",
    "checkpoint(lambda y: y * torch.rand(2, 3), {a}, use_reentrant={reentrant})",
    "checkpoint(lambda y: norm(y * x2), {a}, use_reentrant={reentrant})",
    "checkpoint(inside_another(x1, {reentrant}), {a}, {b}, use_reentrant={reentrant})",
)
CALLED = (
    "Twice.apply({a})", "sum(Pair.apply({a}, {b}))", "Pair.apply({a}, {b})[0]", "Inner.apply({a})",
    "InnerGrad.apply({a})", "Buffer.apply({a})", "Deep.apply({a})",
)
# fmt: on

# what a hook does, beside noting that it was called
EFFECTS = {
    "sgd": "sgd.step(); sgd.zero_grad()",
    "adam": "adam.step()",
    "forget": "x1.grad = None",
    "halve": "with torch.no_grad():\n    x1.grad is None or x1.grad.mul_(0.5)",
    "regrade": "x2.grad = torch.ones(2, 3) if x2.grad is None else x2.grad * 0.5",
    "clip": "nn.utils.clip_grad_norm_([x0, x1], 0.5)",
    "buffer": "norm.running_mean.mul_(1.5)",
    "constant": "constant.add_(1)",
    "draw": "torch.rand(1); random.random(); np.random.rand()",
    "inner": "a_pass(lambda: (x2 * x2.detach()).sum().backward())",
    "inner grad": "a_pass(lambda: seen('grad', *torch.autograd.grad((x1 * x1).sum(), [x1])))",
    "train": "a_pass(lambda: net(torch.ones(1, 3)).sum().backward())\nsgd.step()",
    # these see how often hooks are called
    "raise": "if len(events) % 5 == 4:\n    raise ValueError('one of five')",
    "print": "print('a hook', len(events))",
}
COUNTING = ("raise", "print")
LARGE = "if g.abs().sum() > 4:\n    raise ValueError('a large gradient')"
GIVEN_BACK = ("None", "None", "None", "g * 1.5", "g + 0.25", "g.mul_(0.5)")
STEPS = (
    "sgd.step()", "sgd.step(); sgd.zero_grad()", "adam.step()", "sgd.zero_grad(set_to_none=False)",
    "x0.grad = None", "x1.grad = torch.ones(2, 3)", "x1.grad = torch.ones(3, 2).t()",
    "held = x0.grad", "x2.grad = x1.grad", "x0.grad is None or x0.grad.mul_(0.5)",
    "x0.data.add_(0.25)", "with torch.no_grad(): x1.mul_(1.5)", "adam.zero_grad()",
)  # fmt: skip
FORMS = ("plain", "plain", "plain", "function", "async")


class Section(NamedTuple):
    """Statements that run ``times`` times."""

    statements: tuple[str, ...]
    times: int = 1


class Program(NamedTuple):
    """A program: its statements, and where they stand: in a module, a function or a coroutine."""

    sections: tuple[Section, ...]
    form: str = "plain"

    def text(self, library: str) -> str:
        """The program for one library."""
        body = "\n".join(
            f"for turn in range({each.times}):\n{indent(chr(10).join(each.statements), '    ')}"
            if each.times > 1
            else "\n".join(each.statements)
            for each in self.sections
            if each.statements
        )
        body = indent(body + "\nkept.update(locals())", "" if self.form == "plain" else "    ")
        if self.form == "function":
            body = f"def main():\n{body}\nmain()"
        elif self.form == "async":
            body = f"async def main():\n{body}\nasyncio.run(main())"
        return HEADER.format(library=library) + body + "\n"

    def shown(self, library: str) -> str:
        """The program as a file that says what came of it."""
        return self.text(library) + SHOWN


class _Maker:
    """Makes one program; see :func:`random_program`."""

    def __init__(self, rng: random.Random, counts: bool, pure: bool) -> None:
        self.rng, self.pure = rng, pure
        self.effects = [each for each in EFFECTS if not pure and (counts or each not in COUNTING)]
        self.count = 0
        self.declared: set[str] = set()
        self.values: list[str] = []
        self.losses: list[str] = []
        self.changed: set[str] = set()  # values that hooks of tensors change in place

    def program(self) -> Program:
        rng = self.rng
        sections = [Section((START.format(seed=rng.randrange(100)), "constant = torch.ones(2, 3)"))]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            self.values = []
            sections.append(Section(tuple(self.section()), rng.choice([1, 1, 1, 2])))
        return Program(tuple(sections), rng.choice(FORMS))

    def section(self) -> Iterator[str]:
        rng = self.rng
        for _ in range(rng.choice([0, 0, 1, 2])):
            yield rng.choice(STEPS)
        for _ in range(rng.randint(2, 8)):
            yield from self.op()
            if rng.random() < 0.35:
                yield from self.hook()
        if rng.random() < 0.3:
            yield self.leaf_hook()
        yield from self.calls()
        for _ in range(rng.choice([0, 1, 1, 2])):
            yield rng.choice(STEPS)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def op(self) -> Iterator[str]:
        rng, name = self.rng, self.fresh()
        leaves = ["x0", "x1", "x2"]
        a = rng.choice(self.values[-3:] or leaves) if rng.random() < 0.75 else rng.choice(leaves)
        b = rng.choice(self.values or leaves) if rng.random() < 0.6 else rng.choice(leaves)
        reentrant = not self.pure and rng.random() < 0.6
        kind = rng.random()
        if kind < 0.3:
            form = rng.choice(UNARY)
        elif kind < 0.6:
            form = rng.choice(BINARY)
        elif kind < 0.66 and not self.pure:
            form = rng.choice(RANDOM)
        elif kind < 0.76:
            yield rng.choice(IN_PLACE).format(v=name, a=a, b=b)
            self.values.append(name)
            return
        elif kind < 0.87 and not self.pure:
            form = rng.choice(CHECKPOINTS)
        else:
            form = rng.choice([f for f in CALLED if not self.pure or f.find("Inner") < 0])
            function = next(each for each in FUNCTIONS if f"{each}.apply" in form)
            if self.pure and function not in PURE_FUNCTIONS:
                function, form = "Twice", "Twice.apply({a})"
            if function not in self.declared:
                self.declared.add(function)
                yield FUNCTIONS[function]
        yield f"{name} = " + form.format(a=a, b=b, reentrant=reentrant)
        self.values.append(name)

    def body(self, name: str, given: str, answer: str) -> str:
        """A hook: a function of ``given`` gradients."""
        effect = "pass"
        if self.effects and self.rng.random() < 0.7:
            effect = EFFECTS[self.rng.choice(self.effects)]
        elif self.pure and given == "g" and self.rng.random() < 0.1:
            effect = LARGE
        seen = f"seen({name!r}, {given})" if given else f"seen({name!r})"
        if answer.startswith("g.mul_"):
            answer = "None"
            effect += "\nwith torch.no_grad(): g.mul_(0.5)"
        return indent(f"{seen}\n{effect}\nreturn {answer}", "    ")

    def hook(self) -> Iterator[str]:
        rng, value = self.rng, self.values[-1]
        self.count += 1
        name = f"h{self.count}"
        kind = rng.choice(["tensor", "tensor", "tensor", "pre", "post", "retain", "multi", "once"])
        answer = rng.choice(GIVEN_BACK[:-1] if self.pure else GIVEN_BACK)
        if kind == "retain":
            yield f"{value}.retain_grad()"
        elif kind == "tensor":
            yield (f"def {name}(g):\n{self.body(name, 'g', answer)}\n{value}.register_hook({name})")
        elif kind == "once":
            yield (
                f"def {name}(g):\n    {name}_handle.remove()\n{self.body(name, 'g', answer)}\n"
                f"{name}_handle = {value}.register_hook({name})"
            )
        elif kind == "pre":
            answer = rng.choice(["None", "None", "tuple(g and g or g for g in gs)"][:2])
            if rng.random() < 0.3:
                answer = "tuple(None if g is None else g * 1.5 for g in gs)"
            yield (
                f"def {name}(gs):\n{self.body(name, '*gs', answer)}\n"
                f"{value}.grad_fn.register_prehook({name})"
            )
        elif kind == "post":
            answer = "None"
            if rng.random() < 0.3:
                answer = "tuple(None if g is None else g * 1.5 for g in sent)"
            yield (
                f"def {name}(sent, gs):\n{self.body(name, '*sent', answer)}\n"
                f"{value}.grad_fn.register_hook({name})"
            )
        else:
            others = rng.sample(self.values, min(2, len(self.values)))
            mode = rng.choice(["all", "any"])
            given = "*gs" if mode == "all" else "gs"
            yield (
                f"def {name}(gs):\n{self.body(name, given, 'None')}\n"
                f"torch.autograd.graph.register_multi_grad_hook([{', '.join(others)}], {name}, "
                f"mode={mode!r})"
            )

    def leaf_hook(self) -> str:
        rng = self.rng
        self.count += 1
        name = f"h{self.count}"
        leaf = rng.choice(["x0", "x1", "x2", "net.weight", "net.bias"])
        if rng.random() < 0.35:
            answer = rng.choice(GIVEN_BACK[:-1] if self.pure else GIVEN_BACK)
            return f"def {name}(g):\n{self.body(name, 'g', answer)}\n{leaf}.register_hook({name})"
        doing = [self.body(name, "p.grad", "None")]
        if not self.pure:
            doing.append(
                f"    seen({name!r}, p.grad)\n"
                "    with torch.no_grad(): p.sub_(p.grad * 0.1)\n    p.grad = None"
            )
        return (
            f"def {name}(p):\n{rng.choice(doing)}\n"
            f"{leaf}.register_post_accumulate_grad_hook({name})"
        )

    def calls(self) -> Iterator[str]:
        rng = self.rng
        a, b = self.values[-1], rng.choice(self.values)
        loss = f"loss{self.count}"
        whole = f"({a} * {b})" if rng.random() < 0.5 else a
        also = " + (x1 * x1 * x0)" if rng.random() < 0.7 else ""
        yield f"{loss} = ({whole}{also}).sum()"
        given = "create_graph=True, allow_unused=True"
        found, again = f"found{loss}", f"again{loss}"
        kinds: tuple[tuple[str, ...], ...] = (
            (f"{loss}.backward()",),
            (f"{loss}.backward()",),
            (f"{loss}.backward()",),
            (f"{loss}.backward(retain_graph=True)", f"{loss}.backward()"),
            (f"{loss}.backward(retain_graph=True)", f"{loss}.backward()"),
            (f"{loss}.backward(create_graph=True)", "(x0.grad * x0.grad).sum().backward()"),
            (f"{loss}.backward(inputs=[x0, net.weight])",),
            (f"{found} = torch.autograd.grad({loss}, [x0, {a}], allow_unused=True)",),
            (
                f"{found} = torch.autograd.grad({loss}, [x0, x1], {given})",
                f"({loss} + sum(g.pow(2).sum() for g in {found} if g is not None)).backward()",
            ),
            (f"torch.autograd.backward([{loss}, {b}.sum() * 2])",),
            (
                f"{a}.backward(torch.full((2, 3), 0.5), retain_graph=True)",
                f"({loss} * {b}.sum()).backward()",
            ),
            (
                f"{found}, = torch.autograd.grad({loss}, [x1], {given})",
                f"{again} = torch.autograd.grad({found}.sum(), [x0, x1], {given})",
                f"sum((g * x1).sum() for g in {again} if g is not None).backward()",
            ),
        )
        for line in rng.choice(kinds):
            yield f"try: {line}\nexcept Exception as error: print(type(error).__name__, error)"
        if rng.random() < 0.3:
            yield f"del {loss}"


def random_program(rng: random.Random, *, counts: bool = True, pure: bool = False) -> Program:
    """Make a program.

    Hooks of one that does not ``count`` may be called again, if tensors and random numbers are as
    they were; those of a ``pure`` one, like its Functions, change nothing but gradients.
    """
    return _Maker(rng, counts, pure).program()


# running it


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "program.py", "exec")


# what tracing adds to the core's messages
_ADDED = re.compile(r"\n(They were freed by the pass begun|It was changed) at .*")


class Ended(NamedTuple):
    """What a program left behind: texts, each with the name of what it is about; and what was
    ``told`` on standard error, which is not compared."""

    printed: str
    raised: str
    events: tuple[str, ...]
    state: tuple[tuple[str, str], ...]
    told: str = ""

    def difference(self, other: Ended) -> str:
        """What is not the same in ``other``, "" for nothing."""
        lines = []
        for name in ("printed", "raised"):
            one, two = getattr(self, name), getattr(other, name)
            if one != two:
                same = [a == b for a, b in zip(one, two)]
                start = max(0, (same.index(False) if False in same else len(same)) - 60)
                lines.append(f"{name}: plain {one[start:]!r}, stepped {two[start:]!r}")
        if self.events != other.events:
            pairs = [(a, b) for a, b in zip(self.events, other.events) if a != b][:2]
            lengths = f"{len(self.events)} and {len(other.events)}"
            lines.append(f"calls of hooks: {lengths}, first others {pairs}")
        mine, theirs = dict(self.state), dict(other.state)
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                lines.append(f"{name}: plain {mine.get(name)}, stepped {theirs.get(name)}")
        return "\n".join(lines)


def run(
    program: Program, library: str, around: Callable[[Callable[[], None]], None] | None = None
) -> Ended:
    """Run ``program``; ``around`` is given what runs it."""
    torch = import_module(library)
    space: dict[str, Any] = {"__name__": "__main__"}
    code = _compiled(program.text(library))
    printed, told = io.StringIO(), io.StringIO()
    raised = ""

    def body() -> None:
        nonlocal raised
        try:
            exec(code, space)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"

    with redirect_stdout(printed), redirect_stderr(told), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (around or (lambda work: work()))(body)
    kept = {**space, **space.get("kept", {})}
    return Ended(
        _ADDED.sub("", printed.getvalue()),
        _ADDED.sub("", raised),
        tuple(map(repr, space.get("events", ()))),
        tuple(_state(kept, torch)),
        told.getvalue(),
    )


def _state(kept: dict[str, Any], torch: Any) -> Iterator[tuple[str, str]]:
    import numpy as np

    for name, each in kept.items():
        yield from _told(name, each, torch)
    yield "random numbers of torch", str(hash(bytes(torch.get_rng_state().tolist())))
    yield "random numbers of Python", str(hash(random.getstate()))
    state: Any = np.random.get_state()  # noqa: NPY002
    yield "random numbers of NumPy", str(hash((state[1].tobytes(), *state[2:])))


def _told(name: str, each: Any, torch: Any) -> Iterator[tuple[str, str]]:
    if isinstance(each, torch.Tensor):
        grad = each.grad if each.is_leaf or each.retains_grad else None
        # a gradient that is handed out is a copy at times
        version = None if name.startswith(("found", "again", "held")) else each._version
        yield name, repr((each.tolist(), version, each.requires_grad))
        yield f"{name}.grad", repr(None if grad is None else (grad.tolist(), grad.requires_grad))
    elif isinstance(each, torch.nn.Module):
        for number, parameter in enumerate(each.parameters()):
            yield from _told(f"{name}.{number}", parameter, torch)
        for number, buffer in enumerate(each.buffers()):
            yield f"{name} buffer {number}", repr(buffer.tolist())
    elif isinstance(each, torch.optim.Optimizer):
        for number, state in enumerate(each.state.values()):
            for key, value in state.items():
                told = value.tolist() if isinstance(value, torch.Tensor) else value
                yield f"{name} {number} {key}", repr(told)
    elif isinstance(each, tuple) and name.startswith(("found", "again")):
        for number, tensor in enumerate(each):
            yield from _told(f"{name}[{number}]", tensor, torch)
