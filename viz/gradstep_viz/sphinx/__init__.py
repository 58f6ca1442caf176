"""Graphs in Sphinx documentation, in reStructuredText and in MyST.

In ``conf.py``::

    extensions = ["gradstep.sphinx"]

and in a document::

    .. autograd-graph:: train.py:loss
       :view: backward
       :caption: The gradient of the loss

    .. autograd-film::

       import autograd_core as torch
       x = torch.tensor(2.0, requires_grad=True)
       y = torch.log(x * x)

Code runs only when a document that contains it is read, and runs again only if the code, its
options or its files change.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from gradstep_viz.embedding import gradstep_version
from gradstep_viz.sphinx.directives import AutogradFilm, AutogradGraph
from gradstep_viz.sphinx.resolving import drawing_node, resolve_drawings

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives ``autograd-graph`` and ``autograd-film`` with Sphinx."""
    app.add_config_value("autograd_graph_view", "both", "env", (str,))
    app.add_config_value("autograd_graph_theme", "auto", "env", (str,))
    app.add_config_value("autograd_graph_cache", None, "", (str, type(None)))
    app.add_node(drawing_node)
    app.add_directive("autograd-graph", AutogradGraph)
    app.add_directive("autograd-film", AutogradFilm)
    app.connect("doctree-resolved", resolve_drawings)
    # documents are read anew when another version draws them
    app.add_config_value("autograd_graph_version", gradstep_version(), "env", (str,))
    return {
        "version": gradstep_version(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
