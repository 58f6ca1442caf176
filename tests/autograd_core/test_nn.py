"""Modules: what they register, compute, save and print."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core import nn
from autograd_core.autograd.grad_mode import Mode, enter_mode, leave_mode
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("steps", torch.zeros(1))
        self.again = self.inner

    def forward(self, x: Any) -> Any:
        return self.again(self.inner(x)) * self.scale


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


# --- parameters --------------------------------------------------------------------------------


def test_a_parameter_is_exactly_a_tensor_that_knows_what_it_is() -> None:
    weight = nn.Parameter(torch.ones(2))
    assert type(weight) is Tensor  # lest every op on weights take the slow path
    assert isinstance(weight, nn.Parameter)
    assert not isinstance(torch.ones(2), nn.Parameter)
    assert not isinstance(weight * 1, nn.Parameter)
    assert weight.requires_grad
    assert weight.is_leaf
    assert not nn.Parameter(torch.ones(2), requires_grad=False).requires_grad


def test_modules_register_what_is_assigned_to_them() -> None:
    block = Block()
    assert names(block.named_parameters()) == ["scale", "inner.weight", "inner.bias"]
    assert names(block.named_parameters(recurse=False)) == ["scale"]
    assert names(block.named_buffers()) == ["steps"]
    assert names(block.named_modules()) == ["", "inner"]
    assert names(block.named_children()) == ["inner"]
    assert list(block.state_dict()) == [
        "scale", "steps", "inner.weight", "inner.bias", "again.weight", "again.bias",
    ]  # fmt: skip
    assert block.scale is block._parameters["scale"]


def test_attributes_can_change_their_kind_and_go() -> None:
    block = Block()
    block.scale = None
    assert names(block.named_parameters()) == ["inner.weight", "inner.bias"]
    block.inner = nn.ReLU()
    assert names(block.named_modules()) == ["", "inner", "again"]
    del block.again
    assert names(block.named_modules()) == ["", "inner"]
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'again'"):
        _ = block.again
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'scale'"):
        block.scale = torch.ones(3)


def test_a_module_must_be_initialised_before_it_holds_anything() -> None:
    class Hasty(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\)"):
        Hasty()


def test_apply_visits_children_before_their_parents() -> None:
    visited: list[str] = []
    model = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Tanh()), nn.Linear(2, 2))
    assert model.apply(lambda module: visited.append(type(module).__name__)) is model
    assert visited == ["ReLU", "Tanh", "Sequential", "Linear", "Sequential"]


def test_a_deep_model_needs_no_recursion() -> None:
    model: nn.Module = nn.Linear(1, 1)
    for _ in range(5000):
        model = nn.Sequential(model)
    assert len(list(model.modules())) == 5001
    assert len(list(model.eval().parameters())) == 2
    assert len(model.state_dict()) == 2
    while isinstance(model, nn.Sequential):  # deleting such a tower from outside in would recurse
        model = model[0]


def test_train_and_eval_reach_every_module() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    assert {m.training for m in model.modules()} == {True}
    assert {m.training for m in model.eval().modules()} == {False}
    assert {m.training for m in model.train().modules()} == {True}


def test_gradients_are_forgotten_or_zeroed() -> None:
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    model.zero_grad(set_to_none=False)
    assert model.weight.grad.tolist() == [[0.0, 0.0]]
    model.zero_grad()
    assert model.weight.grad is None
    assert not any(p.requires_grad for p in model.requires_grad_(False).parameters())


def test_state_goes_from_one_model_to_another() -> None:
    source, target = Block(), Block()
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    for mine, theirs in zip(source.parameters(), target.parameters(), strict=True):
        assert mine is not theirs
        assert torch.equal(mine, theirs)
    loose = target.load_state_dict({"scale": torch.zeros(3), "other": torch.ones(1)}, strict=False)
    assert loose.unexpected_keys == ["other"]
    assert "inner.weight" in loose.missing_keys
    assert target.scale.tolist() == [0.0, 0.0, 0.0]


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model = nn.Linear(2, 2)
    before = model.weight.tolist()
    with pytest.raises(RuntimeError, match="size mismatch for bias"):
        model.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(3)})
    assert model.weight.tolist() == before


def test_a_deep_copy_has_parameters_of_its_own() -> None:
    model = Block()
    model(torch.ones(1, 3)).sum().backward()
    copied = copy.deepcopy(model)
    assert copied.again is copied.inner
    assert isinstance(copied.scale, nn.Parameter)
    assert copied.scale.grad is None
    before = model.scale.grad.tolist()
    copied(torch.zeros(1, 3)).sum().backward()
    assert copied.scale.grad.tolist() != before
    assert model.scale.grad.tolist() == before
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(model.scale * 2)


def test_tensors_can_be_compared_with_anything() -> None:
    x = torch.tensor([1.0, 2.0])
    assert (x == 1).tolist() == [True, False]
    assert x != None  # noqa: E711
    assert x != "text"
    assert "text" not in [x]


def test_to_converts_floating_point_state_and_keeps_the_parameters() -> None:
    model = Block()
    weight = model.inner.weight
    model(torch.ones(1, 3)).sum().backward()
    model.zero_grad()
    assert model.to(torch.float64) is model
    assert model.inner.weight is weight
    assert weight.dtype is torch.float64
    model(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
    assert weight.grad.dtype is torch.float64
    with pytest.raises(TypeError, match="only accepts floating point"):
        model.to(torch.int64)


def test_containers_can_be_indexed_sliced_and_extended() -> None:
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert [type(m).__name__ for m in model[1:]] == ["Tanh", "Sigmoid"]
    assert type(model[-1]).__name__ == "Sigmoid"
    model[0] = nn.Tanh()
    model.append(nn.ReLU())
    assert [type(m).__name__ for m in model] == ["Tanh", "Tanh", "Sigmoid", "ReLU"]
    layers = nn.ModuleList([nn.Linear(2, 2)]).extend([nn.ReLU()])
    assert len(layers) == 2
    assert names(layers.named_parameters()) == ["0.weight", "0.bias"]
    with pytest.raises(IndexError, match="index 4 is out of range"):
        model[4]
    with pytest.raises(TypeError, match="float is not a Module subclass"):
        nn.Sequential(nn.ReLU(), 2.0)  # type: ignore[arg-type]


def test_while_traced_each_module_computes_in_its_scope() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.open: list[nn.Module] = []
            self.ops: list[tuple[str, str]] = []

        def op(self, name: str, *_: Any) -> None:
            self.ops.append(("/".join(type(m).__name__ for m in self.open), name))

        def line(self) -> None:
            pass

        def changing(self, tensor: torch.Tensor) -> None:
            pass

        def settle(self) -> None:
            pass

        @contextmanager
        def module(self, module: nn.Module) -> Any:
            self.open.append(module)
            yield
            self.open.pop()

    recorder = Recorder()
    token = enter_mode(Mode(tracer=recorder))
    nn.Sequential(nn.Linear(2, 2), nn.ReLU())(torch.ones(1, 2))
    leave_mode(token)
    assert recorder.ops == [
        ("Sequential/Linear", "t"), ("Sequential/Linear", "addmm"), ("Sequential/ReLU", "relu"),
    ]  # fmt: skip


# --- layers ------------------------------------------------------------------------------------


def test_layers_start_within_the_bounds_of_pytorch() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(400, 50)
    bound = 1 / np.sqrt(400)
    for p in linear.parameters():
        assert bound * 0.9 < np.abs(p.array).max() <= bound
    conv = nn.Conv2d(4, 30, 5)
    bound = 1 / np.sqrt(4 * 25)
    assert bound * 0.9 < np.abs(conv.weight.array).max() <= bound
    norm = nn.LayerNorm(3)
    assert (norm.weight.tolist(), norm.bias.tolist()) == ([1.0] * 3, [0.0] * 3)


def test_equal_seeds_give_equal_layers() -> None:
    def weights() -> list[Any]:
        torch.manual_seed(3)
        return [p.tolist() for p in nn.Linear(3, 2).parameters()]

    assert weights() == weights()


def test_dropout_keeps_the_mean_and_lets_go_of_the_same_gradients() -> None:
    torch.manual_seed(0)
    x = torch.ones(10000, requires_grad=True)
    y = F.dropout(x, 0.25)
    assert set(np.unique(y.detach().numpy())) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.mean().item() - 1) < 0.03
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.array, y.array)
    assert F.dropout(x, 0.25, training=False) is x
    assert nn.Dropout(1.0)(x).sum().item() == 0


def test_softmax_survives_large_scores() -> None:
    x = torch.tensor([[1000.0, 0.0, -1000.0]], requires_grad=True)
    assert F.softmax(x, dim=1).tolist() == [[1.0, 0.0, 0.0]]
    assert F.log_softmax(x, dim=1).tolist() == [[0.0, -1000.0, -2000.0]]
    F.cross_entropy(x, torch.tensor([2])).backward()
    assert x.grad.tolist() == [[1.0, 0.0, -1.0]]


def test_the_padding_row_of_an_embedding_gets_no_gradient_of_any_order() -> None:
    weight = torch.arange(6.0).reshape(3, 2).double().requires_grad_()
    rows = F.embedding(torch.tensor([0, 1, 1]), weight, padding_idx=-3)
    assert rows.grad_fn.name() == "EmbeddingBackward0"
    assert rows.tolist() == [[0, 1], [2, 3], [2, 3]]
    (g,) = torch.autograd.grad((rows**2).sum(), weight, create_graph=True)
    assert g.tolist() == [[0, 0], [8, 12], [0, 0]]
    (g**2).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [64, 96], [0, 0]]
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        F.embedding(torch.tensor([0]), weight, padding_idx=3)
    with pytest.raises(RuntimeError, match="scalar types: Long, Int; but got"):
        F.embedding(torch.tensor([0.0]), weight)


def test_pretrained_embeddings_draw_no_random_numbers(torch: Any) -> None:
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    weight = torch.arange(6.0).reshape(3, 2)
    made = torch.nn.Embedding.from_pretrained(weight, padding_idx=1)
    assert torch.equal(torch.rand(2), expected)
    assert not made.weight.requires_grad
    assert made(torch.tensor([1])).tolist() == [[2, 3]]


def test_recurrent_networks_list_their_weights(torch: Any) -> None:
    rnn = torch.nn.GRU(2, 3, 2, bidirectional=True)
    rnn.flatten_parameters()
    shapes = [[tuple(p.shape) for p in each] for each in rnn.all_weights]
    assert shapes[1] == [(9, 2), (9, 3), (9,), (9,)]
    assert len(shapes) == 4
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        torch.nn.LSTM(2, 3, dropout=0.5)


def test_a_mean_divergence_is_warned_of(torch: Any) -> None:
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        torch.nn.functional.kl_div(torch.zeros(2, 2), torch.full((2, 2), 0.5))
