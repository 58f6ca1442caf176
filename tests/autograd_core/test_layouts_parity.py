"""Results lie in memory as PyTorch's do, so that what can be viewed there can be viewed here."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.op_grid import steps
from tests.autograd_core.side_by_side import flat

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS = [
    "x.clone()", "x.contiguous()", "x.sum(0)", "x.sum(1)", "x.sum(-1,keepdim=True)", "x.sum((0,2))",
    "x.mean(1)", "x.mean(0,keepdim=True)", "x.cumsum(0)", "x.cumsum(2)", "x.cumprod(1)",
    "x.logcumsumexp(1)", "x.cummax(0)", "x.cummin(2)", "x.prod(1)", "x.softmax(0)", "x.softmax(-1)",
    "x.log_softmax(1)", "x.logsumexp(1)", "x.amax(1)", "x.amin((0,1))", "x.max(1)", "x.min(0)",
    "x.argmax(1)", "x.std(1)", "x.var(0)", "x.norm(dim=1)", "x.median(1)", "x.mode(1)", "x.all(1)",
    "x.any(0)", "x.nansum(1)", "t.std_mean(x,1)", "t.var_mean(x,0)", "x.sort(1)",
    "x.sort(0,descending=True)", "x.argsort(1)", "x.topk(2,1)", "x.kthvalue(1,1)", "x.flip(0)",
    "x.roll(1,1)", "x.rot90()", "x.tril()", "x.triu()", "x+1", "x*x", "x-y", "x*z", "x/y", "-x",
    "x**2", "x**3", "x**0.5", "x.abs()", "x.exp()", "x.sqrt()", "x.tanh()", "x.sigmoid()",
    "x.relu()", "x.sin()", "x.clamp(0.2,0.8)", "x.round()", "x>0.5", "x==y", "x.lerp(y,0.5)",
    "x.masked_fill(x>0.5,0)", "t.where(x>0.5,x,y)", "t.where(x>0.5,x,0.0)", "t.maximum(x,y)",
    "x.addcmul(x,y)", "x.addcdiv(x,y)", "x.fmod(0.3)", "t.atan2(x,y)", "x.double()", "x.long()",
    "x.bool()", "x.float()", "x.nan_to_num()", "x.logical_not()", "x.pow(y)", "x.float_power(2)",
    "x.fill_(1)", "x.sign()", "x.trunc()", "F.gelu(x)", "F.silu(x)", "F.leaky_relu(x)", "F.elu(x)",
    "F.softplus(x)", "F.logsigmoid(x)", "F.hardtanh(x)", "F.mish(x)", "F.hardswish(x)", "F.selu(x)",
    "F.relu6(x)", "F.softsign(x)", "F.tanhshrink(x)", "F.threshold(x,0.1,0.0)", "F.celu(x)",
    "F.softshrink(x)", "F.hardshrink(x)", "F.prelu(x,t.tensor([0.1]).to(x))", "F.dropout(x,0.5)",
    "F.dropout(x,0.5,False)", "F.normalize(x,dim=1)", "F.layer_norm(x,x.shape[-1:])",
    "F.layer_norm(x,x.shape)", "F.rms_norm(x,x.shape[-1:])", "F.group_norm(w,1)",
    "F.batch_norm(x,None,None,training=True)", "F.instance_norm(x)", "F.local_response_norm(x,2)",
    "F.pad(x,(1,1))", "F.pad(x,(1,1),mode='reflect')", "F.one_hot(x.long())",
    "F.mse_loss(x,y,reduction='none')", "F.l1_loss(x,y,reduction='none')",
    "F.smooth_l1_loss(x,y,reduction='none')", "F.binary_cross_entropy(x,y.abs(),reduction='none')",
    "F.kl_div(x,y,reduction='none')", "F.cosine_similarity(x,y,1)",
    "F.cross_entropy(x,x.argmax(1),reduction='none')", "t.zeros_like(x)", "t.ones_like(x)",
    "t.empty_like(x)", "t.full_like(x,2.0)", "t.rand_like(x)", "t.randn_like(x)",
    "x.new_zeros(x.shape)", "t.bernoulli(x)", "t.cat([x,x],0)", "t.cat([x,x],-1)",
    "t.stack([x,x],0)", "t.stack([x,x],-1)", "t.cat([x,y],1)", "t.hstack([x,x])", "t.vstack([x,x])",
    "t.dstack([x,x])", "x.index_select(1,i)", "x[i]", "x[:,i]", "x[:,:,i]", "x[i,i]", "x[x>0.5]",
    "x.gather(0,x.argmax(0,keepdim=True))", "x.take_along_dim(x.argmax(1,keepdim=True),1)",
    "t.take(x,i)", "x.index_add(0,i,x[i])", "x.index_copy(0,i,x[i])", "x.index_fill(0,i,0.5)",
    "x.index_put((i,),x[i])", "x.scatter(0,(x>2).long(),y)", "x.scatter_add(0,(x>2).long(),y)",
    "x.masked_select(x>0.5)", "x.masked_scatter(x>0.5,y)", "x.repeat(2,1,1)",
    "x.repeat_interleave(2,0)", "x.tile(2)", "x.reshape(-1)", "x.reshape(x.shape[0],-1)",
    "x.flatten()", "x.flatten(1)", "x.ravel()", "x.unfold(1,2,1)", "x.expand(2,*x.shape)",
    "x.diagonal()", "x.diff(dim=1)", "x@x.mT", "x.mT@x", "x.matmul(z)", "t.bmm(x,x.mT)",
    "t.einsum('ijk->kji',x)", "t.einsum('ijk,ijk->ij',x,x)", "t.tensordot(x,x,3)", "t.outer(z,z)",
    "x[0].mm(x[0].t())", "x[0].t().mm(x[0])", "t.addmm(x[0],x[0],v)", "x[0].mv(z)", "F.linear(x,v)",
    "F.linear(x,v,z)", "x.addcmul(y,y)", "x.renorm(2,0,1.0)", "t.cdist(x,x)", "t.kron(x[0],x[0])",
    "t.block_diag(x[0],x[0])", "x.quantile(0.5,1)", "x.squeeze()", "x.unsqueeze(1)",
    "x.movedim(0,1)", "x.transpose(0,1)", "x.permute(2,0,1)", "x.narrow(1,0,1)", "x.select(1,0)",
    "x.split(1,1)", "x.chunk(2,2)", "x.unbind(1)", "x.detach()", "x.data", "x.type_as(y)",
    "x.to(t.float64)", "x.to(t.float32)", "x.view_as(x)", "x.T", "x.mT", "x.H", "x.isnan()",
    "x.eq(y)", "x.lt(0.5)", "x.square()", "x.reciprocal()", "x.rsqrt()", "x.erf()", "x.lgamma()",
    "x.digamma()", "x.logit(0.1)", "x.expm1()", "x.log1p()", "x.sinc()", "x.hypot(y)",
    "x.copysign(y)", "x.heaviside(y)", "x.frac()", "x.xlogy(y)", "x.logaddexp(y)", "x.fmax(y)",
    "x.remainder(0.3)", "t.meshgrid(z,z)", "t.cartesian_prod(z,z)", "t.combinations(z)",
    "t.broadcast_tensors(x,y)", "t.clamp(x,y,y+1)", "x.clamp_min(0.3)", "x.dist(y)",
    "t.gradient(x,dim=1)", "t.trapezoid(x,dim=1)", "t.cumulative_trapezoid(x,dim=1)",
    "x.unflatten(1,(1,-1))", "t.searchsorted(z.sort()[0],x)", "t.isin(x,y)", "t.isclose(x,y)",
    "t.unique(x)", "t.nonzero(x)", "t.argwhere(x)", "x.softmax(1).view(-1)",
    "x.add(1).mul(y).tanh()", "F.conv1d(x,k)", "F.conv1d(x,k).relu()", "F.max_pool1d(x,2)",
    "F.avg_pool1d(x,2)", "F.adaptive_avg_pool1d(x,1)", "F.interpolate(x,scale_factor=2)",
    "F.pixel_shuffle(q,2)", "F.conv2d(q,l)", "F.max_pool2d(q,2)", "F.avg_pool2d(q,2)",
    "F.adaptive_avg_pool2d(q,1)", "F.interpolate(q,scale_factor=2)", "F.unfold(q,2)",
    "F.batch_norm(q,None,None,training=True)", "F.group_norm(q,2)", "F.dropout2d(q,0.5)",
    "F.grid_sample(q,g)", "F.scaled_dot_product_attention(x,x,x)", "F.embedding(x.argmax(1),v)",
    "q.sum(1)", "q.mean((2,3))", "q.softmax(1)", "q.relu()", "q*q.sum(1,keepdim=True)",
    "q.cumsum(1)", "q.flatten(1)", "q.amax((2,3))", "F.layer_norm(q,q.shape[1:])", "q.std(1)",
    "q.transpose(1,3).contiguous()", "q.clone()", "q+1",
]  # fmt: skip

PERMUTED = {f"permuted {order}": order for order in itertools.permutations(range(3))}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda a, order=order: lying(a, order) for name, order in PERMUTED.items()},
    "every second": lambda a: a.repeat_interleave(2, -1)[..., ::2],
    "a part of a transposed one": lambda a: (
        a.transpose(0, 2).repeat(1, 2, 1)[:, : a.shape[1]].transpose(0, 2)
    ),
    "expanded": lambda a: a[:1].expand(a.shape),
}
# (see known_differences.py) Operands of different layouts meet in some, and others go by the
# layouts of images, or of a batch of triangles.
MIXED = {
    "F.normalize(x,dim=1)", "F.rms_norm(x,x.shape[-1:])", "F.local_response_norm(x,2)",
    "q*q.sum(1,keepdim=True)", "t.kron(x[0],x[0])", "x.tril()", "x.triu()", "F.avg_pool1d(x,2)",
    "F.conv2d(q,l)", "F.max_pool2d(q,2)", "F.avg_pool2d(q,2)", "F.interpolate(q,scale_factor=2)",
    "F.batch_norm(q,None,None,training=True)", "F.group_norm(q,2)",
}  # fmt: skip
OF_EXPANDED = {
    "x.rot90()", "x.double()", "x.long()", "x.bool()", "x.nan_to_num()", "x.float_power(2)",
    "F.gelu(x)", "F.silu(x)", "F.leaky_relu(x)", "F.softplus(x)", "x.index_put((i,),x[i])",
    "x.to(t.float64)",
}  # fmt: skip


def lying(a: Any, order: Sequence[int]) -> Any:
    """``a``, copied, with its dimensions in that order in memory."""
    return a.permute(tuple(np.argsort(order).tolist())).contiguous().permute(tuple(order))


def names(t: Any, layout: str) -> dict[str, Any]:
    """What the calls name."""

    def made(shape: tuple[int, ...], seed: int) -> Any:
        array = np.random.default_rng(seed).uniform(0.1, 0.9, shape).astype(np.float32)
        return t.tensor(array.tolist())

    lay_out, order = LAYOUTS[layout], PERMUTED.get(layout, (0, 1, 2))
    return {
        "t": t, "F": t.nn.functional, "i": t.tensor([1, 0]),
        "x": lay_out(made((2, 3, 4), 0)), "y": lay_out(made((2, 3, 4), 1)),
        "w": lay_out(made((2, 4, 4), 2)), "z": made((4,), 3), "v": made((4, 4), 4),
        "q": lying(made((4, 4, 4, 4), 5), (0, *(n + 1 for n in order))),
        "k": made((3, 3, 2), 6), "l": made((4, 4, 2, 2), 7), "g": made((4, 3, 3, 2), 8),
    }  # fmt: skip


def strides(t: Any, text: str, layout: str) -> list[Any] | str:
    """Where the elements of all results lie; or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = flat(eval(text, names(t, layout)))
        except Exception as error:
            return type(error).__name__
    return [(tuple(each.shape), steps(each)) for each in found if isinstance(each, t.Tensor)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_lie_as_those_of_pytorch(layout: str) -> None:
    left_out = MIXED | OF_EXPANDED if layout == "expanded" else MIXED
    wrong = []
    for text in CALLS:
        mine, theirs = (strides(t, text, layout) for t in (autograd_core, torch))
        if mine != theirs and text not in left_out:
            wrong.append(f"{text}: {mine} | {theirs}")
    assert not wrong


@pytest.mark.parametrize("t", [autograd_core, torch], ids=lambda t: t.__name__)
def test_a_copy_can_be_told_to_lie_in_order(t: Any) -> None:
    x = t.rand(3, 4).t()
    assert x.clone().stride() == (1, 4)
    assert x.clone(memory_format=t.preserve_format).stride() == (1, 4)
    assert x.clone(memory_format=t.contiguous_format).view(-1).shape == (12,)
    assert x.log_softmax(-1).view(-1).shape == (12,)
