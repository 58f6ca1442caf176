"""Random programs of ops and Functions with several results, differentiated up to three times.

A program is a seed.  Nothing in it depends on a computed value, so it is the same in every library
of PyTorch's form, and by every loop of the engine.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

import autograd_core
from autograd_core.op import OPS, Op
from tests.autograd_core.op_samples import Sample, samples_of

SEVERAL: Final = {name: entry for name, entry in OPS.items() if entry.materializes}
"""The ops with several results that a gradient may come from."""

# How users call those that are no function of their own name in `torch` or `torch.linalg`.
CALLS: Final[dict[str, Callable[..., Any]]] = {
    "split_size": lambda t, x, split_size: t.split(x, split_size),
    "split_with_sizes": lambda t, x, split_sizes: t.split(x, split_sizes),
    "layer_norm": lambda t, x, weight, bias, **options: t.nn.functional.layer_norm(
        x, weight=weight, bias=bias, **options
    ),
    "batch_norm": lambda t, x, weight, bias, mean, variance, **options: t.nn.functional.batch_norm(
        x, mean, variance, weight, bias, **{"training": True, **options}
    ),
    "group_norm": lambda t, x, weight, bias, **options: t.nn.functional.group_norm(
        x, weight=weight, bias=bias, **options
    ),
}


def call(t: Any, entry: Op, values: list[Any], options: Any) -> list[Any]:
    """The results of an op: of this core as it stands in the table, else as users call it."""
    name = entry.public_name.rpartition(".")[2]
    if t is autograd_core:
        found = entry.call(*values, **options)
    elif entry.name in CALLS:
        found = CALLS[entry.name](t, *values, **options)
    else:
        found = getattr(t.linalg if hasattr(t.linalg, name) else t, name)(*values, **options)
    return list(found)


# -- Functions with several results --------------------------------------------------------------


@cache
def functions(t: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Functions of two vectors, which give several, in the ways that there are to write one."""
    Function, once = t.autograd.Function, t.autograd.function.once_differentiable

    class SavesResults(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            s, c = (x * y).sin(), (x * y).cos()
            ctx.save_for_backward(x, y, s, c)
            return s, c

        @staticmethod
        def backward(ctx: Any, gs: Any, gc: Any) -> Any:
            x, y, s, c = ctx.saved_tensors
            g = gs * c - gc * s
            return g * y, g * x

    class SavesOften(Function):  # type: ignore[misc, valid-type]
        """Saves a result twice, and unpacks what it saved twice."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            e, t = x.exp(), y.tanh()
            ctx.save_for_backward(e, t, e)
            return e, t, e * t

        @staticmethod
        def backward(ctx: Any, ge: Any, gt: Any, gp: Any) -> Any:
            e, t, _ = ctx.saved_tensors
            *_, again = ctx.saved_tensors
            return ge * again + gp * e * t, (gt + gp * again) * (1 - t * t)

    class SetsUp(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y, (x - y).exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs, output[1])

        @staticmethod
        def backward(ctx: Any, gp: Any, ge: Any) -> Any:
            x, y, e = ctx.saved_tensors
            return gp * y + ge * e, gp * x - ge * e

    class HasLabels(Function):  # type: ignore[misc, valid-type]
        """One result is a number without a derivative, one a float that is said to have none."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            sign, larger, squares = x.sign(), (x > y).long(), x * x
            ctx.mark_non_differentiable(sign)
            ctx.save_for_backward(x, sign, squares)
            return squares, sign, larger, x * y.detach()

        @staticmethod
        def backward(ctx: Any, gs: Any, g_sign: Any, g_larger: Any, gp: Any) -> Any:
            x, sign, squares = ctx.saved_tensors
            return gs * 2 * x + gp * squares, gp * sign * squares

    class ChangesItsInput(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x.clone(), y)
            ctx.mark_dirty(x)
            return x.mul_(y), y.exp()

        @staticmethod
        def backward(ctx: Any, gx: Any, ge: Any) -> Any:
            x, y = ctx.saved_tensors
            return gx * y, gx * x + ge * y.exp()

    class SavesWhatItChanged(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.mark_dirty(x)
            x.exp_()
            product = x * y
            ctx.save_for_backward(x, product)
            return x, product

        @staticmethod
        def backward(ctx: Any, gx: Any, gp: Any) -> Any:
            x, product = ctx.saved_tensors
            return gx * x + gp * product, gp * x

    class TakesNone(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.set_materialize_grads(False)
            s, c = x.sin(), y.cos()
            ctx.save_for_backward(s, c, y)
            return s, c

        @staticmethod
        def backward(ctx: Any, gs: Any, gc: Any) -> Any:
            s, c, y = ctx.saved_tensors
            gx = None if gs is None else gs * (1 - s * s) * c
            return gx, None if gc is None else gc * c * s * y

    class GivesNone(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            a, b = x * y, x + y
            ctx.save_for_backward(a, b)
            return a, b

        @staticmethod
        def backward(ctx: Any, ga: Any, gb: Any) -> Any:
            a, b = ctx.saved_tensors
            return ga * b * a + gb * a.cos(), None

    class PassesOn(Function):  # type: ignore[misc, valid-type]
        """One result is an input as it is."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            e = (x * y).exp()
            ctx.save_for_backward(e, y, x)
            return x, e

        @staticmethod
        def backward(ctx: Any, gx: Any, ge: Any) -> Any:
            e, y, x = ctx.saved_tensors
            return gx + ge * e * y, ge * e * x

    class Once(Function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        @once
        def backward(ctx: Any, gp: Any, gs: Any) -> Any:
            x, y = ctx.saved_tensors
            return gp * y + gs, gp * x + gs

    class DifferentiatesInside(Function):  # type: ignore[misc, valid-type]
        """Its backward is a pass of its own through an op with several results."""

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * x, y * x

        @staticmethod
        def backward(ctx: Any, ga: Any, gb: Any) -> Any:
            x, y = ctx.saved_tensors
            with t.enable_grad():
                a, b = SavesOften.apply(x * 0.5, y)[:2]
                return t.autograd.grad([a, b], [x, y], [ga, gb], create_graph=True)

    changing = (ChangesItsInput, SavesWhatItChanged)
    return {
        kind.__name__: (lambda x, y, kind=kind: kind.apply(x * 1.0, y))
        if kind in changing
        else kind.apply
        for kind in (
            SavesResults, SavesOften, SetsUp, HasLabels, *changing, TakesNone, GivesNone, PassesOn,
            Once, DifferentiatesInside,
        )
    }  # fmt: skip


# -- the program ---------------------------------------------------------------------------------


INNER: Final = "inner"
"""How the names of second derivatives by results of ops begin.  They depend on which of its results
the rule of an op is written with."""


class Outcome(NamedTuple):
    """What a program says of itself, its results by name: arrays, and errors."""

    text: str
    results: dict[str, Any]

    def bits(self) -> list[Any]:
        """All results, to be compared to the bit."""
        return [
            (name, found.dtype.name, found.shape, found.tobytes())
            if isinstance(found, np.ndarray)
            else (name, found)
            for name, found in self.results.items()
        ]


def run(t: Any, seed: int, moved: float = 0.0, signless: bool = False) -> Outcome:
    """Run the program of ``seed``, its leaves ``moved`` by so much relatively, or without what
    depends on the signs of singular vectors, which are the library's choice."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _Run(t, seed, moved, signless).outcome()


class _Run:
    def __init__(self, t: Any, seed: int, moved: float, signless: bool) -> None:
        self.t, self.moved, self.signless = t, moved, signless
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.lines: list[str] = []
        self.results: dict[str, Any] = {}
        self.leaves: list[Any] = []
        self.pool: list[Any] = []  # what can be differentiated
        self.points: list[Any] = []  # what it can be differentiated by
        self.inner: list[Any] = []  # results of ops
        self.retained: list[Any] = []

    def outcome(self) -> Outcome:
        try:
            for _ in range(self.random.choice([1, 2, 2])):
                self.graph()
        except RuntimeError as error:  # of what can be differentiated only once
            self.results["error"] = str(error)
        for number, x in enumerate(self.leaves):
            self.keep(f"leaf {number}", x.grad)
        for number, x in enumerate(self.retained):
            self.keep(f"{INNER} {number}", x.grad)
        return Outcome("\n".join(self.lines), self.results)

    def keep(self, name: str, g: Any) -> None:
        self.results[name] = None if g is None else g.detach().numpy().copy()

    def graph(self) -> None:
        """Compute something, and differentiate it again and again."""
        rng = self.random
        if not self.leaves or rng.random() < 0.3:
            self.leaves += [self.leaf() for _ in range(rng.choice([1, 2]))]
        self.pool, self.points, self.inner = list(self.leaves), list(self.leaves), []
        for _ in range(rng.choice([1, 1, 2, 3])):
            self.step()
        for order in range(rng.choice([1, 2, 2])):
            found = self.differentiate(f"order {order + 1}", create_graph=True)
            self.pool += [x.detach() * 0 if g is None else g for x, g in found]
            if rng.random() < 0.3:
                self.differentiate(INNER, retain_graph=True)
            if rng.random() < 0.3:
                self.accumulate(retain_graph=True)
        self.accumulate(retain_graph=False)

    def leaf(self) -> Any:
        array = self.numbers.uniform(-1, 1, self.random.choice([(3,), (2, 2), ()]))
        return self.t.tensor(array * (1 + self.moved), dtype=self.t.float64, requires_grad=True)

    def constant(self, array: Any) -> Any:
        return self.t.tensor(array, dtype=self.t.float64)

    def mixed(self, shape: tuple[int, ...]) -> Any:
        """A tensor of ``shape``, computed from something in the pool."""
        x = self.random.choice(self.pool[-6:])
        matrix = self.numbers.standard_normal((prod(shape), x.numel())) / max(1, x.numel())
        return (self.constant(matrix) @ x.reshape(-1)).reshape(shape).tanh()

    def step(self) -> None:
        """Run an op or a Function with several results."""
        rng = self.random
        if is_function := rng.random() < 0.5:
            name = rng.choice(list(functions(self.t)))
            values = [self.mixed((3,)), self.mixed((3,))]
            results = functions(self.t)[name](*values)
        else:
            name = rng.choice(list(SEVERAL))
            sample = rng.choice(samples_of(SEVERAL[name]))
            names = SEVERAL[name].values
            pairs = zip_longest(names, sample.values)
            values = [
                self.input(sample, value, each in SEVERAL[name].edges) for each, value in pairs
            ]
            results = call(self.t, SEVERAL[name], values, sample.attributes)
        self.lines.append(name)
        self.points += [x for x in values if x is not None and x.requires_grad]
        for number, r in enumerate(results):
            if not r.requires_grad or not r.numel():
                continue
            if rng.random() < 0.2:
                r.retain_grad()
                self.retained.append(r)
            (self.points if is_function else self.inner).append(r)
            self.pool.append(r * r if self.signless and name in ("svd", "eigh") else r)
            self.keep(f"{name} {number}", self.pool[-1])

    def input(self, sample: Sample, value: Any, is_differentiable: bool) -> Any:
        if value is None:
            return None
        array = self.numbers.standard_normal(value) if isinstance(value, tuple) else np.array(value)
        if not is_differentiable:
            return self.t.tensor(array)
        moved = self.constant(array) + self.mixed(array.shape) * 0.3
        return (moved + moved.mT) * 0.5 if sample.symmetric else moved

    def roots(self) -> tuple[list[Any], list[Any]]:
        """Some tensors to start from, and a cotangent for each."""
        rng = self.random
        inner = self.pool[len(self.leaves) :] or self.pool
        picked = [rng.choice(inner) for _ in range(rng.choice([1, 2, 3]))]
        # whether a gradient that is zero has a graph is the library's choice
        nothing = self.leaves[0].sum() * 0
        picked = [x if x.requires_grad else x + nothing for x in picked]
        starts = [x if rng.random() < 0.5 else (x * x).sin() for x in picked]
        given = []
        for x in starts:
            shape = tuple(x.shape)
            varies = rng.random() < 0.3  # a cotangent that has a derivative itself
            given.append(
                self.mixed(shape) if varies else self.constant(self.numbers.standard_normal(shape))
            )
        return starts, given

    def differentiate(self, name: str, **options: Any) -> list[tuple[Any, Any]]:
        """The gradients of something by something: pairs of this and of that."""
        starts, given = self.roots()
        known = self.points + self.inner * (name == INNER)
        by = self.random.sample(known, min(len(known), self.random.choice([1, 2, 3])))
        self.lines.append(f"grad {len(starts)} by {len(by)} {options}")
        found = self.t.autograd.grad(starts, by, given, allow_unused=True, **options)
        for g in found:
            self.keep(f"{name} {len(self.results)}", g)
        return list(zip(by, found, strict=True))

    def accumulate(self, retain_graph: bool) -> None:
        starts, given = self.roots()
        if self.random.random() < 0.5:  # from one scalar, as most programs do
            pairs = zip(starts, given, strict=True)
            total = sum((x * g).sum() for x, g in pairs)
            self.lines.append(f"backward {retain_graph=}")
            total.backward(retain_graph=retain_graph)
        else:
            self.lines.append(f"backward {len(starts)} {retain_graph=}")
            self.t.autograd.backward(starts, given, retain_graph=retain_graph)
