"""Nodes, edges, saved values, grad modes: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest

import autograd_core


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


@pytest.mark.torch
def test_a_node_lists_what_pytorch_lists() -> None:
    pytorch = pytest.importorskip("torch")
    mine, theirs = (shown_of_nodes(t) for t in (autograd_core, pytorch))
    private = {"_register_hook_dict", "_set_sequence_nr"}
    assert mine[:-1] == [each - private for each in theirs[:-1]]
    assert mine[-1] <= theirs[-1]  # a custom Function
    assert {"saved_tensors", "needs_input_grad", "factor"} <= mine[-1]


def shown_of_nodes(t: Any) -> list[set[str]]:
    class Scale(t.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.factor = 3
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor

    x = t.ones(2, requires_grad=True)
    y = x * 2
    y[0] = 1
    leaf = (x * 2).grad_fn.next_functions[0][0]
    nodes = [(x * x).grad_fn, x.softmax(0).grad_fn, leaf, y.grad_fn, Scale.apply(x).grad_fn]
    assert all(node.requires_grad for node in nodes)
    return [{name for name in dir(node) if not name.startswith("__")} for node in nodes]


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


def test_a_node_that_is_called_with_none_gives_none(torch: Any) -> None:
    x = vector(torch)
    assert x.sin().grad_fn(None) is None
    assert (x * x).grad_fn(None) == (None, None)
    assert x.split(1)[0].grad_fn(None, None) is None


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


def test_a_result_is_handed_to_hooks_with_its_place_in_the_graph(torch: Any) -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.save_for_backward(y, x)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    packed: list[Any] = []
    x = vector(torch)
    keep = torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t)
    with keep:
        y, z = x.exp(), Doubled.apply(x)
    assert [t.grad_fn for t in packed] == [y.grad_fn, z.grad_fn, None]
    assert [t.requires_grad for t in packed] == [True, True, True]
    assert packed[2] is x


def test_a_constant_comes_back_as_the_tensor_that_the_hook_returns(torch: Any) -> None:
    w, other = torch.ones(2), torch.zeros(2)
    indices = torch.tensor([0, 1])
    for unpack, result in ((lambda t: t, w), (lambda t: other, other)):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
            y = vector(torch) * w
        assert y.grad_fn._saved_other is result
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        z = vector(torch).index_select(0, indices)
    assert z.grad_fn._saved_index is indices
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: vector(torch)):
        y = vector(torch) * w
    assert not y.grad_fn._saved_other.requires_grad


def test_unpacking_runs_in_the_mode_around_it(torch: Any) -> None:
    modes: list[bool] = []
    x = vector(torch)
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: t, lambda t: (modes.append(torch.is_grad_enabled()), t)[1]):
        y = x.exp().sum()
    torch.autograd.grad(y, x, create_graph=True)
    with torch.no_grad():
        _ = y.grad_fn.next_functions[0][0]._saved_result
    y.backward()
    assert modes == [True, False, False]


def test_hooks_of_one_value_get_it_without_its_place_in_the_graph(torch: Any) -> None:
    given: list[Any] = []
    x = vector(torch) * 1
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: (given.append((t is x, t.requires_grad)), t)[1], lambda t: t)
    assert given == [(False, False)]
    assert y.grad_fn._saved_self.grad_fn is x.grad_fn


def test_what_a_function_saved_can_have_hooks_of_its_own(torch: Any) -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * x
            ctx.save_for_backward(x, None, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0] * 2

    x = vector(torch)
    y = Square.apply(x)
    saved, none, result = y.grad_fn._raw_saved_tensors
    saved.register_hooks(lambda t: t * 10, lambda t: t)
    result.register_hooks(lambda t: t, lambda t: t)
    assert y.grad_fn.saved_tensors[2].grad_fn is y.grad_fn
    with pytest.raises(RuntimeError, match="only one pair of hooks is allowed"):
        saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="on a saved tensor with value None is forbidden"):
        none.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert numbers(x.grad) == [20, 40]
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._raw_saved_tensors


def test_an_index_can_have_hooks_of_its_own(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x[:, torch.tensor([0, 2])]
    none, indices = y.grad_fn._raw_saved_indices
    with pytest.raises(RuntimeError, match="on a saved tensor with value None is forbidden"):
        none.register_hooks(lambda t: t, lambda t: t)
    indices.register_hooks(lambda t: t * 0, lambda t: t)
    with pytest.raises(RuntimeError, match="only one pair of hooks is allowed"):
        indices.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0, 0.0]] * 2
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._raw_saved_indices


def test_what_was_not_saved_has_no_hooks(torch: Any) -> None:
    y = vector(torch) * torch.ones(2)
    assert y.grad_fn._saved_self is None
    with pytest.raises(RuntimeError, match="on a saved tensor with value None is forbidden"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


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


# -- saved tensors that are changed --------------------------------------------------------------


def test_within_a_context_saved_tensors_may_be_changed(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        product = y * y
        e = y.exp()
        y.add_(1)
        e.mul_(0)
        (g,) = torch.autograd.grad((product + e).sum(), x)
    assert g.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("leave", [False, True])
def test_outside_that_context_the_graph_has_lost_them(torch: Any, leave: bool) -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = y.sin()
        y.add_(1)
        if not leave:
            context.clear()
            with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_te"):
                z.sum().backward()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        z.sum().backward()


def test_that_context_does_not_nest(torch: Any) -> None:
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    message = "allow_mutation_on_saved_tensors contexts cannot be nested"
    with allow(), pytest.raises(RuntimeError, match=message), allow():
        pass


def test_hooks_on_a_single_saved_tensor_are_set_once_and_in_time(torch: Any) -> None:
    y = torch.ones(3, requires_grad=True).exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError) as caught:
        saved.register_hooks(lambda t: t, lambda t: t)
    assert str(caught.value) == (
        "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only "
        "one pair of hooks is allowed at a time."
    )
    y.sum().backward()
    with pytest.raises(RuntimeError, match="register_hooks on a saved tensor after it has been fr"):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


def test_packed_results_stay_packed_when_changed_in_place(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 2, lambda t: t / 2):
        y = (x * 1).exp_()
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2.7182817] * 2)


def test_nodes_written_by_hand_bear_pytorchs_names(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = torch.zeros(3)
    y.copy_(x)
    assert y.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert repr(y) == "tensor([1., 1., 1.], grad_fn=<CopyBackwards>)"
    y[0:2] = x[:2]
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert repr(y) == "tensor([1., 1., 1.], grad_fn=<CopySlices>)"


def test_a_node_is_called_with_a_gradient_for_each_output(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        (x * x).grad_fn(torch.ones(3), torch.ones(3))
    one, _, _ = x.unbind()
    found = one.grad_fn(torch.ones(()), torch.ones(()) * 2, None)
    assert found.tolist() == [1.0, 2.0, 0.0]


# -- threads -------------------------------------------------------------------------------------


def test_threads_build_and_run_graphs_at_once(torch: Any) -> None:
    shared = torch.ones(4, requires_grad=True)
    results: list[Any] = [None] * 8
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(30):
                own = torch.full((4,), float(number + 1), requires_grad=True)
                if (number + turn) % 2:
                    with torch.no_grad():
                        assert not (own * 2).requires_grad
                        own_result = (own * shared).sum()
                    assert not own_result.requires_grad
                y = own
                for _ in range(20):
                    y = (y * shared).tanh() + own
                y = y.clone().mul_(2)
                y[0].add_(own[1])
                results[number] = torch.autograd.grad(y.sum(), (own, shared))
                assert torch.is_grad_enabled()
        except BaseException as error:  # told by the thread that waits
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number, parallel in enumerate(results):
        work(number)
        assert [g.tolist() for g in results[number]] == [g.tolist() for g in parallel]


def test_threads_add_to_one_leaf(torch: Any) -> None:
    leaf = torch.zeros(100_000, requires_grad=True)

    def work() -> None:
        for _ in range(100):
            (leaf * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaf.grad.unique().tolist() == [800.0]


def test_a_multi_grad_hook_waits_for_what_this_pass_computes_only(torch: Any) -> None:
    a, b = vector(torch, 1), vector(torch, 1)
    seen: list[Any] = []
    hook = seen.append
    torch.autograd.graph.register_multi_grad_hook((a, b), hook)
    (a * 3).sum().backward()
    (a * b).sum().backward()
    (a * 5).sum().backward()
    assert [[g and g.item() for g in gradients] for gradients in seen] == [
        [3, None], [1, 1], [5, None],
    ]  # fmt: skip


def test_a_multi_grad_hook_for_any_fires_once_in_every_pass(torch: Any) -> None:
    a, b = vector(torch, 1), vector(torch, 1)
    seen: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda g: seen.append(g.item()), mode="any"
    )
    for factor in (2, 3):
        (a * b * factor).sum().backward()
        (a * factor).sum().backward()
    assert seen == [2, 2, 3, 3]


def test_a_pack_hook_may_not_change_what_it_gets(torch: Any) -> None:
    x = vector(torch)
    with (
        pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in pl"),
        torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
    ):
        x.clone().pow(2)
