"""Grad modes as decorators: of functions, of generator functions, of classes."""

from __future__ import annotations

import contextvars
import inspect
from typing import Any

import pytest

import autograd_core as core
from tests.autograd_core.outcomes import each, expect, outcome


def on(torch: Any) -> bool:
    """Whether gradients are on."""
    return bool(torch.is_grad_enabled())


# -- generator functions -----------------------------------------------------------------------


def at_every_step(torch):
    @torch.no_grad()
    def steps():
        yield on(torch)
        yield on(torch)

    return [(inside, on(torch)) for inside in steps()]


def without_parentheses(torch):
    @torch.no_grad
    def steps():
        yield on(torch)

    return list(steps()), on(torch)


def with_what_is_sent(torch):
    @torch.enable_grad()
    def steps():
        first = yield on(torch)
        second = yield first, on(torch)
        return second, on(torch)

    with torch.no_grad():
        running = steps()
        found = [next(running), running.send(5), on(torch)]
        try:
            running.send(7)
        except StopIteration as end:
            found.append(end.value)
        return found


def with_what_is_thrown(torch):
    seen = []

    @torch.no_grad()
    def steps():
        try:
            yield 1
        except ValueError:
            seen.append(on(torch))
            yield 2
        finally:
            seen.append(on(torch))

    running = steps()
    found = [next(running), running.throw(ValueError("a")), on(torch)]
    running.close()
    return found, seen, on(torch)


def that_raise(torch):
    @torch.no_grad()
    def steps():
        yield 1
        raise KeyError("b")

    running = steps()
    next(running)
    try:
        next(running)
    except KeyError as error:
        return error.args, on(torch)


def that_are_closed(torch):
    seen = []

    @torch.no_grad()
    def steps():
        try:
            yield 1
        finally:
            seen.append(on(torch))

    running = steps()
    next(running)
    running.close()
    return seen, on(torch)


def with_a_mode_of_their_own(torch):
    @torch.no_grad()
    def steps():
        with torch.enable_grad():
            yield on(torch)
        yield on(torch)

    return [(inside, on(torch)) for inside in steps()]


def that_delegate(torch):
    @torch.no_grad()
    def steps():
        yield on(torch)
        return 3

    def around():
        found = yield from steps()
        yield found, on(torch)

    return list(around())


def in_inference_mode(torch):
    @torch.inference_mode()
    def steps(x):
        y = x * 2
        yield y
        yield y + 1

    x = torch.ones(2, requires_grad=True)
    return [(t.is_inference(), (x * 2).requires_grad) for t in steps(x)]


def switched_off(torch):
    @torch.set_grad_enabled(False)
    def steps():
        yield on(torch)
        yield on(torch)

    return on(torch), [(inside, on(torch)) for inside in steps()]


def as_methods(torch):
    class Steps:
        @torch.no_grad()
        def of(self, n):
            for _ in range(n):
                yield on(torch)

    return list(Steps().of(2)), on(torch)


def with_a_signature(torch):
    @torch.no_grad()
    def steps(a, b=2):
        """Say it."""
        yield 1

    return steps.__name__, steps.__doc__, str(inspect.signature(steps))


def with_duals(torch):
    forward_ad = torch.autograd.forward_ad

    @forward_ad.dual_level()
    def tripled(x):
        return forward_ad.unpack_dual(forward_ad.make_dual(x, x) * 3).tangent

    return tripled(torch.ones(2))


GENERATORS = {
    at_every_step: [[False, True], [False, True]],
    without_parentheses: [[False], True],
    with_what_is_sent: [True, [5, True], False, [7, True]],
    with_what_is_thrown: [[1, 2, True], [False, False], True],
    that_raise: [["b"], True],
    that_are_closed: [[False], True],
    with_a_mode_of_their_own: [[True, True], [False, True]],
    that_delegate: [False, [3, True]],
    in_inference_mode: [[True, True], [True, True]],
    switched_off: [True, [[False, True], [False, True]]],
    as_methods: [[False, False], True],
    with_a_signature: ["steps", "Say it.", "(a, b=2)"],
    with_duals: [3.0, 3.0],
}


@each(GENERATORS)
def test_generators_run_in_the_mode_and_their_callers_do_not(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- other forms -------------------------------------------------------------------------------


def given_by_name(torch):
    with torch.inference_mode(mode=False):
        first = torch.is_inference_mode_enabled()
    with torch.set_grad_enabled(mode=False):
        second = on(torch)
    return first, second, torch.inference_mode(False).mode, torch.set_grad_enabled(True).mode


def given_the_function(torch):
    return [
        torch.no_grad(lambda: on(torch))(),
        torch.inference_mode(torch.is_inference_mode_enabled)(),
        on(torch),
    ]


def ended_by_a_decorator(torch):
    @torch.inference_mode(False)
    def inside():
        return torch.is_inference_mode_enabled(), on(torch)

    with torch.inference_mode():
        return inside()


def entered_later(torch):
    mode = torch.set_grad_enabled(False)
    torch.set_grad_enabled(True)
    with mode:
        inside = on(torch)
    return inside, on(torch)


def told(torch):
    return repr(torch.set_grad_enabled(True))


def copied(torch):
    return torch.inference_mode(False).clone().mode


FORMS = {
    given_by_name: [False, False, False, True],
    given_the_function: [False, True, True],
    ended_by_a_decorator: [False, True],
    entered_later: [False, True],
    told: "torch.autograd.grad_mode.set_grad_enabled(mode=True)",
    copied: False,
}


@each(FORMS)
def test_a_mode_is_given_in_every_form(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)
    assert on(torch)


def test_a_decorated_class_is_deprecated_and_is_a_function(torch: Any) -> None:
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Made:
            def __init__(self) -> None:
                self.inside = on(torch)

    assert not Made().inside


def test_a_mode_may_be_entered_again_while_it_lasts() -> None:  # PyTorch's then never ends
    mode = core.no_grad()
    with mode:
        with mode:
            assert not on(core)
        assert not on(core)
    assert on(core)


def test_a_generator_may_be_closed_in_another_context() -> None:
    def steps():
        with core.no_grad():
            yield

    running = steps()
    contextvars.copy_context().run(next, running)
    contextvars.copy_context().run(running.close)
    assert on(core)
