"""Programs that use PyTorch, of every kind that makes graphs of its own.

Each is a function that computes, calls ``backward`` or ``grad``, and returns what it found:
tensors, numbers and texts, which a run that is watched must give bit for bit.  ``counts`` in them
says how often code of the program's own ran.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.waiting import let_pass

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

Program = Callable[[], Any]


def gradients(*modules: nn.Module) -> list[Any]:
    return [each.grad for module in modules for each in module.parameters()]


def squares(x: Any) -> Any:
    return (x * x).relu()


def mlp() -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    loss = model(torch.randn(16, 4)).square().mean()
    loss.backward()
    return loss, gradients(model)


def training_with_momentum() -> Any:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(torch.randn(4, 3)), torch.tensor([0, 1, 1, 0]))
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    return gradients(model), list(model.state_dict().values())


def convolution_batch_norm_and_skip() -> Any:
    conv, norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
    x = torch.randn(2, 3, 8, 8)
    loss = F.max_pool2d(F.relu(norm(conv(x)) + x), 2).mean()
    loss.backward()
    return loss, gradients(conv, norm), norm.running_mean


def lstm() -> Any:
    model = nn.LSTM(3, 4, num_layers=2)
    out, (hidden, _) = model(torch.randn(5, 2, 3))
    (out.sum() + hidden.square().sum()).backward()
    return gradients(model)


def cell_in_a_loop() -> Any:
    cell, head = nn.LSTMCell(3, 4), nn.Linear(4, 1)
    state, loss = None, torch.zeros(())
    for _ in range(4):
        state = cell(torch.randn(2, 3), state)
        loss = loss + head(state[0]).mean()
    loss.backward()
    return loss, gradients(cell, head)


def transformer_encoder() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    loss = model(torch.randn(2, 4, 8)).square().mean()
    loss.backward()
    return loss, gradients(model), torch.rand(1)


def fused_attention() -> Any:
    q, k, v = (torch.randn(1, 2, 4, 8, requires_grad=True) for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.sum().backward()
    return out, q.grad, k.grad, v.grad


def tied_embedding() -> Any:
    embedding, head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
    head.weight = embedding.weight
    tokens = torch.tensor([[1, 2, 3], [3, 2, 1]])
    loss = F.cross_entropy(head(embedding(tokens)).flatten(0, 1), tokens.flatten())
    loss.backward()
    return loss, embedding.weight.grad


def custom_function() -> Any:
    counts: Counter[str] = Counter()

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float, y: Any, mode: str) -> Any:
            counts["forward"] += 1
            ctx.save_for_backward(x, y)
            ctx.factor = factor
            return x * factor + y, (y * 2 if mode == "twice" else y), torch.tensor([1, 2])

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any, _: Any) -> Any:
            counts["backward"] += 1
            print("backward of Scaled")
            x, _ = ctx.saved_tensors
            return g * ctx.factor, None, g + 2 * h + 0 * x, None

    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    first, second, _ = Scaled.apply(x, 3.0, y, "twice")
    (first.sum() * second.prod()).backward()
    return x.grad, y.grad, counts


def custom_function_without_materialized_zeros() -> Any:
    seen = []

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            seen.append((g is None, h is None))
            return None if g is None else g * 2

    x = torch.randn(3, requires_grad=True)
    first, second = Pair.apply(x)
    first.sum().backward()
    second.sum().backward()
    return x.grad, seen


def views_and_in_place() -> Any:
    x = torch.randn(4, 4, requires_grad=True)
    y = x * 2
    y[1:3].mul_(3)
    y.view(-1)[0] = 0.5
    parts = list(y.unbind(1))
    (parts[0].exp().sum() + torch.cat(parts[1:3]).sum()).backward()
    return x.grad


def hooks_of_every_kind() -> Any:
    calls: list[str] = []
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def tell(what: str, answer: Any = None) -> Any:
        def hook(*given: Any) -> Any:
            calls.append(what)
            return answer(*given) if answer else None

        return hook

    model[0].register_full_backward_hook(tell("module"))
    model[2].register_full_backward_pre_hook(tell("module pre"))
    model.register_forward_hook(tell("forward"))
    x = torch.randn(2, 3, requires_grad=True)
    hidden = model[0](x)
    hidden.register_hook(tell("tensor", lambda g: g * 2))
    hidden.retain_grad()
    out = model[2](model[1](hidden))
    out.grad_fn.register_prehook(tell("node pre", lambda gs: (gs[0] + 1,)))
    out.grad_fn.register_hook(tell("node post"))
    x.register_hook(tell("leaf", lambda g: g.clamp(max=0.5)))
    model[0].weight.register_post_accumulate_grad_hook(
        tell("accumulated", lambda weight: setattr(weight, "grad", weight.grad * 2))
    )
    out.mean().backward()
    return x.grad, hidden.grad, gradients(model), calls


def _counting(model: nn.Module) -> tuple[Callable[..., Any], Counter[str]]:
    counts: Counter[str] = Counter()

    def part(x: Any) -> Any:
        counts["part"] += 1
        return model(x)

    return part, counts


def checkpoint_reentrant() -> Any:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Tanh())
    part, counts = _counting(model)
    x = torch.randn(2, 3, requires_grad=True)
    checkpoint(part, x * 2, use_reentrant=True).sum().backward()
    return x.grad, gradients(model), counts


def checkpoint_not_reentrant() -> Any:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Tanh())
    part, counts = _counting(model)
    x = torch.randn(2, 3, requires_grad=True)
    checkpoint(part, x * 2, use_reentrant=False).sum().backward()
    return x.grad, gradients(model), counts


def gradient_penalty() -> Any:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(2, 3, requires_grad=True)
    (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).square().mean()
    penalty.backward()
    return slope, penalty, gradients(model)


def grad_with_unused_inputs() -> Any:
    x, y, z = (torch.randn(3, requires_grad=True) for _ in range(3))
    middle = x * y
    found = torch.autograd.grad(
        middle.exp().sum() + y.sum(), [x, z, middle], allow_unused=True, retain_graph=True
    )
    return found, x.grad, y.grad


def grad_with_zeros_for_unused_inputs() -> Any:
    x, z = torch.randn(3, requires_grad=True), torch.randn(2, requires_grad=True)
    return torch.autograd.grad((x * x).sum(), (x, z), materialize_grads=True)


def several_roots() -> Any:
    x = torch.randn(3, requires_grad=True)
    first, second = x.sin(), (x * 2).sum()
    torch.autograd.backward([first, second], [torch.ones(3) * 0.5, None])
    return x.grad


def a_graph_used_twice() -> Any:
    x = torch.randn(3, requires_grad=True)
    loss = (x.exp() * x).sum()
    loss.backward(retain_graph=True)
    once = x.grad.clone()
    loss.backward()
    return once, x.grad


def backward_into_some_inputs() -> Any:
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    (x * y).sum().backward(inputs=[x])
    return x.grad, y.grad


def gradient_edges() -> Any:
    x = torch.randn(3, requires_grad=True)
    middle = x.exp()
    loss = (middle * x).sum()
    get = torch.autograd.graph.get_gradient_edge
    (found,) = torch.autograd.grad([get(loss)], [get(middle)], [torch.ones(())], retain_graph=True)
    torch.autograd.backward([get(loss)], [torch.ones(())])
    return found, x.grad


def autocast() -> Any:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(torch.randn(3, 4)).float().mean()
    loss.backward()
    return loss, gradients(model)


def complex_numbers() -> Any:
    z = torch.randn(4, dtype=torch.complex64, requires_grad=True)
    w = torch.randn(4, requires_grad=True)
    spectrum = torch.fft.fft(z * w)
    loss = spectrum.abs().sum() + torch.view_as_real(z).prod() + z.conj().imag.sum()
    loss.backward()
    return loss, z.grad, w.grad


def half_precision() -> Any:
    x = torch.randn(4, 4, dtype=torch.float16, requires_grad=True)
    y = torch.randn(4, 4, dtype=torch.bfloat16, requires_grad=True)
    (x.double() @ y.double()).sum().backward()
    return x.grad, y.grad


def linalg_with_several_outputs() -> Any:
    a = torch.randn(4, 3, requires_grad=True)
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    values, vectors = torch.linalg.eigh(a.T @ a + torch.eye(3))
    q, r = torch.linalg.qr(a)
    (s.sum() + (u @ vh).sum() + values.prod() + vectors.square().sum() + (q @ r).sum()).backward()
    return a.grad


def sparse_embedding() -> Any:
    embedding = nn.Embedding(10, 3, sparse=True)
    shared = embedding(torch.tensor([1, 2, 1])).sum() + embedding(torch.tensor([4])).prod()
    shared.backward()
    return embedding.weight.grad.coalesce().to_dense()


def sparse_matrix() -> Any:
    a = torch.eye(3).to_sparse().requires_grad_()
    x = torch.randn(3, 2, requires_grad=True)
    torch.sparse.mm(a, x).sum().backward()
    return a.grad.to_dense(), x.grad


def compiled_function() -> Any:
    @torch.compile(backend="aot_eager")
    def compiled(x: Any, y: Any) -> Any:
        return (x @ y).relu().sum()

    x, y = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    try:
        loss = compiled(x, y) * 2
    except Exception as error:  # whatever keeps torch.compile from running here
        pytest.skip(f"torch.compile cannot run: {error}")
    loss.backward()
    torch.compiler.reset()
    return loss, x.grad, y.grad


def operator_of_a_library() -> Any:
    counts: Counter[str] = Counter()

    @torch.library.custom_op("gradstep_tests::cubed", mutates_args=())
    def cubed(x: torch.Tensor) -> torch.Tensor:
        return x**3

    def backward(ctx: Any, g: Any) -> Any:
        counts["backward"] += 1
        return 3 * ctx.saved_tensors[0] ** 2 * g

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    cubed.register_autograd(backward, setup_context=setup)
    x = torch.randn(3, requires_grad=True)
    cubed(x).sum().backward()
    return x.grad, counts


def operator_without_a_derivative() -> Any:
    @torch.library.custom_op("gradstep_tests::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x = torch.randn(3, requires_grad=True)
    try:
        (doubled(x).sum() + x.sum()).backward()
    except RuntimeError as error:
        return str(error), x.grad
    return x.grad


def saved_tensor_hooks() -> Any:
    counts: Counter[str] = Counter()

    def pack(x: Any) -> Any:
        counts["pack"] += 1
        return x.numpy(force=True).copy()

    def unpack(packed: Any) -> Any:
        counts["unpack"] += 1
        print("unpacked")
        return torch.from_numpy(packed)

    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        out = (x * y).exp().sum()
    out.backward()
    return x.grad, y.grad, counts


def saved_on_the_cpu() -> Any:
    x = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        out = (x.exp() * x).sum()
    out.backward()
    return x.grad


def long_chain() -> Any:
    x = torch.randn(2, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 0.001
    y.sum().backward()
    return x.grad


def data_parallel() -> Any:
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch is built without torch.distributed")
    os.environ.update(MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        model = nn.parallel.DistributedDataParallel(inner)
        losses = []
        for _ in range(2):
            loss = model(torch.randn(2, 3)).mean()
            loss.backward()
            losses.append(loss)
        return losses, gradients(inner)
    finally:
        # the model's end waits for gloo's threads, and holds the interpreter: where one of them
        # needs it, to drop the last reduction, PyTorch waits for ever
        let_pass(0.1)
        torch.distributed.destroy_process_group()


def functional_transforms() -> Any:
    model = nn.Linear(3, 1)
    parameters = {name: each.detach() for name, each in model.named_parameters()}
    rows = torch.randn(4, 3)

    def loss(parameters: Any, x: Any) -> Any:
        return torch.func.functional_call(model, parameters, (x,)).square().sum()

    per_row = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, rows)
    jacobian = torch.func.jacrev(lambda x: model(x).exp())(rows[0])
    x = rows.clone().requires_grad_()
    out = torch.func.vmap(lambda row: (row * row).sum())(x).sum() + jacobian.sum()
    out.backward()
    return per_row, jacobian, x.grad, gradients(model)


def vectorized_jacobian() -> Any:
    x = torch.randn(3, requires_grad=True)

    def function(x: Any) -> Any:
        return x.exp() * x.sum()

    found = torch.autograd.functional.jacobian(function, x, vectorize=True)
    return found, torch.autograd.functional.hessian(lambda x: function(x).sum(), x)


def frozen_and_unused_layers() -> Any:
    first, second, unused = nn.Linear(3, 3), nn.Linear(3, 1), nn.Linear(3, 3)
    first.requires_grad_(False)
    x = torch.randn(2, 3, requires_grad=True)
    loss = second(first(x)).mean() + unused(x).detach().mean()
    loss.backward()
    return x.grad, gradients(first, second, unused)


def nested_tensors() -> Any:
    a, b = torch.randn(2, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    nested = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
    (nested * 2).values().sum().backward()
    strided = torch.nested.as_nested_tensor([a, b])
    torch.nested.to_padded_tensor(strided.relu(), 0.0).sum().backward()
    return a.grad, b.grad


def a_subclass_of_tensor() -> Any:
    class Length(torch.Tensor):
        pass

    x = torch.randn(3).as_subclass(Length).requires_grad_()
    loss = (x * 2).sum()
    loss.backward()
    return loss.as_subclass(torch.Tensor), x.grad.as_subclass(torch.Tensor)


def parametrized_weight() -> Any:
    model = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    model(torch.randn(4, 3)).sum().backward()
    return gradients(model)


def anomaly_mode() -> Any:
    x = torch.rand(3, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        x.sqrt().sum().backward()
    return x.grad


def undefined_gradients() -> Any:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    (Nothing.apply(x.exp()).sum() + y.sum()).backward()
    return x.grad, y.grad


def empty_and_scalar_tensors() -> Any:
    x, y = torch.zeros(0, 3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    (x.sum() * y + y).backward()
    return x.grad, y.grad


def changed_in_place() -> Any:
    x = torch.randn(3, requires_grad=True)
    y = x.exp()
    loss = y.sum()
    y.mul_(2)
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error), x.grad
    return "no error"


def a_freed_graph() -> Any:
    x = torch.randn(3, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error), x.grad
    return "no error"


def a_root_without_a_graph() -> Any:
    try:
        torch.zeros(()).backward()
    except RuntimeError as error:
        return str(error)
    return "no error"


def a_hook_that_raises() -> Any:
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)

    def refuse(_: Any) -> None:
        raise ValueError("no gradient for x")

    product = x * y
    product.register_hook(refuse)
    try:
        product.sum().backward()
    except ValueError as error:
        return str(error), x.grad, y.grad
    return "no error"


# fmt: off
FAILING: tuple[Program, ...] = (
    operator_without_a_derivative, changed_in_place, a_freed_graph, a_root_without_a_graph,
    a_hook_that_raises,
)
"""Those whose last call fails, in PyTorch's words."""

ALL: tuple[Program, ...] = (
    mlp, training_with_momentum, convolution_batch_norm_and_skip, lstm, cell_in_a_loop,
    transformer_encoder, fused_attention, tied_embedding, custom_function,
    custom_function_without_materialized_zeros, views_and_in_place, hooks_of_every_kind,
    checkpoint_reentrant, checkpoint_not_reentrant, gradient_penalty, grad_with_unused_inputs,
    grad_with_zeros_for_unused_inputs, several_roots, a_graph_used_twice,
    backward_into_some_inputs, gradient_edges, autocast, complex_numbers, half_precision,
    linalg_with_several_outputs, sparse_embedding, sparse_matrix, compiled_function,
    operator_of_a_library, saved_tensor_hooks, saved_on_the_cpu, long_chain, data_parallel,
    functional_transforms, vectorized_jacobian, frozen_and_unused_layers, nested_tensors,
    a_subclass_of_tensor, parametrized_weight, anomaly_mode, undefined_gradients,
    empty_and_scalar_tensors,
)
# fmt: on
