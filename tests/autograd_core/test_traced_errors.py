"""Errors about saved values: PyTorch's words, and, while tracing, the lines that did it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import currentframe
from pathlib import Path
from typing import Any

import pytest

import autograd_core
from autograd_core.autograd.call import interceptor
from autograd_core.autograd.version import changed_at
from gradstep import trace

HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
    "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [torch.FloatTensor [2]]{} is at version {}; expected version {} instead. " + HINT
)


def function(torch: Any) -> Any:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * y / x

    return Twice


def failure(run: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        run()
    return str(caught.value)


def changed_input(torch: Any, x: Any) -> Any:
    z = x * 1
    y = z * z
    z.add_(1)
    return y


def changed_result(torch: Any, x: Any) -> Any:
    y = x.exp()
    y.add_(1).add_(1)
    return y


def changed_constant(torch: Any, x: Any) -> Any:
    z = torch.ones(2)
    z.add_(1)
    y = x * z
    z.add_(1)
    return y


def changed_input_of_function(torch: Any, x: Any) -> Any:
    z = x * 1
    y = function(torch).apply(z)
    z.add_(1)
    return y


def changed_result_of_function(torch: Any, x: Any) -> Any:
    y = function(torch).apply(x)
    y.add_(1)
    return y


@pytest.mark.parametrize(
    ("make", "origin", "found", "expected"),
    [
        (changed_input, ", which is output 0 of Add,", 1, 0),
        (changed_result, ", which is output 0 of Exp,", 2, 0),
        (changed_constant, "", 2, 1),
        (changed_input_of_function, ", which is output 0 of Add,", 1, 0),
        (changed_result_of_function, ", which is output 0 of Twice,", 1, 0),
    ],
)
def test_a_changed_value_is_named_with_its_versions(
    torch: Any, make: Any, origin: str, found: int, expected: int
) -> None:
    y = make(torch, torch.ones(2, requires_grad=True))
    assert failure(lambda: y.sum().backward()) == MODIFIED.format(origin, found, expected)


def here() -> str:
    frame = currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno}"


def test_while_tracing_the_lines_that_changed_a_value_are_named() -> None:
    x = autograd_core.ones(2, requires_grad=True)
    with trace():
        z = x * 1
        z.add_(1)
        y = z * z
        z.add_(1), (first := here())
        z.mul_(2), (second := here())
    message = failure(lambda: y.sum().backward())
    assert message.splitlines() == [
        MODIFIED.format(", which is output 0 of Mul,", 3, 1),
        f"It was changed at {first}, {second}.",
    ]


def test_where_a_value_was_changed_is_data_too() -> None:
    x = autograd_core.ones(2, requires_grad=True)
    with trace():
        z = x * 1
        y = z * z
        view = z[0]
        view.mul_(3), (line := here())
        twice = function(autograd_core).apply(z)
        z.zero_(), (last := here())
    places = [tuple(where.rsplit(":", 1)) for where in (line, last)]
    lines = [(file, int(number)) for file, number in places]
    assert [tuple(each) for each in y.grad_fn.changed_at("self")] == lines
    assert [tuple(each) for each in twice.grad_fn.changed_at("saved_tensors[0]")] == lines[1:]
    assert y.grad_fn.changed_at("nothing") == ()
    assert [tuple(each) for each in changed_at(z.version)] == lines
    assert changed_at(None) == ()


def test_without_tracing_nothing_is_kept_of_changes() -> None:
    x = autograd_core.zeros(2)
    x.add_(1)
    assert x.version == [1]


@pytest.mark.parametrize("make", [lambda x: x * x, lambda x: function(autograd_core).apply(x)])
@pytest.mark.parametrize("how", ["backward", "grad", "taken over"])
def test_a_freed_value_says_which_call_freed_it(make: Any, how: str) -> None:
    x = autograd_core.ones(2, requires_grad=True)
    token = interceptor.set((lambda call: False) if how == "taken over" else None)
    try:
        with trace():
            y = make(x).sum()
            if how == "grad":
                autograd_core.autograd.grad(y, x), (line := here())
            else:
                y.backward(), (line := here())
    finally:
        interceptor.reset(token)
    message = failure(y.backward)
    assert message.startswith("Trying to backward through the graph a second time")
    assert message.splitlines()[1:] == [f"They were freed by the pass begun at {line}."]
    node = y.grad_fn.next_functions[0][0]
    assert f"{node.freed_at[0]}:{node.freed_at[1]}" == line


def test_a_pass_that_frees_nothing_is_not_blamed() -> None:
    x = autograd_core.ones(2, requires_grad=True)
    with trace():
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward(), (line := here())
    assert failure(y.backward).splitlines()[1] == f"They were freed by the pass begun at {line}."
    z = (x * x).sum()
    z.backward()
    assert len(failure(z.backward).splitlines()) == 1


def test_anomaly_mode_keeps_the_line_that_changed_a_value() -> None:
    x = autograd_core.ones(2, requires_grad=True)
    with trace():
        y = changed_input(autograd_core, x)
    with autograd_core.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="Error"):
        message = failure(lambda: y.sum().backward())
    assert message.splitlines()[0].endswith("Good luck!")
    assert message.splitlines()[1].startswith(f"It was changed at {Path(__file__)}:")
