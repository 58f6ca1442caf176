"""The numeric check: right rules pass, planted mistakes are found and named, and what cannot be
checked is never called wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.autograd import Function
from autograd_core.op import Op, pointwise
from autograd_core.tensor import Tensor
from gradstep.debugger import Session
from gradstep.engines.native.trace import trace
from gradstep.findings import NodeCheck, check, check_current, check_node
from tests.autograd_core.op_samples.sample import Sample
from tests.autograd_core.op_samples.table import for_every_sample, is_differentiable
from tests.autograd_core.programs import Program, leaves_of, programs, run_program

# --- right rules -------------------------------------------------------------------------------


def inputs_of(entry: Op, sample: Sample, kind: type) -> list[Any]:
    """The tensors of a sample; those with a rule are leaves."""
    rng = np.random.default_rng(len(entry.name))
    values = (*sample.values, *(None,) * (len(entry.values) - len(sample.values)))
    names = (entry.variadic,) * len(values) if entry.variadic else entry.values
    made: list[Any] = []
    for name, value in zip(names, values, strict=True):
        if value is None:
            made.append(None)
            continue
        array = rng.standard_normal(value) if isinstance(value, tuple) else np.array(value)
        array = np.array(array, kind if array.dtype.kind == "f" else None)
        made.append(Tensor.from_array(array, name in entry.edges))
    return made


@for_every_sample(is_differentiable)
def test_the_rule_of_every_entry_passes(entry: Op, sample: Sample) -> None:
    for kind in (np.float64, np.float32):
        inputs = inputs_of(entry, sample, kind)
        with trace(values=True):
            result = entry.call(*((inputs,) if entry.variadic else inputs), **sample.attributes)
        results = result if isinstance(result, tuple) else (result,)
        root = next(t for t in results if t.grad_fn is not None)
        found = check_node([root], 0)
        assert found.verdict == "right", (found.sentence, kind)


@given(programs())
def test_programs_with_views_and_changes_in_place_pass(program: Program) -> None:
    with trace(values=True):
        loss = run_program(program, torch, leaves_of(program, torch))
    for found in check(loss) if loss.requires_grad else ():
        assert found.verdict != "wrong", found.sentence


# --- planted mistakes --------------------------------------------------------------------------


def function(forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """A custom Function that saves its inputs; ``backward`` gets g and them."""

    class Custom(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, *others: Any) -> Any:
            ctx.save_for_backward(x, *others)
            return forward(x, *others)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g, *ctx.saved_tensors)

    return Custom


def checked(custom: Any, *inputs: Any) -> NodeCheck:
    """The check of the node of ``custom`` applied to leaves with these values."""
    leaves = [torch.tensor(np.array(x), requires_grad=True) for x in inputs]
    with trace(values=True):
        loss = (custom.apply(*leaves) * 1.0).sum()
    (found,) = [each for each in check(loss) if each.op == "CustomBackward"]
    return found


X = [[1.0, 2.0, -0.5], [0.7, 3.0, 1.5]]
A, B = [[1.0, 2.0], [0.3, 5.0]], [[2.0, 0.1], [-1.0, 0.5]]

MISTAKES = [
    ("a factor x is missing", lambda x: x**3, lambda g, x: g * 3 * x, (X,)),
    ("a factor x² is missing", lambda x: x**3, lambda g, x: g * 3, (X,)),
    ("there is an extra factor x", lambda x: x**2, lambda g, x: g * 2 * x * x, (X,)),
    ("every element is 0.5 times the correct value", lambda x: x**2, lambda g, x: g * x, (X,)),
    ("the sign is wrong", lambda x: x.cos(), lambda g, x: g * x.sin(), (X,)),
    ("the rule ignores the incoming gradient", lambda x: x.exp(), lambda g, x: x.exp(), (X,)),
    ("the rule is not linear in the incoming", lambda x: x.exp(), lambda g, x: g * g, (X,)),
    ("a transpose is missing", lambda a, b: a @ b, lambda g, a, b: (g @ b, a.t() @ g), (A, B)),
    ("a transpose is missing", lambda a, b: a @ b, lambda g, a, b: (g @ b.t(), a @ g), (A, B)),
    ("a transpose is missing", lambda x: x.t() * 1, lambda g, x: g, (X,)),
    ("in the wrong places", lambda x: x.flip([1]), lambda g, x: g * 1, (X,)),
    ("the rule gives None", lambda x: x * 2, lambda g, x: None, (X,)),
    ("the rule gives zeros", lambda x: x * 2, lambda g, x: g * 0, (X,)),
    ("does not depend on it", lambda x: x * 0, lambda g, x: g * 1, (X,)),
    (
        "second was broadcast: sum the gradient over the broadcast dimensions",
        lambda x, second: x + second, lambda g, x, second: (g, g * 1), (X, [1.0, 2.0, 3.0]),
    ),
    ("expand it to the shape of x", lambda x: x.sum(), lambda g, x: g * 1, (X,)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "forward", "backward", "inputs"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_a_planted_mistake_is_found_and_its_cause_named(
    cause: str, forward: Any, backward: Any, inputs: tuple[Any, ...]
) -> None:
    custom = function(forward, backward)
    custom.forward = staticmethod(_named(forward, custom))
    found = checked(custom, *inputs)
    assert found.verdict == "wrong"
    assert cause in found.sentence


def _named(forward: Any, custom: Any) -> Any:
    """A ``forward`` whose parameters have the names that ``forward`` gives them."""
    one = custom.forward
    if forward.__code__.co_argcount == 1:
        return lambda ctx, x: one(ctx, x)
    if forward.__code__.co_varnames[1] == "second":
        return lambda ctx, x, second: one(ctx, x, second)
    return lambda ctx, a, b: one(ctx, a, b)


class MyCube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x / x


def test_a_wrong_rule_is_reported_with_place_both_numbers_and_lines() -> None:
    x = torch.tensor([[1.0, 0.5, 2.0]], requires_grad=True)
    with trace(values=True):
        loss = MyCube.apply(x).sum()
    total, cube = check(loss)
    assert total.verdict == "right"
    (gradient,) = cube.inputs
    assert (cube.address, cube.op, cube.index) == ("mycube:1", "MyCubeBackward", 1)
    assert (gradient.input, gradient.position) == ("x", (0, 2))
    assert gradient.analytical == pytest.approx(3)
    assert gradient.numerical == pytest.approx(12)
    assert gradient.relative_error == pytest.approx(0.75)
    assert cube.sentence == (
        "MyCubeBackward: gradient for x is wrong at [0, 2]: rule 3.00, finite "
        "differences 12.00 "
        "(ratio 0.25); a factor x² is missing"
    )
    assert cube.source is not None
    assert cube.rule is not None
    assert cube.source.file == cube.rule.file == __file__


def test_one_wrong_element_of_many_is_found() -> None:
    wrong = torch.tensor(np.ones((60, 70)))
    wrong.array[41, 13] = 1.01
    custom = function(
        lambda x: x.tanh(), lambda g, x: g * (1 - x.tanh() ** 2) * torch.tensor(wrong)
    )
    values = np.random.default_rng(3).standard_normal((60, 70))
    found = checked(custom, values)
    assert found.worst is not None
    assert found.worst.position == (41, 13)
    assert found.worst.relative_error == pytest.approx(0.01, rel=0.1)


@given(
    st.floats(-3, 3).filter(lambda factor: abs(factor - 1) > 1e-3),
    st.lists(st.floats(0.01, 5), min_size=1, max_size=5),
)
def test_any_wrong_factor_is_found(factor: float, values: list[float]) -> None:
    found = checked(function(lambda x: x.log(), lambda g, x: factor * g / x), values)
    assert found.verdict == "wrong"


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6))
def test_a_right_rule_passes_at_any_scale(values: list[float]) -> None:
    custom = function(lambda x: x.log() + 3 / x, lambda g, x: g / x - 3 * g / x**2)
    assert checked(custom, values).verdict == "right"


@pytest.mark.usefixtures("declared")
def test_a_wrong_entry_of_the_table_is_found() -> None:
    @pointwise(np.multiply, x=lambda g, y: g * y, y=lambda g, y: g * y)
    def product_by_wrong_rule(x: Any, y: Any) -> None:
        """A product whose second rule names the wrong input."""

    x, y = (torch.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 5.0]))
    with trace(values=True):
        loss = product_by_wrong_rule(x, y).sum()
    found = check_node(loss, "product_by_wrong_rule")
    assert [each.verdict for each in found.inputs] == ["right", "wrong"]


def test_a_backward_that_raises_is_wrong_and_says_why() -> None:
    found = checked(function(lambda x: x * 1, lambda g, x: g.nothing), [1.0])
    assert found.verdict == "wrong"
    assert "its backward raised AttributeError" in found.sentence


def test_a_rule_that_gives_nan_is_wrong() -> None:
    found = checked(function(lambda x: x * 1, lambda g, x: g * np.nan), [1.0])
    assert found.verdict == "wrong"
    assert "rule nan, finite differences 1.00" in found.sentence


# --- what cannot be checked --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute", "values"),
    [
        (lambda x: x.relu(), [0.0, 1.0, -1.0]),
        (lambda x: x.clamp(min=1.0), [1.0, 2.0]),
        (lambda x: x.max(), [2.0, 2.0, 1.0]),
        (lambda x: torch.maximum(x, x.flip([0]) * 1.0), [2.0, 2.0]),
        (lambda x: x.floor(), [1.0, 1.5]),
        (lambda x: torch.where(x > 1, x * 2, x), [1.0, 2.0]),
    ],
    ids=["relu", "clamp", "max", "maximum", "floor", "where"],
)
def test_a_kink_is_never_called_wrong(compute: Any, values: list[float]) -> None:
    x = torch.tensor(values, requires_grad=True)
    with trace(values=True):
        loss = (compute(x) * 1.0).sum()
    assert {each.verdict for each in check(loss)} <= {"right", "not checkable"}


def test_a_kink_is_named_with_its_place_and_what_holds_beside_it() -> None:
    found = checked(function(lambda x: x.relu(), lambda g, x: g * (x > 0)), [1.0, 0.0, -1.0])
    assert found.sentence == (
        "CustomBackward: gradient for x is not checkable here: the function has a kink or a jump "
        "at [1]; near these values the rule is right"
    )


def test_a_wrong_rule_is_found_beside_a_kink() -> None:
    found = checked(function(lambda x: x.relu(), lambda g, x: 2 * g * (x > 0)), [1.0, 0.0])
    assert found.verdict == "wrong"
    assert "checked near the given values" in found.sentence


@pytest.mark.parametrize(
    ("compute", "values", "reason"),
    [
        (lambda x: x * 2, [1.0, np.nan], "self is nan at [1]"),
        (lambda x: x * 2, [np.inf, -np.inf], "self is inf at [0]"),
        (lambda x: x.log(), [0.0, 1.0], "its result is not finite"),
        (lambda x: x.sqrt(), [0.0, 1.0], "not finite next to these inputs; near these values"),
    ],
)
def test_what_is_not_finite_is_not_checkable(
    compute: Any, values: list[float], reason: str
) -> None:
    x = torch.tensor(values, requires_grad=True)
    with trace(values=True):
        loss = compute(x)
    (found,) = check([loss])
    assert found.verdict == "not checkable"
    assert reason in found.sentence


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_infinite_inputs_are_held_fixed(factor: float) -> None:
    def backward(g: Any, y: Any) -> Any:
        return factor * y * (g - (g * y).sum())

    softmax = function(lambda x: x.softmax(-1), lambda g, x: backward(g, x.softmax(-1)))
    found = checked(softmax, [1.0, -np.inf, 2.0])
    assert found.verdict == ("right" if factor == 1 else "wrong")
    assert found.note == "infinite inputs held fixed"


def test_results_that_are_not_finite_are_left_out() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = x + torch.tensor([-np.inf, 0.0])
    (found,) = check([loss])
    assert found.sentence == "AddBackward0: right (self), with results that are not finite left out"


def test_a_derivative_too_small_to_measure_is_not_checkable() -> None:
    found = checked(function(lambda x: x.sigmoid(), lambda g, x: g * 3e-20), [40.0])
    assert found.verdict == "not checkable"
    assert "too small to measure" in found.sentence


def test_a_forward_that_draws_elsewhere_is_not_checkable() -> None:
    rng = np.random.default_rng(0)
    custom = function(lambda x: x * rng.random(), lambda g, x: g)
    assert "a different result each time" in checked(custom, [1.0]).sentence


def test_straight_through_estimates_are_not_called_wrong() -> None:
    found = checked(function(lambda x: x.round(), lambda g, x: g * 1), [0.3, 1.2])
    assert found.verdict == "not checkable"
    assert "straight-through" in found.sentence


def test_inputs_that_were_not_kept_are_asked_for() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    assert "with gradstep.trace(values=True):" in check(x.exp())[0].sentence
    with trace(values=True, budget=1):
        y = x.exp()
    assert "raise it with gradstep.trace(values=True, budget=...)" in check(y)[0].sentence


# --- custom Functions of all kinds -------------------------------------------------------------


def test_random_numbers_of_the_package_are_the_same_in_every_run() -> None:
    class Dropout(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mask = torch.rand_like(x) > 0.5
            return x * ctx.mask

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.mask

    torch.manual_seed(4)
    x = torch.tensor(np.ones(20), requires_grad=True)
    with trace(values=True):
        loss = Dropout.apply(x).sum()
    assert check(loss)[1].verdict == "right"
    drawn_after = torch.rand(3).tolist()
    torch.manual_seed(4)
    torch.rand(20)
    assert torch.rand(3).tolist() == drawn_after


def test_checking_leaves_random_numbers_data_and_output_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def forward(x: Any) -> Any:
        print("forward")
        x.array[0] = 1.0 * x.array[0]
        return x * np.random.rand()  # noqa: NPY002

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = function(forward, lambda g, x: g * 1).apply(x).sum()
    capsys.readouterr()
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    check(loss)
    assert capsys.readouterr().out == ""
    drawn = np.random.rand(), torch.rand(1).item()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    assert drawn == (np.random.rand(), torch.rand(1).item())  # noqa: NPY002
    assert x.tolist() == [1, 2]
    assert x.grad is None


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "right"), (1.1, "wrong")])
def test_a_function_that_computes_in_float32_is_checked_in_float32(
    factor: float, verdict: str
) -> None:
    def forward(x: Any) -> Any:
        return torch.tensor(np.tanh(x.numpy().astype(np.float32)))

    custom = function(forward, lambda g, x: factor * g * (1 - x.tanh() ** 2))
    assert checked(custom, [0.3, 1.0]).verdict == verdict


def test_a_function_that_insists_on_float32_gets_it() -> None:
    def forward(x: Any) -> Any:
        assert x.dtype is torch.float32
        return x.tanh()

    custom = function(forward, lambda g, x: g * (1 - x.tanh() ** 2))
    assert checked(custom, np.array([0.3, 1.0], np.float32)).verdict == "right"


def test_a_function_in_place_with_options_and_setup_context_is_checked() -> None:
    class Scale(Function):
        @staticmethod
        def forward(x: Any, factor: float, name: str) -> Any:
            x.array *= factor
            return x

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.mark_dirty(inputs[0])
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor * ctx.factor, None, None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = Scale.apply(x * 1, 3.0, "scale").sum()
    found = check_node(loss, "scale")
    assert found.verdict == "wrong"
    assert found.inputs[0].input == "x"
    assert "rule 9.00, finite differences 3.00 (ratio 3)" in found.sentence


def test_several_outputs_one_without_gradient_are_checked() -> None:
    class Parts(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            count = torch.tensor(x.numel())
            ctx.mark_non_differentiable(count)
            return x * 2, count, x * 3

        @staticmethod
        def backward(ctx: Any, first: Any, count: Any, second: Any) -> Any:
            return 2 * first + second

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        first, _, second = Parts.apply(x)
        loss = (first + second).sum()
    found = check_node(loss, "parts")
    assert found.verdict == "wrong"
    assert "rule 3.00, finite differences 5.00" in found.sentence


# --- the ways to ask ---------------------------------------------------------------------------


def test_a_graph_is_checked_after_its_values_were_freed_or_changed() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        y = x.exp()
        loss = (y * y).sum()
        y.add_(1)
    assert [each.verdict for each in check(loss)] == ["right"] * 3
    with trace(values=True):
        loss = x.exp().sum()
    loss.backward()
    assert [each.verdict for each in check(loss)] == ["right"] * 2


def test_progress_is_told_and_nodes_come_in_the_order_of_the_plan() -> None:
    told: list[tuple[int, int]] = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = x.exp().sin().sum()
    found = check(loss, progress=lambda done, length: told.append((done, length)))
    assert [each.address for each in found] == ["sum:1", "sin:1", "exp:1"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_session_checks_the_node_it_stands_at() -> None:
    x = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
    with trace(values=True):
        loss = MyCube.apply(x).sum()
    session = Session(loss)
    assert check_current(session).op == "SumBackward0"
    session.next()
    assert check_current(session).verdict == "wrong"
    assert check_node(session, "sum").verdict == "right"
    assert "no rule" in check_node(session, "x").sentence
    session.next(2)
    assert "no rule" in check_current(session).sentence


def test_equal_programs_give_equal_records() -> None:
    def once() -> tuple[NodeCheck, ...]:
        x = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
        with trace(values=True):
            loss = MyCube.apply(x.sin()).sum()
        return check(loss)

    assert once() == once()
