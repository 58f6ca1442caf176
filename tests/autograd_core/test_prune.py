"""``nn.utils.prune`` in both libraries."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture
def prune(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


@pytest.fixture
def layer(torch: Any) -> Any:
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.5, -0.1, 0.3], [-0.2, 0.4, 0.6]]))
        layer.bias.copy_(torch.tensor([0.05, 0.7]))
    return layer


def test_the_smallest_values_are_masked_and_get_no_gradient(
    torch: Any, prune: Any, layer: Any
) -> None:
    assert prune.l1_unstructured(layer, "weight", 0.5) is layer
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert [name for name, _ in layer.named_buffers()] == ["weight_mask"]
    assert layer.weight_mask.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert layer.weight.grad_fn.name() == "MulBackward0"
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[1, 0, 0], [0, 1, 1]]
    with torch.no_grad():
        layer.weight_orig.mul_(2)
    layer(torch.ones(1, 3))
    assert layer.weight[0].tolist() == [1, 0, 0]


def test_pruning_again_prunes_what_is_left(prune: Any, layer: Any) -> None:
    prune.l1_unstructured(layer, "weight", 2)
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[1, 0, 0], [0, 0, 1]]
    prune.ln_structured(layer, "weight", 1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[0, 0, 0], [0, 0, 1]]
    prune.custom_from_mask(layer, "bias", layer.bias.detach() > 0.1)
    assert layer.bias_mask.tolist() == [0, 1]
    assert len(layer._forward_pre_hooks) == 2


def test_removal_makes_zeros_of_what_is_pruned(torch: Any, prune: Any, layer: Any) -> None:
    original = layer.weight
    prune.l1_unstructured(layer, "weight", 4)
    assert prune.is_pruned(layer)
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer)
    assert not layer._forward_pre_hooks
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight"]
    assert layer.weight is original
    assert layer.weight.count_nonzero().item() == 2
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_several_parameters_are_pruned_as_one(prune: Any, layer: Any) -> None:
    both = [(layer, "weight"), (layer, "bias")]
    prune.global_unstructured(both, pruning_method=prune.L1Unstructured, amount=3)
    assert layer.weight_mask.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert layer.bias_mask.tolist() == [0, 1]
    prune.global_unstructured(both, pruning_method=prune.L1Unstructured, amount=1)
    assert layer.weight_mask.tolist() == [[1, 0, 0], [0, 1, 1]]


def test_random_pruning_takes_as_many_as_it_is_told(prune: Any, layer: Any) -> None:
    prune.random_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.sum().item() == 3
    prune.remove(layer, "weight")
    prune.random_structured(layer, "weight", 1, dim=1)
    assert sorted(layer.weight_mask.sum(0).tolist()) == [0, 2, 2]
    with pytest.raises(ValueError, match="can only be applied to multidimensional tensors"):
        prune.random_structured(layer, "bias", 1, dim=0)


def test_a_method_of_ones_own_says_what_to_prune(prune: Any, layer: Any) -> None:
    class EveryOther(prune.BasePruningMethod):  # type: ignore[misc, name-defined]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    EveryOther.apply(layer, "weight")
    assert layer.weight_mask.tolist() == [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize("amount", [1.5, -1, 10])
def test_an_amount_that_cannot_be_is_refused(prune: Any, layer: Any, amount: float) -> None:
    with pytest.raises(ValueError, match=f"amount={amount} should "):
        prune.l1_unstructured(layer, "weight", amount)
