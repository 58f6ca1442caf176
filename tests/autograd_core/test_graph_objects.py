"""Nodes, edges, saved values, grad modes: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest


def vector(torch: Any, *values: float) -> Any:
    return torch.tensor([float(value) for value in values or (1, 2)], requires_grad=True)


def numbers(t: Any) -> list[float]:
    return [round(float(value), 5) for value in t.detach().reshape(-1)]


# -- nodes ------------------------------------------------------------------------------------


def test_saved_values_have_pytorchs_names(torch: Any) -> None:
    x = vector(torch)
    assert (x * x).grad_fn._saved_self is x
    assert numbers(x.exp().grad_fn._saved_result) == [2.71828, 7.38906]
    assert (x**3).grad_fn._saved_exponent == 3
    assert tuple(x.sum().grad_fn._saved_self_sym_sizes) == (2,)
    assert x.view(2, 1).sum(1).grad_fn._saved_dim in (1, (1,))
    w = torch.ones(2, 2, requires_grad=True)
    addmm = torch.addmm(x, w, w * 2).grad_fn
    assert addmm._saved_mat1 is w
    assert numbers(addmm._saved_mat2) == [2, 2, 2, 2]


def test_a_saved_result_comes_out_of_its_node(torch: Any) -> None:
    y = vector(torch).exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn


def test_reading_freed_values_is_refused(torch: Any) -> None:
    y = vector(torch).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._saved_result


def test_what_no_gradient_needs_is_not_saved(torch: Any) -> None:
    x = vector(torch)
    node = (x * torch.tensor([5.0, 6.0])).grad_fn
    assert numbers(node._saved_other) == [5, 6]
    assert node._saved_self is None


def test_nodes_can_be_called(torch: Any) -> None:
    x = vector(torch)
    node = (x * x * 2).grad_fn
    first, second = node(torch.tensor([1.0, 10.0]))
    assert (numbers(first), second) == ([2, 20], None)
    (accumulate, _), _ = (x * 3).grad_fn.next_functions
    accumulate(torch.tensor([1.0, 2.0]))
    assert numbers(x.grad) == [1, 2]


def test_metadata_is_kept_with_the_node(torch: Any) -> None:
    y = vector(torch) * 2
    y.grad_fn.metadata["note"] = "mine"
    assert y.grad_fn.metadata == {"note": "mine"}


def test_each_input_is_described(torch: Any) -> None:
    node = (vector(torch) * 2).grad_fn
    (described,) = node._input_metadata
    assert tuple(described.shape) == (2,)
    assert str(described.dtype) == "torch.float32"


def test_sequence_numbers_grow(torch: Any) -> None:
    x = vector(torch)
    y = x * 2
    z = y * 2
    assert z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr()


# -- edges ------------------------------------------------------------------------------------


def test_edges_stand_for_tensors(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    x = vector(torch)
    first, second = (x * 2).unbind(0)
    edge = graph.get_gradient_edge(second)
    assert (edge.node, edge.output_nr) == (second.grad_fn, 1)
    y = first * 3 + second * 4
    (g,) = torch.autograd.grad(y, [edge])
    assert g.item() == 4
    with pytest.raises(RuntimeError, match="does not require"):
        graph.get_gradient_edge(torch.ones(1))


# -- hooks on several tensors --------------------------------------------------------------------


def test_a_hook_for_all_waits_for_all(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    seen: list[Any] = []
    a, b = vector(torch, 1), vector(torch, 2)
    handle = graph.register_multi_grad_hook((a, b), lambda gs: seen.append([g.item() for g in gs]))
    (a * b).backward()
    assert seen == [[2, 1]]
    handle.remove()
    (a * b).backward()
    assert len(seen) == 1


def test_a_hook_for_any_fires_once(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    seen: list[float] = []
    a, b = vector(torch, 1), vector(torch, 2)
    graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.item()), mode="any")
    (a * b).backward()
    assert len(seen) == 1


# -- hooks on saved tensors ----------------------------------------------------------------------


def test_saved_tensors_pass_through_hooks(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    log: list[str] = []

    def pack(t: Any) -> Any:
        log.append("pack")
        return t.detach().numpy().copy()

    def unpack(kept: Any) -> Any:
        log.append("unpack")
        return torch.from_numpy(kept)

    x = vector(torch)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * 2.0
    z = (y * y).sum()
    assert log == ["pack"]
    z.backward()
    assert log == ["pack", "unpack"]
    assert numbers(x.grad) == pytest.approx([59.11245, 436.7852], rel=1e-5)


def test_hooks_may_change_what_is_saved(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    x = vector(torch)
    with graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = (x * x).sum()
    y.backward()
    assert numbers(x.grad) == [20, 40]


def test_second_derivatives_through_packed_values(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    x = vector(torch)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert numbers(second) == [6, 12]


def test_one_value_can_have_hooks_of_its_own(torch: Any) -> None:
    x = vector(torch)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 0 + 7, lambda t: t)
    y.sum().backward()
    assert numbers(x.grad) == [7, 7]


def test_hooks_can_be_forbidden(torch: Any) -> None:
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
    ):
        hooks.__enter__()
    with graph.save_on_cpu():
        y = vector(torch).exp().sum()
    y.backward()


# -- grad modes ---------------------------------------------------------------------------------


def test_modes_nest_and_decorate(torch: Any) -> None:
    x = vector(torch)

    @torch.no_grad()
    def called() -> bool:
        return (x * 2).requires_grad

    @torch.no_grad
    def bare() -> bool:
        return (x * 2).requires_grad

    @torch.enable_grad()
    def enabled() -> bool:
        return (x * 2).requires_grad

    assert not called()
    assert not bare()
    with torch.no_grad():
        assert enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_set_grad_enabled_acts_at_once(torch: Any) -> None:
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def quiet() -> bool:
        return bool(torch.is_grad_enabled())

    assert torch.is_grad_enabled()
    assert not quiet()


def test_inference_mode_builds_no_graph(torch: Any) -> None:
    x = vector(torch)
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        assert not (x * 2).requires_grad
    with torch.inference_mode(False):
        assert (x * 2).requires_grad
    assert not torch.is_inference_mode_enabled()


def test_the_mode_is_each_threads_own(torch: Any) -> None:
    seen: list[bool] = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_threads_may_run_passes_over_a_shared_part(torch: Any) -> None:
    x = vector(torch)
    shared = (x * x).exp()
    roots = [(shared * float(k)).sum() for k in range(1, 9)]
    results: list[Any] = [None] * len(roots)

    def run(k: int) -> None:
        results[k] = numbers(torch.autograd.grad(roots[k], x, retain_graph=True)[0])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(roots))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, result in enumerate(results, 1):
        assert result == pytest.approx([k * 2 * 2.71828, k * 4 * 54.59815], rel=1e-5)


def test_a_pass_within_a_pass(torch: Any) -> None:
    x = vector(torch, 3)
    inner = vector(torch, 5)

    def hook(g: Any) -> Any:
        with torch.enable_grad():
            (inner * inner).backward()
        return g * 2

    y = x * 4
    y.register_hook(hook)
    (y * y).backward()
    assert numbers(inner.grad) == [10]
    assert numbers(x.grad) == [192]


def test_a_single_piece_is_still_a_piece(torch: Any) -> None:
    x = vector(torch)
    (piece,) = x.view(1, 2).unbind(0)
    (half,) = (piece * piece).split(2)
    (g,) = torch.autograd.grad(half.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert (numbers(g), numbers(second)) == ([2, 4], [2, 2])
