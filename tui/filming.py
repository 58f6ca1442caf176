"""``gradstep film``: from a TARGET to the film of its backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import viz
from autograd_core.autograd.call import make_call
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names
from autograd_core.dag.sources import with_portable_sources
from autograd_core.dag.trace import trace
from autograd_core.tensor import Tensor
from tui.drawing import code_of, folder_of, writable
from tui.failure import ExitCode, Failure, ScriptDone
from tui.intercept import Intercepted, intercepting
from tui.script import run_script
from tui.target import Target, find_named, parse_target, require_file, require_graph, single_scalar
from tui.wanted import Wanted
from viz.filming import film_of
from viz.filming.recording import Recording, record_call
from viz.picture import View

SUFFIXES = (".svg", ".html", ".htm", "")


def film_target(
    text: str,
    arguments: list[str],
    *,
    output: str | None,
    view: View,
    call: Wanted,
    **options: Any,
) -> list[str]:
    """Film a TARGET, and return notes for the user.

    Args:
        output: an SVG, a page, or a directory for stills; None for an SVG named after TARGET.
        call: which call of a script to film; of several, the last one.
        options: as :func:`viz.film` takes them.

    Raises:
        Failure: with the exit code that fits; no file has been touched.
    """
    target = parse_target(text)
    require_file(target)
    name = output or f"{target.stem}.svg"
    path = _place(Path(name))
    recording = _recording_of(target, arguments, view, call)
    try:
        made = film_of(recording, view=view, **options)
        made.save(path)
    except viz.VizError as error:
        raise Failure(str(error), code_of(error)) from None
    return [f"wrote {name}, {len(made)} frames"]


def _place(path: Path) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise Failure(
            f"a film cannot be written as {path.suffix}: end the name in .svg or .html, or name "
            "a directory for the stills",
            ExitCode.USAGE,
        )
    return path.resolve() if path.is_dir() and not path.suffix else writable(path)


def _recording_of(target: Target, arguments: list[str], view: View, call: Wanted) -> Recording:
    if target.path is not None and not target.name:
        return _recording_of_script(target.path, arguments, view, call)
    with trace(values=True):
        found = find_named(target, arguments)
    require_graph(found.root, target)
    made = _recording_of_tensor(found.root, found.names, view)
    return _portable(made, target.path, target.name)


def _recording_of_script(path: Path, arguments: list[str], view: View, call: Wanted) -> Recording:
    recorded: list[Recording] = []

    def watch(found: Intercepted) -> bool:
        recorded[:] = [record_call(found.call, view, found.names)]
        if call.number is not None:
            raise ScriptDone
        return False  # recording it has taken back what it did

    variables: dict[str, Any] = {}
    with intercepting(watch, call, values=True) as calls:
        variables = run_script(path, arguments)
    if recorded:
        return _portable(recorded[0], path)
    calls.require_wanted()
    name, scalar = single_scalar(variables, calls.counts["grad"])
    return _portable(_recording_of_tensor(scalar, variables, view), path, name)


def _recording_of_tensor(root: Tensor, variables: Mapping[str, Any], view: View) -> Recording:
    try:
        return record_call(make_call(root, None, None, False), view, Names(variables))
    except RuntimeError as error:  # it is no scalar, or its graph was freed: PyTorch's words
        raise Failure(f"the backward pass failed: {error}", ExitCode.TARGET) from None


def _portable(made: Recording, path: Path | None, title: str = "") -> Recording:
    def graph(of: Graph) -> Graph:
        return with_portable_sources(of, folder_of(path))

    return made._replace(before=graph(made.before), after=graph(made.after))
