"""Views and their memory: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

# -- second derivatives through bases that were changed through a view ----------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda t: t.ones(2, 2).t(),
    "rows of a transposed one": lambda t: t.ones(2, 4).t()[1:3],
    "part of a transposed one": lambda t: t.ones(2, 2, 2).transpose(0, 2)[1],
    "of an array out of order": lambda t: t.from_numpy(t.ones(2, 4).numpy().T[1:3]).t().t(),
    "of every second column": lambda t: t.from_numpy(t.ones(2, 4).numpy()[:, ::2])[:, :],
    "strides of one's own": lambda t: t.ones(6).as_strided((2, 2), (1, 3), 1),
    "the same of a transposed one": lambda t: (t.ones(2, 3) * 1).t().as_strided((2, 2), (1, 3), 1),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_base_that_was_changed_through_a_view_has_second_derivatives(
    torch: Any, view: str
) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = VIEWS[view](torch)
    v.mul_(x)
    (g,) = torch.autograd.grad((v**3).sum(), x, create_graph=True)
    assert g.tolist() == [[3, 12], [27, 48]]
    (g * g).sum().backward()
    assert x.grad.tolist() == [[36, 288], [972, 2304]]


def test_the_graph_of_a_gradient_lays_it_out_like_a_base_that_is_out_of_order(torch: Any) -> None:
    x = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    base = x.t() * 1  # which lies in memory as x does
    base.t().view(-1)[1:4].mul_(x.reshape(-1)[2:5])
    (g,) = torch.autograd.grad((base**2).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [[2, 36, 120], [272, 170, 12]]
    assert h.tolist() == [[2, 42, 112], [196, 114, 2]]


@pytest.mark.parametrize("graph", [False, True])
def test_a_number_written_over_overlapping_elements_ends_their_gradient(
    torch: Any, graph: bool
) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y.unfold(0, 2, 1).fill_(0.5)
    assert torch.autograd.grad((y**2).sum(), x, create_graph=graph)[0].tolist() == [0, 0, 0]


SAVING_RESULTS = {
    "relu_": [8, 8, 8], "reciprocal_": [1.5, 0.09375, 0.0185185],
    "sqrt_": [0, 0, 0], "square_": [192, 768, 1728],
}  # fmt: skip


@pytest.mark.parametrize("name", SAVING_RESULTS)
def test_an_op_that_saves_its_result_is_differentiated_twice_through_a_view(
    torch: Any, name: str
) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = getattr((x * 2).view(3, 1), name)()
    (g,) = torch.autograd.grad(z.pow(2).sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == pytest.approx(SAVING_RESULTS[name], abs=1e-5)


def test_a_custom_function_that_saves_its_result_is_differentiated_twice_through_a_view(
    torch: Any,
) -> None:
    class Exp(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.exp_()
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = torch.zeros(3, requires_grad=True)
    base = x * 1
    Exp.apply(base[1:])
    (g,) = torch.autograd.grad((base**2).sum(), x, create_graph=True)
    assert g.tolist() == [0, 2, 2]
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [2, 4, 4]


def test_a_critic_with_relu_in_place_has_a_gradient_penalty(torch: Any) -> None:
    critic = torch.nn.Sequential(torch.nn.BatchNorm2d(2), torch.nn.ReLU(inplace=True))
    x = torch.arange(16.0).reshape(1, 2, 2, 4).sin().requires_grad_()
    (g,) = torch.autograd.grad(critic(x).pow(2).sum(), x, create_graph=True)
    (g.norm() - 1).pow(2).backward()
    assert x.grad.abs().sum() > 0


# -- strides of one's own --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(2,), (200_000,)])
@pytest.mark.parametrize("name", ["as_strided", "as_strided_copy", "as_strided_scatter"])
def test_negative_strides_are_refused(torch: Any, name: str, size: tuple[int, ...]) -> None:
    src = [torch.zeros(size)] if name == "as_strided_scatter" else []
    with pytest.raises(RuntimeError, match="Negative strides are not supported at the moment"):
        getattr(torch, name)(torch.zeros(4), *src, size, (-1,))


def test_as_many_strides_as_sizes_are_needed(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="mismatch in length of strides and shape"):
        torch.ones(4).as_strided((2, 2), (1,))


def test_strides_through_memory_that_is_out_of_order_have_a_gradient(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    x.t().as_strided((2,), (1,)).sum().backward()
    assert x.grad.tolist() == [[1, 1, 0], [0, 0, 0]]


STRIDED: list[tuple[Callable[[Any], Any], list[float], list[float]]] = [
    (lambda x: x[2:].as_strided((2,), (1,), 1), [0, 0, 27, 0, 0, 0], [0, 0, 972, 0, 0, 0]),
    (lambda x: x[2:].as_strided((3,), (1,), 1), [0, 0, 27, 48, 0, 0], [0, 0, 972, 2304, 0, 0]),
    (lambda x: x[:2].as_strided((3,), (2,)), [3, 0, 0, 0, 0, 0], [36, 0, 0, 0, 0, 0]),
    (lambda x: x[2:].as_strided((2, 2), (1, 1), 3), [0, 0, 0, 48, 150, 108],
     [0, 0, 0, 2304, 18000, 7776]),
    (lambda x: x[::2].as_strided((2, 2), (1, 2)), [3, 0, 27, 0, 0, 0], [36, 0, 972, 0, 0, 0]),
    (lambda x: x[:1].expand(3).as_strided((2,), (0,)), [6, 0, 0, 0, 0, 0], [144, 0, 0, 0, 0, 0]),
    (lambda x: x.view(2, 3).t().as_strided((4,), (1,), 1), [0, 12, 27, 48, 75, 0],
     [0, 288, 972, 2304, 4500, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("view", "first", "second"), STRIDED)
def test_strides_over_a_view_have_both_derivatives(
    torch: Any, view: Callable[[Any], Any], first: list[float], second: list[float]
) -> None:
    """Elements that the strides reach outside of what is viewed get none."""
    x = torch.arange(1.0, 7.0).requires_grad_()
    (g,) = torch.autograd.grad((view(x * 1) ** 3).sum(), x, create_graph=True)
    assert g.tolist() == first
    assert torch.autograd.grad((g**2).sum(), x)[0].tolist() == second


# -- writes that meet themselves -------------------------------------------------------------------

SHARED = "refer to a single memory location|refers to a single memory location"


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y[1:].copy_(y[:-1]),
        lambda y: y[0:2].add_(y[1:3]),
        lambda y: y[1:].mul_(y.detach()[:-1]),
        lambda y: y[1:].view(1, 3).mul_(y[1:]),
        lambda y: y.__setitem__(slice(1, None), y[:-1]),
        lambda y: y.__setitem__([0, 1, 2, 3], y),
        lambda y: y[:2].index_add_(0, (y[:2] > 9).long(), y[:2]),
    ],
)
def test_a_write_from_what_it_changes_meanwhile_is_refused(
    torch: Any, write: Callable[[Any], Any]
) -> None:
    with pytest.raises(RuntimeError, match=SHARED):
        write(torch.arange(4.0))
    with torch.no_grad(), pytest.raises(RuntimeError, match=SHARED):
        write(torch.arange(4.0))


def test_a_write_from_the_very_elements_or_from_others_is_not(torch: Any) -> None:
    y = torch.arange(4.0)
    y[:2].add_(y[2:])
    y[1:].mul_(y.detach()[1:])
    y[::2].sub_(y[1::2])
    y.masked_fill_(y > 9, 7.0)
    y[1:].fill_(y[0])
    assert y.tolist() == [-14, -14, -14, -14]


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x, t: x.fill_(2), 2),
        (lambda x, t: x.zero_(), 0),
        (lambda x, t: x.masked_fill_(t.tensor([True, False, False]), 2), 2),
        (lambda x, t: x.index_fill_(0, t.tensor([0]), 2), 2),
        (lambda x, t: x.__setitem__([1], 2), 2),
        (lambda x, t: x.__setitem__(0, 2), 2),
        (lambda x, t: x.fill_(t.tensor(2.0)), None),
        (lambda x, t: x.add_(1), None),
        (lambda x, t: x.__setitem__(..., 2), None),
        (lambda x, t: (x.fill_(2), x[:2].add_(1)), None),
    ],
)
def test_an_expanded_tensor_can_be_filled_and_nothing_else(
    torch: Any, write: Callable[[Any, Any], Any], expected: float | None
) -> None:
    x = torch.ones(1).expand(3)
    if expected is None:
        with pytest.raises(RuntimeError, match=SHARED):
            write(x, torch)
    else:
        write(x, torch)
        assert x.tolist() == [expected] * 3


def test_what_was_filled_in_an_expanded_tensor_has_no_gradient(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x * 3
    y.expand(3).fill_(2.0)
    for graph in (True, False):
        with pytest.raises(RuntimeError, match=SHARED):
            torch.autograd.grad(y.sum(), x, create_graph=graph, retain_graph=True)


def test_a_custom_function_may_not_change_a_view_of_a_leaf(torch: Any) -> None:
    class Tanh(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.tanh_()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is"):
        Tanh.apply(leaf[:2])
