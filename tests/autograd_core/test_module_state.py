"""What modules save, load, copy and find by name, in both libraries."""

from __future__ import annotations

import copy
from typing import Any

import pytest


def values(t: Any) -> Any:
    if isinstance(t, tuple):
        return tuple(values(each) for each in t)
    return None if t is None else t.detach().tolist()


def with_buffers(torch: Any) -> Any:
    class Counted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kept", torch.zeros(1))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.register_buffer("nothing", None)
            self.inner = torch.nn.Linear(1, 1, bias=False)

    return Counted()


def test_only_persistent_buffers_are_saved(torch: Any) -> None:
    module = with_buffers(torch)
    assert list(module.state_dict()) == ["kept", "inner.weight"]
    assert [name for name, _ in module.named_buffers()] == ["kept", "scratch"]
    assert list(module.state_dict(prefix="a.")) == ["a.kept", "a.inner.weight"]
    assert not module.state_dict()["inner.weight"].requires_grad
    assert module.state_dict(keep_vars=True)["inner.weight"] is module.inner.weight
    with pytest.raises(KeyError, match="attribute 'inner' already exists"):
        module.register_buffer("inner", None)
    with pytest.raises(KeyError, match=r"contain \"\.\""):
        module.register_parameter("a.b", None)


def test_errors_of_loading_come_together(torch: Any) -> None:
    module = with_buffers(torch)
    with pytest.raises(RuntimeError) as raised:
        module.load_state_dict({"inner.weight": torch.zeros(2, 2), "more": torch.zeros(1)})
    text = str(raised.value)
    assert text.startswith("Error(s) in loading state_dict for Counted:\n\tMissing key(s)")
    assert 'Missing key(s) in state_dict: "kept". ' in text
    assert 'Unexpected key(s) in state_dict: "more". ' in text
    assert "size mismatch for inner.weight" in text
    found = module.load_state_dict({"inner.weight": torch.ones(1, 1)}, strict=False)
    assert found.missing_keys == ["kept"]
    assert values(module.inner.weight) == [[1.0]]


def test_assigned_state_replaces_the_tensors(torch: Any) -> None:
    module = torch.nn.Linear(1, 1, bias=False)
    weight = module.weight
    module.load_state_dict({"weight": torch.tensor([[3.0]])}, assign=True)
    assert module.weight is not weight
    assert isinstance(module.weight, torch.nn.Parameter)
    assert module.weight.requires_grad


def test_a_copied_module_has_leaves_of_its_own(torch: Any) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(1, 1))
    twin = copy.deepcopy(module)
    twin(torch.ones(1, 1)).sum().backward()
    assert module[0].weight.grad is None
    assert values(twin[0].weight.grad) == [[1.0]]
    assert isinstance(twin[0].weight, torch.nn.Parameter)
    assert [name for name, _ in twin.named_parameters()] == ["0.weight", "0.bias"]


def test_parts_are_found_by_dotted_names(torch: Any) -> None:
    module = torch.nn.Sequential(with_buffers(torch))
    assert module.get_submodule("0.inner") is module[0].inner
    assert module.get_submodule("") is module
    for wrong in ("0.outer", "0.kept"):
        with pytest.raises(AttributeError):
            module.get_submodule(wrong)
