"""Calls that are a little wrong, or by names seldom used: PyTorch's answer, word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import evaluated

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS = [
    "t.ones(4, 2).split(split_size=[1, 3], dim=0)[1]",
    "t.ones(8).split(split_size=3)[2]",
    "t.ones(1, 2).view(size=(2,))",
    "t.ones(1, 2).reshape(shape=(2,))",
    "t.ones(1, 2).expand(size=(3, 2))",
    "t.ones(1, 2).permute(dims=(1, 0))",
    "t.ones(1, 2).repeat(repeats=(3, 2))",
    *(
        f"t.{name}(t.ones(2, dtype=t.{kind}), out=t.zeros(2, dtype=t.{out}))"
        for name in ("neg", "abs", "ceil", "sign", "trunc", "negative", "exp", "sin")
        for kind, out in (("int64", "float32"), ("float32", "float64"), ("float32", "int64"))
        if name not in ("exp", "sin") or out != "int64"
    ),
    *(f"t.{name}(t.tensor(2.0), dim=1)" for name in ("cummax", "cummin", "cumsum", "cumprod")),
    "t.roll(t.ones(2, 3), (1, 2))",
    "t.roll(t.ones(2, 3), (1,), (0, 1))",
    "t.roll(t.ones(2, 3), ())",
    "t.ones(6).unfold(0, 2, -1)",
    "t.ones(6).unfold(0, 2, 0)",
    "t.ones(6).unfold(0, 7, 1)",
    *(
        f"type(t.nn.{made})"
        for made in (
            "LSTM(3, 4, proj_size=4)",
            "LSTM(3, 4, proj_size=-1)",
            "LSTM(3, 0)",
            "GRU(0, 4)",
            "RNN(3, 4, 0)",
            "GRU(3, 4, dropout=2)",
            "GRU(3, 4, dropout=True)",
            "LSTM(3, 'a')",
            "Linear(1, 1).train('x')",
            "Linear(1, 1).train(1)",
        )
    ),
    "t.randperm(-1)",
    "t.optim.Adam([t.ones(1)], foreach=True, fused=True)",
    (
        "t.utils.data.DataLoader(type('Endless', (t.utils.data.IterableDataset,), "
        "{'__iter__': iter})(), shuffle=True)"
    ),
    "setattr(t.ones(1), 'requires_grad', 1)",
    (
        "t.nn.functional.linear_cross_entropy(t.ones(2, 4), t.arange(60.0).reshape(5, 3, 4) / 60, "
        "t.tensor([[0, 1, 2], [3, 4, 0]]), linear_bias=t.arange(15.0).reshape(5, 3) / 15)"
    ),
    "t.flipud(t.tensor(1.0))",
    "t.fliplr(t.ones(2))",
    "t.flip(t.ones(2, 2), (0, 0))",
    "t.ones(2, 2).flip(0, 0)",
    "t.flip(t.ones(2, 2), (2,))",
    "t.arange(10.0)[4:].as_strided((2,), (1,), 5)",
    "t.arange(10.0)[4:].as_strided((2,), (1,))",
    "t.arange(10.0)[4:].as_strided((2,), (1,), 1)",
    "t.arange(10.0)[4:].as_strided((2, 2), (1,))",
    "t.arange(10.0)[4:].as_strided((2, 2), (1, 9))",
    "t.arange(4.0).as_strided((-1,), (1,))",
    "t.arange(4.0).as_strided((2,), (1,), -1)",
    "t.as_strided_scatter(t.ones(3), t.ones(2, 2), (2, 2), (1, 2), 1)",
    "t.as_strided_scatter(t.arange(6.0).reshape(2, 3).t(), t.zeros(2), (2,), (1,), 3)",
    "t.as_strided_copy(t.arange(6.0).reshape(2, 3).t(), (2,), (1,), 3)",
    "t.as_strided_copy(t.arange(10.0)[4:], (2,), (1,), 5)",
    "t.as_strided_scatter(t.arange(6.0)[2:], t.zeros(2), (2,), (1,), 3)",
    "t.zeros(9, 2)[1:].fill_diagonal_(5, wrap=True)",
    "t.cov(t.tensor([[0.0, 1, 2], [2, 1, 0]]), fweights=t.tensor([1, 2, 1]))",
    "t.cov(t.tensor([[0.0, 1, 2], [2, 1, 0]]), aweights=t.tensor([0.1, 0.2, 0.3]))",
    "t.cov(t.ones(2, 3), fweights=t.tensor([1, 2, 3]), aweights=t.tensor([0.1, 0.2, 0.3]))",
    "t.cov(t.ones(2, 3), fweights=t.tensor([1, 2]))",
    "t.norm(t.tensor([[1.0, 2], [3, 4]]), p='nuc')",
    "t.zeros(3).scatter(0, t.tensor([1]), value=2.0)",
    "t.ones(3).scatter(0, t.tensor([1]), t.tensor([2.0]), reduce='add')",
    "t.ones(3).scatter_(0, t.tensor([1]), 5.0, reduce='multiply')",
    "t.ones(3).scatter(0, t.tensor([1]), 5.0, reduce='divide')",
    "t.randint(low=0, high=1, size=(2,))",
    "t.nn.utils.clip_grad_norm_([t.ones(2, requires_grad=True)], 1.0, foreach=False)",
    "t.nn.functional.scaled_dot_product_attention(*[t.ones(1, 2, 2, 2)] * 3, enable_gqa=True)",
    "t.nn.functional.scaled_dot_product_attention(*[t.ones(3, 3)] * 4, is_causal=True)",
    "t.autograd.Function.apply(t.ones(2))",
    "t.func.jacrev(t.sin, chunk_size=2)(t.ones(3))",
    "t.func.jacrev(t.sin, chunk_size=0)",
    "t.func.vmap(t.sin, chunk_size=0)",
    "t.nn.RNN(2, 3, proj_size=2)",
    "t.arange(4, dtype=t.int32).view(t.int64)",
    "t.arange(3, dtype=t.int32).view(t.int64)",
    "t.arange(6, dtype=t.int32).reshape(2, 3).t().view(t.int16)",
    "t.tensor(1.0).view(t.int16)",
    "t.ones(2).view(t.int32)",
    "t.tensor([-1], dtype=t.uint8)",
    "t.tensor([300], dtype=t.uint8)",
    "t.gradient(t.tensor([1.0, 2, 4]), spacing=None)[0]",
    *(
        f"t.nn.init.{name}(t.ones(2, 2), generator=t.Generator()) * 0"
        for name in (
            "uniform_",
            "normal_",
            "trunc_normal_",
            "xavier_uniform_",
            "xavier_normal_",
            "kaiming_uniform_",
            "kaiming_normal_",
            "orthogonal_",
        )
    ),
    "t.linalg.lstsq(t.ones(2), t.ones(3, 2))",
    "t.linalg.lstsq(t.ones(3, 2), t.ones(3, 2).double())",
    "t.linalg.lstsq(t.ones(3, 2), t.ones(()))",
    "t.linalg.lstsq(t.eye(2), t.ones(2)).solution",
    "t.linalg.matrix_rank(t.ones(2))",
    "t.linalg.matrix_rank(t.ones(2, 2, dtype=t.int64))",
    "t.linalg.matrix_rank(t.ones(2, 3), hermitian=True)",
    "t.linalg.matrix_power(t.ones(2, 2, dtype=t.int64), -2)",
    "t.linalg.solve_ex(t.ones(2, 2), t.ones(2), check_errors=True)",
    "t.linalg.solve_ex(t.ones(2, 2, dtype=t.int64), t.ones(2))",
    "t.arange(6.0).reshape(2, 3).t().as_strided((2, 2), (1, 2))",
    "t.arange(12.0)[2::2].as_strided((2,), (1,))",
    "t.as_strided_scatter(t.ones(2, 3), t.tensor(1.0), (2, 2), (1, 1))",
    "t.einsum('i,j->ij', t.ones(2), t.ones(3, dtype=t.int64))",
    "t.tril_indices(2, 2, dtype=t.int32)",
    "t.tril_indices(2, 2, dtype=t.float32)",
    "t.tensor([2, 1, -1, -1, 0, 3, -2]) ** t.tensor([-1, -3, -3, -2, -1, 2, 0])",
    "t.take_along_dim(t.arange(3.0), t.tensor([-1, 0, -3]), 0)",
    "t.take_along_dim(t.arange(3.0), t.tensor([-4]), 0)",
    "t.take_along_dim(t.arange(3.0), t.tensor([3]), 0)",
    "t.isclose(t.ones(2), t.ones(3))",
    "t.linalg.cross(t.ones(2, 3), t.ones(3, 3))",
    "t.roll(t.ones(2, 3), 1, None)",
    "t.softmax(t.ones(2, 3), dim=(0, 1))",
    "t.cumsum(t.ones(2, 3), dim=None)",
    "t.logcumsumexp(t.ones(2, 3), dim=(1,))",
    "t.lgamma(t.tensor(-float('inf')))",
    "t.nonzero(t.tensor(3.0), as_tuple=True)[0]",
    "t.bincount(t.tensor([0, 1]), t.ones(2))",
    "t.nn.functional.prelu(t.tensor(-1.0), t.ones(1))",
    "t.linalg.matrix_power(t.ones(2, 2, dtype=t.int64), 3)",
    "t.linalg.qr(t.ones(2, 2, dtype=t.float16))[0]",
    "t.linalg.slogdet(t.full((2, 2), float('nan')))[0]",
    "t.scatter_reduce(t.tensor([True]), 0, t.tensor([0]), t.tensor([False]), 'amin')",
    "t.nn.functional.multi_margin_loss(t.tensor([[float('nan'), 1.0]]), t.tensor([1]))",
    "t.histc(t.tensor([1.0, float('inf')]), 3)",
    "np.ones(2) * t.ones(2)",
    "np.ones(2) + t.ones(2, requires_grad=True)",
    "np.ones(2) - t.ones(2)",
    "np.ones(2) / t.ones(2)",
    "np.ones(2) ** t.ones(2)",
    "np.ones(2) // t.ones(2)",
    "np.ones(2) % t.ones(2)",
    "np.ones(2) @ t.ones(2)",
    "np.float64(2) * t.ones(2)",
    "t.ones(2) * np.ones(2)",
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("text", CALLS)
def test_an_odd_call_is_answered_as_in_pytorch(text: str) -> None:
    mine, theirs = (evaluated(namespace, text) for namespace in (autograd_core, torch))
    assert mine.error == theirs.error
    if theirs.result is not None:
        assert repr(mine.result.dtype) == repr(theirs.result.dtype)
        np.testing.assert_allclose(mine.result.numpy(), theirs.result.numpy(), 1e-6)


def an_optimizer_of_its_own(t: Any) -> Any:
    class Wrapper(t.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self) -> Any:
            self.inner.step()

    x = t.ones(1, requires_grad=True)
    x.grad = t.ones(1)
    Wrapper(t.optim.SGD([x], lr=0.5)).step()
    return x.tolist()


def submodules(t: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(1, 1))
    model._apply(lambda each: each.double())
    kind = str(model[0].weight.dtype)
    model.set_submodule("0", t.nn.ReLU())
    with t.device("cpu"):
        x = t.ones(3)
    x.resize_(3)
    return kind, repr(model), x._version


def a_function_with_a_default(t: Any) -> Any:
    class Scale(t.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, factor: float = 3.0) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            _, ctx.factor = inputs

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor, None

    x = t.ones(1, requires_grad=True)
    (Scale.apply(x) + Scale.apply(x, 2.0)).backward()
    return x.grad.tolist()


def passes_within_passes(t: Any) -> Any:
    class Deeper(t.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, levels: int) -> Any:
            ctx.levels = levels
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.levels:
                with t.enable_grad():
                    inner = t.ones(1, requires_grad=True)
                    Deeper.apply(inner, ctx.levels - 1).backward()
                    assert inner.grad.item() == 1
            return g, None

    x = t.ones(1, requires_grad=True)
    Deeper.apply(x, 150).backward()
    return x.grad.tolist()


@pytest.mark.parametrize(
    "program",
    [
        passes_within_passes,
        a_function_with_a_default,
        an_optimizer_of_its_own,
        submodules,
    ],
)
def test_seldom_used_names_do_what_they_do_in_pytorch(program: Any) -> None:
    mine, theirs = program(autograd_core), program(torch)
    assert str(mine) == str(theirs)


def test_few_of_very_many_samples_are_drawn_at_once() -> None:
    sampler = autograd_core.utils.data.RandomSampler(range(4), True, int(1e12))
    assert next(iter(sampler)) in range(4)
