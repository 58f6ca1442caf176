"""Catching a script's ``backward()`` calls before they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autograd_core.autograd.backward import BackwardCall, interceptor
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.dag.trace import trace
from autograd_core.debug.driver import NativeDriver
from autograd_core.dag.capture import View, capture


class ScriptDone(BaseException):
    """Ends a script from inside its ``backward()``; no ``except Exception`` of it stops this."""


class Intercepted(NamedTuple):
    """A ``backward()`` call of the script: which one it is, and the names known there."""

    number: int
    call: BackwardCall
    names: Names


@contextmanager
def intercepting(handle: Callable[[Intercepted], bool]) -> Iterator[list[int]]:
    """Trace, and hand each ``backward()`` call to ``handle``, which says whether it ran it.

    Yields a list whose one element counts the calls so far.
    """
    calls = [0]

    def intercept(call: BackwardCall) -> bool:
        calls[0] += 1
        token = interceptor.set(None)  # a backward within this one is none of the script's
        try:
            return handle(Intercepted(calls[0], call, caller_names()))
        finally:
            interceptor.reset(token)

    token = interceptor.set(intercept)
    try:
        with trace():
            yield calls
    finally:
        interceptor.reset(token)


def run_and_capture(found: Intercepted, view: View) -> Graph:
    """Carry out the call, and return its graph with the gradients that flowed."""
    driver = NativeDriver(found.call)
    steps = [driver.execute(index) for index in range(len(driver.order))]
    graph = capture(found.call.roots, view, names=found.names, steps=steps)
    driver.release()
    return graph


