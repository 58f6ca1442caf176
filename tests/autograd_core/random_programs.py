"""Random programs of views, in-place writes, hooks and custom Functions, as text that runs in any
library of PyTorch's form: a program that fails a test can be pasted into a file."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.memory import Layout
from tests.autograd_core.op_grid import steps

Shape = tuple[int, ...]


class Value(NamedTuple):
    """A tensor of the program: its name, and what the next lines may go by."""

    name: str
    shape: Shape
    is_view: bool


class Draw:
    """What lines are made of."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values: list[Value] = []

    def value(self, fits: Callable[[Shape], bool] = lambda shape: True) -> Value | None:
        """One of the values of a shape that ``fits``, rather a late one."""
        fitting = [each for each in self.values if fits(each.shape)]
        return fitting[-1 - int(len(fitting) * self.random.random() ** 2)] if fitting else None

    def like(self, shape: Shape) -> str:
        """A value that broadcasts to ``shape``, or a number."""
        found = self.value(lambda other: _broadcasts(other, shape))
        return str(self.number()) if found is None or self.random.random() < 0.2 else found.name

    def number(self) -> float:
        return self.random.choice([-1.5, -0.5, 0.5, 2.0])

    def dim(self, shape: Shape) -> int:
        return self.random.randrange(-len(shape), len(shape))

    def place(self, length: int) -> int:
        return self.random.randrange(-length, length)

    def range(self, length: int) -> str:
        start = self.random.randrange(length)
        end = self.random.randrange(start + 1, length + 1)
        return f"{start}:{end}:{self.random.choice([1, 1, 2])}"

    def places(self, length: int) -> list[int]:
        return [self.random.randrange(length) for _ in range(self.random.randrange(1, 4))]

    def size(self, numel: int) -> Shape:
        """A shape of as many elements."""
        size = []
        for n in (2, 3, 2, 3):
            if numel % n == 0 and self.random.random() < 0.6:
                size.append(n)
                numel //= n
        size.insert(self.random.randrange(len(size) + 1), numel)
        return tuple(size)


def _broadcasts(shape: Shape, to: Shape) -> bool:
    pairs = zip(shape[::-1], to[::-1], strict=False)
    return len(shape) <= len(to) and all(n in (1, m) for n, m in pairs)


# -- lines ---------------------------------------------------------------------------------------


def _view(draw: Draw, x: Value) -> str:
    shape, dims = x.shape, len(x.shape)
    choices = [".view_as({0})", ".unsqueeze({1})", ".detach()", ".reshape({2})", ".view({2})"]
    if dims:
        choices += ["[{3}]", "[{4}]", "[..., {5}]", "[{4}, ...]", ".unbind({6})[{7}]"]
        choices += [".narrow({6}, {8}, 1)", ".squeeze({6})", ".unfold({6}, {9}, 1)", "[None]"]
        choices += [".chunk(2, {6})[0]", ".split(1, {6})[-1]", ".flatten()", ".swapaxes(0, -1)"]
        choices += [".as_strided({10})"]
    if dims > 1:
        choices += [
            ".transpose({6}, {11})",
            ".permute({12})",
            ".diagonal()",
            ".mT",
            ".movedim(0, -1)",
        ]
    if 1 in shape:
        choices += [".expand({13})", ".squeeze()"]
    if dims == 2:
        choices += [".t()", ".T"]
    dim = draw.dim(shape) if dims else 0
    length = shape[dim] if dims else 1
    order = draw.random.sample(range(dims), dims)
    wide = tuple(draw.random.choice([2, 3]) if n == 1 else n for n in shape)
    place, part = (draw.place(shape[0]), draw.range(shape[0])) if dims else (0, "")
    last = draw.place(shape[-1]) if dims else 0
    other = draw.dim(shape) if dims else 0
    return x.name + draw.random.choice(choices).format(
        x.name, draw.random.randrange(-dims - 1, dims + 1), draw.size(prod(shape)), place, part,
        last, dim, draw.place(length), draw.random.randrange(length),
        draw.random.randrange(1, length + 1), _strides(draw, prod(shape)), other, order, wide,
    )  # fmt: skip


def _strides(draw: Draw, numel: int) -> str:
    size = tuple(draw.random.randrange(1, 3) for _ in range(draw.random.randrange(1, 3)))
    steps = tuple(draw.random.randrange(1, 3) for _ in size)
    span = sum((n - 1) * step for n, step in zip(size, steps, strict=True)) + 1
    return f"{size}, {steps}" + (f", {draw.random.randrange(2)}" if span < numel else "")


# fmt: off
UNARY = [
    "sin()", "cos()", "tanh()", "sigmoid()", "exp()", "expm1()", "neg()", "relu()", "abs()",
    "square()", "clamp(-0.5, 0.5)", "mul(1.0)", "nan_to_num()", "double()", "clone()",
    "contiguous()",
]
ALONG = [
    "sum({0})", "sum({0}, keepdim=True)", "mean({0})", "cumsum({0})", "cumprod({0})",
    "softmax({0})", "log_softmax({0})", "logsumexp({0})", "amax({0})", "max({0})[0]",
    "sort({0})[0]", "flip({0})", "roll(1, {0})",
]
IN_PLACE = [
    "tanh_()", "sigmoid_()", "exp_()", "expm1_()", "sin_()", "relu_()", "neg_()", "square_()",
    "sqrt_()", "rsqrt_()", "reciprocal_()", "abs_()", "clamp_(-0.5, 0.5)", "mul_(0.5)", "add_(1.0)",
    "zero_()", "fill_(0.5)",
]
# fmt: on
IN_PLACE_VIEWS = ["t_()", "unsqueeze_(0)", "squeeze_()"]
WRITES = ["add_", "sub_", "mul_", "div_", "copy_", "add_", "mul_", "copy_"]


def _new(draw: Draw, x: Value) -> str:
    kind = draw.random.randrange(8)
    shape = x.shape
    if kind < 3 or not shape:
        if draw.random.random() < 0.5:
            other = draw.value(lambda other: _broadcasts(other, shape) or _broadcasts(shape, other))
            operand = other.name if other else draw.number()
            return f"{x.name} {draw.random.choice('+-**')} {operand}"
        return f"{x.name}.{draw.random.choice(UNARY)}"
    if kind < 5:
        return f"{x.name}.{draw.random.choice(ALONG).format(draw.dim(shape))}"
    dim = draw.dim(shape)
    if kind == 5:
        other = draw.value(lambda other: len(other) == 2 and other[0] == shape[-1])
        if other is not None:
            return f"{x.name} @ {other.name}"
        return f"torch.where({x.name} > 0, {x.name}, {draw.like(shape)})"
    if kind == 6:
        other = draw.value(lambda other: other == shape) or x
        return f"torch.{draw.random.choice(['cat', 'stack'])}([{x.name}, {other.name}], {dim})"
    places = draw.places(shape[dim])
    picks = ("index_select({1}, torch.tensor({0}))", "masked_fill(torch.tensor(True), 0.5)")
    if draw.random.random() < 0.3:
        return f"{x.name}[torch.tensor({draw.places(shape[0])})]"
    return f"{x.name}.{draw.random.choice(picks).format(places, dim)}"


def _in_place(draw: Draw, x: Value) -> str:
    if draw.random.random() < 0.1:
        return f"{x.name}.{draw.random.choice(IN_PLACE_VIEWS)}"
    return _changed_values(draw, x)


def _changed_values(draw: Draw, x: Value) -> str:
    shape = x.shape
    choice = draw.random.random()
    if choice < 0.4:
        return f"{x.name}.{draw.random.choice(IN_PLACE)}"
    if choice < 0.7 or not shape:
        return f"{x.name}.{draw.random.choice(WRITES)}({_operand(draw.like(shape))})"
    place, part = draw.place(shape[0]), draw.range(shape[0])
    if choice < 0.8:
        return f"{x.name}[{place}] = {draw.like(shape[1:])}"
    if choice < 0.85:
        return f"{x.name}[{part}] {draw.random.choice('+*-')}= {draw.number()}"
    if choice < 0.9:
        return f"{x.name}[torch.tensor({draw.places(shape[0])})] = {draw.number()}"
    if choice < 0.95:
        return f"{x.name}.index_fill_({draw.dim(shape)}, torch.tensor([0]), {draw.number()})"
    return f"{x.name}.masked_fill_({x.name}.detach() > 0.3, {draw.number()})"


def _operand(text: str) -> str:
    return text if text.startswith("v") else f"torch.tensor({text}, dtype=torch.float64)"


def _special(draw: Draw, x: Value) -> str:
    leaf = draw.random.choice(["v0", "v1"])
    hooks = [
        f"{x.name}.register_hook(lambda g: g * 0.5)",
        f"{x.name}.register_hook(lambda g: log.append(g.detach().clone()))",
        f"{x.name}.retain_grad()",
    ]
    return draw.random.choice([
        # hooks of some views that were changed end PyTorch's process
        *([] if x.is_view else hooks),
        f"with torch.no_grad(): {_changed_values(draw, x)}",
        f"= cube(torch).apply({x.name})",
        f"= scaled_in_place(torch).apply({x.name})",
        f"= whole(torch).apply({x.name})",
        f"= torch.autograd.grad(({x.name} ** 2).sum(), {leaf}, create_graph=True)[0]",
        f"= torch.autograd.grad({x.name}.sin().sum(), {x.name}, create_graph=True)[0]",
    ])  # fmt: skip


def next_line(draw: Draw) -> str:
    """One more line of a program: a value is named ``=``, whose name is not known yet."""
    x = draw.value()
    assert x is not None
    kind = draw.random.random()
    if kind < 0.35:
        return f"= {_view(draw, x)}"
    if kind < 0.6:
        return f"= {_new(draw, x)}"
    return _in_place(draw, x) if kind < 0.88 else _special(draw, x)


# -- custom Functions ----------------------------------------------------------------------------


@cache
def cube(torch: Any) -> Any:
    class Cube(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    return Cube


@cache
def scaled_in_place(torch: Any) -> Any:
    class ScaledInPlace(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.tanh_()
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * (1 - y * y)

    return ScaledInPlace


@cache
def whole(torch: Any) -> Any:
    class Whole(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    return Whole


# -- running them --------------------------------------------------------------------------------


class Run:
    """A program under way in one library."""

    def __init__(self, torch: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.torch, self.log = torch, []  # type: ignore[var-annotated]
        self.names: dict[str, Any] = {
            "torch": torch, "log": self.log, "cube": cube, "scaled_in_place": scaled_in_place,
            "whole": whole,
        }  # fmt: skip
        for number, shape in enumerate(LEAVES):
            leaf = torch.tensor(rng.uniform(-1, 1, shape).tolist(), dtype=torch.float64)
            self.names[f"v{number}"] = leaf.requires_grad_(number < 2)

    def line(self, text: str) -> str:
        """Run it, and return what is wrong with it: the name of an error."""
        try:
            exec(text, self.names)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def tensors(self) -> dict[str, Any]:
        return {k: v for k, v in self.names.items() if k[0] == "v" and k[1:].isdigit()}

    def gradients(self, graph: bool) -> list[Any] | str:
        """The gradients of the leaves, and, with a graph, of the sum of their squares."""
        grad, leaves = self.torch.autograd.grad, [self.names["v0"], self.names["v1"]]
        try:
            total = sum(t.sin().sum() for t in list(self.tensors().values())[-6:])
            first = list(grad(total, leaves, create_graph=graph, allow_unused=True))
            squares = sum((g * g).sum() for g in first if g is not None and g.requires_grad)
            if not graph or isinstance(squares, int):
                return first
            return [*first, *grad(squares, leaves, allow_unused=True)]
        except Exception as error:
            return type(error).__name__


def is_defined(text: str, names: dict[str, Any]) -> bool:
    """Whether it does not matter in which order PyTorch writes: what is written to does not overlap
    itself, and is not read at places that are not those which are written to."""
    used = [names.get(name) for name in re.findall(r"\bv\d+\b", text)]
    if used[0] is None:  # a new value
        if "in_place" not in text:
            return True
        del used[0]
    written, *read = used
    if re.search("copy_.v", text) and read[0] is written:  # nothing happens, whatever it is
        return False
    layout = Layout(tuple(written.shape), written.stride())
    if layout.overlaps and 0 not in layout.stride and not re.search(r"\.(fill|zero)_", text):
        return False
    memory = written.untyped_storage().data_ptr()
    return all(
        other is written
        or other.untyped_storage().data_ptr() != memory
        or (_is_dense(written) and _is_dense(other) and 1 not in (*written.shape, *other.shape))
        for other in read
    )


def _is_dense(t: Any) -> bool:
    return Layout(tuple(t.shape), t.stride()).end == t.numel()


# PyTorch's words for views that may not be used any more. It tells that by their version, when they
# are used; this core by what changed, at once, and so accepts some that are as they should be.
LATE = (
    "its base or another view of its base has been modified inplace",
    "leaf Variable that requires grad is being used in an in-place operation",
    "please report a bug to PyTorch",
)
# Where operands, or what adds up to a gradient, lie otherwise than each other, so may the result.
OF_TWO_LAYOUTS = re.compile(r" [-+*]+ v|where|grad\(")
LEAVES: tuple[Shape, ...] = ((2, 3), (3,), (3, 2), ())
LINES = 14


def differences(mine: Any, theirs: Any, seed: int) -> Iterator[str]:
    """Make a program from ``seed``, run it in two libraries, and say where they part; the program
    comes with that."""
    draw = Draw(seed)
    runs = Run(mine, seed), Run(theirs, seed)
    draw.values = [Value(f"v{n}", shape, False) for n, shape in enumerate(LEAVES)]
    lines: list[str] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while len(lines) < LINES:
            text = next_line(draw)
            text = f"v{len(draw.values)} {text}" if text.startswith("= ") else text
            if not is_defined(text, runs[1].names):
                continue
            own, other = (run.line(text) for run in runs)
            if not own and any(words in other for words in LATE):
                return
            if own.partition(":")[0] != other.partition(":")[0]:
                yield "\n".join([*lines, text, f"# {own or 'no error'} | {other or 'no error'}"])
                return
            if own and "apply" in text:  # it wrote before it failed
                return
            if own:
                continue
            lines.append(text)
            if text.startswith("v") and " = " in text.split("[")[0]:
                name = text.split()[0]
                mine_, theirs_ = (run.names[name] for run in runs)
                if steps(mine_) != steps(theirs_):
                    if not OF_TWO_LAYOUTS.search(text):
                        apart = f"# {name} strides: {mine_.stride()} | {theirs_.stride()}"
                        yield "\n".join([*lines, apart])
                    return
                draw.values.append(Value(name, (), False))
            draw.values = [_known(v.name, runs[1].names[v.name]) for v in draw.values]
        for graph in (True, False):
            fresh = runs if graph else (Run(mine, seed), Run(theirs, seed))
            if not graph:
                for text in lines:
                    for run in fresh:
                        run.line(text)
            own, other = (run.gradients(graph) for run in fresh)
            wrong = [*_compared(fresh), *_apart("gradients", own, other)]
            if wrong and not any(each.endswith("| refused") for each in wrong):
                end = "# all leaves' gradients of the sum of sin of the last six values"
                yield "\n".join([*lines, f"{end}, create_graph={graph}", *wrong])
                return


def _known(name: str, tensor: Any) -> Value:
    return Value(name, tuple(tensor.shape), tensor._base is not None)


def _compared(runs: tuple[Run, Run]) -> Iterator[str]:
    own, other = (run.tensors() for run in runs)
    for name, tensor in own.items():
        theirs = other[name]
        for what in ("requires_grad", "is_leaf"):
            found = [_attribute(t, what) for t in (tensor, theirs)]
            if found[0] != found[1]:
                yield f"# {name}.{what}: {found[0]} | {found[1]}"
        yield from _apart(name, [tensor], [theirs])
    yield from _apart("seen by hooks", runs[0].log, runs[1].log)


def _attribute(t: Any, name: str) -> Any:
    try:
        return getattr(t, name)
    except RuntimeError:  # of a stale view
        return "refused"


def _apart(name: str, mine: Any, theirs: Any) -> Iterator[str]:
    """How they differ, apart from where a gradient of PyTorch's is NaN, which spreads freely."""
    if isinstance(mine, str) or isinstance(theirs, str):
        if mine != theirs:
            yield f"# {name}: {mine} | {theirs}"
        return
    if len(mine) != len(theirs):
        yield f"# {name}: {len(mine)} | {len(theirs)} of them"
        return
    for number, (own, other) in enumerate(zip(mine, theirs, strict=True)):
        arrays = [None if t is None else t.detach().numpy() for t in (own, other)]
        if (own is None) != (other is None):
            zero = not np.any(arrays[0] if other is None else arrays[1])
            if not zero:
                yield f"# {name} {number}: {arrays[0]} | {arrays[1]}"
        elif own is not None and (
            arrays[0].shape != arrays[1].shape or not _close(*arrays, name == "gradients")
        ):
            yield f"# {name} {number}: {arrays[0].tolist()} | {arrays[1].tolist()}"


def _close(own: Any, other: Any, finite: bool) -> bool:
    if finite:
        own, other = own[np.isfinite(other)], other[np.isfinite(other)]
    return bool(np.allclose(own, other, rtol=1e-6, atol=1e-8, equal_nan=True))
