"""From a TARGET to the graph that ``gradstep render`` draws."""

from __future__ import annotations

from pathlib import Path

from autograd_core.dag.capture import NotInGraph, View, capture
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names
from autograd_core.dag.trace import trace
from tui.failure import ExitCode, Failure
from tui.intercept import Intercepted, ScriptDone, intercepting, run_and_capture
from tui.script import run_script
from tui.target import find_named, parse_target, single_scalar


def graph_of(target: str, arguments: list[str], view: View, call: int | None) -> Graph:
    """The graph of ``target``; for a script that of its ``backward()`` call number ``call``,
    None for the last one.

    Raises:
        Failure: with the exit code that fits.
    """
    parsed = parse_target(target)
    try:
        if parsed.is_script:
            return _graph_of_script(Path(parsed.place), arguments, view, call)
        with trace():
            found = find_named(parsed, arguments)
        return capture(found.roots, view, names=Names(found.names), title=found.title)
    except NotInGraph as error:
        raise Failure(
            f"{target}: {error} (give a parameter requires_grad=True, and mind no_grad and detach)",
            ExitCode.TARGET,
        ) from None


def _graph_of_script(path: Path, arguments: list[str], view: View, call: int | None) -> Graph:
    captured: list[Graph] = []

    def draw(found: Intercepted) -> bool:
        if call is not None and found.number != call:
            return False
        captured[:] = [run_and_capture(found, view)]
        if call is not None:
            raise ScriptDone
        return True

    variables = {}
    with intercepting(draw) as calls:
        try:
            variables = run_script(path, arguments)
        except ScriptDone:
            pass
    if captured:
        return captured[0]
    if calls[0]:
        raise Failure(
            f"the script called backward() {calls[0]} times, so there is no call {call}",
            ExitCode.TARGET,
        )
    name, scalar = single_scalar(variables)
    return capture(scalar, view, names=Names(variables), title=name)
