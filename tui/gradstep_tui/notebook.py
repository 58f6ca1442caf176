"""gradstep in notebooks: ``%load_ext gradstep``.

``%gradstep COMMAND ...`` is any command, as in a shell, and ``%%gradstep COMMAND`` runs the cell
below it under one that needs no screen::

    %gradstep check train.py --epochs 1

    %%gradstep check
    loss = model(images).sum()
    loss.backward()

The cell has the variables of the notebook, and leaves its own there. ``check`` returns its report,
``render`` and ``film`` their picture; the others print.

Graphs, sessions and their snapshots are shown as pictures and tables. The session that was shown
last is drawn again in its place when a cell has stepped it. Results of :func:`gradstep.render` and
:func:`gradstep.film` display as pictures without this extension. Tensors still display as numbers.
"""

from __future__ import annotations

import argparse
import io
import linecache
import shlex
from contextlib import ExitStack, redirect_stdout
from html import escape
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import gradstep_viz
from gradstep.graph import Graph
from gradstep.graph.model import View
from gradstep.graph.statistics import format_statistics
from gradstep.guest.cells import cell_name

if TYPE_CHECKING:
    from gradstep.console.session import Session
    from gradstep.debugger.snapshot import Snapshot

_OF_CELLS: Final = ("check", "why", "record", "render", "film", "debug")
"""The commands that a cell can be run under."""
_SESSION: Final = ("gradstep.console.session", "Session")
_SNAPSHOT: Final = ("gradstep.debugger.snapshot", "Snapshot")
"""What is shown, and the module that has it: the debugger is loaded when somebody debugs."""


def load_ipython_extension(ipython: Any) -> None:
    """Show graphs and debugger sessions as pictures in this notebook; add ``%gradstep`` and
    ``%%gradstep``."""
    formatters, shown = ipython.display_formatter.formatters, _ShownSession()
    formatters["text/html"].for_type(Graph, graph_as_html)
    formatters["text/html"].for_type_by_name(*_SNAPSHOT, snapshot_as_html)
    ipython.display_formatter.ipython_display_formatter.for_type_by_name(*_SESSION, shown.show)
    if hasattr(ipython, "kernel"):  # a terminal has no place to draw again in
        ipython.events.register("post_run_cell", shown.draw_again)
        _shown[id(ipython)] = shown
    ipython.register_magic_function(_gradstep_of(ipython), "line_cell", "gradstep")


def unload_ipython_extension(ipython: Any) -> None:
    """Show graphs and sessions as text again, and take the magics away."""
    formatters = ipython.display_formatter.formatters
    formatters["text/html"].pop(Graph, None)
    formatters["text/html"].pop(".".join(_SNAPSHOT), None)
    ipython.display_formatter.ipython_display_formatter.pop(".".join(_SESSION), None)
    shown = _shown.pop(id(ipython), None)
    if shown is not None:
        ipython.events.unregister("post_run_cell", shown.draw_again)
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("gradstep", None)


class _ShownSession:
    """The session that a notebook has shown last, which is drawn again when it has moved."""

    def __init__(self) -> None:
        self._session: ref[Session] | None = None
        self._handle: Any = None
        self._at: object = None

    def show(self, session: Session) -> None:
        """Show a session as the result of a cell."""
        # only a notebook has it
        from IPython.display import display

        self._session, self._at = ref(session), _position(session)
        self._handle = display(_bundle(session), raw=True, display_id=True)

    def draw_again(self, _result: Any = None) -> None:
        """Draw the session in its place, if it has moved."""
        session = None if self._session is None else self._session()
        if session is not None and self._at != (at := _position(session)):
            self._at = at
            self._handle.update(_bundle(session), raw=True)


def _bundle(session: Session) -> dict[str, str]:
    """Return what a front end shows of a session."""
    return {"text/html": session_as_html(session), "text/plain": repr(session.snapshot)}


def _position(session: Session) -> object:
    """Return what is another where a session is to be drawn again."""
    at = session.snapshot
    return at.position, at.phase, at.recorded, len(at.edits), len(at.frames), at.error


_shown: Final[dict[int, _ShownSession]] = {}
"""By the shell that has loaded the extension."""


def graph_as_html(graph: Graph) -> str:
    """Draw the halves that ``graph`` has."""
    halves = set(graph.halves)
    view: View = halves.pop() if len(halves) == 1 else "both"
    return gradstep_viz.render(graph, view=view).text


def session_as_html(session: Session) -> str:
    """Show the position of the session, the gradients so far, and a picture of its pass."""
    picture = gradstep_viz.render(session, view="backward").text
    return f"{snapshot_as_html(session.snapshot)}\n{picture}"


def snapshot_as_html(at: Snapshot) -> str:
    """Show a position in a pass, and the gradients so far."""
    where = f"call {at.call}: {at.position} of {at.length} nodes have run"
    if at.current is not None:
        where += f"; next is {at.graph.address(at.position)}"
    rows = "".join(
        f"<tr><td><code>{escape(leaf.name)}.grad</code></td>"
        f"<td>{format_statistics(leaf.now.statistics) if leaf.now else 'none yet'}</td></tr>"
        for leaf in at.leaves
    )
    return f"<p>{escape(where)}</p>\n<table>{rows}</table>"


def _gradstep_of(ipython: Any) -> Any:
    """Return the magic of a notebook."""

    def gradstep(line: str, cell: str | None = None) -> Any:
        """``%gradstep COMMAND ...``: run a command; ``%%gradstep check|why|record|render|film|debug
        [OPTIONS] [LEAF]``: run this cell under one."""
        # only a notebook has it, which shows this one without a traceback
        from IPython.core.error import UsageError

        try:
            command, *words = shlex.split(line) or ["--help"]
        except ValueError as error:
            raise UsageError(f"%gradstep: {str(error).lower()}") from None
        if cell is None:
            return run_line(command, words)
        if command not in _OF_CELLS:
            raise UsageError(
                f"%%gradstep takes one of {', '.join(_OF_CELLS)}, as %%gradstep check; to step "
                "through a pass here, use gradstep.Session(loss)"
            )
        if {"--fix", "--verify"} & {*words}:
            raise UsageError(
                "%%gradstep check: a cell is not a file, so a fix cannot be tried in it; --diff "
                "shows it"
            )
        number = len(ipython.history_manager.input_hist_parsed) - 1  # this one is in it
        return run_cell(command, words, cell, ipython.user_ns, number)

    return gradstep


def run_cell(
    command: str, words: list[str], code: str, variables: dict[str, Any], number: int = 1
) -> Any:
    """Run ``code`` with ``variables`` under a command of gradstep.

    Args:
        command: ``check``, which returns its report, ``render`` or ``film``, which return their
            picture, ``why``, ``record`` or ``debug``.
        words: its options, and for ``why`` the leaf, which stands last.
        code: the program, which leaves its variables in ``variables``.
        variables: the variables of a notebook.
        number: that of the cell.
    """
    # slow to load, and a notebook may never run a cell so
    from gradstep.program.process import variables_shared

    cell = cell_name(number)
    lines = ["\n", *code.splitlines(keepends=True)]  # the first one has the magic
    linecache.cache[cell] = (len(code), None, lines, cell)
    leaf = [words.pop()] if command == "why" and words else []
    with variables_shared(variables):
        return run_line(command, [*words, cell, *leaf])


def run_line(command: str, words: list[str]) -> Any:
    """Run a command; returns the report or the picture where that is all that was asked for."""
    # slow to load, as above
    from gradstep_tui.cli import main

    if command == "check":
        reports: list[Any] = []
        main([command, *words], lambda options: _check(options, reports))
        return reports[0] if reports else None
    if command not in ("render", "film") or {"-o", "--help", "-h"} & {*words}:
        main([command, *words])
        return None
    data = io.BytesIO()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(io.TextIOWrapper(data, "utf-8")))
        main([command, "-o", "-", *words])
        picture = data.getvalue()
    return gradstep_viz.Rendering("svg", picture) if picture else None


def _check(options: argparse.Namespace, reports: list[Any]) -> int:
    """Carry out ``check``, and keep the report where it is to be printed, and no more."""
    # slow to load, as above
    from gradstep.program.target import parse_target
    from gradstep_tui.commands import check
    from gradstep_tui.ending import end_as

    target = parse_target(options.target, module=options.module)
    is_more = options.output or options.diff or options.verify or options.fix or options.quiet
    is_job = target.is_recording and options.arguments
    if options.format or options.everything or is_more or is_job:
        return check.run(options)
    report, failure = check.report_of(options, target)
    reports.append(report)
    return end_as(failure)
