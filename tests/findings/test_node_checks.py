"""The numeric check of nodes, on both engines: right rules pass, planted mistakes are found and
named, and what cannot be checked is never called wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograd_core
from autograd_core.op import Op, pointwise
from autograd_core.tensor import Tensor
from gradstep import Session, trace
from gradstep.findings import NodeCheck, check_derivatives, check_node
from tests.autograd_core.op_samples import Sample, for_every_sample, is_differentiable
from tests.autograd_core.programs import Program, leaves_of, programs, run_program
from tests.both import on_pytorch, on_the_core

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


@pytest.mark.sampled(6)
@for_every_sample(is_differentiable)
def test_the_rule_of_every_entry_passes(entry: Op, sample: Sample) -> None:
    for kind in (np.float64, np.float32):
        inputs = inputs_of(entry, sample, kind)
        with trace(values=True):
            result = entry.call(*((inputs,) if entry.variadic else inputs), **sample.attributes)
        results = result if isinstance(result, tuple) else (result,)
        root = next(t for t in results if t.grad_fn is not None)
        root.sum().backward(retain_graph=True)  # raises where it needs an extra that is missing
        found = check_node([root], 0)
        assert found.verdict == "right", (found.sentence, kind)


@given(programs())
def test_programs_with_views_and_changes_in_place_pass(program: Program) -> None:
    with trace(values=True):
        loss = run_program(program, autograd_core, leaves_of(program, autograd_core))
    for found in check_derivatives(loss) if loss.requires_grad else ():
        assert found.verdict != "wrong", found.sentence


@pytest.mark.usefixtures("declared")
def test_a_wrong_entry_of_the_table_is_found() -> None:
    @pointwise(np.multiply, x=lambda g, y: g * y, y=lambda g, y: g * y)
    def product_by_wrong_rule(x: Any, y: Any) -> None:
        """A product whose second rule names the wrong input."""

    x, y = (autograd_core.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 5.0]))
    with trace(values=True):
        loss = product_by_wrong_rule(x, y).sum()
    found = check_node(loss, "product_by_wrong_rule")
    assert [each.verdict for each in found.inputs] == ["right", "wrong"]


def right(root: Any) -> bool:
    return {each.verdict for each in check_derivatives(root)} == {"right"}


@on_pytorch
def test_ops_that_draw_are_checked_with_what_they_drew(torch: Any) -> None:
    x = torch.randn(4, 5, requires_grad=True)
    functional = torch.nn.functional
    with trace(values=True):
        loss = (functional.dropout(x, 0.4) + functional.rrelu(x, training=True)).sum()
    states = torch.get_rng_state()
    assert right(loss)
    assert torch.equal(torch.get_rng_state(), states)


def symmetric(torch: Any) -> Any:
    a = torch.randn(3, 3, dtype=torch.float64)
    return (a @ a.T + torch.eye(3)).requires_grad_()


@on_pytorch
@pytest.mark.parametrize(
    "op",
    [
        lambda torch: torch.linalg.cholesky(symmetric(torch)),
        lambda torch: torch.linalg.pinv(symmetric(torch), hermitian=True),
        lambda torch: torch.linalg.eigvalsh(symmetric(torch)),
        lambda torch: torch.nn.functional.ctc_loss(
            torch.randn(5, 1, 4, requires_grad=True).log_softmax(2), torch.tensor([[1, 2]]),
            torch.tensor([5]), torch.tensor([2]),
        ),
        lambda torch: torch.sgn(torch.randn(3, dtype=torch.complex64, requires_grad=True)).abs(),
    ],
    ids=["cholesky", "pinv", "eigvalsh", "ctc_loss", "sgn"],
)  # fmt: skip
def test_rules_that_hold_for_certain_inputs_are_checked_there(
    torch: Any, op: Callable[[Any], Any]
) -> None:
    torch.manual_seed(0)
    with trace(values=True):
        loss = op(torch).sum()
    assert right(loss)


def test_a_graph_is_checked_after_its_values_were_freed_or_changed(torch: Any) -> None:
    x = torch.randn(4, 3, requires_grad=True)
    with trace(values=True):
        y = x * 2
        y.exp_()
        y[1:3].mul_(x[0])
        y[0].sin_()
        y += 1
        loss = (y * y).sum()
        y.detach().zero_()  # which no version tells to what was kept
    assert right(loss)
    with trace(values=True):
        loss = x.exp().sum()
    loss.backward()
    assert right(loss)


def test_second_derivatives_are_checked(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(2, 3, requires_grad=True)
    with trace(values=True):
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = slope.square().sum()
    assert right(loss)


@on_pytorch
def test_a_program_in_the_middle_of_its_modes_is_checked_without_them(torch: Any) -> None:
    packed = []
    x = torch.randn(4, 4, requires_grad=True)
    with trace(values=True), torch.autocast("cpu", torch.bfloat16):
        loss = (x @ x).float().exp().sum()
        with torch.autograd.graph.saved_tensors_hooks(packed.append, lambda each: each):
            assert right(loss)
    assert not packed


# --- planted mistakes --------------------------------------------------------------------------

Made = Callable[..., Any]
Checked = Callable[..., NodeCheck]


@pytest.fixture
def function(torch: Any) -> Made:
    """Make a custom Function that saves its inputs; ``backward`` gets g and them."""

    def make(compute: Callable[..., Any], rule: Callable[..., Any]) -> Any:
        class Custom(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, *others: Any) -> Any:
                ctx.save_for_backward(x, *others)
                return compute(x, *others)

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return rule(g, *ctx.saved_tensors)

        return Custom

    return make


@pytest.fixture
def checked(torch: Any, function: Made) -> Checked:
    """Check a custom Function, given by its forward and backward, at leaves with these values."""

    def check(forward: Callable[..., Any], backward: Callable[..., Any], *inputs: Any) -> NodeCheck:
        leaves = [torch.tensor(np.array(x), requires_grad=True) for x in inputs]
        with trace(values=True):
            loss = (function(forward, backward).apply(*leaves) * 1.0).sum()
        return check_node(loss, "custom")

    return check


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
    ("a transpose is missing", lambda x: x.t() * 1, lambda g, x: g, (A,)),
    ("in the wrong places", lambda x: x.flip([1]), lambda g, x: g * 1, (X,)),
    ("the rule gives None", lambda x: x * 2, lambda g, x: None, (X,)),
    ("the rule gives zeros", lambda x: x * 2, lambda g, x: g * 0, (X,)),
    ("does not depend on it", lambda x: x * 0, lambda g, x: g * 1, (X,)),
    ("rule nan, finite differences 1.00", lambda x: x * 1, lambda g, x: g * np.nan, ([1.0],)),
    ("its backward raised AttributeError", lambda x: x * 1, lambda g, x: g.nothing, ([1.0],)),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("cause", "forward", "backward", "inputs"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_a_planted_mistake_is_found_and_its_cause_named(
    checked: Checked, cause: str, forward: Any, backward: Any, inputs: tuple[Any, ...]
) -> None:
    found = checked(forward, backward, *inputs)
    assert found.verdict == "wrong"
    assert cause in found.sentence


@on_the_core
@pytest.mark.parametrize(
    ("cause", "forward", "backward", "inputs"),
    [
        (
            "others[0] was broadcast: sum the gradient over the broadcast dimensions",
            lambda x, y: x + y, lambda g, x, y: (g, g * 1), (X, [1.0, 2.0, 3.0]),
        ),
        ("expand it to the shape of x", lambda x: x.sum(), lambda g, x: g * 1, (X,)),
    ],
)  # fmt: skip
def test_a_gradient_of_another_shape_is_told_with_its_remedy(
    checked: Checked, cause: str, forward: Any, backward: Any, inputs: tuple[Any, ...]
) -> None:
    assert cause in checked(forward, backward, *inputs).sentence


@on_pytorch
def test_a_gradient_of_another_shape_is_wrong_in_the_words_of_pytorch(checked: Checked) -> None:
    found = checked(lambda x: x.sum(0), lambda g, x: g[:1], X)
    assert found.verdict == "wrong"
    assert "returned an invalid gradient at index 0" in found.sentence


@pytest.fixture
def cube(torch: Any) -> Any:
    class MyCube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x / x

    return MyCube


def test_a_wrong_rule_is_reported_with_place_both_numbers_and_lines(torch: Any, cube: Any) -> None:
    x = torch.tensor([[1.0, 0.5, 2.0]], requires_grad=True)
    with trace(values=True):
        loss = cube.apply(x).sum()
    total, found = check_derivatives(loss)
    assert total.verdict == "right"
    (gradient,) = found.inputs
    assert (found.op, found.index) == ("MyCubeBackward", 1)
    assert (gradient.input, gradient.position) == ("x", (0, 2))
    assert gradient.analytical == pytest.approx(3)
    assert gradient.numerical == pytest.approx(12)
    assert gradient.relative_error == pytest.approx(0.75)
    assert found.sentence == (
        "MyCubeBackward: gradient for x is wrong at [0, 2]: rule 3.00, finite "
        "differences 12.00 (ratio 0.25); a factor x² is missing"
    )
    assert found.source is not None
    assert found.rule is not None
    assert found.source.file == found.rule.file == __file__
    assert found.rule.line == cube.backward.__code__.co_firstlineno + 1  # of its def


def test_a_session_checks_the_node_it_stands_at(torch: Any, cube: Any) -> None:
    x = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
    with trace(values=True):
        loss = cube.apply(x).sum()
    session = Session(loss)
    assert check_node(session, session.position).op == "SumBackward0"
    session.next()
    assert check_node(session, session.position).verdict == "wrong"
    assert check_node(session, "sum").verdict == "right"
    assert "no rule" in check_node(session, "x").sentence
    assert check_derivatives(loss) == check_derivatives(loss)


@on_pytorch
def test_a_backward_that_is_once_differentiable_is_named_with_its_line(torch: Any) -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    x = torch.ones(2, requires_grad=True)
    with trace(values=True):
        loss = Twice.apply(x).sum()
    found = check_node(loss, "twice")
    assert found.verdict == "wrong"
    assert found.rule is not None
    assert found.rule.file == __file__


@on_pytorch
def test_an_operator_of_a_library_with_a_wrong_rule_is_found(torch: Any) -> None:
    def square(x):  # type: ignore[no-untyped-def]
        return x * x

    square.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    squared = torch.library.custom_op("gradstep_tests::squared", square, mutates_args=())
    squared.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = squared(x).sum()
    (found,) = [each for each in check_derivatives(loss) if each.verdict == "wrong"]
    assert "every element is 0.5 times the correct value" in found.sentence


def test_one_wrong_element_of_many_is_found(torch: Any, checked: Checked) -> None:
    wrong = torch.tensor(np.ones((60, 70)))
    wrong[41, 13] = 1.01
    values = np.random.default_rng(3).standard_normal((60, 70))
    found = checked(lambda x: x.tanh(), lambda g, x: g * (1 - x.tanh() ** 2) * wrong, values)
    assert found.worst is not None
    assert found.worst.position == (41, 13)
    assert found.worst.relative_error == pytest.approx(0.01, rel=0.1)


REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@on_the_core
@REUSED
@given(
    st.floats(-3, 3).filter(lambda factor: abs(factor - 1) > 1e-3),
    st.lists(st.floats(0.01, 5), min_size=1, max_size=5),
)
def test_any_wrong_factor_is_found(checked: Checked, factor: float, values: list[float]) -> None:
    assert checked(lambda x: x.log(), lambda g, x: factor * g / x, values).verdict == "wrong"


@on_the_core
@REUSED
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6))
def test_a_right_rule_passes_at_any_scale(checked: Checked, values: list[float]) -> None:
    found = checked(lambda x: x.log() + 3 / x, lambda g, x: g / x - 3 * g / x**2, values)
    assert found.verdict == "right"


@pytest.mark.parametrize("factor", [1, 1.001])
def test_a_rule_with_two_inputs_is_checked_by_each(checked: Checked, factor: float) -> None:
    found = checked(lambda x, y: x @ y, lambda g, x, y: (g @ y.t(), factor * x.t() @ g), A, B)
    verdicts = [each.verdict for each in found.inputs]
    assert verdicts == ["right", "right" if factor == 1 else "wrong"]


def test_a_function_with_setup_context_and_options_is_checked(torch: Any) -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float, name: str) -> Any:
            return x.mul_(factor)

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


def test_several_outputs_one_without_gradient_are_checked(torch: Any) -> None:
    class Parts(torch.autograd.Function):
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


# --- what cannot be checked --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute", "values"),
    [
        (lambda torch, x: x.relu(), [0.0, 1.0, -1.0]),
        (lambda torch, x: x.clamp(min=1.0), [1.0, 2.0]),
        (lambda torch, x: x.max(), [2.0, 2.0, 1.0]),
        (lambda torch, x: torch.maximum(x, x.flip([0]) * 1.0), [2.0, 2.0]),
        (lambda torch, x: x.floor(), [1.0, 1.5]),
        (lambda torch, x: torch.where(x > 1, x * 2, x), [1.0, 2.0]),
    ],
    ids=["relu", "clamp", "max", "maximum", "floor", "where"],
)
def test_a_kink_is_never_called_wrong(torch: Any, compute: Any, values: list[float]) -> None:
    x = torch.tensor(values, requires_grad=True)
    with trace(values=True):
        loss = (compute(torch, x) * 1.0).sum()
    assert {each.verdict for each in check_derivatives(loss)} <= {"right", "not checkable"}


def test_a_rule_that_needs_what_is_not_installed_is_not_called_wrong(checked: Checked) -> None:
    def rule(g: Any, x: Any) -> Any:
        import a_package_that_nobody_has

        return g * a_package_that_nobody_has.slope(x)

    found = checked(lambda x: x.exp(), rule, [1.0, 2.0])
    assert found.verdict == "not checkable"
    assert "No module named 'a_package_that_nobody_has'" in found.sentence


def test_a_kink_is_named_with_its_place_and_a_wrong_rule_is_found_beside_it(
    checked: Checked,
) -> None:
    found = checked(lambda x: x.relu(), lambda g, x: g * (x > 0), [1.0, 0.0, -1.0])
    assert found.verdict == "not checkable"
    assert "a kink or a jump at [1]; near these values the rule is right" in found.sentence
    found = checked(lambda x: x.relu(), lambda g, x: 2 * g * (x > 0), [1.0, 0.0])
    assert found.verdict == "wrong"
    assert "checked near the given values" in found.sentence


@pytest.mark.parametrize(
    ("compute", "values", "reason"),
    [
        (lambda x: x * 2, [1.0, np.nan], "is nan at [1]"),
        (lambda x: x * 2, [np.inf, -np.inf], "is inf at [0]"),
        (lambda x: x.log(), [0.0, 1.0], "its result is not finite"),
        (lambda x: x.sqrt(), [0.0, 1.0], "not finite next to these inputs; near these values"),
    ],
)
def test_what_is_not_finite_is_not_checkable(
    torch: Any, compute: Any, values: list[float], reason: str
) -> None:
    x = torch.tensor(values, requires_grad=True)
    with trace(values=True):
        loss = compute(x)
    (found,) = check_derivatives([loss])
    assert found.verdict == "not checkable"
    assert reason in found.sentence


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_infinite_inputs_are_held_fixed(checked: Checked, factor: float) -> None:
    def backward(g: Any, x: Any) -> Any:
        y = x.softmax(-1)
        return factor * y * (g - (g * y).sum())

    found = checked(lambda x: x.softmax(-1), backward, [1.0, -np.inf, 2.0])
    assert found.verdict == ("right" if factor == 1 else "wrong")
    assert found.note == "infinite inputs held fixed"


def test_results_that_are_not_finite_are_left_out(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = x + torch.tensor([-np.inf, 0.0])
    (found,) = check_derivatives([loss])
    assert found.verdict == "right"
    assert "with results that are not finite left out" in found.sentence


@pytest.mark.parametrize(
    ("forward", "backward", "values", "reason"),
    [
        (lambda x: x.sigmoid(), lambda g, x: g * 3e-20, [40.0], "too small to measure"),
        (lambda x: x.round(), lambda g, x: g * 1, [0.3, 1.2], "straight-through"),
    ],
)
def test_what_cannot_be_measured_is_not_called_wrong(
    checked: Checked, forward: Any, backward: Any, values: list[float], reason: str
) -> None:
    found = checked(forward, backward, values)
    assert found.verdict == "not checkable"
    assert reason in found.sentence


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [1, 30, 2000])
@pytest.mark.parametrize("spread", [0.02, 0.3, 3.0])
def test_a_step_function_is_not_checkable_wherever_its_steps_are(
    checked: Checked, size: int, spread: float
) -> None:
    values = np.random.default_rng(size).normal(1.0, spread, size)
    found = checked(lambda x: (x > 1) * 1.0, lambda g, x: g / (1 + abs(x - 1)), values)
    assert found.verdict == "not checkable"


def test_parameters_of_a_module_that_a_function_calls_are_no_mistake(torch: Any) -> None:
    field = torch.nn.Linear(2, 2)

    class Adjoint(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, y: Any, *parameters: Any) -> Any:
            ctx.save_for_backward(y, *parameters)
            return field(y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            y, *parameters = ctx.saved_tensors
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                return torch.autograd.grad(field(y), (y, *parameters), g)

    y = torch.ones(3, 2, requires_grad=True)
    with trace(values=True):
        loss = Adjoint.apply(y, *field.parameters()).sum()
    found = check_node(loss, "adjoint")
    assert found.verdict == "not checkable"
    assert "its backward raised RuntimeError" in found.sentence
    loss.backward()
    assert field.weight.grad is not None


def test_a_forward_that_draws_elsewhere_is_not_checkable(checked: Checked) -> None:
    rng = np.random.default_rng(0)
    found = checked(lambda x: x * rng.random(), lambda g, x: g, [1.0])
    assert "a different result each time" in found.sentence


@on_pytorch
@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (lambda torch, x: x.sigmoid().bernoulli(), "no gradient through random numbers"),
        (lambda torch, x: torch.normal(x, 1.0), "no gradient through random numbers"),
        (lambda torch, x: x.round(decimals=3), "its forward is a step function"),
        (lambda torch, x: x.to_sparse().to_dense(), "is sparse"),
        (lambda torch, x: torch.linalg.svd(x + 1j)[0].abs(), "its backward raises: svd_backward"),
    ],
    ids=["bernoulli", "normal", "round", "sparse", "svd"],
)
def test_what_has_no_derivative_of_its_own_is_not_checkable(
    torch: Any, op: Callable[[Any, Any], Any], reason: str
) -> None:
    x = torch.randn(3, 3, requires_grad=True)
    with trace(values=True):
        loss = op(torch, x).sum()
    found = check_derivatives(loss)
    assert {each.verdict for each in found} == {"right", "not checkable"}
    assert any(reason in each.sentence for each in found)


def test_a_forward_that_is_not_defined_beside_its_inputs_is_not_checkable(
    checked: Checked,
) -> None:
    def forward(x: Any) -> Any:
        assert (x >= 0).all(), "x is negative"
        return x.sqrt()

    found = checked(forward, lambda g, x: g / (2 * x.sqrt()), [0.0, 0.0])
    assert found.verdict == "not checkable"
    assert "next to these inputs, its forward raises: x is negative" in found.sentence


def test_inputs_that_were_not_kept_are_asked_for(torch: Any) -> None:
    x = torch.ones(100, requires_grad=True)
    assert "its inputs were not kept; " in check_derivatives(x.exp())[0].sentence
    with trace(values=True, budget=2000):
        y = x
        for _ in range(10):
            y = y.sin()
        loss = y.sum()
    found = check_derivatives(loss)
    assert "2.0 KB" in " ".join(each.sentence for each in found)


def test_inputs_of_several_ops_are_kept_once(torch: Any) -> None:
    x = torch.ones(100, requires_grad=True)
    with trace(values=True, budget=1500):
        made = [x.sin() for _ in range(5)]
    assert [check_derivatives(y)[0].verdict for y in made] == ["right"] * 5


# --- the program stays as it is ----------------------------------------------------------------


def test_a_function_that_draws_draws_the_same_each_time(torch: Any, function: Made) -> None:
    def forward(x: Any) -> Any:
        return x * torch.rand_like(x).round() * np.random.rand()  # noqa: NPY002

    def drawn() -> list[float]:
        torch.manual_seed(3)
        np.random.seed(3)  # noqa: NPY002
        x = torch.ones(8, requires_grad=True)
        with trace(values=True):
            loss = function(forward, lambda g, x: g * 0.3).apply(x).sum()
        if not plain:
            assert check_node(loss, "custom").verdict == "wrong"
        return [*torch.rand(3).tolist(), np.random.rand()]  # noqa: NPY002

    plain = True
    before = drawn()
    plain = False
    assert drawn() == before


def test_what_a_function_changes_prints_and_warns_of_is_taken_back(
    torch: Any, function: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = torch.zeros(2)

    def forward(x: Any) -> Any:
        print("forward")
        warnings.warn("old", stacklevel=1)
        seen.add_(x.detach())
        return x * seen

    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with trace(values=True):
            loss = function(forward, lambda g, x: 2 * g).apply(x).sum() + (w * seen).sum()
        before = seen.tolist(), seen._version, len(caught)
        capsys.readouterr()
        check_derivatives(loss)
    assert (seen.tolist(), seen._version, len(caught)) == before
    assert capsys.readouterr().out == ""
    assert (x.tolist(), x.grad, torch.is_grad_enabled()) == ([1, 1], None, True)
    loss.backward()  # which has saved what it changes


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "right"), (1.1, "wrong")])
def test_a_function_that_computes_in_float32_is_checked_in_float32(
    torch: Any, checked: Checked, factor: float, verdict: str
) -> None:
    def forward(x: Any) -> Any:
        return torch.tensor(np.tanh(x.detach().numpy().astype(np.float32)))

    found = checked(forward, lambda g, x: factor * g * (1 - x.tanh() ** 2), [0.3, 1.0])
    assert found.verdict == verdict


def test_a_function_that_insists_on_float32_gets_it(torch: Any, checked: Checked) -> None:
    def forward(x: Any) -> Any:
        assert x.dtype is torch.float32
        return x.tanh()

    values = np.array([0.3, 1.0], np.float32)
    assert checked(forward, lambda g, x: g * (1 - x.tanh() ** 2), values).verdict == "right"


def test_progress_is_told_and_nodes_come_in_the_order_of_the_plan(torch: Any) -> None:
    told: list[tuple[int, int]] = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = x.exp().sin().sum()
    found = check_derivatives(loss, progress=lambda done, length: told.append((done, length)))
    assert [each.address for each in found] == ["sum:1", "sin:1", "exp:1"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
