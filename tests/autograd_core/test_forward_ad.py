"""Forward mode: facts that hold in both libraries, and laws for every entry of the op table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograd_core.autograd import forward_ad, grad
from autograd_core.autograd.forward_mode import Application
from autograd_core.op import Op
from autograd_core.tensor import Tensor
from tests.autograd_core.op_samples import Sample, for_every_sample, is_differentiable


def array(t: Any) -> Any:
    return None if t is None else t.detach().tolist()


# --- levels, duals and what they are made of ---------------------------------------------------


def test_a_dual_carries_its_tangent_through_ops(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        primal, tangent = fw.unpack_dual((x * x + 3).sum())
        assert (array(primal), array(tangent)) == (11, 4)
        assert fw.unpack_dual(x > 1).tangent is None
        assert fw.unpack_dual(x.detach()).tangent is None
        assert array(fw.unpack_dual(torch.max(x, 0)[0]).tangent) == 0.5
        with torch.no_grad():
            assert array(fw.unpack_dual(x * 2).tangent) == [2, 1]


def test_tangents_end_with_their_level(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0]), torch.tensor([1.0]))
        y = x * 2
    assert fw.unpack_dual(y).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(x).tangent is None
        assert fw.unpack_dual(y * 2).tangent is None
    assert array(y * 2) == [4]


def test_duals_print_their_tangent(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        assert repr(x) == "tensor([1., 2.], tangent=tensor([1.0000, 0.5000]))"
        assert repr(x.sum()) == "tensor(3., tangent=1.5)"
    assert repr(x) == "tensor([1., 2.])"


def test_unpacking_gives_what_was_packed(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    tangent = torch.tensor([1.0])
    assert fw.unpack_dual(tangent) == (tangent, None)
    with fw.dual_level() as level:
        assert level == 0
        x = fw.make_dual(torch.tensor([3.0]), tangent)
        assert fw.unpack_dual(x).tangent is tangent
        assert repr(fw.unpack_dual(x)) == (
            "UnpackedDualTensor(primal=tensor([3.]), tangent=tensor([1.]))"
        )


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda t: (t.tensor([1]), t.ones(1)), ValueError, "Expected primal to be floating point"),
        (lambda t: (t.ones(1), t.tensor([1])), ValueError, "Expected tangent to be floating point"),
        (lambda t: (t.ones(2), t.ones(3)), RuntimeError, r"Tensor is of size \[2\] while .* \[3\]"),
    ],
)
def test_what_cannot_be_dual_is_refused(torch: Any, make: Any, kind: Any, said: str) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level(), pytest.raises(kind, match=said):
        fw.make_dual(*make(torch))


def test_levels_neither_lack_nor_nest(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.ones(1)
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fw.enter_dual_level()
        dual = fw.make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient"):
            fw.make_dual(dual, x)
    with pytest.raises(RuntimeError):
        fw.exit_dual_level()


# --- with reverse mode -------------------------------------------------------------------------


def scalar(torch: Any, x: Any) -> Any:
    """Saved inputs and results, linear and other ops."""
    return (x.exp() * x * x).sum() + (torch.tanh(x)[0] * (x @ x)).sigmoid()


def test_reverse_over_forward_and_forward_over_reverse_are_the_hessian(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([1.0, 0.5, -2.0], dtype=torch.float64)
    (g,) = torch.autograd.grad(scalar(torch, x), x, create_graph=True)
    (expected,) = torch.autograd.grad(g, x, v)
    with fw.dual_level():
        y = scalar(torch, fw.make_dual(x, v))
        (reverse_over_forward,) = torch.autograd.grad(fw.unpack_dual(y).tangent, x)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        (g,) = torch.autograd.grad(scalar(torch, dual), dual, create_graph=True)
        forward_over_reverse = fw.unpack_dual(g).tangent
    for found in (reverse_over_forward, forward_over_reverse):
        np.testing.assert_allclose(array(found), array(expected), rtol=1e-12)


def test_gradients_have_tangents_without_a_graph_of_their_own(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, torch.tensor([1.0, 0.5]))
        y = (dual * dual * dual).sum()
        (g,) = torch.autograd.grad(y, dual)
        assert (array(g), array(fw.unpack_dual(g).tangent)) == ([3, 12], [6, 6])
        assert not g.requires_grad
        with pytest.raises(RuntimeError, match="second time"):
            torch.autograd.grad(y, dual)


def test_a_tangent_may_need_a_gradient(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([3.0, 4.0]), t)
        y = fw.unpack_dual(torch.log_softmax(x, 0)[0] + (x * x).sum()).tangent
    (g,) = torch.autograd.grad(y, t)
    p = np.exp([3, 4]) / np.exp([3, 4]).sum()
    np.testing.assert_allclose(array(g), [1 - p[0] + 6, -p[1] + 8], rtol=1e-6)


def test_the_graph_of_a_dual_is_that_of_its_primal(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        y = (fw.make_dual(x, torch.ones(2)) * 3).sum()
        assert y.grad_fn.name() == "SumBackward0"
        y.backward()
    assert array(x.grad) == [3, 3]


# --- in place ----------------------------------------------------------------------------------


def test_in_place_ops_change_primal_and_tangent(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        x.mul_(x * 1)  # `x.mul_(x)` has a wrong tangent in torch 2.13
        assert array(fw.unpack_dual(x).tangent) == [2, 2]
        x[0] = 7.0
        assert array(fw.unpack_dual(x).tangent) == [0, 2]
        x.zero_()
        assert array(fw.unpack_dual(x).tangent) == [0, 0]


def test_a_plain_tensor_that_takes_a_dual_becomes_one(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        total = torch.zeros(2)
        total += x
        assert array(fw.unpack_dual(total).tangent) == [1, 0.5]
        part = torch.zeros(2, 2)
        row = part[0]
        part[1] = x
        assert array(fw.unpack_dual(part).tangent) == [[0, 0], [1, 0.5]]
        row.copy_(x)
        assert array(fw.unpack_dual(part * 2).tangent) == [[2, 1], [2, 1]]


# --- custom functions --------------------------------------------------------------------------


def scale(torch: Any, jvp: Any) -> Any:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float, other: Any) -> Any:
            ctx.factor = factor
            ctx.save_for_forward(x)
            return x * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor, None, None

    if jvp is not None:
        Scale.jvp = staticmethod(jvp)
    return Scale


def applied(torch: Any, jvp: Any) -> Any:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        return fw.unpack_dual(scale(torch, jvp).apply(x, 3.0, torch.ones(2)))


def test_a_function_says_its_tangent_by_jvp(torch: Any) -> None:
    seen = []

    def jvp(ctx: Any, tangent: Any, factor: Any, other: Any) -> Any:
        seen.append((array(ctx.saved_tensors[0]), factor, array(other)))
        return tangent * ctx.factor

    assert array(applied(torch, jvp).tangent) == [3, 1.5]
    assert seen == [([1, 2], None, [0, 0])]


def test_a_jvp_sees_only_what_was_saved_for_it(torch: Any) -> None:
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            seen.append(ctx.saved_tensors)
            return tangent * 2

    fw = torch.autograd.forward_ad
    with fw.dual_level():
        Double.apply(fw.make_dual(torch.ones(2), torch.ones(2)))
    assert seen == [()]


@pytest.mark.parametrize(
    ("jvp", "kind", "said"),
    [
        (None, NotImplementedError, "You must implement the jvp function"),
        (lambda ctx, t, *_: (t, t), RuntimeError, r"\(expected 1 but got 2\)"),
        (lambda ctx, t, *_: 2.0, (RuntimeError, TypeError), r"expected Variable or None \(got flo"),
        (lambda ctx, t, *_: t.sum(), RuntimeError, r"size \[2\] while .* of size \[\]"),
    ],
)
def test_a_wrong_jvp_is_named(torch: Any, jvp: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        applied(torch, jvp)


def test_a_function_of_plain_tensors_needs_no_jvp(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        y = scale(torch, None).apply(torch.ones(2), 3.0, torch.ones(2))
        assert fw.unpack_dual(y).tangent is None


# --- laws for every entry ----------------------------------------------------------------------


class Point:
    """An op on one sample, with a direction for each of its differentiable inputs."""

    def __init__(self, entry: Op, sample: Sample) -> None:
        self.entry, self.sample = entry, sample
        rng = np.random.default_rng(len(entry.name))
        self.values = [sample.fitted(self._array(value, rng)) for value in sample.values]
        names = (entry.variadic,) * len(self.values) if entry.variadic else entry.values
        self.places = [
            place
            for place, (name, value) in enumerate(zip(names, self.values, strict=False))
            if name in entry.edges and value is not None
        ]
        self.directions = self.moves(rng)

    @staticmethod
    def _array(value: Any, rng: np.random.Generator) -> Any:
        if isinstance(value, tuple):
            return rng.standard_normal(value)
        return None if value is None else np.array(value)

    def moves(self, rng: np.random.Generator) -> dict[int, Any]:
        """A random direction for each differentiable input, in which it stays what it is."""
        found = {i: rng.standard_normal(self.values[i].shape) for i in self.places}
        if self.sample.normalized:
            return {
                i: v - np.sum(np.exp(self.values[i]) * v, axis=-1, keepdims=True)
                for i, v in found.items()
            }
        return {i: self.sample.fitted(v) for i, v in found.items()}

    def run(self, inputs: list[Any]) -> list[Any]:
        """The differentiable outputs that callers see."""
        entry = self.entry
        arguments = (inputs,) if entry.variadic else inputs
        result = entry.call(*arguments, **self.sample.attributes)
        listed = result if isinstance(result, tuple) else (result,)
        if entry.view == "each" or len(entry.outputs) == 1:
            return list(listed)
        named = zip(entry.visible_outputs, listed, strict=True)
        return [t for name, t in named if name not in entry.nondiff]

    def at(self, step: float) -> list[Any]:
        """The outputs after a step along the directions."""
        moved = [
            None
            if value is None
            else Tensor.from_array(value + step * self.directions[i] if i in self.places else value)
            for i, value in enumerate(self.values)
        ]
        return [t.array for t in self.run(moved)]

    def duals(self, leaves: bool = False) -> tuple[list[Any], list[Any]]:
        """The inputs as duals; and their primals."""
        primals = [None if v is None else Tensor.from_array(np.array(v)) for v in self.values]
        inputs = list(primals)
        for i in self.places:
            primals[i].requires_grad = leaves
            direction = Tensor.from_array(self.directions[i].copy())
            inputs[i] = forward_ad.make_dual(primals[i], direction)
        return inputs, primals

    def tangents(self) -> list[Any]:
        with forward_ad.dual_level():
            inputs, _ = self.duals()
            return [forward_ad.unpack_dual(t).tangent for t in self.run(inputs)]


def values_of(tangents: list[Any], like: list[Any]) -> list[Any]:
    return [np.zeros_like(a) if t is None else t.array for t, a in zip(tangents, like, strict=True)]


@for_every_sample(is_differentiable)
def test_a_tangent_is_the_derivative_along_its_direction(entry: Op, sample: Sample) -> None:
    """As finite differences find it, as reverse mode does, and as transposing the rule does."""
    point = Point(entry, sample)
    above, below = point.at(1e-6), point.at(-1e-6)
    found = point.tangents()
    tangents = values_of(found, above)
    for tangent, up, down in zip(tangents, above, below, strict=True):
        assert tangent.shape == up.shape
        assert tangent.dtype == up.dtype
        np.testing.assert_allclose(tangent, (up - down) / 2e-6, rtol=1e-6, atol=1e-7)
    assert all(t is None or t.edge is None for t in found)
    check_with_reverse(point, tangents)
    if not entry.variadic:  # the rule of a list is that of a linear op
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Application, "tangents", Application.transposed)
            forced = values_of(point.tangents(), above)
        for mine, other in zip(tangents, forced, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-12)


def check_with_reverse(point: Point, tangents: list[Any]) -> None:
    """<w, J v> = <J' w, v>, for every w and v."""
    rng = np.random.default_rng(3)
    inputs = [None if v is None else Tensor.from_array(np.array(v)) for v in point.values]
    for i in point.places:
        inputs[i].requires_grad_()
    outputs = point.run(inputs)
    weights = [rng.standard_normal(t.array.shape) for t in outputs]
    seeds = [Tensor.from_array(w) for w in weights]
    gradients = grad(outputs, [inputs[i] for i in point.places], seeds)
    reverse = sum(
        float((g.array * point.directions[i]).sum())
        for i, g in zip(point.places, gradients, strict=True)
    )
    forward = sum(float((w * t).sum()) for w, t in zip(weights, tangents, strict=True))
    assert forward == pytest.approx(reverse, rel=1e-11, abs=1e-11)


@for_every_sample(is_differentiable)
def test_tangents_can_be_differentiated_by_the_point(entry: Op, sample: Sample) -> None:
    """Reverse over forward, against finite differences of the tangents."""
    point = Point(entry, sample)
    rng = np.random.default_rng(5)
    moves = point.moves(rng)
    with forward_ad.dual_level():
        inputs, primals = point.duals(leaves=True)
        outputs = point.run(inputs)
        tangents = [forward_ad.unpack_dual(t).tangent for t in outputs]
        reached = [(k, t) for k, t in enumerate(tangents) if t is not None and t.edge is not None]
        weights = {k: rng.standard_normal(t.array.shape) for k, t in reached}
        found = 0.0
        if reached:
            seeds = [Tensor.from_array(weights[k]) for k, _ in reached]
            leaves = [primals[i] for i in point.places]
            gradients = grad([t for _, t in reached], leaves, seeds, allow_unused=True)
            found = sum(
                float((g.array * moves[i]).sum())
                for i, g in zip(point.places, gradients, strict=True)
                if g is not None
            )

    def weighted(step: float) -> float:
        moved = Point(entry, sample)
        moved.directions = point.directions
        for i in moved.places:
            moved.values[i] = moved.values[i] + step * moves[i]
        tangents = moved.tangents()
        return sum(float((w * tangents[k].array).sum()) for k, w in weights.items())

    expected = (weighted(1e-6) - weighted(-1e-6)) / 2e-6
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_tangent_that_does_not_fit_prints_on_a_line_of_its_own(torch: Any) -> None:
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        short = forward_ad.make_dual(torch.tensor([1.5]), torch.tensor([0.25]))
        assert repr(short) == "tensor([1.5000], tangent=tensor([0.2500]))"
        wide = torch.tensor([0.1257, -0.1321, 0.6404])
        dual = forward_ad.make_dual(wide, wide)
        values = "tensor([ 0.1257, -0.1321,  0.6404]"
        assert repr(dual) == f"{values},\n       tangent={values}))"
