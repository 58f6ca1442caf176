"""Hooks of modules, around calls and backward passes: the same in both libraries."""

from __future__ import annotations

import gc
import importlib
import weakref
from collections.abc import Iterator
from typing import Any

import pytest


def values(t: Any) -> Any:
    if isinstance(t, tuple):
        return tuple(values(each) for each in t)
    return None if t is None else t.detach().tolist()


def double_of(torch: Any) -> Any:
    """A module that doubles, and says so with a module of one weight."""

    class Double(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([2.0, 2.0]))

        def forward(self, x: Any, plus: float = 0.0) -> Any:
            return x * self.weight + plus

    return Double()


def leaf(torch: Any, *numbers: float) -> Any:
    return torch.tensor(list(numbers), requires_grad=True)


# --- forward -----------------------------------------------------------------------------------


def test_forward_hooks_see_and_replace_what_goes_in_and_out(torch: Any) -> None:
    seen: list[Any] = []
    module = double_of(torch)
    module.register_forward_pre_hook(lambda m, args: seen.append(("pre", m is module, len(args))))
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_hook(lambda m, args, out: seen.append(("post", values(args))))
    module.register_forward_hook(lambda m, args, out: out * 10)
    assert values(module(torch.tensor([0.0, 1.0]), plus=1.0)) == [30.0, 50.0]
    assert seen == [("pre", True, 1), ("post", ([1.0, 2.0],))]


def test_forward_hooks_see_and_replace_keywords(torch: Any) -> None:
    seen: list[Any] = []
    module = double_of(torch)

    def more(m: Any, args: Any, kwargs: Any) -> Any:
        return args, {"plus": kwargs["plus"] + 1}

    module.register_forward_pre_hook(more, with_kwargs=True)
    module.register_forward_hook(
        lambda m, args, kwargs, out: seen.append((kwargs, values(out))), with_kwargs=True
    )
    module(torch.tensor([0.0, 1.0]), plus=1.0)
    assert seen == [({"plus": 2.0}, [2.0, 4.0])]
    module.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"None or a tuple of \(new_args, new_kwargs\)"):
        module(torch.tensor([0.0, 1.0]), plus=1.0)


def test_hooks_run_in_order_of_registration_unless_prepended(torch: Any) -> None:
    order: list[str] = []
    module = double_of(torch)

    def note(name: str) -> Any:
        return lambda *_: order.append(name)

    first = module.register_forward_hook(note("first"))
    module.register_forward_hook(note("second"))
    module.register_forward_hook(note("before"), prepend=True)
    module.register_forward_pre_hook(note("pre"))
    module.register_forward_pre_hook(note("pre before"), prepend=True)
    x = leaf(torch, 1.0, 1.0)
    module(x)
    assert order == ["pre before", "pre", "before", "first", "second"]
    order.clear()
    first.remove()
    first.remove()
    module(x)
    assert order == ["pre before", "pre", "before", "second"]


def test_a_hook_that_is_always_called_survives_an_error(torch: Any) -> None:
    seen: list[Any] = []
    module = double_of(torch)
    module.register_forward_hook(lambda *_: seen.append("only if all is well"))
    module.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(TypeError):
        module(torch.tensor([1.0, 1.0]), minus=1.0)
    assert seen == [None]


# --- backward ----------------------------------------------------------------------------------


def test_full_backward_hooks_get_the_gradients_of_all_inputs_and_outputs(torch: Any) -> None:
    seen: list[Any] = []
    model = torch.nn.Sequential(double_of(torch), double_of(torch))
    model[1].register_full_backward_pre_hook(lambda m, g: seen.append(("pre", values(g))))
    for number, module in enumerate(model):
        module.register_full_backward_hook(
            lambda m, sent, received, n=number: seen.append((n, values(sent), values(received)))
        )
    x = leaf(torch, 1.0, 2.0)
    y = model(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    y.backward(torch.tensor([1.0, 10.0]))
    assert seen == [
        ("pre", ([1.0, 10.0],)),
        (1, ([2.0, 20.0],), ([1.0, 10.0],)),
        (0, ([4.0, 40.0],), ([2.0, 20.0],)),
    ]
    assert values(x.grad) == [4.0, 40.0]


def test_backward_hooks_replace_gradients(torch: Any) -> None:
    module = double_of(torch)
    module.register_full_backward_pre_hook(lambda m, received: (received[0] * 10,))
    module.register_full_backward_pre_hook(lambda m, received: (received[0] + 1,))
    module.register_full_backward_hook(lambda m, sent, received: (sent[0] + received[0],))
    x = leaf(torch, 1.0, 2.0)
    module(x).sum().backward()
    assert values(x.grad) == [33.0, 33.0]  # 2 * 11 + 11
    assert values(module.weight.grad) == [11.0, 22.0]


def test_backward_hooks_of_several_inputs_and_outputs(torch: Any) -> None:
    class Swap(torch.nn.Module):
        def forward(self, x: Any, note: str, y: Any) -> Any:
            return y * 3, note, x * 2

    seen: list[Any] = []
    module = Swap()
    module.register_full_backward_hook(
        lambda m, sent, received: seen.append((values(sent[:2]), values(received)))
    )
    x, y = leaf(torch, 1.0), torch.tensor([1.0])
    three, note, two = module(x, "between", y)
    assert (note, three.requires_grad, two.requires_grad) == ("between", False, True)
    two.backward(torch.tensor([5.0]))
    assert seen == [(([10.0], None), (None, None, [5.0]))]
    assert values(x.grad) == [10.0]


def test_backward_hooks_fire_without_an_input_that_needs_a_gradient(torch: Any) -> None:
    seen: list[Any] = []
    module = double_of(torch)
    module.register_full_backward_hook(lambda m, *g: seen.append(values(g)))
    y = module(torch.tensor([1.0, 2.0])).sum()
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        y.backward()
    assert seen == [((None,), ([1.0, 1.0],))]
    assert values(module.weight.grad) == [1.0, 2.0]


def test_backward_hooks_within_no_grad_leave_everything_alone(torch: Any) -> None:
    module = double_of(torch)
    module.register_full_backward_hook(lambda *_: pytest.fail("there is no backward pass"))
    with torch.no_grad():
        assert module(leaf(torch, 1.0, 2.0)).grad_fn is None


@pytest.mark.parametrize(
    ("register", "said"),
    [
        ("register_full_backward_hook", "invalid number of grad_input, got 2, but expected 1"),
        ("register_full_backward_pre_hook", "invalid number of grad_output, got 2, but expected 1"),
    ],
)
def test_too_many_gradients_are_refused(torch: Any, register: str, said: str) -> None:
    module = double_of(torch)
    getattr(module, register)(lambda m, gradients, *_: (gradients[0], gradients[0]))
    with pytest.raises(RuntimeError, match=said):
        module(leaf(torch, 1.0, 2.0)).sum().backward()


def test_the_gradient_of_a_hooked_module_can_be_differentiated(torch: Any) -> None:
    seen: list[Any] = []

    class Cube(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * x * x

    module = Cube()
    module.register_full_backward_hook(lambda m, *g: seen.append(values(g)))
    x = leaf(torch, 2.0)
    (g,) = torch.autograd.grad(module(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert (values(g), values(second)) == ([12.0], [12.0])
    assert seen[0] == (([12.0],), ([1.0],))


def test_the_legacy_hook_sees_the_last_node_only(torch: Any) -> None:
    seen: list[Any] = []
    module = double_of(torch)
    module.register_backward_hook(lambda m, *g: seen.append(values(g)))
    with pytest.warns(FutureWarning, match="forward contains multiple autograd Nodes"):
        module(leaf(torch, 1.0, 2.0)).sum().backward()
    assert seen[0][1] == ([1.0, 1.0],)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        module.register_full_backward_hook(lambda *_: None)


def test_the_legacy_hook_of_a_module_of_one_op_says_nothing(torch: Any) -> None:
    seen: list[Any] = []
    module = torch.nn.ReLU()
    module.register_backward_hook(lambda m, *g: seen.append(values(g)))
    module(leaf(torch, 1.0, -2.0) * 2).sum().backward()
    assert seen == [(([1.0, 0.0],), ([1.0, 1.0],))]


@pytest.fixture
def handles() -> Iterator[list[Any]]:
    """Global hooks, taken away whatever happens."""
    kept: list[Any] = []
    yield kept
    for handle in kept:
        handle.remove()


def test_global_hooks_run_for_all_modules_before_their_own(torch: Any, handles: list[Any]) -> None:
    order: list[str] = []
    module = torch.nn.modules.module

    def note(name: str) -> Any:
        return lambda m, *_: order.append(f"{name} {type(m).__name__}")

    handles += [
        module.register_module_forward_pre_hook(note("pre")),
        module.register_module_forward_hook(note("post")),
        module.register_module_full_backward_pre_hook(note("backward pre")),
        module.register_module_full_backward_hook(note("backward")),
    ]
    model = torch.nn.Sequential(torch.nn.Tanh())
    model[0].register_forward_hook(note("own"))
    model[0].register_full_backward_hook(note("own backward"))
    model(leaf(torch, 1.0)).backward()
    assert order == [
        "pre Sequential", "pre Tanh", "post Tanh", "own Tanh", "post Sequential",
        "backward pre Sequential", "backward pre Tanh", "backward Tanh", "own backward Tanh",
        "backward Sequential",
    ]  # fmt: skip


def test_a_hooked_graph_dies_without_the_collector() -> None:
    torch = importlib.import_module("autograd_core")
    module = double_of(torch)
    module.register_full_backward_hook(lambda *_: None)
    gc.disable()
    try:
        y = module(leaf(torch, 1.0, 2.0))
        watched = weakref.ref(y.grad_fn)
        del y
        assert watched() is None
    finally:
        gc.enable()
