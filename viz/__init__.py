"""Pictures of computation graphs.

>>> from autograd_core.dag.builder import GraphBuilder
>>> build = GraphBuilder("y = sin x")
>>> x = build.node("leaf", "forward", "x", variable="x", shape=(3,), dtype="float32")
>>> y = build.node("op", "forward", "sin", shape=(3,), dtype="float32")
>>> _ = build.edge("value", x, y, shape=(3,), dtype="float32")
>>> print(render(build.graph(), format="txt", view="forward").text)
y = sin x
<BLANKLINE>
forward ↓ · 1 op, 1 leaf
  x    leaf · [3]
  sin  ← x
<BLANKLINE>
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from autograd_core.autograd import profiler
from viz.compose import make_picture
from viz.errors import VizError
from viz.extent import Extent, Shown, chosen_part, folded, folding_of
from viz.links import Links
from viz.magnitude import scale_of
from viz.picture import VIEWS, Picture, View
from viz.rendering import FORMATS, Rendering, choose_format, known, render_graph
from viz.screen import on_one_screen
from viz.subject import subject_of

if TYPE_CHECKING:
    import graphviz

    from viz.filming import Film, film

__all__ = ["FORMATS", "Film", "Rendering", "VizError", "film", "render", "to_dot", "to_graphviz"]


def __getattr__(name: str) -> Any:
    """Films need the debugger, which pictures should not wait for."""
    if name in ("Film", "film"):
        # films need the debugger, which pictures should not wait for
        from viz import filming

        return getattr(filming, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def render(
    obj: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    view: View = "both",
    format: str | None = None,
    theme: str = "auto",
    layout: str = "own",
    leaves: bool | None = None,
    title: str | None = None,
    inputs: Any = None,
    profile: profiler.profile | None = None,
    magnitude: bool | None = None,
    legend: bool = False,
    link: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    full: bool = False,
    max_boxes: int | None = None,
    depth: int | None = None,
    expand: str | Sequence[str] = (),
    around: str | None = None,
    hops: int | None = None,
    path: str | None = None,
) -> Rendering:
    """Draw a graph.

    Args:
        obj: a tensor or several; a module or function, which is called with ``inputs``; a
            :class:`~autograd_core.dag.model.Graph`; or a :class:`~autograd_core.debug.Session`,
            with the gradients that have flowed so far.
        out: a file to write; its suffix says the format, unless ``format`` does.
        view: "forward", "backward", or "both" with the saved tensors between them.
        format: one of :data:`FORMATS`; SVG by default.
        theme: "auto" follows the reader's colour scheme; "light", "dark".
        layout: who places the boxes: "own", this package, or "graphviz".
        leaves: True gives every leaf and AccumulateGrad a box of its own.
        title: the title of the picture; without it, the name of ``obj``, if it has one.
        inputs: what a module or function is called with: one input, a tuple of them, or a
            dictionary by name.  Without it, the attribute ``sample_inputs`` of a module is used.
        profile: of :mod:`autograd_core.autograd.profiler`, which measured the program: boxes say
            how long their ops and nodes took, and how many bytes these made.
        magnitude: show how large gradients are by a sign, a shade and a width, on a log scale;
            by default where they are known and spread over more than a factor of 100.
        legend: explain the colours, lines and marks that occur; JSON has none to explain.
        link: where the line of the program behind a box is to be seen, such as
            ``vscode://file/{path}:{line}`` or ``https://host/repo/blob/main/{path}#L{line}``.
        folder: where relative names of source files begin, the current directory by default.
        full: fold nothing.
        max_boxes: how many boxes there may be; by default 60, or 40 where both halves are shown,
            and fewer where the picture could not be read whole on a screen.
        depth: open modules and scopes down to this depth, and no further.
        expand: what is opened in any case: "layers.3", or "t=3" for a round of a loop.
        around: show only what is near this node, given by its address ("encoder.0/addmm:2"),
            a scope, an op, or the name of a leaf.
        hops: how near: so many edges, 2 by default.
        path: show only the ways between two nodes: "loss..fc1.weight".

    A picture is folded until it fits: shape ops join the op that they serve, then scopes,
    repeats and loops are shown as finely as the boxes allow.  JSON has it all unless told.

    Raises:
        VizError: an option that does not exist, a file that cannot be written, or a format
            that nothing on this machine can make.
    """
    chosen = choose_format(out, format)
    subject = subject_of(obj, view, inputs, profile)
    here = Path.cwd() if folder is None else Path(folder)
    rendering = render_graph(
        subject.graph,
        chosen,
        view=view,
        theme_name=theme,
        layout=layout,
        leaves=leaves,
        title=title,
        magnitude=magnitude,
        legend=legend,
        links=None if link is None else Links(link, here),
        position=subject.position,
        extent=Extent.of(
            full=full, max_boxes=max_boxes, depth=depth, expand=expand, around=around, hops=hops,
            path=path,
        ),
    )  # fmt: skip
    if out is not None:
        rendering.save(out)
    return rendering


def to_dot(
    obj: Any,
    *,
    view: View = "both",
    leaves: bool | None = None,
    legend: bool = False,
    inputs: Any = None,
    **shown: Unpack[Shown],
) -> str:
    """The DOT text of a picture, for anyone's Graphviz; arguments as for :func:`render`."""
    digraph = to_graphviz(obj, view=view, leaves=leaves, legend=legend, inputs=inputs, **shown)
    return str(digraph.source)


def to_graphviz(
    obj: Any,
    *,
    view: View = "both",
    leaves: bool | None = None,
    legend: bool = False,
    inputs: Any = None,
    **shown: Unpack[Shown],
) -> graphviz.Digraph:
    """The picture as a ``graphviz.Digraph``, to style, extend and render as you like; arguments
    as for :func:`render`."""
    # with it comes the package graphviz, which only this needs
    from viz.dot import make_digraph

    known("view", view, VIEWS)
    extent = Extent.of(**shown)
    extent.check()
    subject = subject_of(obj, view, inputs)
    folding = folding_of(chosen_part(subject.graph, extent), view)

    def compose(extent: Extent) -> Picture:
        small, _ = folded(folding, view, extent, leaves)
        scale = scale_of(small, None)
        return make_picture(small, view, leaves=leaves, scale=scale, position=subject.position)

    return make_digraph(on_one_screen(compose, extent, view).picture, legend)
