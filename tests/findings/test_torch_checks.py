"""The numeric check of PyTorch's nodes: right rules pass, planted mistakes are found and named."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

from gradstep import trace  # noqa: E402
from gradstep.findings import NodeCheck, check, check_node  # noqa: E402
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.engines.test_torch_graphs import run_whole  # noqa: E402  # imports torch

pytestmark = pytest.mark.torch

EVERY_CALL = CallSelector(None, ("backward", "grad"))
SLOW = {torch_programs.compiled_function}
LEFT_OUT = {
    torch_programs.long_chain,  # 20,000 nodes, alike but for their numbers
    # the thread of its process group may wait for Python, and Python for that thread to end, where
    # ops are recorded: then all tensors are Python's too
    torch_programs.data_parallel,
}
WRONG = {
    "custom_function_without_materialized_zeros": "PairBackward: gradient for x is wrong",
    "undefined_gradients": "NothingBackward: gradient for x is wrong at [0]: rule 0.00",
    "operator_without_a_derivative": "no autograd formula was registered",
}
"""Programs whose own backward is wrong, or is none."""
UNCHECKED = {
    "convolution_batch_norm_and_skip": ["kink"],
    "hooks_of_every_kind": ["belongs to PyTorch itself"],
    "checkpoint_reentrant": ["a checkpoint runs a part of the program"],
    "complex_numbers": ["was not observed"],
    "sparse_matrix": ["mat1 is sparse"],
    "nested_tensors": ["NestedTensor", "nested tensor"],
    "a_subclass_of_tensor": ["was not observed"],
}
"""What is not checkable, and why."""
RUNS_AGAIN = {
    torch_programs.custom_function,
    torch_programs.custom_function_without_materialized_zeros,
    torch_programs.operator_of_a_library,
    torch_programs.undefined_gradients,
}
"""Programs that count how often their custom Functions run."""


def checked(program: Callable[[], Any]) -> tuple[list[NodeCheck], list[Any]]:
    found: list[NodeCheck] = []

    def handle(intercepted: InterceptedCall) -> bool:
        found.extend(check(intercepted.call.roots, names=intercepted.names))
        return False

    with intercepting(handle, EVERY_CALL, values=True):
        evidence = run_whole(program)
    return found, evidence


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else [], id=each.__name__)
        for each in (*torch_programs.ALL, *torch_programs.FAILING)
        if each not in LEFT_OUT
    ],
)
def test_no_rule_of_pytorch_is_called_wrong_and_the_program_goes_on_as_it_would(
    program: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    plain = run_whole(program)
    printed = capsys.readouterr()
    found, evidence = checked(program)
    if program not in RUNS_AGAIN:
        assert evidence == plain
    assert capsys.readouterr() == printed
    sentences = {each.sentence for each in found if each.verdict == "wrong"}
    expected = WRONG.get(program.__name__)
    assert all(expected is not None and expected in each for each in sentences)
    assert bool(sentences) == (expected is not None)
    reasons = [each.sentence for each in found if each.verdict == "not checkable"]
    known = UNCHECKED.get(program.__name__, [])
    assert all(any(text in each for text in known) for each in reasons), reasons
    assert bool(reasons) == bool(known)


# --- custom Functions --------------------------------------------------------------------------


class MyCube(torch.autograd.Function):  # type: ignore[misc]  # torch is not there for every check
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x


def function(forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """A custom Function that saves its inputs."""

    class Made(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g, *ctx.saved_tensors)

    return Made


def check_of(loss: Callable[[], Any], place: str = "made") -> NodeCheck:
    with trace(values=True):
        root = loss()
    return check_node(root, place)


def test_a_wrong_backward_is_found_and_named_with_its_line() -> None:
    x = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
    found = check_of(lambda: MyCube.apply(x).sum(), "my_cube")
    assert found.sentence == (
        "MyCubeBackward: gradient for x is wrong at [2]: rule 6.00, finite "
        "differences 12.00 "
        "(ratio 0.5); a factor x is missing"
    )
    assert found.rule is not None
    assert Path(found.rule.file).name == "test_torch_checks.py"
    decorator = MyCube.backward.__code__.co_firstlineno
    assert found.rule.line == decorator + 1  # of its def
    assert found.source is not None
    assert Path(found.source.file).name == "test_torch_checks.py"


def test_a_backward_that_is_once_differentiable_is_named_with_its_line() -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    x = torch.ones(2, requires_grad=True)
    found = check_of(lambda: Twice.apply(x).sum(), "twice")
    assert found.verdict == "wrong"
    assert found.rule is not None
    assert Path(found.rule.file).name == "test_torch_checks.py"


@pytest.mark.parametrize("factor", [1, 1.001])
def test_a_rule_with_two_inputs_is_checked_by_each(factor: float) -> None:
    custom = function(lambda x, y: x @ y, lambda g, x, y: (g @ y.T, factor * x.T @ g))
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    found = check_of(lambda: custom.apply(x, y).square().sum())
    verdicts = [each.verdict for each in found.inputs]
    assert verdicts == ["right", "right" if factor == 1 else "wrong"]


def test_a_gradient_of_another_shape_is_wrong_in_the_words_of_pytorch() -> None:
    custom = function(lambda x: x.sum(0), lambda g, x: g[:1])
    x = torch.randn(3, 4, requires_grad=True)
    found = check_of(lambda: custom.apply(x).sum())
    assert found.verdict == "wrong"
    assert "returned an invalid gradient at index 0" in found.sentence


def test_a_function_with_setup_context_and_options_is_checked() -> None:
    class Scale(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, factor: float, name: str) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor**2, None, None

    x = torch.ones(2, requires_grad=True)
    found = check_of(lambda: Scale.apply(x, 3.0, "scale").sum(), "scale")
    assert "rule 9.00, finite differences 3.00 (ratio 3)" in found.sentence


def test_an_operator_of_a_library_with_a_wrong_rule_is_found() -> None:
    @torch.library.custom_op("gradstep_tests::squared", mutates_args=())
    def squared(x: torch.Tensor) -> torch.Tensor:
        return x * x

    squared.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        loss = squared(x).sum()
    (found,) = [each for each in check(loss) if each.verdict == "wrong"]
    assert "every element is 0.5 times the correct value" in found.sentence


def test_a_function_that_draws_draws_the_same_each_time() -> None:
    def forward(x: Any) -> Any:
        return x * torch.rand_like(x).round() * np.random.rand()  # noqa: NPY002

    x = torch.ones(8, requires_grad=True)
    custom = function(forward, lambda g, x: g * 0.3)
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    with trace(values=True):
        loss = custom.apply(x).sum()
    states = torch.get_rng_state(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    assert check_node(loss, "made").verdict == "wrong"
    assert torch.equal(torch.get_rng_state(), states[0])
    assert np.random.get_state()[1].tolist() == states[1]  # type: ignore[index]  # noqa: NPY002


def test_a_function_that_gives_something_else_each_time_is_not_checkable() -> None:
    count = [0]

    def forward(x: Any) -> Any:
        count[0] += 1
        return x * count[0]

    x = torch.ones(2, requires_grad=True)
    found = check_of(lambda: function(forward, lambda g, x: g).apply(x).sum())
    assert "its forward gives a different result each time" in found.sentence


def test_what_a_function_changes_and_prints_is_taken_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = torch.zeros(2)

    def forward(x: Any) -> Any:
        print("forward")
        seen.add_(x)
        return x * seen

    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with trace(values=True):
        loss = function(forward, lambda g, x: 2 * g).apply(x).sum() + (w * seen).sum()
    capsys.readouterr()
    before = seen.clone(), seen._version
    check(loss)
    assert torch.equal(seen, before[0])
    assert seen._version == before[1]
    assert capsys.readouterr().out == ""
    loss.backward()  # which has saved what it changes


def test_a_function_that_insists_on_float32_gets_it() -> None:
    def forward(x: Any) -> Any:
        assert x.dtype == torch.float32
        return x.tanh()

    x = torch.tensor([0.3, 1.0], requires_grad=True)
    custom = function(forward, lambda g, x: g * (1 - x.tanh() ** 2))
    assert check_of(lambda: custom.apply(x).sum()).verdict == "right"


def test_a_backward_that_raises_is_wrong_and_one_of_pytorch_is_not_checkable() -> None:
    def backward(g: Any, x: Any) -> Any:
        raise ValueError("not yet")

    x = torch.ones(2, requires_grad=True)
    found = check_of(lambda: function(lambda x: x * 2, backward).apply(x).sum())
    assert "its backward raised ValueError: not yet" in found.sentence
    z = torch.randn(3, 3, dtype=torch.complex128, requires_grad=True)
    found = check_of(lambda: torch.linalg.svd(z)[0].abs().sum(), "svd")
    assert found.verdict == "not checkable"
    assert "its backward raises: svd_backward" in found.sentence


def test_a_forward_that_is_not_defined_beside_its_inputs_is_not_checkable() -> None:
    def forward(x: Any) -> Any:
        assert (x >= 0).all(), "x is negative"
        return x.sqrt()

    x = torch.zeros(2, requires_grad=True)
    found = check_of(lambda: function(forward, lambda g, x: g / (2 * x.sqrt())).apply(x).sum())
    assert found.verdict == "not checkable"
    assert "next to these inputs, its forward raises: x is negative" in found.sentence


# --- ops ---------------------------------------------------------------------------------------


def right(nodes: Iterable[NodeCheck]) -> bool:
    return {each.verdict for each in nodes} == {"right"}


def test_dropout_and_ops_that_draw_are_checked_with_what_they_drew() -> None:
    x = torch.randn(4, 5, requires_grad=True)
    with trace(values=True):
        loss = (F.dropout(x, 0.4) + F.rrelu(x, training=True)).sum()
    states = torch.get_rng_state()
    assert right(check(loss))
    assert torch.equal(torch.get_rng_state(), states)


def symmetric() -> Any:
    a = torch.randn(3, 3, dtype=torch.float64)
    return (a @ a.T + torch.eye(3)).requires_grad_()


@pytest.mark.parametrize(
    "op",
    [
        lambda: torch.linalg.cholesky(symmetric()),
        lambda: torch.linalg.pinv(symmetric(), hermitian=True),
        lambda: torch.linalg.eigvalsh(symmetric()),
        lambda: F.ctc_loss(
            torch.randn(5, 1, 4, requires_grad=True).log_softmax(2), torch.tensor([[1, 2]]),
            torch.tensor([5]), torch.tensor([2]),
        ),
        lambda: torch.sgn(torch.randn(3, dtype=torch.complex64, requires_grad=True)).abs(),
    ],
    ids=["cholesky", "pinv", "eigvalsh", "ctc_loss", "sgn"],
)  # fmt: skip
def test_rules_that_hold_for_certain_inputs_are_checked_there(op: Callable[[], Any]) -> None:
    torch.manual_seed(0)
    with trace(values=True):
        loss = op().sum()
    assert right(check(loss))


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (lambda x: x.sigmoid().bernoulli(), "no gradient through random numbers"),
        (lambda x: torch.normal(x, 1.0), "no gradient through random numbers"),
        (lambda x: x.round(decimals=3), "its forward is a step function"),
        (lambda x: x.to_sparse().to_dense(), "is sparse"),
    ],
    ids=["bernoulli", "normal", "round", "sparse"],
)
def test_what_has_no_derivative_of_its_own_is_not_checkable(
    op: Callable[[Any], Any], reason: str
) -> None:
    x = torch.randn(3, 4, requires_grad=True)
    with trace(values=True):
        loss = op(x).sum()
    found = check(loss)
    assert {each.verdict for each in found} == {"right", "not checkable"}
    assert any(reason in each.sentence for each in found)


def test_changes_in_place_are_checked_with_the_values_from_before() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    with trace(values=True):
        y = x * 2
        y.exp_()
        y[1:3].mul_(x[0])
        y[0].sin_()
        y += 1
        loss = (y * y).sum()
        y.detach().zero_()  # which no version tells to what was kept
    assert right(check(loss))


def test_a_graph_is_checked_after_its_values_were_freed() -> None:
    x = torch.randn(3, requires_grad=True)
    with trace(values=True):
        loss = x.exp().sum()
        loss.backward()
    assert right(check(loss))


def test_second_derivatives_are_checked() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(2, 3, requires_grad=True)
    with trace(values=True):
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = slope.square().sum()
    assert right(check(loss))


def test_a_program_in_the_middle_of_its_modes_is_checked_without_them() -> None:
    packed = []
    x = torch.randn(4, 4, requires_grad=True)
    with trace(values=True), torch.autocast("cpu", torch.bfloat16):
        loss = (x @ x).float().exp().sum()
        with torch.autograd.graph.saved_tensors_hooks(packed.append, lambda each: each):
            found = check(loss)
    assert right(found)
    assert not packed


def test_without_values_it_says_what_to_do() -> None:
    x = torch.ones(2, requires_grad=True)
    (found, *_) = check(x.exp().sum())
    assert "its inputs were not kept; gradstep check keeps them" in found.sentence


def test_copies_of_the_oldest_ops_make_way_for_those_of_later_ones() -> None:
    x = torch.randn(100, requires_grad=True)
    with trace(values=True, budget=2000):
        y = x
        for _ in range(10):
            y = y.sin()
        loss = y.sum()
    found = check(loss)
    assert [each.verdict for each in found[:3]] == ["right"] * 3
    assert found[-1].sentence == (
        "SinBackward0 is not checkable here: its inputs were discarded: copies may take "
        "2.0 KB, and later ops needed the space"
    )


def test_warnings_and_modes_of_the_program_are_as_before() -> None:
    def forward(x: Any) -> Any:
        warnings.warn("old", stacklevel=1)
        return x * 2

    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with trace(values=True):
            loss = function(forward, lambda g, x: g * 2).apply(x)
        assert len(caught) == 1
        check(loss.sum())
        assert len(caught) == 1
    assert torch.is_grad_enabled()
