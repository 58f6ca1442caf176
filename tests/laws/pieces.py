"""The pieces that random programs for PyTorch are made of, as text.

``$v`` and ``$u`` are values, float tensors of 2 × 3 with a gradient; ``$leaf`` is a leaf, ``$new``
the value that a piece makes, ``$k`` a number of its own.  Under ``#:`` stands a piece's name.
"""

from __future__ import annotations

import re

HEADER = """\
import copy, functools, gc, io, pickle, random, signal, sys, threading, warnings, weakref
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

signal.alarm(LIMIT)  # a program that waits for ever ends
def tell(*what):
    print("\\n>", *what)
def plain(x):
    if not isinstance(x, torch.Tensor):
        return x
    try:
        x = x.detach()
        if x.is_nested:
            return [plain(each) for each in x.unbind()]
        return (x if x.layout is torch.strided else x.to_dense()).tolist()
    except Exception as error:
        return type(error).__name__
def version(x):
    return "none" if x.is_inference() else x._version
counts, tallies, watched, inside, ages = {}, {}, [], [], {}
def count(name):
    counts[name] = counts.get(name, 0) + 1
def tally(name):
    tallies[name] = tallies.get(name, 0) + 1
def watch(name, x):
    watched.append((name, weakref.ref(x)))
def a_pass(work):
    if not inside:
        inside.append(work)
        try:
            with torch.enable_grad():
                work()
        finally:
            inside.clear()
def attempt(work):
    try:
        return work()
    except Exception as error:
        tell(type(error).__name__, *str(error).splitlines()[:1])
def end():
    sys.settrace(None); sys.setprofile(None)
    for name, each in list(globals().items()):
        if isinstance(each, torch.Tensor) and each.grad_fn is not None:
            keys = [str(key) for key in each.grad_fn.metadata]
            tell(name, sorted(keys), version(each))
        if isinstance(each, torch.Tensor) and each.is_leaf:
            tell(name, plain(each), version(each), each.requires_grad, plain(each.grad))
            if each.grad is not None:
                tell(name, type(each.grad).__name__, each.grad.requires_grad, each.grad.layout)
        if isinstance(each, nn.Module):
            for key, tensor in [*each.named_parameters(), *each.named_buffers()]:
                tell(name, key, plain(tensor), version(tensor), plain(tensor.grad))
        if isinstance(each, optim.Optimizer):
            for state in each.state.values():
                tell(name, [plain(value) for value in state.values()])
    tell(torch.get_rng_state().sum().item(), random.random(), np.random.rand())
    tell(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled())
    tell(torch.get_default_dtype(), torch.is_anomaly_enabled(), gc.isenabled())
    tell(sys.getrecursionlimit(), threading.active_count())
    for name in [name for name in globals() if name[0] in "vs" and name[1:].isdigit()]:
        del globals()[name]
    gc.collect()
    tell("freed:", [name for name, ref in watched if ref() is not None])
    tell(tallies)
    print("\\ncounts:", counts)

torch.manual_seed(3); random.seed(3); np.random.seed(3)
x0, x1, x2 = [torch.rand(2, 3).mul(2).sub(1).requires_grad_() for _ in range(3)]
net, norm = nn.Linear(3, 3), nn.BatchNorm1d(3)
sgd = optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
adam = optim.Adam([x0], lr=0.1)
v0 = x0 * 1.5
"""


VALUES = """
#: sin times
$new = torch.sin($v) * $u
#: a layer
$new = net($v)
#: batch norm
$new = norm($v)
#: batch norm in evaluation
norm.eval(); $new = norm($v); norm.train()
#: matmul
$new = $v @ $u.T @ $v
#: softmax
$new = torch.softmax($v, dim=1) + $u
#: layer norm
$new = F.layer_norm($v, (3,))
#: dropout
$new = F.dropout($v, 0.5)
#: random noise
$new = $v + torch.randn_like($u) * torch.bernoulli(torch.full((2, 3), 0.5))
#: where
$new = torch.where($v > 0, $v, $u * 0.5)
#: masked fill
$new = $v.masked_fill($u > 0, 0.25)
#: gather
$new = $v.gather(1, torch.tensor([[0, 2, 1], [1, 1, 0]]))
#: indexing with a list
$new = $v[[1, 0]] + $v[:, [0, 0, 2]]
#: index_put_
$new = torch.zeros(2, 3).index_put((torch.tensor([0, 1, 0]),), torch.cat([$v, $u])[:3], True)
#: scatter_add
$new = torch.zeros(2, 3).scatter_add(1, torch.tensor([[0, 1, 0], [2, 2, 1]]), $v)
#: topk and sort
$new = torch.cat([$v.topk(2, dim=1).values, $u.sort(dim=1).values[:, :1]], 1)
#: max with indices
big$k = $v.max(dim=1, keepdim=True)
$new = $u * big$k.values + big$k.indices
#: unbind and stack
rows$k = $v.unbind(0)
$new = torch.stack([rows$k[0] * 2, rows$k[1].exp()])
#: split of which one part is unused
part$k, _ = $v.split([1, 2], dim=1)
$new = part$k * $u
#: svd
$new = torch.linalg.svd($v, full_matrices=False).S.sum() * $u
#: qr
$new = torch.linalg.qr($v.T)[0].T + $u
#: a solve
$new = torch.linalg.solve(torch.eye(3) * 3 + $v.T @ $v, $u.T).T
#: einsum
$new = torch.einsum("ij,kj,kl->il", $v, $u, $v)
#: an LSTM cell
cell$k = nn.LSTMCell(3, 3)
$new = cell$k($v)[0] + $u
#: an LSTM
lstm$k = nn.LSTM(3, 3)
$new = lstm$k($v[:, None])[0][:, 0]
#: attention
$new = F.scaled_dot_product_attention($v[None], $u[None], $v[None])[0]
#: multi-head attention
heads$k = nn.MultiheadAttention(3, 1, batch_first=True)
$new = heads$k($v[None], $u[None], $v[None])[0][0]
#: convolution
conv$k = nn.Conv1d(1, 1, 3, padding=1)
$new = conv$k($v[:, None])[:, 0]
#: pooling and interpolation
$new = F.interpolate(F.max_pool1d($v[:, None], 2), size=3)[:, 0] + $u
#: an embedding
table$k = nn.Embedding(4, 3)
$new = table$k(torch.tensor([1, 1])) * $v
#: an embedding with sparse gradients
sparse$k = nn.Embedding(4, 3, sparse=True)
$new = sparse$k(torch.tensor([1, 3])) + $v
#: a bag of embeddings
bag$k = nn.EmbeddingBag(4, 3, mode="mean", sparse=True)
$new = bag$k(torch.tensor([[1, 3], [0, 0]])) * $v
#: complex numbers
$new = torch.complex($v, $u).exp().abs().log1p()
#: a Fourier transform
$new = torch.fft.irfft(torch.fft.rfft($v, dim=1) * 2, n=3, dim=1)
#: a view as real numbers
$new = torch.view_as_real(torch.complex($v, $u)).sum(-1)
#: a complex conjugate
c$k = torch.complex($v, $u)
$new = (c$k.conj() * c$k).real + c$k.conj().imag
#: doubles
$new = ($v.double() ** 2).float()
#: half precision
$new = ($v.to(torch.bfloat16) @ torch.ones(3, 3, dtype=torch.bfloat16)).float()
#: broadcasting
$new = $v + $u[:1] + $v[:, :1] * $u.sum()
#: expand and permute
$new = $v.expand(4, 2, 3).permute(1, 2, 0).mean(-1)
#: unfold
$new = $v.unfold(1, 2, 1).sum(-1).sum(1, keepdim=True) + $u
#: as_strided
$new = torch.as_strided($v * 1, (2, 3), (3, 1)) * 2
#: a diagonal
$new = $v + torch.diag_embed($u.diagonal())[:, :1].sum()
#: NaN from a masked branch
$new = torch.where($v > 2, ($v - $v).sqrt(), $v)
#: an infinity
$new = ($v * 0).exp() * $u + (1 / ($v * 0 + 1e38) * 1e-38)
#: a constant times nothing
$new = $v * 0 + $u.detach()
#: in-place ops
$new = $v.clone()
$new.mul_(2).add_($u).tanh_()
#: an in-place relu
$new = F.relu($v + 0.1, inplace=True)
#: a chain of views in place
$new = $v.clone()
$new[0].mul_(2)
$new[:, 1] += $u[:, 0]
$new.view(3, 2)[1:].sub_(0.5)
#: a view of a view in place
$new = $v * 1
part$k = $new.t()[1:]
part$k[0].copy_($u[:, 0])
#: in place on one of several views
$new = $v * 1
attempt(lambda: $new.unbind(0)[0].mul_(2))
#: copy into a buffer
$new = torch.zeros(2, 3)
for row$k in range(2):
    $new[row$k] = $v[row$k] * $u[1 - row$k]
#: a leaf changed under no_grad
$new = $v * $leaf
with torch.no_grad(): $leaf.mul_(1.0)
#: a saved value changed
$new = $v.exp()
saved$k = $new * 2
$new.add_(1)
#: detach in place
$new = $v * 2
held$k = $v * 3
held$k.detach_()
$new = $new + held$k
#: .data
held$k = $v * 1
held$k.data.mul_(2)
$new = held$k * $u
#: a cut that requires a gradient
cut$k = $v.detach().requires_grad_()
$new = cut$k * $u
#: a new leaf in the graph
leaf$k = torch.full((2, 3), 0.5, requires_grad=True)
$new = $v * leaf$k
#: squeeze_ and unsqueeze_
$new = ($v * 1).unsqueeze_(0).squeeze_(0)
#: out= of constants
constant$k = torch.empty(2, 3)
torch.mul($u.detach(), 2, out=constant$k)
$new = $v + constant$k
#: out= that refuses
attempt(lambda: torch.mul($v, 2, out=torch.empty(2, 3)))
$new = $v * 2
#: values filled in a loop
filled$k = torch.zeros(6)
for at$k in range(6):
    filled$k[at$k] = at$k * 0.5
$new = $v + filled$k.view(2, 3)
#: a Python number of a tensor
$new = $v * float($u.detach().mean()) + int(len($v))
#: a branch on a value
$new = $v * 2 if $v.sum() > 0 else $v - 1
#: NumPy in between
$new = $v + torch.from_numpy(np.sin($u.detach().numpy()))
#: a NumPy array shares memory
array$k = np.ones((2, 3), dtype=np.float32)
$new = $v * torch.from_numpy(array$k)
#: a Function
class Twice$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        tell("backward of Twice", plain(g))
        return g * 2 + 0 * ctx.saved_tensors[0]
$new = Twice$k.apply($v)
#: a Function with two results
class Pair$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        s, c = x.sin(), y.cos()
        ctx.save_for_backward(s, c)
        return s, c
    @staticmethod
    def backward(ctx, g, h):
        s, c = ctx.saved_tensors
        tell(ctx.needs_input_grad)
        return g * c, h * s
first$k, second$k = Pair$k.apply($v, $u)
$new = first$k * 2
#: a Function that changes its input
class Dirty$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, g):
        return g * 2
$new = Dirty$k.apply($v * 1)
#: a Function with a result that has no gradient
class Sorted$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values, at = x.sort(dim=1)
        ctx.mark_non_differentiable(at)
        ctx.save_for_backward(at)
        return values, at
    @staticmethod
    def backward(ctx, g, unused):
        return torch.zeros_like(g).scatter_(1, ctx.saved_tensors[0], g)
$new, at$k = Sorted$k.apply($v)
#: once differentiable
class Once$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
$new = Once$k.apply($v)
#: setup_context and vmap
class Cube$k(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2
$new = torch.func.vmap(Cube$k.apply)($v)
#: a vmap rule
class Rule$k(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, g):
        return g * 3
    @staticmethod
    def vmap(info, in_dims, x):
        tell("vmap", info.batch_size, in_dims)
        return Rule$k.apply(x), in_dims[0]
$new = torch.func.vmap(Rule$k.apply)($v) + torch.func.grad(lambda x: Rule$k.apply(x).sum())($u)
#: gradients that are not materialized
class Bare$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        tell("Bare", g is None, h is None)
        return None if g is None else g * 2
$new, unused$k = Bare$k.apply($v)
#: a Function without a gradient
class Stop$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y
    @staticmethod
    def backward(ctx, g):
        return None, g
$new = Stop$k.apply($v, $u)
#: a Function that returns its input
class Same$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g.neg()
$new = Same$k.apply($v)
#: a Function that returns a view
class View$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(3, 2)
    @staticmethod
    def backward(ctx, g):
        return g.reshape(2, 3)
$new = View$k.apply($v).reshape(2, 3)
#: a Function that keeps tensors on ctx
class Kept$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, names=("a",)):
        ctx.x, ctx.factor = x.detach(), factor
        return x * factor
    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor + 0 * ctx.x, None, None
$new = Kept$k.apply($v, 2.5, ["b"])
#: a Function whose backward raises
class Broken$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        raise ValueError("Broken")
$new = Broken$k.apply($v) if random.random() < 0.5 else $v * 2
#: a Function whose forward raises
class Refused$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise KeyError("Refused")
    @staticmethod
    def backward(ctx, g):
        return g
attempt(lambda: Refused$k.apply($v))
$new = $v * 1
#: a Function that returns too few gradients
class Few$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y
    @staticmethod
    def backward(ctx, g):
        return g
$new = $v + Few$k.apply($u, $v) * 0 if random.random() < 0.3 else $v * 3
#: a Function that returns a wrong shape
class Wide$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum(0, keepdim=True)
    @staticmethod
    def backward(ctx, g):
        return g.expand(2, 3)
$new = $v + Wide$k.apply($u)
#: a Function that makes a pass inside
class Inner$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return torch.autograd.grad(x.exp(), x, g)[0]
$new = Inner$k.apply($v)
#: a Function that changes the gradient in place
class Scales$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g.mul_(2)
$new = Scales$k.apply($v * 1)
#: a Function with random numbers
class Noisy$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.rand(1)
    @staticmethod
    def backward(ctx, g):
        return g * torch.rand(1)
$new = Noisy$k.apply($v)
#: a Function that warns
class Warns$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        warnings.warn("forward of Warns")
        return x * 2
    @staticmethod
    def backward(ctx, g):
        warnings.warn("backward of Warns", DeprecationWarning)
        return g * 2
for _ in range(3): $new = Warns$k.apply($v)
#: a Function that refers to itself
class Circle$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.me = ctx
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
$new = Circle$k.apply($v)
#: a Function with forward mode
class Both$k(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
    @staticmethod
    def jvp(ctx, t):
        return t * 2 * ctx.saved_tensors[0]
import torch.autograd.forward_ad as forward_ad
with forward_ad.dual_level():
    dual$k = Both$k.apply(forward_ad.make_dual($u.detach(), torch.ones(2, 3)))
    tell(plain(forward_ad.unpack_dual(dual$k).tangent))
$new = Both$k.apply($v)
#: an op of the program's
if not hasattr(torch.ops.pieces, "op$k"):
    @torch.library.custom_op("pieces::op$k", mutates_args=())
    def op$k(x: torch.Tensor) -> torch.Tensor:
        return x * 2
    op$k.register_autograd(lambda ctx, g: g * 2, setup_context=lambda ctx, inputs, output: None)
$new = torch.ops.pieces.op$k($v)
#: a subclass
class Plain$k(torch.Tensor):
    pass
sub$k = $v.as_subclass(Plain$k) * 2
tell(type(sub$k).__name__, type(sub$k.sum()).__name__)
$new = sub$k.as_subclass(torch.Tensor)
#: a subclass that counts
class Counted$k(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        count("Counted$k")
        return super().__torch_function__(function, types, args, kwargs or {})
$new = ($v.as_subclass(Counted$k) * 2 + $u).as_subclass(torch.Tensor)
#: a subclass that stays
class Stays$k(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        count("Stays$k")
        return super().__torch_function__(function, types, args, kwargs or {})
$new = $v.as_subclass(Stays$k) + 1
#: a subclass that raises
class Shy$k(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.exp:
            raise TypeError("Shy")
        return super().__torch_function__(function, types, args, kwargs or {})
attempt(lambda: $v.as_subclass(Shy$k).exp())
$new = $v + 1
#: a subclass without __torch_function__
class Quiet$k(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl
$new = $v.as_subclass(Quiet$k) * 2
#: an object with __torch_function__
class Boxed$k:
    def __init__(self, x): self.x = x
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        count("Boxed$k")
        return function(*[a.x if isinstance(a, cls) else a for a in args], **(kwargs or {}))
$new = torch.add($v, Boxed$k($u))
#: a wrapper with __torch_dispatch__
class Wrapper$k(torch.Tensor):
    @staticmethod
    def __new__(cls, x):
        made = torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype)
        made.x = x
        return made
    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        def bare(x): return x.x if isinstance(x, cls) else x
        made = op(*map(bare, args), **{k: bare(x) for k, x in (kwargs or {}).items()})
        return cls(made) if isinstance(made, torch.Tensor) else made
wrapped$k = Wrapper$k(torch.full((2, 3), 0.5)).requires_grad_()
attempt(lambda: (wrapped$k * 2).sum().backward())
tell("wrapper", None if wrapped$k.grad is None else plain(wrapped$k.grad.x))
$new = $v * 2
#: a parameter of a subclass
class Own$k(nn.Parameter):
    pass
own$k = Own$k(torch.ones(3))
$new = $v * own$k
#: saved values packed as arrays
with torch.autograd.graph.saved_tensors_hooks(
    lambda x: x.detach().numpy().copy(), lambda a: torch.from_numpy(a)
):
    $new = $v.exp() * $u
#: saved values packed with a word
def pack$k(x):
    tell("pack", tuple(x.shape))
    return x.detach().clone()
def unpack$k(x):
    tell("unpack", tuple(x.shape))
    return x
with torch.autograd.graph.saved_tensors_hooks(pack$k, unpack$k):
    $new = ($v * $u).tanh()
#: an unpack hook that raises
def unpack$k(x):
    raise OSError("unpack")
with torch.autograd.graph.saved_tensors_hooks(lambda x: x, unpack$k):
    $new = $v.sin() if random.random() < 0.4 else $v + 1
#: a pack hook that raises
def pack$k(x):
    raise OSError("pack")
def packed$k():
    with torch.autograd.graph.saved_tensors_hooks(pack$k, lambda x: x):
        return $v.exp()
attempt(packed$k)
$new = $v + 1
#: saved on the CPU
with torch.autograd.graph.save_on_cpu():
    $new = $v.exp() * $u
#: no saved tensors' hooks
with torch.autograd.graph.disable_saved_tensors_hooks("none here"):
    $new = $v.exp() * $u
#: mutation of what is saved
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    held$k = $v * 1
    $new = held$k.sin()
    held$k.mul_(2)
    attempt(lambda: $new.sum().backward(retain_graph=True))
$new = $u * 2
#: a hook on one saved value
$new = $v.exp()
attempt(lambda: $new.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x * 1))
#: a checkpoint
def layer$k(x):
    tell("layer")
    return net(x).tanh() * F.dropout(x, 0.5)
$new = checkpoint(layer$k, $v, use_reentrant=False)
#: a reentrant checkpoint
def layer$k(x, y):
    tell("layer")
    return net(x).tanh() * y
$new = checkpoint(layer$k, $v, $u, use_reentrant=True)
#: a checkpoint in another
def inner$k(x): return x.exp() * x
def outer$k(x): return checkpoint(inner$k, net(x), use_reentrant=False) + x
$new = checkpoint(outer$k, $v, use_reentrant=False)
#: a sequence of checkpoints
$new = checkpoint_sequential([net, nn.Tanh(), net], 2, $v, use_reentrant=False)
#: a checkpoint without early stop
with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    $new = checkpoint(lambda x: x.sin().exp(), $v, use_reentrant=False)
#: a checkpoint that is not what it was
times$k = []
def layer$k(x):
    times$k.append(1)
    return x.exp() if len(times$k) == 1 else x * 2
$new = checkpoint(layer$k, $v, use_reentrant=False) if random.random() < 0.4 else $v * 2
#: a checkpoint with contexts
from contextlib import contextmanager
@contextmanager
def around$k(name):
    tell("enter", name)
    yield
    tell("leave", name)
$new = checkpoint(torch.exp, $v, use_reentrant=False,
                  context_fn=lambda: (around$k("forward"), around$k("again")))
#: a selective checkpoint
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
def policy$k(ctx, op, *given, **named):
    return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.mm.default else (
        CheckpointPolicy.PREFER_RECOMPUTE)
$new = checkpoint(lambda x: (x @ x.T).tanh() @ x, $v, use_reentrant=False,
                  context_fn=functools.partial(create_selective_checkpoint_contexts, policy$k))
#: autocast
with torch.autocast("cpu", dtype=torch.bfloat16):
    low$k = net($v)
tell(low$k.dtype)
$new = low$k.float()
#: forward mode
import torch.autograd.forward_ad as fwAD
with fwAD.dual_level():
    dual$k = fwAD.make_dual($v.detach(), torch.ones(2, 3))
    tell(plain(fwAD.unpack_dual(dual$k.exp() * dual$k).tangent))
$new = $v * 2
#: torch.func.grad
tell(plain(torch.func.grad(lambda x: (x ** 3).sum())($v.detach())))
$new = torch.func.vmap(lambda x: x * x.sum())($v)
#: functional_call
new$k = {name: p * 2 for name, p in net.named_parameters()}
$new = torch.func.functional_call(net, new$k, ($v,))
#: jacobians
tell(plain(torch.func.jacrev(lambda x: (x * x).sum(1))($v.detach())))
tell(plain(torch.autograd.functional.jacobian(lambda x: (x * x).sum(1), $v.detach())))
$new = $v * 2
#: hessian and vhp
tell(plain(torch.autograd.functional.hvp(lambda x: x.pow(3).sum(), $v.detach(), $u.detach())[1]))
tell(plain(torch.func.hessian(lambda x: x.pow(3).sum())($v.detach()[0])))
$new = $v * 2
#: gradcheck
double$k = $v.detach().double().requires_grad_()
tell(torch.autograd.gradcheck(torch.tanh, (double$k,)))
tell(torch.autograd.gradgradcheck(torch.sin, (double$k,)))
$new = $v * 2
#: vmap with random numbers
$new = torch.func.vmap(lambda x: x + torch.rand(3), randomness="different")($v)
#: a stack of modules
models$k = [nn.Linear(3, 3) for _ in range(2)]
params$k, buffers$k = torch.func.stack_module_state(models$k)
def each$k(p, b, x): return torch.func.functional_call(models$k[0], (p, b), (x,))
$new = torch.func.vmap(each$k, in_dims=(0, 0, None))(params$k, buffers$k, $v).sum(0)
#: a sparse matrix
$new = torch.sparse.mm(torch.eye(2).to_sparse(), $v) + $u
#: sparse and back
$new = ($v.to_sparse() * 2).to_dense() + $u
#: a compressed matrix
warnings.filterwarnings("ignore", "Sparse CSR tensor support")
$new = torch.eye(2).to_sparse_csr() @ $v
#: a sparse leaf
spare$k = torch.eye(3).to_sparse().requires_grad_()
$new = torch.sparse.mm(spare$k, $v.T).T
#: a sparse gradient that becomes dense
mixed$k = nn.Embedding(3, 3, sparse=True)
$new = mixed$k(torch.tensor([0, 2])) + $v @ mixed$k.weight
#: a masked tensor
from torch.masked import masked_tensor
masked$k = masked_tensor($v.detach(), $v.detach() > 0, requires_grad=True)
attempt(lambda: (masked$k * 2).sum().backward())
$new = $v * 2
#: a nested tensor
nested$k = torch.nested.nested_tensor([$v[:1].detach(), $u.detach()], requires_grad=True)
$new = torch.nested.to_padded_tensor(net(nested$k), 0.0)[1] + $v
#: a jagged tensor
jagged$k = torch.nested.as_nested_tensor([$v[:1], $u], layout=torch.jagged)
$new = torch.nested.to_padded_tensor(jagged$k * 2, 0.0)[1] + $v
#: a tensor of inference mode
with torch.inference_mode():
    constant$k = torch.ones(2, 3) * 2
$new = $v + constant$k
#: a tensor of inference mode that refuses
with torch.inference_mode():
    constant$k = torch.ones(2, 3)
    tell(constant$k.is_inference())
attempt(lambda: ($v * constant$k).sum().backward())
$new = $v + constant$k.clone()
#: batch norm after inference mode
late$k = nn.BatchNorm1d(3, affine=False)
with torch.inference_mode():
    late$k(torch.rand(4, 3))
$new = late$k($v)
#: no_grad
with torch.no_grad():
    constant$k = net($v)
$new = $u * constant$k
#: a function under no_grad
@torch.no_grad()
def quiet$k(x): return x * 2
$new = $v + quiet$k($u)
#: set_grad_enabled
torch.set_grad_enabled(False)
constant$k = $u * 2
torch.set_grad_enabled(True)
$new = $v * constant$k
#: a function mode
from torch.overrides import TorchFunctionMode
class Mode$k(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        count("Mode$k")
        return function(*args, **(kwargs or {}))
with Mode$k():
    $new = net($v).exp()
#: a function mode that rewrites
from torch.overrides import TorchFunctionMode
class Rewrites$k(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.sin: function = torch.cos
        return function(*args, **(kwargs or {}))
with Rewrites$k():
    $new = torch.sin($v)
#: a dispatch mode
from torch.utils._python_dispatch import TorchDispatchMode
class Ops$k(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        tell("op", op)
        return op(*args, **(kwargs or {}))
with Ops$k():
    $new = net($v) * 2
    attempt(lambda: $new.sum().backward(retain_graph=True))
#: a mode that raises
from torch.utils._python_dispatch import TorchDispatchMode
class No$k(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        raise RuntimeError(f"no {op}")
def refused$k():
    with No$k():
        return $v * 2
attempt(refused$k)
$new = $v * 2
#: a default device
with torch.device("cpu"):
    $new = $v * torch.ones(3)
#: the meta device
with torch.device("meta"):
    far$k = nn.Linear(3, 3)
far$k(torch.ones(1, 3, device="meta")).sum().backward()
tell(far$k.weight.grad.device)
$new = $v * 2
#: a fake tensor
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    fake$k = torch.rand(5, 3, requires_grad=True)
    (fake$k * 2).sum().backward()
$new = $v * 2
#: a default dtype
torch.set_default_dtype(torch.float64)
$new = ($v * torch.rand(2, 3)).float()
torch.set_default_dtype(torch.float32)
#: anomaly mode
warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
with torch.autograd.set_detect_anomaly(True):
    $new = $v * $u
    attempt(lambda: $new.sum().backward(retain_graph=True))
#: NaN in anomaly mode
with torch.autograd.detect_anomaly(check_nan=True):
    nan$k = ($v - $v.detach()).sqrt() * 0
    attempt(lambda: nan$k.sum().backward())
$new = $v * 1
#: deterministic algorithms
torch.use_deterministic_algorithms(True)
$new = $v.index_add(0, torch.tensor([0, 0]), $u)
torch.use_deterministic_algorithms(False)
#: one thread for all devices
with torch.autograd.set_multithreading_enabled(False):
    $new = $v * 2
    $new.sum().backward(retain_graph=True)
#: the profiler
with torch.autograd.profiler.profile() as profile$k:
    with torch.autograd.profiler.record_function("mine"):
        $new = net($v)
    $new.sum().backward(retain_graph=True)
tell("mine" in {event.name for event in profile$k.function_events})
#: record_function
with torch.autograd.profiler.record_function("mine"):
    $new = $v * 2
#: torch.jit.trace
traced$k = torch.jit.trace(lambda x: (x * 2 + 1).relu(), ($v.detach(),))
$new = traced$k($v)
tell(traced$k.code)
#: torch.jit.script
@torch.jit.script
def scripted$k(x):
    return x * 2 + x.exp()
$new = scripted$k($v)
#: torch.fx
graph$k = torch.fx.symbolic_trace(nn.Sequential(net, nn.ReLU()))
tell(graph$k.code.strip())
$new = graph$k($v)
#: make_fx
from torch.fx.experimental.proxy_tensor import make_fx
traced$k = make_fx(lambda x: (x * 2).exp() + net(x))($u.detach())
tell(traced$k.code.strip())
$new = traced$k($v)
#: torch.compile
torch.compiler.reset()
def compiled$k(x, y): return (x * y).tanh() + 1
fast$k = torch.compile(compiled$k, backend="eager")
$new = fast$k($v, $u)
tell(dict(torch._dynamo.utils.counters["stats"]))
#: torch.compile with aot_eager
torch.compiler.reset()
fast$k = torch.compile(nn.Sequential(net, nn.Tanh()), backend="aot_eager")
$new = fast$k($v)
#: torch.export
program$k = torch.export.export(nn.Sequential(net, nn.Tanh()), ($v.detach(),))
$new = program$k.module()($v)
#: a deep copy of a module
copied$k = copy.deepcopy(net)
$new = copied$k($v) + net($u)
#: a deep copy of a value
attempt(lambda: copy.deepcopy($v))
copied$k = copy.deepcopy($leaf)
$new = $v * copied$k
#: a pickled module
loaded$k = pickle.loads(pickle.dumps(net))
$new = loaded$k($v)
#: torch.save and load
file$k = io.BytesIO()
torch.save({"x": $leaf, "net": net.state_dict()}, file$k)
file$k.seek(0)
loaded$k = torch.load(file$k)
tell(loaded$k["x"].requires_grad, plain(loaded$k["net"]["bias"]))
$new = $v * loaded$k["x"]
#: load_state_dict
tell(net.load_state_dict({name: t * 0.5 for name, t in net.state_dict().items()}))
$new = net($v)
#: a parametrization
class Symmetric$k(nn.Module):
    def forward(self, w): return w.triu() + w.triu(1).T
part$k = nn.Linear(3, 3)
nn.utils.parametrize.register_parametrization(part$k, "weight", Symmetric$k())
$new = part$k($v)
#: weight norm
part$k = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
$new = part$k($v)
#: spectral norm
part$k = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))
$new = part$k($v)
#: old weight norm
part$k = nn.utils.weight_norm(nn.Linear(3, 3))
$new = part$k($v)
#: pruning
import torch.nn.utils.prune as prune
part$k = nn.Linear(3, 3)
prune.random_unstructured(part$k, "weight", 0.5)
$new = part$k($v)
#: tied weights
tied$k = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
tied$k[1].weight = tied$k[0].weight
$new = tied$k($v)
#: a lazy layer
lazy$k = nn.LazyLinear(3)
$new = lazy$k($v)
#: a module with a list
class Several$k(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(3, 3), nn.Tanh()])
        self.register_buffer("seen", torch.zeros(()))
    def forward(self, x, *, scale=1):
        self.seen += 1
        for part in self.parts:
            x = part(x) * scale
        return {"out": x, "more": (x, None)}
several$k = Several$k()
$new = several$k($v, scale=2)["out"]
#: a module that raises
class Fails$k(nn.Module):
    def forward(self, x):
        x * 2
        raise ValueError("Fails")
attempt(lambda: Fails$k()($v))
$new = $v * 2
#: a module without super().__init__
class Half$k(nn.Module):
    def __init__(self): pass
attempt(lambda: Half$k()($v))
$new = $v * 2
#: a module with __slots__ and properties
class Odd$k(nn.Module):
    __slots__ = ("other",)
    @property
    def weight(self): raise RuntimeError("weight")
    def __getattr__(self, name):
        count("Odd getattr")
        return super().__getattr__(name)
    def __eq__(self, other): raise RuntimeError("eq")
    __hash__ = None
    def forward(self, x): return x * 2
$new = attempt(lambda: Odd$k.forward(Odd$k(), $v))
#: a frozen layer
frozen$k = nn.Linear(3, 3).requires_grad_(False)
$new = frozen$k($v)
#: a value that died
def dead$k():
    y = $v.exp()
    watch("dead$k", y)
    y.sin()
dead$k()
$new = $v * 2
#: a cycle of values
class Cycle$k: pass
cycle$k = Cycle$k()
cycle$k.me, cycle$k.x = cycle$k, $v.exp()
watch("cycle$k", cycle$k.x)
$new = cycle$k.x * 2
del cycle$k
#: a thread that computes
def work$k():
    global made$k
    made$k = torch.sin($v) * $u
thread$k = threading.Thread(target=work$k)
thread$k.start(); thread$k.join()
$new = made$k
#: a generator
def values$k():
    x = $v
    while True:
        x = x * 0.5
        yield x
steps$k = values$k()
next(steps$k)
$new = next(steps$k) + $u
#: a coroutine
import asyncio
async def work$k(x):
    await asyncio.sleep(0)
    return x * 2
async def both$k(): return await asyncio.gather(work$k($v), work$k($u))
$new = sum(asyncio.run(both$k()))
#: a cached function
@functools.lru_cache
def cached$k(n): return torch.full((3,), float(n), requires_grad=True)
$new = $v * cached$k(2) + cached$k(2)
#: exec
space$k = {"torch": torch, "x": $v}
exec("y = torch.exp(x) * 2", space$k)
$new = space$k["y"]
#: a tensor as a key
keys$k = {$v: 1, $u: 2}
$new = $v * keys$k[$v]
#: iteration over rows
$new = torch.stack([row * number for number, row in enumerate($v, 1)])
#: zero elements
empty$k = $v[:0]
$new = $v + empty$k.sum() + torch.cat([$u, empty$k])
#: one element
$new = $v.mean() * $u
#: integers
$new = $v * torch.arange(3) + torch.tensor([True, False, True])
#: to another memory format
$new = $v[None, :, :, None].contiguous(memory_format=torch.channels_last)[0, :, :, 0] * 2
#: a value that nothing uses
torch.ones(2, requires_grad=True).exp()
$new = $v * 2
#: a parameter list
list$k = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(3)])
$new = $v * list$k[0] + list$k[2]
#: an embedding with a largest norm
short$k = nn.Embedding(4, 3, max_norm=0.5)
$new = short$k(torch.tensor([1, 3])) * $v
#: a distribution
$new = torch.distributions.Normal($v, $u.exp() + 0.1).rsample()
#: cross entropy
$new = F.cross_entropy($v, torch.tensor([0, 2])) * $u
#: two losses
$new = F.huber_loss($v, $u, reduction="none") + F.cosine_similarity($v, $u)[:, None]
"""

HOOKS = """
#: a hook that looks
$v.register_hook(lambda g: tell("hook$k", plain(g)))
#: a hook that edits
$v.register_hook(lambda g: g * 2)
#: a hook that edits in place
def h$k(g):
    with torch.no_grad(): g.mul_(0.5)
$v.register_hook(h$k)
#: a hook that raises
def h$k(g):
    raise ValueError("h$k")
$v.register_hook(h$k)
#: a hook that raises once
def h$k(g, raised=[]):
    if not raised:
        raised.append(1)
        raise ZeroDivisionError("h$k")
$v.register_hook(h$k)
#: a hook that removes itself
def h$k(g):
    handle$k.remove()
    return g * 3
handle$k = $v.register_hook(h$k)
#: a hook that adds a hook
def h$k(g):
    tell("h$k")
    if not ages.get("h$k"):
        ages["h$k"] = 1
        $v.register_hook(lambda g: g + 1)
$v.register_hook(h$k)
#: a hook that makes a pass
def h$k(g):
    a_pass(lambda: ($leaf * 0.25).sum().backward())
$v.register_hook(h$k)
#: a hook that asks for a gradient
def h$k(g):
    a_pass(lambda: tell(plain(torch.autograd.grad(($leaf * $leaf).sum(), $leaf)[0])))
$v.register_hook(h$k)
#: a hook that forgets gradients
def h$k(g):
    $leaf.grad = None
$v.register_hook(h$k)
#: a hook that sets a gradient
def h$k(g):
    x2.grad = torch.full((2, 3), 8.0)
$v.register_hook(h$k)
#: a hook that returns nonsense
$v.register_hook(lambda g: "g" if random.random() < 0.2 else None)
#: a hook that returns a wrong shape
$v.register_hook(lambda g: g[:1] if random.random() < 0.2 else None)
#: a hook that asks where it is
def h$k(g):
    tell(threading.current_thread() is threading.main_thread(), torch.is_grad_enabled())
    tell(g.requires_grad, torch.is_autocast_enabled(), g.is_contiguous())
$v.register_hook(h$k)
#: a hook that draws
$v.register_hook(lambda g: g * torch.rand(1) * random.random() * np.random.rand())
#: a hook that warns
def h$k(g):
    for _ in range(2): warnings.warn("h$k warns")
$v.register_hook(h$k)
#: a hook that collects garbage
$v.register_hook(lambda g: [gc.collect(), None][1])
#: a hook that keeps the gradient
kept$k = []
$v.register_hook(lambda g: kept$k.append(g))
#: a hook that changes a parameter
def h$k(g):
    with torch.no_grad(): net.bias.add_(0.1)
$v.register_hook(h$k)
#: a hook that prints a stack
def h$k(g):
    names = [frame.f_code.co_filename for frame in frames$k(sys._getframe())]
    tell(names.count(__file__))
def frames$k(frame):
    while frame: yield frame; frame = frame.f_back
$v.register_hook(h$k)
#: a hook that starts a thread
def h$k(g):
    thread = threading.Thread(target=lambda: tell("thread", plain(g * 2)))
    thread.start(); thread.join()
$v.register_hook(h$k)
#: a hook that is a method
class Holder$k:
    def hook(self, g):
        tell(type(self).__name__, plain(g.sum()))
$v.register_hook(Holder$k().hook)
#: a hook that is partial
def h$k(factor, g): return g * factor
$v.register_hook(functools.partial(h$k, 0.5))
#: a hook that is an object
class Hook$k:
    def __call__(self, g):
        tally("Hook$k")
        return g.clone()
$v.register_hook(Hook$k())
#: retain_grad
$v.retain_grad()
#: retain_grad and a hook
$v.retain_grad()
$v.register_hook(lambda g: tell($v.grad is None))
#: a hook of a leaf
$leaf.register_hook(lambda g: g * 2)
#: a hook of a leaf that raises
def h$k(g): raise LookupError("h$k")
handle$k = $leaf.register_hook(h$k)
#: an optimizer in the pass
def step$k(p):
    with torch.no_grad(): p.sub_(p.grad.to_dense() * 0.1)
    p.grad = None
$leaf.register_post_accumulate_grad_hook(step$k)
#: an optimizer of torch's in the pass
sgd$k = optim.SGD([net.bias], 0.1)
def step$k(p):
    sgd$k.step(); sgd$k.zero_grad()
net.bias.register_post_accumulate_grad_hook(step$k)
#: a post-accumulate hook that raises
def step$k(p): raise ArithmeticError("step$k")
$leaf.register_post_accumulate_grad_hook(step$k)
#: a post-accumulate hook that removes itself
def step$k(p):
    tell("step$k", plain(p.grad)); handle$k.remove()
handle$k = $leaf.register_post_accumulate_grad_hook(step$k)
#: a post-accumulate hook that clips
def step$k(p): p.grad.clamp_(-0.1, 0.1)
net.weight.register_post_accumulate_grad_hook(step$k)
#: a node's prehook
$v.grad_fn.register_prehook(lambda gs: tell("prehook$k", [plain(g) for g in gs]))
#: a node's prehook that edits
$v.grad_fn.register_prehook(lambda gs: tuple(g if g is None else g * 2 for g in gs))
#: a node's hook
$v.grad_fn.register_hook(lambda sent, gs: tell("posthook$k", [plain(g) for g in sent]))
#: a node's hook that edits
$v.grad_fn.register_hook(lambda sent, gs: tuple(g if g is None else g * 2 for g in sent))
#: a node's hook that raises
def h$k(sent, gs): raise BufferError("h$k")
$v.grad_fn.register_hook(h$k)
#: a node's prehook that removes itself
def h$k(gs):
    tell("h$k"); handle$k.remove()
handle$k = $v.grad_fn.register_prehook(h$k)
#: a hook of an AccumulateGrad
held$k = $leaf.view_as($leaf).grad_fn.next_functions[0][0]
held$k.register_hook(lambda sent, gs: tell("accumulated$k", plain($leaf.grad)))
#: a prehook of an AccumulateGrad
held$k = $leaf.view_as($leaf).grad_fn.next_functions[0][0]
held$k.register_prehook(lambda gs: tuple(g * 2 for g in gs))
#: metadata of a node
$v.grad_fn.metadata["mine$k"] = "yes"
#: a hook of several values
def h$k(gs): tell("multi$k", [plain(g) for g in gs])
torch.autograd.graph.register_multi_grad_hook([$v, $leaf], h$k)
#: a hook of any value
torch.autograd.graph.register_multi_grad_hook([$v, $leaf], lambda g: tell("any$k", plain(g)),
                                              mode="any")
#: a hook of a list that removes itself
def h$k(gs): multi$k.remove()
multi$k = torch.autograd.graph.register_multi_grad_hook([$v, $u], h$k)
#: a callback at the end of the pass
def h$k(g):
    torch.autograd.Variable._execution_engine.queue_callback(lambda: tell("callback$k"))
$v.register_hook(h$k)
#: a callback that raises
def called$k(): raise RuntimeError("called$k")
def h$k(g): torch.autograd.Variable._execution_engine.queue_callback(called$k)
$v.register_hook(h$k)
#: a forward hook
handle$k = net.register_forward_hook(lambda module, given, out: out * 2)
#: a forward prehook
handle$k = net.register_forward_pre_hook(lambda module, given: (given[0] * 2,))
#: a forward hook with keywords
def h$k(module, given, named, out): tell("forward$k", sorted(named))
handle$k = net.register_forward_hook(h$k, with_kwargs=True, always_call=True, prepend=True)
#: a forward hook that raises
def h$k(module, given, out): raise ValueError("forward$k")
handle$k = net.register_forward_hook(h$k)
attempt(lambda: net($v))
handle$k.remove()
#: a full backward hook
def h$k(module, gave, got): tell("backward$k", [plain(g) for g in gave])
handle$k = net.register_full_backward_hook(h$k)
#: a full backward hook that edits
handle$k = net.register_full_backward_hook(lambda module, gave, got: (gave[0] * 2,))
#: a full backward prehook
handle$k = net.register_full_backward_pre_hook(lambda module, got: (got[0] * 2,))
#: a full backward hook that raises
def h$k(module, gave, got): raise ValueError("backward$k")
handle$k = net.register_full_backward_hook(h$k)
#: a full backward hook that removes itself
def h$k(module, gave, got): handle$k.remove()
handle$k = net.register_full_backward_hook(h$k)
#: an old backward hook
handle$k = nn.Tanh().register_backward_hook(lambda module, gave, got: None)
#: hooks of all modules
from torch.nn.modules import module as modules
handle$k = modules.register_module_forward_hook(lambda module, given, out: tally("forward all"))
other$k = modules.register_module_full_backward_hook(lambda module, gave, got: tally("back all"))
#: hooks of what modules register
from torch.nn.modules import module as modules
handle$k = modules.register_module_parameter_registration_hook(
    lambda module, name, p: tally("registered"))
#: hooks of an optimizer
sgd.register_step_pre_hook(lambda optimizer, given, named: tell("before the step"))
sgd.register_step_post_hook(lambda optimizer, given, named: tell("after the step"))
#: a hook of a state dict
net._register_state_dict_hook(lambda module, state, prefix, local: tally("state"))
#: a finalizer of a value
weakref.finalize($v, tell, "a value of the program died").atexit = False
#: an object that dies
class Dies$k:
    def __del__(self): tell("Dies$k")
$v.mine = Dies$k()
"""

REPLACEMENTS = """
#: Tensor.backward
old$k = torch.Tensor.backward
def new$k(self, *given, **named):
    tally("calls of backward")
    return old$k(self * 2, *given, **named)
torch.Tensor.backward = new$k
#: autograd.backward
old$k = torch.autograd.backward
def new$k(*given, **named):
    tell("autograd.backward")
    return old$k(*given, **named)
torch.autograd.backward = new$k
#: autograd.grad
old$k = torch.autograd.grad
@functools.wraps(old$k)
def new$k(*given, **named):
    tell("autograd.grad")
    return old$k(*given, **named)
torch.autograd.grad = new$k
#: Tensor.__mul__
old$k = torch.Tensor.__mul__
def new$k(self, other):
    tell("mul")
    return old$k(self, other)
torch.Tensor.__mul__ = new$k
#: Tensor.sum
old$k = torch.Tensor.sum
def new$k(self, *given, **named):
    tell("sum")
    return old$k(self, *given, **named)
torch.Tensor.sum = new$k
#: Module.__call__
old$k = nn.Module.__call__
def new$k(self, *given, **named):
    tell("call", type(self).__name__)
    return old$k(self, *given, **named)
nn.Module.__call__ = new$k
#: functional.relu
old$k = F.relu
F.relu = lambda *given, **named: (tell("relu"), old$k(*given, **named))[1]
#: torch.sin
old$k = torch.sin
torch.sin = lambda *given, **named: (tell("sin"), old$k(*given, **named))[1]
#: Tensor.register_hook
old$k = torch.Tensor.register_hook
def new$k(self, hook):
    tell("register_hook")
    return old$k(self, hook)
torch.Tensor.register_hook = new$k
#: Optimizer.step
old$k = optim.SGD.step
def new$k(self, *given, **named):
    tell("step")
    return old$k(self, *given, **named)
optim.SGD.step = new$k
#: Tensor.__repr__
torch.Tensor.__repr__ = lambda self, **named: (tell("repr"), "T")[1]
#: Tensor.detach
old$k = torch.Tensor.detach
def new$k(self):
    tally("calls of detach")
    return old$k(self)
torch.Tensor.detach = new$k
#: Tensor.clone, Tensor.grad
old$k = torch.Tensor.clone
torch.Tensor.clone = lambda self, **named: (tell("clone"), old$k(self, **named))[1]
#: no_grad
old$k = torch.no_grad
class Loud$k(old$k):
    def __enter__(self):
        tell("no_grad")
        return super().__enter__()
torch.no_grad = Loud$k
#: Module.__getattr__
old$k = nn.Module.__getattr__
def new$k(self, name):
    count("getattr of modules")
    return old$k(self, name)
nn.Module.__getattr__ = new$k
#: Function.apply
class Base$k(torch.autograd.Function):
    @classmethod
    def apply(cls, *given):
        tell("apply", cls.__name__)
        return super().apply(*given)
class Mine$k(Base$k):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
$v = Mine$k.apply($v)
#: warnings.showwarning
def shown$k(message, category, filename, lineno, file=None, line=None):
    tell("warning", category.__name__, *str(message).splitlines()[:1])
warnings.showwarning = shown$k
#: warnings as errors
warnings.simplefilter("error")
#: warnings each time
warnings.simplefilter("always")
#: sys.excepthook
sys.excepthook = lambda kind, error, trace: tell("excepthook", kind.__name__, error)
#: a trace function
def traced$k(frame, event, arg):
    if frame.f_code.co_name == "plain": tally("traced")
sys.settrace(traced$k)
#: a profile function
def profiled$k(frame, event, arg):
    if frame.f_code.co_name == "plain" and event == "call": tally("profiled")
sys.setprofile(profiled$k)
#: no garbage collector
gc.disable()
#: print
import builtins
def print$k(*given, **named):
    tally("prints")
    old$k(*given, **named)
old$k = builtins.print
builtins.print = print$k
#: a recursion limit
sys.setrecursionlimit(400)
#: a function mode over all
from torch.overrides import TorchFunctionMode
class Whole$k(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        count("Whole$k")
        return function(*args, **(kwargs or {}))
Whole$k().__enter__()
#: a default device over all
torch.set_default_device("cpu")
#: interrupted by a signal
signal.signal(signal.SIGUSR1, lambda number, frame: tell("signal"))
$v.register_hook(lambda g: signal.raise_signal(signal.SIGUSR1))
#: print options
torch.set_printoptions(precision=2)
"""

AROUND = """
#: a function
def run$k():
    $globals
    $body
run$k()
#: a thread
def run$k():
    $globals
    $body
thread$k = threading.Thread(target=run$k)
thread$k.start(); thread$k.join()
#: a function mode
from torch.overrides import TorchFunctionMode
class Block$k(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        count("Block$k")
        return function(*args, **(kwargs or {}))
with Block$k():
    $body
#: a dispatch mode
from torch.utils._python_dispatch import TorchDispatchMode
class Seen$k(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        tally("Seen$k")
        return op(*args, **(kwargs or {}))
with Seen$k():
    $body
#: autocast
with torch.autocast("cpu", dtype=torch.bfloat16):
    $body
#: saved-tensor hooks
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x):
    $body
#: anomaly mode
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    $body
#: caught warnings
with warnings.catch_warnings(record=True) as caught$k:
    warnings.simplefilter("always")
    $body
tell([(each.category.__name__, *str(each.message).splitlines()[:1]) for each in caught$k])
#: a default device
with torch.device("cpu"):
    $body
#: enable_grad in no_grad
with torch.no_grad():
    with torch.enable_grad():
        $body
#: a loop
for round$k in range(2):
    $body
#: a try with a finally
try:
    $body
finally:
    tell("finally")
#: exec
exec('''
$body
''')
#: the profiler
with torch.autograd.profiler.profile():
    $body
#: one thread for all devices
with torch.autograd.set_multithreading_enabled(False):
    $body
#: mutation of what is saved
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    $body
#: redirected output
from contextlib import redirect_stdout
with redirect_stdout(io.StringIO()) as out$k:
    $body
tell(len(out$k.getvalue().splitlines()))
"""

CALLS = """
#: backward
s$k = ($v * $u + x1 * x2).sum()
$try s$k.backward()
#: backward twice
s$k = ($v * $u).sum()
$try s$k.backward(retain_graph=True)
$try s$k.backward()
#: a graph that was freed
s$k = ($v * $u).exp().sum()
$try s$k.backward()
$try s$k.backward()
#: a gradient of a gradient
s$k = ($v * $u).sum()
$try found$k = torch.autograd.grad(s$k, [$leaf, x0], create_graph=True, allow_unused=True)
$try (s$k + sum(g.pow(2).sum() for g in found$k if g is not None)).backward()
#: create_graph in backward
s$k = ($v * $v * $u).sum()
$try s$k.backward(create_graph=True)
$try (x0.grad * x0.grad).sum().backward()
#: inputs=
s$k = ($v * $u).sum()
$try s$k.backward(inputs=[x0, net.weight])
#: inputs= that are no leaves
s$k = ($v * $u * 2).sum()
$try s$k.backward(inputs=[$v])
#: inputs= none
s$k = ($v * $u * 2).sum()
$try s$k.backward(inputs=[])
#: several roots
$try torch.autograd.backward([($v * 2).sum(), $u], [None, torch.full((2, 3), 0.5)])
#: a gradient given
$try ($v * $u).backward(torch.full((2, 3), 0.5))
#: a gradient of the wrong shape
$try ($v * $u).backward(torch.ones(2, 1))
#: no scalar
$try ($v * $u).backward()
#: autograd.grad
s$k = ($v.sin() * $u).sum()
$try found$k = torch.autograd.grad(s$k, [$v, $leaf], allow_unused=True)
$try tell([plain(g) for g in found$k])
#: autograd.grad of what is unused
s$k = ($v.sin() * $u).sum()
$try torch.autograd.grad(s$k, [torch.ones(1, requires_grad=True)])
#: materialized gradients
s$k = ($v.sin() * $u).sum()
$try tell([plain(g) for g in torch.autograd.grad(s$k, [x0, x2], materialize_grads=True)])
#: a batch of gradients
y$k = ($v * 2 + $u).sum(1)
$try tell(plain(torch.autograd.grad(y$k, x0, torch.eye(2), is_grads_batched=True)[0]))
#: edges as roots
from torch.autograd.graph import get_gradient_edge
s$k = ($v.sin() * $u).sum()
$try tell(plain(torch.autograd.grad(get_gradient_edge(s$k), x0)[0]))
#: edges as inputs
from torch.autograd.graph import get_gradient_edge, GradientEdge
s$k = ($v.sin() * $u).sum()
edge$k = get_gradient_edge($v)
$try tell(plain(torch.autograd.grad(s$k, edge$k)[0]))
#: backward of an edge
from torch.autograd.graph import get_gradient_edge
s$k = ($v.sin() * $u).sum()
edge$k = get_gradient_edge(s$k)
del s$k
$try torch.autograd.backward(edge$k, torch.ones(()))
#: backward of an edge with inputs=
from torch.autograd.graph import get_gradient_edge
s$k = ($v.sin() * $u).sum()
$try torch.autograd.backward(s$k, inputs=[get_gradient_edge(x0)])
#: a training step
sgd.zero_grad()
s$k = (net($v) * $u).pow(2).mean()
$try s$k.backward()
$try sgd.step()
#: a training loop
for step$k in range(3):
    adam.zero_grad()
    s$k = net(x0 * x1).pow(2).mean()
    $try s$k.backward()
    $try adam.step()
#: an accumulating loop
for step$k in range(2):
    s$k = (net(x0).tanh() / 2).mean()
    $try s$k.backward()
$try nn.utils.clip_grad_norm_(net.parameters(), 0.1)
$try sgd.step()
#: a scaler
scaler$k = torch.amp.GradScaler("cpu", init_scale=8.0)
s$k = net($v).mean()
$try scaler$k.scale(s$k).backward()
$try scaler$k.unscale_(sgd)
$try scaler$k.step(sgd)
$try scaler$k.update()
#: a scaler that skips
scaler$k = torch.amp.GradScaler("cpu", init_scale=8.0)
s$k = net($v * float("inf")).mean()
$try scaler$k.scale(s$k).backward()
$try scaler$k.step(sgd)
$try scaler$k.update()
$try tell(scaler$k.get_scale())
#: LBFGS
lbfgs$k = optim.LBFGS([x2], lr=0.1, max_iter=2)
def closure$k():
    lbfgs$k.zero_grad()
    loss = (x2 * $v.detach()).pow(2).sum()
    loss.backward()
    return loss
$try tell(lbfgs$k.step(closure$k).item())
#: a scheduler
schedule$k = optim.lr_scheduler.StepLR(sgd, 1)
s$k = net($v).mean()
$try s$k.backward()
$try sgd.step()
$try schedule$k.step()
#: averaged weights
averaged$k = optim.swa_utils.AveragedModel(net)
s$k = net($v).mean()
$try s$k.backward()
$try averaged$k.update_parameters(net)
#: a fused optimizer
fused$k = optim.AdamW(net.parameters(), fused=True)
s$k = net($v).mean()
$try s$k.backward()
$try fused$k.step()
#: a foreach optimizer
many$k = optim.Adagrad(net.parameters(), foreach=True)
s$k = net($v).mean()
$try s$k.backward()
$try many$k.step()
#: backward in a thread
s$k = ($v * $u).sum()
def run$k():
    $try s$k.backward()
thread$k = threading.Thread(target=run$k)
thread$k.start(); thread$k.join()
#: two threads of one graph
y$k = x1.exp()
def run$k():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        $try (x2.exp() * 0.5).sum().backward()
threads$k = [threading.Thread(target=run$k) for _ in range(2)]
for each in threads$k: each.start(); each.join()
#: backward under a dispatch mode
from torch.utils._python_dispatch import TorchDispatchMode
class Within$k(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        tally("Within$k")
        return op(*args, **(kwargs or {}))
s$k = ($v * $u).sum()
with Within$k():
    $try s$k.backward()
#: backward under a function mode
from torch.overrides import TorchFunctionMode
class Under$k(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        count("Under$k")
        return function(*args, **(kwargs or {}))
s$k = ($v * $u).sum()
with Under$k():
    $try s$k.backward()
#: backward under autocast
with torch.autocast("cpu", dtype=torch.bfloat16):
    s$k = net($v).float().mean()
    $try s$k.backward()
#: backward of a subclass
class Loss$k(torch.Tensor):
    def backward(self, *given, **named):
        tell("Loss.backward")
        return super().backward(*given, **named)
$try ($v * $u).sum().as_subclass(Loss$k).backward()
#: backward of a counting subclass
class Told$k(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        count("Told$k")
        return super().__torch_function__(function, types, args, kwargs or {})
s$k = ($v.as_subclass(Told$k) * 2).sum()
$try s$k.backward()
#: a subclass that answers backward
class Answers$k(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.backward:
            tell("no backward here")
            return None
        return super().__torch_function__(function, types, args, kwargs or {})
s$k = ($v.as_subclass(Answers$k) * 2).sum()
$try s$k.backward()
#: a complex loss
s$k = torch.complex($v, $u).sum()
$try s$k.backward()
#: a complex gradient
s$k = torch.complex($v, $u)
$try s$k.backward(torch.full((2, 3), 1j))
#: an integer loss
$try torch.ones(3).sum().backward()
#: a loss that is a leaf
one$k = torch.ones((), requires_grad=True)
$try one$k.backward()
#: a loss that is NaN
s$k = ($v * float("nan")).sum()
$try s$k.backward()
#: a loss of 0
s$k = ($v * 0).sum()
$try s$k.backward()
#: what is saved was changed
y$k = $v.exp()
s$k = y$k.sum()
y$k.data.add_(1)
y$k.add_(0)
$try s$k.backward()
#: saved values after the call
y$k = $v.exp()
$try y$k.sum().backward()
$try tell(y$k.grad_fn._saved_result is None)
#: what a call frees
def freed$k():
    y = $v.detach().requires_grad_().exp()
    watch("freed$k", y)
    loss = (y * 2).sum()
    $try loss.backward()
freed$k()
tell("freed:", [name for name, ref in watched if ref() is not None and name == "freed$k"])
#: what a saved value holds
buffer$k = torch.rand(2, 3)
watch("buffer$k", buffer$k)
s$k = ($v * buffer$k).sum()
del buffer$k
$try s$k.backward()
tell("freed:", [name for name, ref in watched if ref() is not None and name == "buffer$k"])
#: a call in a finalizer
class Final$k:
    def __del__(self): (x1 * 0.5).sum().backward()
final$k = Final$k()
del final$k
#: a call in a generator
def losses$k():
    for number in range(2):
        yield (net(x0) * number).mean()
for s$k in losses$k():
    $try s$k.backward()
#: grad with one unused output
first$k, second$k = $v.split([1, 2], dim=1)
$try tell(plain(torch.autograd.grad(second$k.sum(), $v)[0]))
#: keep the graph and change
s$k = ($v.exp() * $u).sum()
$try s$k.backward(retain_graph=True)
with torch.no_grad(): x1.mul_(1.5)
$try s$k.backward()
#: .grad that shares memory
flat$k = torch.zeros(12)
net.weight.grad, net.bias.grad = flat$k[:9].view(3, 3), flat$k[9:]
s$k = net($v).mean()
$try s$k.backward()
tell(plain(flat$k))
#: .grad of an odd layout
x1.grad = torch.zeros(3, 2).T
s$k = ($v * x1).sum()
$try s$k.backward()
tell(x1.grad.stride())
#: a loop until an error
for step$k in range(3):
    s$k = ($v * $u).exp().sum() if step$k == 0 else s$k
    $try s$k.backward()
#: a loop that warns
for step$k in range(3):
    warnings.warn("in the loop")
    s$k = (net(x0) * x1).sum()
    $try s$k.backward()
#: vector-Jacobian products of a loop
y$k = ($v * $u).sum(0)
for row$k in torch.eye(3):
    $try tell(plain(torch.autograd.grad(y$k, x0, row$k, retain_graph=True)[0]))
#: positional arguments
$try torch.autograd.backward(($v * $u).sum(), None, True, False)
#: wrong arguments
$try ($v * $u).sum().backward(retain_graph="x", nothing=1)
#: truthy arguments
$try ($v * $u).sum().backward(retain_graph="x")
#: a backward that is interrupted
def stop$k(g): raise KeyboardInterrupt("stop$k")
y$k = $v * 1
y$k.register_hook(stop$k)
try: y$k.sum().backward()
except KeyboardInterrupt as error: tell("interrupted", error)
#: print of a graph
s$k = ($v * $u).sum()
tell(type(s$k.grad_fn).__name__, s$k.grad_fn.name(), len(s$k.grad_fn.next_functions))
$try s$k.backward()
#: a penalty in a loop
for step$k in range(2):
    x$k = x0.detach().requires_grad_()
    s$k = net(x$k).tanh().sum()
    $try g$k = torch.autograd.grad(s$k, x$k, create_graph=True)[0]
    $try (g$k.norm() - 1).pow(2).backward()
#: zero_grad in between
s$k = net($v).mean()
$try s$k.backward()
$try net.zero_grad(set_to_none=False)
$try net(x0).mean().backward()
"""

AFTER = """
#: an optimizer step
attempt(sgd.step)
attempt(adam.step)
#: zero_grad
sgd.zero_grad(); adam.zero_grad()
#: leaves that are made anew
x1 = x1.detach().clone().requires_grad_()
#: a deep copy of the program
copied$k = attempt(lambda: copy.deepcopy((net, norm, sgd)))
#: pickled gradients
tell([plain(pickle.loads(pickle.dumps(x.grad))) for x in (x0, x1) if x.grad is not None])
#: gradients by name
tell({name: p.grad is None for name, p in net.named_parameters()})
#: all that refers to a value
tensors$k = [each for each in gc.get_objects() if issubclass(type(each), torch.Tensor)]
tell(sum(each.shape == (5, 7) for each in tensors$k))
del tensors$k
#: SystemExit
end()
raise SystemExit(3)
#: an error that nobody catches
end()
raise LookupError("nobody")
#: exit
end()
exit(0)
#: an exit function
import atexit
atexit.register(lambda: print("\\n> at exit"))
#: assertions
assert x0.requires_grad and net.training
#: warnings of the program
for _ in range(3): warnings.warn("mine")
#: module hooks again
net.train(False); tell(plain(net(x1)))
"""


def _pieces(text: str) -> dict[str, str]:
    parts = re.split(r"^#: (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


GROUPS = {
    "value": _pieces(VALUES),
    "hook": _pieces(HOOKS),
    "replacement": _pieces(REPLACEMENTS),
    "around": _pieces(AROUND),
    "call": _pieces(CALLS),
    "after": _pieces(AFTER),
}
"""The pieces of each group, by their names."""
