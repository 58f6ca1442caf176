"""Pictures of computation graphs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from gradstep.records import Profile
from gradstep.text import suggests
from gradstep_viz.errors import VizError
from gradstep_viz.formats import FORMATS
from gradstep_viz.level_of_detail import Composer, chosen_part, folding_of
from gradstep_viz.options import RenderKeywords, RenderOptions, takes_options
from gradstep_viz.picture.subject import subject_of
from gradstep_viz.rendering import Rendering, choose_format, render_graph

if TYPE_CHECKING:
    import graphviz

    from gradstep_viz.films import Film, film

__all__ = [
    "FORMATS",
    "Film",
    "RenderOptions",
    "Rendering",
    "VizError",
    "film",
    "render",
    "to_graphviz",
]


def __getattr__(name: str) -> Any:
    """Load films when somebody makes one."""
    if name in ("Film", "film"):
        # they need the debugger, which pictures should not wait for; the package is called films
        # because a module gradstep_viz.film would take the place of the function
        from gradstep_viz import films

        return getattr(films, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@suggests
@takes_options
def render(
    obj: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    inputs: Any = None,
    profile: Profile | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[RenderKeywords],
) -> Rendering:
    """Draw a graph.

    Args:
        obj: a tensor or several; a module or function, which is called with ``inputs``; a
            :class:`~gradstep.graph.model.Graph`; or a :class:`~gradstep.Session`,
            with the gradients that have flowed so far.
        out: a file to write. Its suffix determines the format, unless ``format`` does.
        format: one of :data:`FORMATS`; SVG by default.
        inputs: the arguments for a module or function: one input, a tuple of inputs, or a
            dictionary by name. The default is the attribute ``sample_inputs`` of a module.
        profile: a profile from :mod:`autograd_core.autograd.profiler`. Boxes then show how long
            their ops and nodes took, and how many bytes they produced.
        folder: the folder that source file names are relative to; the current directory by default.
        {options}

    A picture is folded until it fits: shape ops join the op that they serve, then scopes, repeats
    and loops fold as far as necessary. JSON is folded only on request.

    Raises:
        VizError: an option does not exist, the file cannot be written, or no renderer on this
            machine produces the format.
    """
    chosen, drawn = choose_format(out, format), RenderOptions(**options)
    subject = subject_of(obj, drawn.halves, inputs, profile)
    here = None if folder is None else Path(folder)
    rendering = render_graph(subject.graph, chosen, drawn, folder=here, position=subject.position)
    if out is not None:
        rendering.save(out)
    return rendering


@suggests
@takes_options
def to_graphviz(
    obj: Any, *, inputs: Any = None, **options: Unpack[RenderKeywords]
) -> graphviz.Digraph:
    """Return the picture as a ``graphviz.Digraph``, to style, extend and render as you like; its
    ``source`` is the DOT text.

    Args:
        obj, inputs: as for :func:`render`.
        {options}
    """
    # with it comes the package graphviz, which only this needs
    from gradstep_viz.output.dot import make_digraph

    drawn = RenderOptions(**options)
    subject = subject_of(obj, drawn.halves, inputs)
    folding = folding_of(chosen_part(subject.graph, drawn), drawn.halves)
    composed = Composer(folding, subject.position).compose_for_a_screen(drawn)
    return make_digraph(composed.picture, drawn.legend)
