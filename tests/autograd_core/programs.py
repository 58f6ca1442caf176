"""Random programs, as data, that any library of PyTorch's form can run."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

# fmt: off
UNARY = (
    "tanh", "sin", "neg", "exp", "relu", "transpose", "double", "select", "max", "clone",
    "exp_in_place", "column_in_place", "hooked", "retained", "custom", "new_leaf",
)
BINARY = (
    "add", "sub", "mul", "cat", "matmul", "add_in_place", "row_in_place", "assign", "custom_pair",
)
# fmt: on
SEVERAL = ("unbind", "split")


def _assign(x: Any, y: Any) -> None:
    x[1] = y[0]


IN_PLACE = {
    "exp_in_place": lambda x, y: x.exp_(),
    "column_in_place": lambda x, y: x[:, 1].tanh_(),
    "add_in_place": lambda x, y: x.add_(y),
    "row_in_place": lambda x, y: x[0].mul_(y[1]),
    "assign": _assign,
}


@cache
def _cube(torch: Any) -> Any:
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
def _sine_and_cosine(torch: Any) -> Any:
    class SineAndCosine(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            s, c = (x * y).sin(), (x * y).cos()
            ctx.save_for_backward(x, y, s, c)
            return s, c

        @staticmethod
        def backward(ctx: Any, gs: Any, gc: Any) -> Any:
            x, y, s, c = ctx.saved_tensors
            return (gs * c - gc * s) * y, (gs * c - gc * s) * x

    return SineAndCosine


class Instruction(NamedTuple):
    """An op on values named by their position, counted from the end of what there is."""

    name: str
    operands: tuple[int, ...]


class Program(NamedTuple):
    """Leaves (which of them require a gradient), then instructions, then which values to sum."""

    requires_grad: tuple[bool, ...]
    instructions: tuple[Instruction, ...]
    seed: int


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> Program:
    """Programs over 2 by 2 matrices with views, several outputs, shared and unused values."""
    flags = (True, *draw(st.lists(st.booleans(), min_size=1, max_size=3)))
    steps = []
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from(UNARY + BINARY + SEVERAL))
        count = 2 if name in BINARY else 1
        steps.append(Instruction(name, tuple(draw(st.integers(0, 6)) for _ in range(count))))
    return Program(flags, tuple(steps), draw(st.integers(0, 1000)))


def leaves_of(program: Program, torch: Any, dtype: Any = None) -> list[Any]:
    """Fresh leaves of the program, the same numbers in every library."""
    rng = np.random.default_rng(program.seed)
    return [
        torch.tensor(
            rng.uniform(-1, 1, (2, 2)).tolist(), dtype=dtype or torch.float32
        ).requires_grad_(flag)
        for flag in program.requires_grad
    ]


def run_program(
    program: Program, torch: Any, leaves: list[Any], inner: list[Any] | None = None
) -> Any:
    """The scalar that the program computes; what it was computed from joins ``inner``."""
    values = list(leaves)
    for name, operands in program.instructions:
        picked = [values[-1 - place % len(values)] for place in operands]
        values.extend(_apply(name, picked, torch))
    if inner is not None:
        inner.extend(values[len(leaves) :])
    total = values[0].sum()
    for value in values[-3:]:
        total = total + (value * 0.5).sum()
    return total


def _apply(name: str, picked: list[Any], torch: Any) -> list[Any]:
    x, y = picked[0], picked[-1]
    if name == "transpose":
        return [x.transpose(0, 1)]
    if name == "double":
        return [x * 2.0]
    if name == "select":
        return [x[0] + x]
    if name == "max":
        return [x + x.max(1)[0]]
    if name == "cat":
        return [torch.cat([x, y], dim=0)[1:3]]
    if name in IN_PLACE:
        changed = x * 1.0  # fresh, so that nothing has saved it
        IN_PLACE[name](changed, y)
        return [changed]
    if name == "hooked":
        result = x * 1.0
        if result.requires_grad:
            result.register_hook(lambda g: g * 0.5)
        return [result]
    if name == "retained":
        result = x * 1.0
        if result.requires_grad:
            result.retain_grad()
        return [result]
    if name == "new_leaf":  # computed, a view, and changed in place before and after it is one
        leaf = x.detach().mul(0.5).t().tanh_().requires_grad_()
        with torch.no_grad():
            leaf.mul_(2.0)
        return [leaf]
    if name == "custom":
        return [_cube(torch).apply(x)]
    if name == "custom_pair":
        return list(_sine_and_cosine(torch).apply(x, y))
    if name == "unbind":
        first, _ = x.unbind(0)
        return [first + x]
    if name == "split":
        first, second = x.split(1, 1)
        return [first + x, second * x]
    return [getattr(torch, name)(*picked)]
