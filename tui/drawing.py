"""``gradstep render``: from a TARGET to its graph, and from the graph to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import viz
from autograd_core.autograd.call import Gradients
from autograd_core.autograd.profiler import profile
from autograd_core.dag.capture import View, capture
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names
from autograd_core.dag.sources import with_portable_sources
from autograd_core.dag.trace import trace
from tui.failure import ExitCode, Failure, ScriptDone
from tui.intercept import Intercepted, intercepting, run_and_capture
from tui.script import run_script
from tui.target import Target, find_named, parse_target, require_file, require_graph, single_scalar
from tui.wanted import Wanted
from viz import errors
from viz.rendering import choose_format


def render_target(
    text: str,
    arguments: list[str],
    *,
    output: str | None,
    format: str | None,
    view: View,
    call: Wanted,
    profiled: bool = False,
    **options: Any,
) -> list[str]:
    """Draw a TARGET, and return notes for the user.

    Args:
        output: the file to write, "-" for standard output; None for one named after TARGET.
        call: which call of a script to draw; of several, the last one.
        profiled: measure what ops and nodes take, and show it.
        options: as :func:`viz.render` takes them.

    Raises:
        Failure: with the exit code that fits; no file has been touched.
    """
    target = parse_target(text)
    require_file(target)
    name = output or f"{target.stem}.{format or 'svg'}"
    to_stdout = name == "-"
    try:
        chosen = choose_format(None if to_stdout else name, format)
        # before the script runs: it may take long, and change the directory
        path = None if to_stdout else writable(Path(name))
        with _stdout_kept_free() if to_stdout else nullcontext(), profile(enabled=profiled):
            graph = graph_of(target, arguments, view, call)
        folder = folder_of(target.path)
        drawing = viz.render(graph, view=view, format=chosen, folder=folder, **options)
        if path is None:
            sys.stdout.buffer.write(drawing.data)
            sys.stdout.buffer.flush()
            return list(drawing.notes)
        drawing.save(path)
        return [*drawing.notes, f"wrote {name}"]
    except viz.VizError as error:
        raise Failure(str(error), code_of(error)) from None


def code_of(error: viz.VizError) -> ExitCode:
    """The exit code that says what kind of error this is."""
    if isinstance(error, errors.RendererUnavailable | errors.RenderingFailed):
        return ExitCode.NO_RENDERER
    return ExitCode.TARGET if isinstance(error, errors.NothingToDraw) else ExitCode.USAGE


def writable(path: Path) -> Path:
    """Where ``path`` leads to, if a file can be written there."""
    problem = ""
    if path.is_dir():
        problem = "it is a directory; name a file in it"
    elif not path.parent.is_dir():
        problem = f"there is no directory {path.parent}; create it first"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "it is read-only; choose another place"
    if problem:
        raise Failure(f"cannot write {path}: {problem}", ExitCode.USAGE)
    return path.resolve()


@contextmanager
def _stdout_kept_free() -> Iterator[None]:
    """Standard output is for the picture: what the script and its children print there goes to
    standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def graph_of(target: Target, arguments: list[str], view: View, call: Wanted) -> Graph:
    """The graph of ``target``; for a script that of the last of its calls that ``call`` means.

    Raises:
        Failure: with the exit code that fits.
    """
    if target.path is not None and not target.name:
        return _graph_of_script(target.path, arguments, view, call)
    with trace():
        found = find_named(target, arguments)
    require_graph(found.root, target)
    graph = capture(found.root, view, names=Names(found.names), title=target.name)
    return with_portable_sources(graph, folder_of(target.path))


def _graph_of_script(path: Path, arguments: list[str], view: View, call: Wanted) -> Graph:
    captured: list[Graph] = []

    def draw(found: Intercepted) -> bool | Gradients:
        graph, answer = run_and_capture(found, view)
        captured[:] = [with_portable_sources(graph, folder_of(path))]
        if call.number is not None:
            raise ScriptDone
        return answer

    variables: dict[str, Any] = {}
    with intercepting(draw, call) as calls:
        variables = run_script(path, arguments)
    if captured:
        return captured[0]
    calls.require_wanted()
    name, scalar = single_scalar(variables, calls.counts["grad"])
    graph = capture(scalar, view, names=Names(variables), title=name)
    return with_portable_sources(graph, folder_of(path))


def folder_of(script: Path | None) -> Path:
    """Where the files of a target are; without a script, the current directory."""
    return Path.cwd() if script is None else script.absolute().parent
