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
from autograd_core.dag.sources import with_portable_sources
from autograd_core.program.calls import CallSelector, InterceptedCall, run_and_capture
from autograd_core.program.run import run_target
from autograd_core.program.target import Target
from tui.exit_codes import ExitCode, Failure
from viz.rendering import choose_format


def render_target(
    target: Target,
    arguments: list[str],
    *,
    output: str | None,
    format: str | None,
    view: View,
    call: CallSelector,
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
        Failure, ProgramError, VizError: no file has been touched.
    """
    name = output or f"{target.stem}.{format or 'svg'}"
    to_stdout = name == "-"
    chosen = choose_format(None if to_stdout else name, format)
    # before the script runs: it may take long, and change the directory
    path = None if to_stdout else writable(Path(name))
    folder = target.folder
    with _stdout_kept_free() if to_stdout else nullcontext(), profile(enabled=profiled):
        graph = graph_of(target, arguments, view, call)
    drawing = viz.render(graph, view=view, format=chosen, folder=folder, **options)
    if path is None:
        sys.stdout.buffer.write(drawing.data)
        sys.stdout.buffer.flush()
        return list(drawing.notes)
    drawing.save(path)
    return [*drawing.notes, f"wrote {name}"]


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


def graph_of(target: Target, arguments: list[str], view: View, call: CallSelector) -> Graph:
    """The graph of ``target``; for a script that of the last of its calls that ``call`` requests.

    Raises:
        ProgramError: it leads to no graph.
    """
    captured: list[Graph] = []

    def draw(found: InterceptedCall) -> bool | Gradients:
        graph, answer = run_and_capture(found, view)
        captured[:] = [with_portable_sources(graph, target.folder)]
        return answer

    found = run_target(target, arguments, call, draw)
    if found is None:
        return captured[0]
    graph = capture(found.root, view, names=found.names, title=found.target.name)
    return with_portable_sources(graph, target.folder)
