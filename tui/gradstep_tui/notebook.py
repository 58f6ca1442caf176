"""gradstep in notebooks: ``%load_ext gradstep``.

Graphs, sessions and their snapshots are then shown as pictures and tables, and a cell can be run
under a command that needs no screen::

    %%gradstep check
    loss = model(images).sum()
    loss.backward()

It has the variables of the notebook, and leaves its own there.  Results of :func:`gradstep.render`
and :func:`gradstep.film` display as pictures without this extension. Tensors still display as
numbers.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import ExitStack, redirect_stdout
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import gradstep_viz
from gradstep.graph import Graph
from gradstep.graph.model import View
from gradstep.graph.statistics import format_statistics

if TYPE_CHECKING:
    from gradstep.console.session import Session
    from gradstep.debugger.snapshot import Snapshot

_COMMANDS: Final = ("check", "why", "render", "film")
_SHOWN: Final = {
    "gradstep.console.session": ("Session", "session_as_html"),
    "gradstep.debugger.snapshot": ("Snapshot", "snapshot_as_html"),
}
"""What is shown, by the module that has it: the debugger is loaded when somebody debugs."""


def load_ipython_extension(ipython: Any) -> None:
    """Show graphs and debugger sessions as pictures in this notebook; add ``%%gradstep``."""
    formatter = ipython.display_formatter.formatters["text/html"]
    formatter.for_type(Graph, graph_as_html)
    for module, (name, function) in _SHOWN.items():
        formatter.for_type_by_name(module, name, globals()[function])
    ipython.register_magic_function(_gradstep_of(ipython), "cell", "gradstep")


def unload_ipython_extension(ipython: Any) -> None:
    """Show graphs and sessions as text again, and take ``%%gradstep`` away."""
    formatter = ipython.display_formatter.formatters["text/html"]
    formatter.pop(Graph, None)
    for module, (name, _) in _SHOWN.items():
        formatter.pop(f"{module}.{name}", None)
    ipython.magics_manager.magics["cell"].pop("gradstep", None)


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
    """Return the magic ``%%gradstep`` of a notebook."""

    def gradstep(line: str, cell: str) -> Any:
        """``%%gradstep check|why|render|film [OPTIONS] [LEAF]``: run this cell under a command."""
        command, *words = shlex.split(line) or [""]
        if command not in _COMMANDS:
            from IPython.core.error import UsageError  # which it shows without a traceback

            raise UsageError(
                f"%%gradstep takes one of {', '.join(_COMMANDS)}, as %%gradstep check; to step "
                "through a pass here, use gradstep.Session(loss)"
            )
        return run_cell(command, words, cell, ipython.user_ns)

    return gradstep


class _OfCell(io.TextIOBase):
    """Standard output, where commands name the cell, not the file that it is written to."""

    def __init__(self, out: TextIO, cell: Path) -> None:
        self._out, self._cell = out, str(cell)

    def write(self, text: str) -> int:
        """Pass it on."""
        cell = re.escape(self._cell)
        shown = re.sub(rf"next: gradstep debug .*{cell}\n?", "", text)
        shown = re.sub(rf"gradstep (\w+ (?:.+ )?){cell} ?", r"%%gradstep \1", shown)
        self._out.write(shown.replace(self._cell, "cell.py"))
        return len(text)

    def flush(self) -> None:
        """Pass it on."""
        self._out.flush()


def run_cell(command: str, words: list[str], code: str, variables: dict[str, Any]) -> Any:
    """Run ``code`` with ``variables`` under a command of gradstep.

    Args:
        command: ``check``, ``why``, ``render`` or ``film``; the last two return their picture.
        words: its options, and for ``why`` the leaf, which stands last.
        code: the program, which leaves its variables in ``variables``.
        variables: the variables of a notebook.
    """
    # slow to load, and a notebook may never run a cell so
    from gradstep.program.process import temporary_folder, variables_shared
    from gradstep_tui.cli import main

    draws = command in ("render", "film")
    data = io.BytesIO()
    with ExitStack() as stack:
        cell = stack.enter_context(temporary_folder()) / "cell.py"
        cell.write_text(code, "utf-8")
        stack.enter_context(variables_shared(variables))
        out = io.TextIOWrapper(data, "utf-8") if draws else _OfCell(sys.stdout, cell)
        stack.enter_context(redirect_stdout(out))
        words = ["-o", "-", *words] if draws else words
        leaf = [words.pop()] if command == "why" and words else []
        main([command, *words, str(cell), *leaf])
        picture = data.getvalue()
    return gradstep_viz.Rendering("svg", picture) if picture else None
