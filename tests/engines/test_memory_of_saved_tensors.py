"""What is read of values that nodes saved, where PyTorch does not tell it: before 2.10."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.autograd.graph import save_on_cpu, saved_tensors_hooks  # noqa: E402

from gradstep.engines.pytorch import nodes, private  # noqa: E402
from gradstep.engines.pytorch.nodes import Freed, TorchGraph, TorchNode  # noqa: E402
from gradstep.engines.pytorch.origins import Origins  # noqa: E402
from gradstep.engines.pytorch.saved_memory import Layout, find_layout, unknown_hook  # noqa: E402

pytestmark = pytest.mark.torch


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, None, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, _, b = ctx.saved_tensors
        return g * b, g * a


@pytest.fixture(scope="module")
def layout() -> Layout:
    found = private._find_layout()
    if found is None and hasattr(torch._C._autograd.SavedTensor, "unpack_hook"):
        pytest.skip("this PyTorch tells by itself, and has its words elsewhere")
    assert found is not None
    return found


def unpack(value: Any) -> Any:
    raise AssertionError("to look at a value does not unpack it")


class Saved(NamedTuple):
    """A value that a node saved, with what is known of it."""

    result: Any  # whose node has its memory
    raw: Any
    hook: Any = None
    tensor: Any = None  # in whose memory it is


def saved_values() -> list[Saved]:
    """Values that nodes saved, of every kind."""
    leaf = torch.ones(3, requires_grad=True)
    inner = leaf * 2

    def results() -> tuple[Any, ...]:
        return inner.exp(), leaf * inner, Product.apply(leaf, inner), inner[torch.tensor([0, 2])]

    def saved(of: Any, place: str, hook: Any = None, tensor: Any = None) -> Saved:
        return Saved(of, getattr(of.grad_fn, f"_raw_saved_{place}"), hook, tensor)

    exp, mul, function, index = results()
    values = [
        saved(exp, "result", None, exp),
        saved(mul, "other", None, inner),
        saved(mul, "self", None, leaf),
        Saved(function, function.grad_fn._raw_saved_tensors[0], None, leaf),
        Saved(function, function.grad_fn._raw_saved_tensors[2], None, inner),
        Saved(index, index.grad_fn._raw_saved_indices[0]),
    ]
    with saved_tensors_hooks(lambda value: value, unpack):
        exp, mul, function, index = results()
    values += [
        saved(exp, "result", unpack),
        saved(mul, "other", unpack),
        Saved(function, function.grad_fn._raw_saved_tensors[2], unpack),
        Saved(index, index.grad_fn._raw_saved_indices[0], unpack),
    ]
    exp = inner.exp()
    exp.grad_fn._raw_saved_result.register_hooks(lambda value: None, unpack)
    return [*values, saved(exp, "result", unpack)]


def test_hook_and_memory_of_a_saved_value_are_found(layout: Layout) -> None:
    for saved in saved_values():
        assert layout.unpack_hook(saved.raw) is saved.hook
        if saved.tensor is not None:
            assert layout.memory(saved.raw) == private.memory_of(saved.tensor)


def test_of_what_a_pass_has_freed_there_is_no_hook(layout: Layout) -> None:
    leaf = torch.ones(3, requires_grad=True)
    with save_on_cpu():
        result = leaf.exp()
    raw = result.grad_fn._raw_saved_result
    assert layout.unpack_hook(raw).__qualname__.startswith("save_on_cpu.")
    result.sum().backward()
    assert layout.unpack_hook(raw) is None


def test_hooks_of_another_kind_may_be_any(layout: Layout) -> None:
    other = layout._replace(kind=layout.kind + 8)
    for saved in saved_values():
        expected = None if saved.hook is None else unknown_hook
        assert other.unpack_hook(saved.raw) is expected


def test_nothing_is_read_where_a_place_is_not_plain() -> None:
    leaf = torch.ones(2, requires_grad=True)
    node = (leaf * leaf).grad_fn
    saved = [node._raw_saved_self, node._raw_saved_other]
    assert find_layout(saved, tensor=leaf._cdata, memory=1) is None


def node_of(result: Any) -> TorchNode:
    root = TorchGraph(Origins()).tensor(result)
    node: TorchNode = root.edge
    return node


def test_a_value_of_which_nothing_is_known_counts_as_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes, "unpack_hook", lambda _: unknown_hook)
    node = node_of(torch.ones(2, requires_grad=True).exp())
    assert [state for _, _, state in node.saved()] == ["packed"]
    assert node.is_packed()
    assert node.value_of("result") is None
    assert not node.is_freed


def test_a_value_is_read_and_freed_by_what_is_found(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "unpack_hook", layout.unpack_hook)
    result = torch.ones(2, requires_grad=True).exp()
    assert [state for _, _, state in node_of(result).saved()] == ["kept"]
    result.grad_fn._raw_saved_result.register_hooks(lambda value: None, Freed("freed", None))
    assert [state for _, _, state in node_of(result).saved()] == ["freed"]


def test_arrays_that_share_memory_can_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).T
    for share in (private._share, private._share_first):
        monkeypatch.setattr(private, "_share", share)
        array = private.view_of(tensor)
        assert array.strides == (4, 8)
        array[0, 1] += 1
    assert tensor.tolist() == [[1.0, 5.0], [2.0, 4.0]]
    assert private.view_of(torch.ones(0, 3)).shape == (0, 3)
    assert private.view_of(torch.tensor([True, False])).tolist() == [True, False]
