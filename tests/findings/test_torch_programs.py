"""Programs of all kinds that use PyTorch: what is wrong there is found, and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.findings import check_derivatives  # noqa: E402
from gradstep.findings.linting import lint  # noqa: E402
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
    "compiled_function": ["it is compiled"],
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


def looked_at(
    program: Callable[[], Any], look: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> list[Any]:
    """What ``look`` finds at each call of ``program``, which goes on as it would."""
    found: list[Any] = []

    def handle(intercepted: InterceptedCall) -> bool:
        found.extend(look(intercepted.call.roots, names=intercepted.names))
        return False

    plain = run_whole(program)
    printed = capsys.readouterr()
    with intercepting(handle, EVERY_CALL, values=True):
        evidence = run_whole(program)
    assert evidence == plain or (look is check_derivatives and program in RUNS_AGAIN)
    assert capsys.readouterr() == printed
    return found


PROGRAMS = [
    pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else [], id=each.__name__)
    for each in (*torch_programs.ALL, *torch_programs.FAILING)
    if each not in LEFT_OUT
]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_rule_of_pytorch_is_called_wrong_and_the_program_goes_on_as_it_would(
    program: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = looked_at(program, check_derivatives, capsys)
    sentences = {each.sentence for each in found if each.verdict == "wrong"}
    expected = WRONG.get(program.__name__)
    assert all(expected is not None and expected in each for each in sentences)
    assert bool(sentences) == (expected is not None)
    reasons = [each.sentence for each in found if each.verdict == "not checkable"]
    known = UNCHECKED.get(program.__name__, [])
    assert all(any(text in each for text in known) for each in reasons), reasons
    assert bool(reasons) == bool(known)


EXPECTED = {
    "custom_function_without_materialized_zeros": {"freed", "stale-grad"},
    "gradient_penalty": {"unreached"},  # a penalty on slopes does not depend on the last bias
    "grad_with_unused_inputs": {"unreached"},
    "grad_with_zeros_for_unused_inputs": {"unreached"},
    "a_graph_used_twice": {"stale-grad"},
    "vectorized_jacobian": {"unreached"},  # a copy of x is used instead of it
    "frozen_and_unused_layers": {"cut"},
    "nested_tensors": {"stale-grad"},
    "changed_in_place": {"changed"},
    "a_freed_graph": {"freed", "stale-grad"},
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_found_in_a_program_that_has_nothing_and_it_goes_on_as_it_would(
    program: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = [each for each in looked_at(program, lint, capsys) if each.severity != "info"]
    assert {each.code for each in found} == EXPECTED.get(program.__name__, set())
