"""From a request in a document to the drawing that stands there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gradstep_viz
from gradstep.capturing import capture
from gradstep.capturing.names import Names
from gradstep.capturing.roots import backward_call, tensors_in
from gradstep.capturing.sources import with_portable_sources
from gradstep.contract.tracing import trace
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph import Graph, NotInGraph
from gradstep_viz.embedding.options import Value
from gradstep_viz.embedding.running import Found, code_of, run
from gradstep_viz.embedding.snippet import Snippet
from gradstep_viz.embedding.store import Store
from gradstep_viz.errors import CodeFailed
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.svg import title_of


class Request(NamedTuple):
    """A document's request for a drawing.

    ``snippets`` run in the same variables, and the last one says what is drawn, with the gradients
    that have flowed after ``step`` nodes ran; -1 is the end of the pass, None shows none.
    ``values`` is explained at :func:`gradstep.trace`; ``options`` are those of
    :func:`gradstep_viz.render`, or of :func:`gradstep_viz.film` for a film.
    """

    snippets: tuple[Snippet, ...]
    options: Mapping[str, Value]
    film: bool = False
    step: int | None = None
    values: bool = False


class Drawing(NamedTuple):
    """One picture in all the forms that a document may need.

    ``still`` is ``svg`` without motion, ``dot`` is for Graphviz ("" for a film), ``alt`` says in
    a sentence what there is to see, and ``files`` are those that all this depends on.
    """

    svg: str
    still: str
    text: str
    dot: str
    alt: str
    notes: tuple[str, ...]
    files: tuple[str, ...]


def draw(request: Request, store: Store | None = None) -> Drawing:
    """Make the drawing that ``request`` asks for, or take it from ``store``, if it is there and
    nothing that it depends on has changed since.

    Raises:
        CodeFailed: the author's code raised, or leaves nothing to draw.
        VizError: an option has no such value, or there is nothing to draw.
    """
    key = _identity(request)
    known = store.get(key) if store else None
    if known is not None:
        tuples = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return Drawing(**known | tuples)
    with trace(request.values):
        ran = run(request.snippets)
    with code_of(request.snippets[-1]):  # hooks of the author's may run, and a graph be freed
        drawing = _film(request, ran) if request.film else _picture(request, ran)
    if store:
        store.put(key, drawing._asdict(), drawing.files)
    return drawing


def _require_kept(roots: Any) -> None:
    tensors, engine = tensors_in(roots)
    if any(node.is_freed for node in engine.reading.plan(engine.reading.tensors(tensors)).order):
        raise CodeFailed(
            "the graph was freed by a backward() of the code",
            remedy="leave that out: the document runs the pass itself",
        )


def _identity(request: Request) -> tuple[Any, ...]:
    """Collect all that the drawing follows from, but the files.

    The line at which a document's code stands is no part of it: text above it may grow.
    """
    snippets = [snippet._replace(line=1) for snippet in request.snippets]
    options = sorted(request.options.items())
    return (snippets, options, request.film, request.step, request.values)


def _picture(request: Request, ran: Found) -> Drawing:
    options: Any = request.options
    graph = _graph(request, ran)
    folder = request.snippets[-1].folder
    svg, text, dot = (
        gradstep_viz.render(graph, format=name, folder=folder, **options)
        for name in ("svg", "txt", "dot")
    )
    alt = title_of(svg.text)
    return Drawing(svg.text, svg.text, text.text, dot.text, alt, svg.notes, ran.files)


def _graph(request: Request, ran: Found) -> Graph:
    if isinstance(ran.value, Graph):
        return ran.value
    try:
        if request.step is not None:
            _require_kept(ran.value)
        graph = graph_at(ran.value, Names(ran.variables), request.step, ran.name)
    except NotInGraph as error:
        raise CodeFailed(str(error)) from None
    return with_portable_sources(graph, Path(request.snippets[-1].folder))


def graph_at(roots: Any, names: Names, step: int | None, title: str = "") -> Graph:
    """Capture the graph behind ``roots`` as it stands after ``step`` nodes of its pass ran.

    Afterwards every ``.grad`` is as it was, and nothing has been freed.

    Raises:
        CodeFailed: the pass has fewer nodes.
    """
    if step is None:
        return capture(roots, names=names, title=title)
    with ObservedPass(backward_call(roots), names) as observed:
        length = len(observed.order)
        if not -1 <= step <= length:
            raise CodeFailed(f"there is no step {step}", remedy=f"this pass has {length} steps")
        observed.run(None if step == -1 else step)
        return observed.graph("both", title)


def _film(request: Request, ran: Found) -> Drawing:
    # films need the debugger, which pictures should not wait for
    from gradstep_viz.films import film_of
    from gradstep_viz.films.recording import record_call

    options: Any = request.options
    if isinstance(ran.value, Graph):
        raise CodeFailed(
            "a film needs a tensor, not a graph", remedy="end the code with the tensor"
        )
    _require_kept(ran.value)
    call = backward_call(ran.value)
    seconds = {name: value for name, value in options.items() if name == "seconds"}
    drawn = {name: value for name, value in options.items() if name != "seconds"}
    chosen = RenderOptions(**{"view": "both"} | drawn)
    film = film_of(record_call(call, chosen.halves, Names(ran.variables)), chosen, **seconds)
    text = "\n".join(f"{number}. {': '.join(filter(None, shot[:2]))}" for number, shot in
                     enumerate(film.shots, 1))  # fmt: skip
    return Drawing(film.svg(), film.frame(-1), f"{text}\n", "", film.sentence, (), ran.files)
