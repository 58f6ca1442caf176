"""Graphs and sessions as pictures in notebooks: ``%load_ext gradstep``.

Results of :func:`gradstep.render` and :func:`gradstep.film` display as pictures without this
extension. Tensors still display as numbers.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import gradstep_viz
from gradstep.graph import Graph
from gradstep.graph.model import View
from gradstep.graph.statistics import format_statistics

if TYPE_CHECKING:
    from gradstep.debugger import Session


def load_ipython_extension(ipython: Any) -> None:
    """Show graphs and debugger sessions as pictures in this notebook."""
    formatter = ipython.display_formatter.formatters["text/html"]
    formatter.for_type(Graph, graph_as_html)
    # by name: the debugger is loaded when somebody debugs
    formatter.for_type_by_name("gradstep.debugger.session", "Session", session_as_html)


def unload_ipython_extension(ipython: Any) -> None:
    """Show graphs and sessions as text again."""
    formatter = ipython.display_formatter.formatters["text/html"]
    formatter.pop(Graph, None)
    formatter.pop("gradstep.debugger.session.Session", None)


def graph_as_html(graph: Graph) -> str:
    """Draw the halves that ``graph`` has."""
    halves = set(graph.halves)
    view: View = halves.pop() if len(halves) == 1 else "both"
    return gradstep_viz.render(graph, view=view).text


def session_as_html(session: Session) -> str:
    """Show the position of the session, the gradients so far, and a picture of its pass."""
    at = session.snapshot
    where = f"call {at.call}: {at.position} of {at.length} nodes have run"
    if at.current is not None:
        where += f"; next is {at.graph.address(at.position)}"
    rows = "".join(
        f"<tr><td><code>{escape(leaf.name)}.grad</code></td>"
        f"<td>{format_statistics(leaf.now.statistics) if leaf.now else 'none yet'}</td></tr>"
        for leaf in at.leaves
    )
    picture = gradstep_viz.render(session, view="backward").text
    return f"<p>{escape(where)}</p>\n<table>{rows}</table>\n{picture}"
