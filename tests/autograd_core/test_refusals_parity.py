"""Calls that are a little wrong, or by names seldom used: PyTorch's answer, word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import evaluated

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

Z, N, R, V = np.zeros((2, 2)), [[1.0, 2.0], [2.0, 1.0]], np.ones((4, 3)), np.ones(3)
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
    "setattr(t.ones(1), 'requires_grad', 1)",
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
    "t.linalg.inv(T(Z))",
    "t.linalg.inv(T(np.zeros((2, 2, 2))))",
    "t.linalg.solve(T(Z), T(Z))",
    "t.linalg.solve(T(np.zeros((2, 2, 2))), T(Z))",
    "t.linalg.cholesky(T(N))",
    "t.linalg.cholesky(T([N, N]))",
    "t.linalg.det(T(R))",
    "t.linalg.inv(T(R))",
    "t.linalg.eigh(T(R))",
    "t.linalg.cholesky(T(R))",
    "t.linalg.inv(T(V))",
    "t.linalg.det(T(V))",
    "t.linalg.inv(T([[1, 2], [3, 4]]))",
    "t.linalg.qr(T(R), 'x')",
    "t.linalg.matrix_power(T(R), 2)",
    "t.linalg.multi_dot([T(Z)])",
    "t.linalg.multi_dot([T(Z), T(R)])",
    "t.linalg.matrix_exp(T(R))",
    "t.linalg.tensorinv(T(R))",
    "t.linalg.cond(T(Z), 7)",
    "t.linalg.matrix_norm(T(Z), 7)",
    "t.linalg.matrix_norm(T(V))",
    "t.linalg.pinv(T(V))",
    "t.linalg.eigh(T(Z), 'X')",
    "t.linalg.solve_triangular(T(R), T(R), upper=True)",
    "t.linalg.householder_product(T(R.T), T(V))",
    "t.linalg.matrix_power(T(Z), 1.5)",
    "t.linalg.vector_norm(T(V), 'fro')",
    "t.linalg.lu_factor(T(Z))",
    "t.linalg.svd(T(Z * np.nan))",
    "t.fft.irfft(t.ones(3), norm='x')",
    "t.fft.irfft(t.ones(3), n=0)",
    "t.fft.irfftn(t.ones(3, 3), s=(2, 2, 2))",
    "t.fft.irfftn(t.ones(3, 3), s=(2, 2), dim=(0,))",
    "t.fft.irfft(t.tensor(1.0))",
    "t.fft.irfft(t.ones(3).half())",
    "t.nn.functional.conv1d(t.ones(2, 3, 4, 5), t.ones(2, 3, 2))",
    "t.nn.functional.conv2d(t.ones(1, 3, 4, 5), t.ones(2, 3, 2, 2), padding='same', stride=2)",
    "t.nn.functional.conv2d(t.ones(1, 3, 4, 5), t.ones(2, 3, 2, 2), padding='some')",
    "t.nn.functional.conv3d(t.ones(1, 3, 4, 5, 5), t.ones(2, 2, 2, 2, 2))",
    "t.nn.functional.conv1d(t.ones(1, 3, 2), t.ones(2, 3, 3))",
    "t.nn.functional.conv_transpose1d(t.ones(1, 3, 4), t.ones(2, 3, 3))",
    "t.nn.functional.avg_pool2d(t.ones(1, 1, 4, 4), 2, padding=2)",
    "t.nn.functional.avg_pool2d(t.ones(1, 1, 4, 4), 2, divisor_override=0)",
    "t.nn.functional.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=2)",
    "t.nn.functional.interpolate(t.ones(1, 1, 4), size=2, scale_factor=2)",
    "t.nn.functional.interpolate(t.ones(1, 1, 4))",
    "t.nn.functional.interpolate(t.ones(1, 1, 4), size=2, mode='nearest', align_corners=True)",
    "t.nn.functional.pad(t.ones(1, 1, 4), (1, 1), mode='some')",
    "t.nn.functional.pad(t.ones(1, 1, 4), (1, 1), mode='reflect', value=2.0)",
    "t.nn.functional.pixel_shuffle(t.ones(1, 3, 2, 2), 2)",
    "t.nn.functional.pixel_unshuffle(t.ones(1, 3, 3, 2), 2)",
    "t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.ones(2, 1, 1, 2))",
    "t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 3))",
    "t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), 'cubic')",
    "t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), padding_mode='some')",
    "t.nn.functional.affine_grid(t.ones(2, 2, 2), (2, 1, 3, 3))",
    "t.nn.functional.one_hot(t.tensor([1.0]))",
    "t.nn.functional.one_hot(t.tensor([-1]))",
    "t.nn.functional.one_hot(t.tensor([3]), 2)",
    "t.nn.functional.pdist(t.ones(3))",
    "t.sin(t.ones(2, requires_grad=True), out=t.zeros(2))",
    "t.sin(t.ones(2), out=t.zeros(2, dtype=t.int64))",
    "t.sin(t.ones(2), out=3)",
    "t.mm(t.ones(2, 2), t.ones(2, 2), out=t.zeros(2, 2, dtype=t.float64))",
    "t.argmax(t.ones(2), out=t.zeros(()))",
    "t.sort(t.ones(2), out=(t.zeros(2, dtype=t.float64), t.zeros(2, dtype=t.int64)))",
    "t.zeros(2, out=t.zeros(2), dtype=t.int32)",
    "t.cat([t.ones(2), t.ones(2)], out=t.zeros(4, dtype=t.int64))",
    "t.clamp(t.ones(2), 0, 1, out=t.zeros(2, dtype=t.float64))",
    "t.flip(t.ones(2), (0,), out=t.zeros(2))",
    "t.isnan(t.ones(2), out=t.zeros(2))",
    "t.sin(t.ones(2), foo=3)",
    "t.zeros(2, foo=3)",
    "t.zeros(2, device='cuda')",
    "t.zeros(2, device='foo')",
    "t.zeros(2, device='cpu:x')",
    "t.device('foo')",
    "t.ones(2).to('cuda:0')",
    "t.ones(2).to(device='xpu')",
    "t.ones(2).cuda()",
    "t.nn.Linear(2, 2).to('cuda')",
    "t.nn.Linear(2, 2, device='cuda')",
    "t.nn.Linear(2, 2).cuda()",
    "t.sum(t.ones(2, 3), axis=0, keepdims=True)",
    "t.ones(2, 3).sum(axis=1)",
    "t.sum(a=t.ones(2))",
    "t.sum(t.tensor([1, 2]), dtype=t.float64)",
    "t.softmax(t.tensor([1.0, 2.0]), dim=0, dtype=t.float64)",
    "t.nn.functional.log_softmax(t.tensor([1.0, 2.0]), dim=0, dtype=t.float64)",
    "t.zeros(size=(2, 3), device='cpu', layout=t.strided, pin_memory=False)",
    "t.ones(2, device=t.device('cpu'), dtype=t.int64)",
    "t.zeros_like(t.ones(2), memory_format=t.preserve_format)",
    "t.tensor([1.0], device='cpu', requires_grad=True).requires_grad",
    "t.ones(2).to('cpu', t.float64, non_blocking=True)",
    "t.ones(2).to(device='cpu', dtype=t.int32)",
    "t.ones(2).to(t.zeros(1, dtype=t.int64))",
    "(lambda x: x.to('cpu') is x)(t.ones(2))",
    "(lambda x: x.to(t.float32, copy=True) is x)(t.ones(2))",
    "t.ones(2, 3).clone(memory_format=t.contiguous_format)",
    "t.ones(2, 3).contiguous(memory_format=t.contiguous_format)",
    "t.cat(tensors=[t.ones(2), t.zeros(1)], axis=0)",
    "t.max(t.tensor([[1.0, 3.0]]), dim=1, out=(t.empty(0), t.empty(0, dtype=t.int64)))[1]",
    "t.sum(t.ones(2, 3) * 1.5, 0, out=t.zeros(3, dtype=t.int64))",
    "t.cumsum(t.ones(3) * 1.5, 0, out=t.zeros(3, dtype=t.float64))",
    "t.full((2,), 5.5, out=t.zeros(2, dtype=t.int64))",
    "t.all(t.ones(2), out=t.zeros((), dtype=t.uint8))",
    "t.max(t.ones(2), t.zeros(2), out=t.zeros(2, dtype=t.float64))",
    "t.arange(5, device='cpu')",
    "t.full((2,), fill_value=3.0, device='cpu')",
    "t.ones(2).add(other=t.ones(2), alpha=3)",
    "t.ones(2).add_(other=t.ones(2))",
    "t.clamp(input=t.tensor([-1.0, 2.0]), min=0)",
    "t.transpose(t.ones(2, 3), dim0=0, dim1=1)",
    "t.nn.functional.mse_loss(t.ones(2), t.zeros(2), size_average=False)",
    "t.nn.functional.nll_loss(t.ones(2, 2), t.tensor([0, 1]), reduce=False)",
    "t.nn.Linear(2, 3, device='cpu', dtype=t.float64).weight.dtype is t.float64",
    "t.nn.Conv2d(2, 3, 1, device=t.device('cpu')).weight.shape[0]",
    "t.ones(2, 2, 2).H",
    "t.unique(t.ones(2, 0), dim=0)",
    "t.unique(t.tensor(1.0), dim=0)",
    "t.cat([t.ones(2)], dim=2)",
    "t.index_select(t.tensor(1.0), 0, t.tensor([0, 0]))",
    "t.nn.functional.binary_cross_entropy_with_logits(t.ones(2), t.tensor([True, False]))",
    "t.nn.functional.binary_cross_entropy_with_logits(*[t.ones(1)] * 2, pos_weight=t.ones(1) > 0)",
    "t.rand_like(t.ones(2)) * 0",
    "t.randn_like(t.ones(2)) * 0",
    "t.nn.functional.dropout(t.ones(2, 3).t(), 0.5) * 0",
    "t.nn.functional.glu(t.tensor(1.0), 0)",
    "t.tensor(1.0)[0:1]",
    "t.nn.functional.cross_entropy(t.ones(2, 3), t.ones(2, 3, dtype=t.int64))",
    "t.nn.functional.cosine_similarity(t.tensor([1, 2]), t.tensor([1, 2]), 0)",
    "t.nn.functional.cosine_similarity(t.tensor([1, 2]), t.ones(2), 0)",
    "t.ones(2, 4, 3).mT @ t.ones(4)",
    "t.linalg.matrix_norm(t.ones(2, 2), dim=(0, 0))",
    "t.tensor([True]) - t.tensor([True])",
    "t.nn.functional.batch_norm(t.ones(2, 2).double(), t.ones(2), t.ones(2).half())",
    "t.chunk(t.tensor(1.0), 2)",
    "t.linalg.vector_norm(t.tensor([1, 2]), dtype=t.int64)",
    "t.linalg.norm(t.tensor([1, 2]))",
    "t.ones(2).cpu()",
    "[t.ones(2)._is_view(), t.ones(2)[:1]._is_view()]",
    "t.nn.Linear(1, 1).to('cpu').weight * 0",
    (
        "type('Long', (t.autograd.Function,), {'__module__': 'a', "
        "'forward': staticmethod(lambda ctx, x: x * 2), "
        "'backward': staticmethod(lambda ctx, g: (g, None, None))}).apply("
        "t.ones(2, requires_grad=True)).sum().backward()"
    ),
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

# The words are PyTorch's, and the class of the error is a kindred one.
OTHER_CLASS = {
    "t.linalg.lu_factor(T(Z))",
    "t.nn.functional.pad(t.ones(1, 1, 4), (1, 1), mode='reflect', value=2.0)",
}


@pytest.mark.parametrize("text", CALLS)
def test_an_odd_call_is_answered_as_in_pytorch(text: str) -> None:
    mine, theirs = (
        evaluated(t, text, T=t.tensor, Z=Z, N=N, R=R, V=V) for t in (autograd_core, torch)
    )
    if text in OTHER_CLASS:
        assert mine.error
        assert mine.error[1] == theirs.error[1]
        return
    assert mine.error == theirs.error
    if not hasattr(theirs.result, "dtype"):
        assert mine.result == theirs.result
    else:
        assert repr(mine.result.dtype) == repr(theirs.result.dtype)
        np.testing.assert_allclose(
            mine.result.detach().numpy(), theirs.result.detach().numpy(), 1e-6
        )


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
    model[0] = t.nn.ReLU()
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
