"""In-place changes and views: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

import gc
import importlib
import weakref
from typing import Any

import pytest

from autograd_core.autograd.node import notes_of


def matrix(torch: Any, requires_grad: bool = True) -> Any:
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=requires_grad)


def numbers(t: Any) -> list[float]:
    return [round(float(value), 5) for value in t.detach().reshape(-1)]


# -- version counters ----------------------------------------------------------------------


def test_views_and_detached_tensors_share_the_counter(torch: Any) -> None:
    x = matrix(torch, requires_grad=False)
    view, detached, data = x[0], x.detach(), x.data
    view.mul_(2)
    assert [t._version for t in (x, view, detached, data)] == [1, 1, 1, 0]
    detached.add_(1)
    assert [t._version for t in (x, view, detached, data)] == [2, 2, 2, 0]
    assert numbers(x) == [3, 5, 4, 5]


def test_an_update_without_a_graph_takes_only_the_options_of_its_op(torch: Any) -> None:
    x, step = matrix(torch, requires_grad=False), matrix(torch, requires_grad=False)
    with torch.no_grad():
        x.add_(step, alpha=2.0).sub_(step, alpha=1)
        assert numbers(x) == [2, 4, 6, 8]
        with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'"):
            x.mul_(step, alpha=2.0)
    assert numbers(x) == [2, 4, 6, 8]


def test_a_changed_saved_input_is_refused(torch: Any) -> None:
    x = matrix(torch)
    y = x * 1
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.backward()


def test_a_changed_saved_result_is_refused(torch: Any) -> None:
    y = matrix(torch).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"is at version 1; expected version 0 instead"):
        y.sum().backward()


def test_a_result_saved_in_place_may_change_no_more(torch: Any) -> None:
    y = matrix(torch) * 1
    y.exp_()
    z = y.sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        z.backward()


def test_a_change_through_a_view_is_seen_by_who_saved_the_base(torch: Any) -> None:
    y = matrix(torch) * 1
    z = (y * y).sum()
    y[0].zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


# -- in-place on results ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y.mul_(3),
        lambda y: y.exp_(),
        lambda y: y.tanh_(),
        lambda y: y.sub_(1).pow_(2),
        lambda y: y.zero_(),
        lambda y: y.fill_(7),
        lambda y: y.clamp_(min=2.5),
        lambda y: y.div_(4).neg_(),
    ],
)
def test_in_place_gives_the_gradient_of_out_of_place(torch: Any, change: Any) -> None:
    x = matrix(torch)
    y = x * 1
    back = change(y)
    assert back is y
    (y * y).sum().backward()
    reference = importlib.import_module("autograd_core")
    other = matrix(reference)
    z = other * 1
    change(z)
    (z * z).sum().backward()
    assert numbers(x.grad) == pytest.approx(numbers(other.grad), rel=1e-5)


def test_the_node_takes_the_place_in_the_graph(torch: Any) -> None:
    y = matrix(torch) * 2
    before = y.grad_fn
    y.add_(1)
    assert y.grad_fn.name() == "AddBackward0"
    assert y.grad_fn.next_functions[0][0] is before


def test_copy_converts_to_the_dtype_it_finds(torch: Any) -> None:
    x = torch.tensor([1, 2])
    assert x.copy_(torch.tensor([1.7, -2.2])).tolist() == [1, -2]
    assert x.fill_(3.5).tolist() == [3, 3]


def test_copy_sends_the_gradient_to_its_source(torch: Any) -> None:
    x, row = matrix(torch), torch.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1
    y.copy_(row)
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert numbers(x.grad) == [0, 0, 0, 0]
    assert numbers(row.grad) == [4, 6]


# -- in-place on views ------------------------------------------------------------------------


def test_a_view_changed_in_place_changes_the_graph_of_its_base(torch: Any) -> None:
    x = matrix(torch)
    base = x * 1
    base[0].mul_(10)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert numbers(base) == [10, 20, 3, 4]
    (base * base).sum().backward()
    assert numbers(x.grad) == [200, 400, 6, 8]


def test_the_view_itself_and_its_siblings_follow(torch: Any) -> None:
    x = matrix(torch)
    base = x * 1
    row, column = base[0], base[:, 1]
    row.mul_(column.clone())
    (row.sum() + (column * column).sum()).backward()
    # row = [x00 * x01, x01 * x11], and then column = [row[1], x11]
    assert numbers(column) == [8, 4]
    expected = {(0, 0): 2, (0, 1): 1 + 4 + 2 * 8 * 4, (1, 0): 0, (1, 1): 2 + 2 * 8 * 2 + 2 * 4}
    assert numbers(x.grad) == [float(expected[place]) for place in sorted(expected)]


def test_a_view_of_a_view(torch: Any) -> None:
    x = matrix(torch)
    base = x * 1
    base.t()[1][0:1].exp_()
    (base * 2).sum().backward()
    assert numbers(x.grad)[0] == 2
    assert numbers(x.grad)[1] == pytest.approx(2 * 7.38906)


def test_a_history_begins_through_a_view(torch: Any) -> None:
    w = torch.tensor([3.0, 5.0], requires_grad=True)
    base = matrix(torch, requires_grad=False)
    base[1].mul_(w)
    assert base.requires_grad
    base.sum().backward()
    assert numbers(w.grad) == [3, 4]


def test_the_second_derivative_through_a_changed_view(torch: Any) -> None:
    x = matrix(torch)
    base = x * x
    base[0].mul_(base[1].clone())
    (g,) = torch.autograd.grad(base.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    # sum of a²c² + b²d² + c² + d² over the matrix [[a, b], [c, d]]
    a, b, c, d = 1.0, 2.0, 3.0, 4.0
    assert numbers(g) == [
        2 * a * c * c,
        2 * b * d * d,
        2 * a * a * c + 2 * c,
        2 * b * b * d + 2 * d,
    ]
    assert numbers(second) == [
        2 * c * c + 4 * a * c, 2 * d * d + 4 * b * d,
        4 * a * c + 2 * a * a + 2, 4 * b * d + 2 * b * b + 2,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, 9.0),
        ((0, 1), 9.0),
        ((slice(None), 1), "row"),
        (slice(None), "row"),
        (..., "row"),
        ([1, 0], "row"),
        ("mask", 9.0),
        ((0, [1]), 9.0),
    ],
)
def test_assigned_elements_send_gradients_where_pytorch_does(
    torch: Any, key: Any, value: Any
) -> None:
    def gradients(library: Any) -> list[list[float]]:
        x, row = matrix(library), library.tensor([5.0, 6.0], requires_grad=True)
        base = x * 1
        place = base.detach() > 1.5 if key == "mask" else key
        base[place] = row if value == "row" else value
        (base * base).sum().backward()
        return [numbers(base), numbers(x.grad)] + ([numbers(row.grad)] if value == "row" else [])

    assert gradients(torch) == gradients(importlib.import_module("autograd_core"))


# -- what is refused ---------------------------------------------------------------------------


def test_leaves_and_their_views_are_refused(torch: Any) -> None:
    x = matrix(torch)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1.0


def test_without_gradients_a_leaf_may_change(torch: Any) -> None:
    x = matrix(torch)
    with torch.no_grad():
        x.add_(1)
        x[0] = 0.0
    assert numbers(x) == [0, 0, 4, 5]
    assert x.is_leaf
    assert x.requires_grad


def test_one_of_several_views_is_refused(torch: Any) -> None:
    first, _ = (matrix(torch) * 1).unbind(0)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        first.mul_(2)


def test_a_view_made_without_gradients_is_refused(torch: Any) -> None:
    base = matrix(torch) * 1
    with torch.no_grad():
        row = base[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        row.mul_(2)


def test_a_result_of_a_wider_dtype_is_refused(torch: Any) -> None:
    x = torch.ones(3, dtype=torch.int64)
    said = "result type Float can't be cast to the desired output type Long"
    with pytest.raises(RuntimeError, match=said):
        x.add_(1.5)
    with pytest.raises(RuntimeError, match=said):
        x.mul_(torch.ones(3))
    assert x.tolist() == [1, 1, 1]
    assert torch.ones(3).add_(x).tolist() == [2, 2, 2]


def test_a_result_of_another_shape_is_refused(torch: Any) -> None:
    with pytest.raises(
        RuntimeError,
        match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]",
    ):
        torch.ones(3).add_(torch.ones(2, 3))


# -- memory -----------------------------------------------------------------------------------


def test_views_do_not_keep_each_other_alive() -> None:
    torch = importlib.import_module("autograd_core")
    gc.disable()
    try:
        base = matrix(torch) * 1
        for _ in range(100):
            row = base[0]
        assert len(base._views) < 40
        row.mul_(2)
        watched = [weakref.ref(row), weakref.ref(base), weakref.ref(notes_of(base.grad_fn))]
        del row, base
        assert [each() for each in watched] == [None, None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("form", ["slice", "select", "view", "t", "chain"])
def test_a_view_after_a_change_comes_from_its_base_in_one_step(torch: Any, form: str) -> None:
    made = {
        "slice": lambda t: t[1:2],
        "select": lambda t: t[1],
        "view": lambda t: t.view(4),
        "t": lambda t: t.t(),
        "chain": lambda t: t.t()[0][1:],
    }[form]
    x = matrix(torch)
    base = x * 1
    view = made(base)
    view.mul_(2)
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn.next_functions[0][0] is base.grad_fn
    (view * 3).sum().backward()
    expected = torch.zeros(2, 2)
    made(expected).fill_(6)
    assert numbers(x.grad) == numbers(expected)


def test_the_elements_that_iteration_gives_are_views(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    for number, element in enumerate(x):
        assert element._base is x
        element.mul_(10 ** (number + 1))
        assert element._version == x._version == number + 1
    assert numbers(x) == [10, 200, 3000]
    assert [tuple(element.shape) for element in x] == [()] * 3


@pytest.mark.parametrize("change", ["zero_", "neg_", "copy_", "add_", "fill_"])
def test_every_in_place_form_reaches_the_base_of_an_element(torch: Any, change: str) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    element = x[1].unbind(0)[0]
    operands = () if change in ("zero_", "neg_") else (torch.tensor(5.0),)
    getattr(element, change)(*operands)
    changed = {"zero_": 0, "neg_": -3, "copy_": 5, "add_": 8, "fill_": 5}[change]
    assert numbers(x) == [1, 2, changed, 4]
    assert x._version == 1


def test_the_elements_of_a_tensor_in_a_graph_may_not_be_changed_one_by_one(torch: Any) -> None:
    y = torch.tensor([1.0, 2.0], requires_grad=True) * 1
    with pytest.raises(RuntimeError, match=r"Output 1 of Unbind.* is a view and is being modified"):
        y.unbind(0)[1].mul_(2)
    with torch.no_grad():
        for element in y:
            element.mul_(2)
    assert numbers(y) == [2, 4]


def test_a_part_of_an_expanded_tensor_can_be_changed(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    part = (x * 1).expand(3, 2)[0]
    part.mul_(2)
    part.sum().backward()
    assert numbers(x.grad) == [2, 2]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        (x * 1).expand(3, 2).mul_(2)


def test_a_gradient_may_be_a_part_of_an_expanded_tensor_but_no_such_tensor(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.ones(2).expand(3, 2)[0]
    (x * x).sum().backward()
    assert numbers(x.grad) == [3, 5]
    x.grad = torch.tensor(1.0).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        (x * x).sum().backward()
    assert numbers(x.grad) == [1, 1]


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("relu", "ReluBackward0"),
        ("elu", "EluBackward1"),
        ("selu", "EluBackward1"),
        ("celu", "CeluBackward1"),
        ("leaky_relu", "LeakyReluBackward1"),
        ("hardtanh", "HardtanhBackward0"),
        ("silu", "SiluBackward0"),
    ],
)
def test_nodes_of_activations_in_place_have_names_of_their_own(
    torch: Any, name: str, node: str
) -> None:
    x = torch.ones(2, requires_grad=True)
    y = getattr(torch.nn.functional, name)(x * -2, inplace=True)
    assert y.grad_fn.name() == node
    (g,) = torch.autograd.grad(y.sum(), x)
    (other,) = torch.autograd.grad(getattr(torch.nn.functional, name)(x * -2).sum(), x)
    assert torch.allclose(g, other)


def test_what_fills_a_tensor_gets_the_sum_of_its_gradient(torch: Any) -> None:
    value = torch.tensor(2.0, requires_grad=True)
    filled = torch.zeros(3).fill_(value)
    number = (torch.ones(3, requires_grad=True) * 1).fill_(2)
    assert [x.grad_fn.name() for x in (filled, number)] == ["FillBackward3", "FillBackward2"]
    (filled * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert value.grad.item() == 7
