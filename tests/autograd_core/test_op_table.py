"""Every entry of the op table, held to finite differences, to itself and to its declaration."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.autograd import grad
from autograd_core.autograd.saved import NOT_SAVED
from autograd_core.op import OPS, Op, op, pointwise
from autograd_core.op.public import PUBLIC
from autograd_core.tensor import Tensor
from tests.autograd_core.op_samples import Sample, for_every_sample, is_differentiable, samples_of
from tests.extras import missing_extras

Gradients = tuple[np.ndarray, ...]

STEP = 1e-6
CHANGES_DTYPE = ("cast",)  # as its attributes say
# Other entries stand behind a function that brings their inputs to one dtype.
CALLED_BY_USERS = {getattr(each.function, "op", None) for each in PUBLIC}
# Of these PyTorch knows no derivative of second order, or none.
ONCE, NEVER = ("ctc_loss",), ("differentiable_once",)


# --- the check itself --------------------------------------------------------------------------


class Call:
    """An op on one sample, as a function of its differentiable inputs."""

    def __init__(self, entry: Op, sample: Sample, kind: type = np.float64) -> None:
        rng = np.random.default_rng(len(entry.name))
        self.entry, self.attributes, self.sample = entry, sample.attributes, sample
        left_out = (None,) * (len(entry.values) - len(sample.values))
        self.arrays = [self._array(value, kind, rng) for value in (*sample.values, *left_out)]
        names = entry.values if not entry.variadic else (entry.variadic,) * len(self.arrays)
        self.places = [
            i
            for i, (name, array) in enumerate(zip(names, self.arrays, strict=False))
            if name in entry.edges and array is not None
        ]
        self.points = [self.arrays[i] for i in self.places]
        outputs = self.outputs(self.tensors(self.points, False))
        self.weights = [rng.standard_normal(t.array.shape).astype(kind) for t in outputs]

    @staticmethod
    def _array(value: Any, kind: type, rng: np.random.Generator) -> Any:
        if value is None:
            return None
        if isinstance(value, tuple):
            return np.array(rng.standard_normal(value), kind)
        array = np.array(value)
        return array.astype(kind) if array.dtype.kind == "f" else array

    def tensors(self, points: Sequence[np.ndarray], requires_grad: bool = True) -> list[Any]:
        """All inputs; those at ``places`` as leaves with the values ``points``."""
        made = [None if a is None else Tensor.from_array(a) for a in self.arrays]
        for place, point in zip(self.places, points, strict=True):
            made[place] = Tensor.from_array(self.sample.fitted(point).copy(), requires_grad)
        return made

    def halves(self, gradient: np.ndarray) -> np.ndarray:
        """The same, or, where both halves of a matrix vary together, the mean of them."""
        return self.sample.fitted(gradient) if self.sample.symmetric else gradient

    def outputs(self, inputs: list[Any]) -> list[Tensor]:
        """The outputs that a gradient can come from."""
        arguments = (inputs,) if self.entry.variadic else inputs
        result = self.entry.call(*arguments, **self.attributes)
        results = result if isinstance(result, tuple) else (result,)
        if self.entry.view == "each" or len(self.entry.outputs) == 1:
            return list(results)
        named = zip(self.entry.visible_outputs, results, strict=True)
        return [t for name, t in named if name not in self.entry.nondiff]

    def value(self, points: Sequence[np.ndarray]) -> float:
        """The weighted sum of all outputs' elements: what is differentiated."""
        outputs = self.outputs(self.tensors(points, False))
        return sum(float((w * t.array).sum()) for w, t in zip(self.weights, outputs, strict=True))

    def gradients(
        self, points: Sequence[np.ndarray], create_graph: bool = False
    ) -> tuple[list[Tensor], list[Tensor], tuple[Any, ...]]:
        """Leaves, seeds, and the gradients of ``value`` by the leaves."""
        inputs = self.tensors(points)
        leaves = [inputs[place] for place in self.places]
        seeds = [Tensor.from_array(w.copy(), create_graph) for w in self.weights]
        found = grad(self.outputs(inputs), leaves, seeds, create_graph=create_graph)
        return leaves, seeds, found


def derivative(function: Callable[[], float], variable: np.ndarray, direction: np.ndarray) -> float:
    """The derivative of ``function``, which reads ``variable``, along a direction."""
    before, values = variable.copy(), []
    for step in (STEP, -STEP):
        variable[...] = before + step * direction
        values.append(function())
    variable[...] = before
    return (values[0] - values[1]) / (2 * STEP)


def random_direction(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A direction in which no element stands still, so that none is overlooked."""
    return rng.uniform(0.5, 1.5, shape) * rng.choice((-1, 1), shape)


def check_first(call: Call) -> None:
    points = [point.copy() for point in call.points]
    _, _, found = call.gradients(points)
    for mine, point in zip(found, points, strict=True):
        assert mine.array.shape == point.shape
        units = np.eye(point.size).reshape(-1, *point.shape)
        expected = [derivative(lambda: call.value(points), point, unit) for unit in units]
        got = call.halves(mine.array).ravel()
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def check_second(call: Call) -> None:
    """The derivative of the gradients, by each input and by each gradient that came in.

    Not element by element: along one direction, in which all of them change.
    """
    points = [point.copy() for point in call.points]
    rng = np.random.default_rng(7)
    probes = [random_direction(rng, point.shape) for point in points]

    def probed() -> float:
        _, _, gradients = call.gradients(points)
        return sum(float((p * g.array).sum()) for p, g in zip(probes, gradients, strict=True))

    leaves, seeds, first = call.gradients(points, create_graph=True)
    reached = [(g, Tensor.from_array(p)) for g, p in zip(first, probes, strict=True) if g.edge]
    if not reached:  # a rule is linear in g, so a gradient that does not depend on it is zero
        assert not any(g.array.any() for g in first)
        return
    found = grad(
        [g for g, _ in reached],
        [*leaves, *seeds],
        [p for _, p in reached],
        allow_unused=True,
    )
    for number, (mine, variable) in enumerate(zip(found, [*points, *call.weights], strict=True)):
        got = np.zeros_like(variable) if mine is None else mine.array
        if number < len(points):
            got = call.halves(got)
        direction = random_direction(rng, variable.shape)
        expected = derivative(probed, variable, direction)
        parts = got * direction
        tolerance = 1e-6 + 1e-5 * np.abs(parts).sum()
        np.testing.assert_allclose(parts.sum(), expected, rtol=0, atol=tolerance)


@for_every_sample(is_differentiable)
def test_first_derivative_is_that_of_finite_differences(entry: Op, sample: Sample) -> None:
    check_first(Call(entry, sample))


@for_every_sample(lambda entry: is_differentiable(entry) and entry.name not in ONCE)
def test_second_derivative_is_that_of_finite_differences(entry: Op, sample: Sample) -> None:
    check_second(Call(entry, sample))


@for_every_sample(is_differentiable)
def test_rules_give_the_same_on_tensors_as_on_arrays(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    _, _, fast = call.gradients(call.points)
    _, _, graph = call.gradients(call.points, create_graph=True)
    for mine, other in zip(fast, graph, strict=True):
        np.testing.assert_allclose(mine.array, other.array, rtol=1e-12, atol=1e-14)


@for_every_sample(lambda entry: is_differentiable(entry) and entry.name not in CHANGES_DTYPE)
def test_float32_stays_float32_in_both_directions(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample, np.float32)
    outputs = call.outputs(call.tensors(call.points))
    assert {t.dtype for t in outputs} == {torch.float32}
    assert {t.array.dtype for t in outputs} == {np.dtype(np.float32)}
    for create_graph in (False, True):
        _, _, found = call.gradients(call.points, create_graph)
        assert {g.array.dtype for g in found} == {np.dtype(np.float32)}
        assert {g.dtype for g in found} == {torch.float32}


@for_every_sample(lambda entry: entry.pointwise and entry in CALLED_BY_USERS)
def test_the_dtype_of_a_result_of_integers_is_that_of_its_array(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    inputs = [
        t.to(torch.int64) if isinstance(t, Tensor) and t.dtype.is_floating_point else t
        for t in call.tensors(call.points, requires_grad=False)
    ]
    with (
        np.errstate(all="ignore"),
        suppress(RuntimeError),
    ):  # in PyTorch's words, where an op does not take them
        for result in call.outputs(inputs):
            assert result.array.dtype == result.dtype.dtype, "result_dtype says what integers give"


@for_every_sample(is_differentiable)
def test_each_input_alone_gets_the_gradient_it_gets_among_others(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    _, _, together = call.gradients(call.points)
    for number, place in enumerate(call.places):
        inputs = call.tensors(call.points, requires_grad=False)
        leaf = inputs[place] = Tensor.from_array(
            call.sample.fitted(call.points[number]).copy(), True
        )
        seeds = [Tensor.from_array(w) for w in call.weights]
        (alone,) = grad(call.outputs(inputs), leaf, seeds)
        np.testing.assert_array_equal(alone.array, together[number].array)


@for_every_sample(lambda entry: is_differentiable(entry) and entry.name not in CHANGES_DTYPE)
def test_a_gradient_has_the_dtype_of_its_input_whatever_that_meets(
    entry: Op, sample: Sample
) -> None:
    arrays = Call(entry, sample).arrays
    floats = [i for i, a in enumerate(arrays) if a is not None and a.dtype.kind == "f"]
    every = (np.float32, np.float64, np.float16)
    for kinds in itertools.product(every, repeat=min(len(floats), 3)):
        if len(kinds) == 3 and sum(map(every.index, kinds)) % 3:
            continue  # of two inputs all pairs meet in the others
        call = Call(entry, sample)
        for place, kind in zip(floats, [*kinds, *kinds[:1] * len(floats)], strict=False):
            call.arrays[place] = call.arrays[place].astype(kind)
        call.points = [call.arrays[place] for place in call.places]
        for create_graph in (False, True):
            try:
                check_dtypes(call, create_graph)
            except RuntimeError:  # it refuses them
                assert len(set(kinds)) > 1 or np.float16 in kinds


def check_dtypes(call: Call, create_graph: bool) -> None:
    """Raises RuntimeError if the op is not for these dtypes."""
    inputs = call.tensors(call.points)
    outputs = call.outputs(inputs)
    assert [t.array.dtype for t in outputs] == [t.dtype.dtype for t in outputs]
    seeds = [torch.ones_like(t) for t in outputs]
    with warnings.catch_warnings(action="ignore"):  # of cycles
        torch.autograd.backward(outputs, seeds, create_graph=create_graph)
    for leaf in (inputs[place] for place in call.places):
        if leaf.grad is not None:
            assert leaf.grad.dtype is leaf.dtype
            assert leaf.grad.array.dtype == leaf.array.dtype
            assert leaf.grad.array.shape == leaf.array.shape


# --- what a call leaves behind -----------------------------------------------------------------


@for_every_sample(is_differentiable)
def test_the_node_saves_what_its_rules_name_and_lets_go_of_it(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    outputs = call.outputs(call.tensors(call.points))
    node = outputs[0].grad_fn
    absent = {v for v, a in zip(entry.values, call.arrays, strict=False) if a is None}
    assert node.name() == entry.node_name
    assert len(node.edges) == (len(call.arrays) if entry.variadic else len(entry.edges))
    assert {name for name, _, state in node.saved() if state == "kept"} == set(entry.saved) - absent
    seeds = [Tensor.from_array(w) for w in call.weights]
    torch.autograd.backward(outputs, seeds)
    if entry.saved or entry.held:
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            torch.autograd.backward(outputs, seeds)
    else:
        torch.autograd.backward(outputs, seeds)  # nothing was saved, nothing is missing


def test_a_value_is_saved_only_for_those_who_need_it() -> None:
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0)
    node: Any = (x * y).grad_fn
    assert [(name, value.item(), state) for name, value, state in node.saved()] == [
        ("other", 3.0, "kept")
    ]
    assert node.self is NOT_SAVED


@for_every_sample(lambda entry: entry.view is not False)
def test_views_share_memory_and_version(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    (x,) = call.tensors(call.points, requires_grad=False)
    for each in call.outputs([x]):
        before = each._version
        assert np.may_share_memory(each.array, x.array)
        assert each._base is x
        x.add_(1)
        assert each._version == before + 1
        each.bump()
        assert x._version == each._version


@for_every_sample(lambda entry: entry.view is False)
def test_what_is_no_view_has_memory_of_its_own(entry: Op, sample: Sample) -> None:
    call = Call(entry, sample)
    inputs = call.tensors(call.points, requires_grad=False)
    for each in call.outputs(inputs):
        shares = [x for x in inputs if x is not None and np.may_share_memory(each.array, x.array)]
        assert not shares or entry.name in ("unsafe_view", "squeeze_result", "sum_to")


# --- the declarations --------------------------------------------------------------------------


@pytest.mark.parametrize("entry", OPS.values(), ids=OPS)
def test_entries_say_what_they_are_and_how_to_try_them(entry: Op) -> None:
    assert entry.doc.endswith((".", "```"))
    assert entry.call.__doc__
    assert entry.call.op is entry  # type: ignore[attr-defined]
    # a call that takes SciPy leaves no sample where that is missing
    if entry.edges and entry.name not in NEVER and not missing_extras(["scipy"]):
        assert samples_of(entry), f"{entry.name} needs a call in operator_cases.py"
    if entry.pointwise and len(entry.edges) > 1 and samples_of(entry):
        shapes = [
            [v if isinstance(v, tuple) else np.shape(v) for v in sample.values]
            for sample in samples_of(entry)
        ]
        assert any(len(set(each)) > 1 for each in shapes), "no sample broadcasts"


@pytest.mark.usefixtures("declared")
def test_every_sample_that_fails_is_told() -> None:
    @for_every_sample(lambda entry: entry.name in ("mul", "add"))
    def fails_for_mul(entry: Op, sample: Sample) -> None:
        assert entry.name == "add"

    with pytest.raises(ExceptionGroup, match="fails_for_mul fails") as caught:
        fails_for_mul("elementwise")
    told = [error.__notes__[0].partition(":")[0] for error in caught.value.exceptions]
    assert told == [f"sample mul-{number}" for number in range(len(samples_of(OPS["mul"])))]


def test_the_check_finds_a_wrong_rule() -> None:
    @pointwise(np.multiply, x=lambda g, y: g * y, y=lambda g, y: g * y)
    def wrong_product(x, y):
        """A product whose second rule names the wrong input."""

    call = Call(OPS["wrong_product"], Sample(((3,), (3,))))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_first(call)


@pytest.mark.usefixtures("declared")
def test_the_check_finds_a_rule_that_is_right_only_once() -> None:
    @pointwise(np.square, x=lambda g, x: 2 * g * Tensor.from_array(np.asarray(x)).array
               if isinstance(x, np.ndarray) else 2 * g * x.detach())  # fmt: skip
    def wrong_square(x):
        """A square whose gradient forgets that it depends on x."""

    call = Call(OPS["wrong_square"], Sample(((3,),)))
    check_first(call)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_second(call)


def two(x, y):
    """Two inputs."""


def bounded(x, /, low=0):
    """An input and an attribute."""


def defaulted(x, low=0):
    """An elementwise op whose attribute stands where inputs do."""


def mul(x, y):
    """An op that there is."""


def named_view(view, /):
    """An input named like an option."""


def named_local(x, /, r=0):
    """An attribute named like a variable of the generated code."""


SLIPS = [
    (lambda: pointwise(z=lambda g: g)(two), r"two: a rule for z, but the inputs are x, y"),
    (
        lambda: pointwise(x=lambda g, q: g)(two),
        r"two: the rule for x names q; known are g, needs, result, x, x_shape, y, y_shape",
    ),
    (
        lambda: op(x=lambda g, high: g)(bounded),
        r"bounded: the rule for x names high; known are g, low, needs, result, x, x_shape",
    ),
    (lambda: pointwise()(defaulted), r"defaulted: an input of an elementwise op has no default"),
    (lambda: pointwise(view=True)(two), r"two: view is not an option of such an op"),
    (lambda: op(keeps="x")(bounded), r"bounded: keeps is not an option of such an op"),
    (
        lambda: pointwise(np.multiply)(mul),
        r"mul: there is an op of this name, in autograd_core.ops",
    ),
    (lambda: op()(named_view), r"named_view: an input may not be called view"),
    (lambda: op()(named_local), r"named_local: the generated code has a use of its own for r"),
]


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(("declare", "message"), SLIPS)
def test_slips_are_found_at_import_with_the_names_that_are_right(
    declare: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        declare()
