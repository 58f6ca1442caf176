"""Making a film, and saving it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradstep.graph.model import View
from gradstep.text import suggests
from gradstep_viz.errors import FormatMismatch, NothingToDraw
from gradstep_viz.films.animation import HOLD, Scene, playing, still
from gradstep_viz.films.camera import WIDTH, focuses, follow
from gradstep_viz.films.gif import GIF_MARK, require_gif, write_gif
from gradstep_viz.films.recording import Recording, record
from gradstep_viz.films.shots import Shot, make_shots
from gradstep_viz.films.strokes import SUBTITLE_ROOM, Stroke, draw, subtitle_width, subtitles
from gradstep_viz.films.timeline import Timeline, make_timeline
from gradstep_viz.formats import FORMATS, place
from gradstep_viz.level_of_detail import chosen_part, folded, folding_of, lay_out_in
from gradstep_viz.options import MAX_BOXES, MOST_BOXES, LayoutName, RenderOptions, Theme, validate
from gradstep_viz.output.files import require_replaceable, write_atomically
from gradstep_viz.output.pages import write_film_page
from gradstep_viz.output.renderers import default_renderers
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import Rectangle, text_width
from gradstep_viz.picture.leaves import box_count
from gradstep_viz.picture.model import VIEWS, Box, Line, Picture
from gradstep_viz.picture.records import Records
from gradstep_viz.picture.saved_names import with_names_of_program
from gradstep_viz.picture.wording import in_words_of_author, with_labels
from gradstep_viz.theme import MUTED_SIZE, TEXT_SIZE


@suggests
def film(
    obj: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    view: View = "both",
    theme: Theme = "auto",
    layout: LayoutName = "own",
    leaves: bool | None = None,
    seconds: float = 1.5,
    title: str | None = None,
    captions: bool | None = None,
    label: str | Sequence[str] = (),
    show: str | Sequence[str] = (),
    shape: str | None = None,
) -> Film:
    """Film the backward pass of ``obj``: a tensor, several tensors, or a session up to its
    position.

    The pass runs once. Afterwards every ``.grad`` is as before, and the graph is intact.

    Args:
        obj: a tensor or several, or a :class:`~gradstep.Session`.
        out: a file to write: ``.svg`` plays by itself, ``.gif`` in presentations, ``.html`` has a
            scrubber, and a directory gets one SVG per frame.
        view: "both" shows how the forward pass builds the graph, and then the backward pass;
            "forward" only the former, "backward" only the latter.
        theme: as for :func:`gradstep_viz.render`.
        seconds: how long a frame lasts.
        layout, leaves, title, captions, label, show, shape: as for :func:`gradstep_viz.render`.

    >>> import gradstep
    >>> import autograd_core as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> for shot in gradstep.film(torch.log(x * x)).shots:
    ...     print(shot.headline)
    The inputs
    mul runs
    log runs
    output is computed
    #1 of 3 · LogBackward0
    #2 of 3 · MulBackward0
    #3 of 3 · x.grad
    """
    validate("view", view, VIEWS)
    options = RenderOptions(
        view=view, theme=theme, layout=layout, leaves=leaves, title=title, captions=captions,
        label=label, show=show, shape=shape,
    )  # fmt: skip
    result = film_of(record(obj, view), options, seconds)
    if out is not None:
        result.save(out)
    return result


def require_place_of_film(path: Path) -> None:
    """See that a film can be written to ``path`` in a format that its name tells, and that nothing
    else is there.

    Raises:
        FormatMismatch: its name tells no format of films.
        CannotWrite: there is a file that gradstep has not written.
    """
    suffix = path.suffix.lower()
    if suffix not in ("", ".svg", ".gif", ".html", ".htm"):
        raise FormatMismatch(
            f"a film cannot be written as {path.suffix}",
            where=str(path),
            remedy="use a name that ends in .svg, .gif or .html, or a directory for the frames",
        )
    stills = (still for still in path.glob("*.svg") if still.stem.isdecimal())
    mark = FORMATS["html" if suffix.startswith(".htm") else "svg"].mark
    for file in [path] if suffix else stills:
        require_replaceable(file, GIF_MARK if suffix == ".gif" else mark)
    if suffix == ".gif":
        require_gif()


def film_of(recording: Recording, options: RenderOptions, seconds: float = 1.5) -> Film:
    """Make a film of a recorded pass; options as for :func:`film`."""
    view, room = options.halves, options.room
    chosen_part(recording.after, options)  # refuses labels of what is not there
    recording = _small(recording, view, options.leaves)
    recording = recording._replace(
        before=with_names_of_program(recording.before), after=with_names_of_program(recording.after)
    )
    before, after = (
        make_picture(
            graph, view, leaves=options.leaves, title=options.title, facts=options.facts,
            labels=options.labels,
        )
        for graph in (recording.before, recording.after)
    )  # fmt: skip
    if not after.boxes:
        raise NothingToDraw(f"the graph has no {view} half", remedy="choose another view")
    if options.captions is False:
        after = after._replace(captions=("",) * len(after.captions))
    named = with_labels(in_words_of_author(recording.after), recording.after, options.labels)
    shots = make_shots(recording.before, recording.after, named, view)
    timeline = make_timeline(recording, before, after, shots)
    roomy = _roomy(after, timeline)
    own = None if room is None else lay_out_in(roomy, room.without(SUBTITLE_ROOM))
    places, _ = place(roomy, options.layout, default_renderers(), own)
    strokes = tuple(draw(after, places, timeline, shots))
    looked_at = tuple(focuses(after, places, timeline, len(shots)))
    size = (places.width, places.height)
    return Film(
        after.title, tuple(shots), strokes, size, options.theme, seconds, looked_at, options.aspect
    )


def _small(recording: Recording, view: View, leaves: bool | None) -> Recording:
    """Fold a pass that takes too many boxes, as pictures do, if all of it has run.

    Raises:
        NothingToDraw: not all has run, and there are more boxes than anybody can look through.
    """
    before, after, _ = recording
    boxes = box_count(after, view, leaves)
    if boxes <= MAX_BOXES:
        return recording
    if any(id not in after.statistics and id not in after.undefined for id in after.orders):
        if boxes > MOST_BOXES:
            raise NothingToDraw(
                f"the film would have {boxes:,} boxes, and not all of its pass has run",
                remedy="let it run to its end, or film one half with view",
            )
        return recording
    options = RenderOptions(view=view, leaves=leaves)
    early, late = (folded(folding_of(graph, view), options)[0].graph for graph in (before, after))
    return Recording(early, late, {})


def _roomy(picture: Picture, timeline: Timeline) -> Picture:
    """Give every box and line of the picture its longest text, so that all frames fit it."""
    boxes = [_roomy_box(box, timeline, number) for number, box in enumerate(picture.boxes)]
    lines = [
        line._replace(label=_longest([line.label, times.waiting], MUTED_SIZE))
        for line, times in zip(picture.lines, timeline.lines, strict=True)
    ]
    return picture._replace(boxes=Records.of(Box, boxes), lines=Records.of(Line, lines))


def _roomy_box(box: Box, timeline: Timeline, number: int) -> Box:
    texts = timeline.boxes[number].texts
    return box._replace(
        right=_longest([text.right for text in texts], TEXT_SIZE),
        detail=_longest([text.detail for text in texts], MUTED_SIZE),
        chips=tuple(
            chip._replace(
                right=_longest(
                    [text.right for text in timeline.chips[box.node, chip.node].texts], MUTED_SIZE
                )
            )
            for chip in box.chips
        ),
    )


def _longest(texts: Sequence[str], size: float) -> str:
    return max(texts, key=lambda text: text_width(text, size))


@dataclass(frozen=True)
class Film:
    """A backward pass as frames; ``shots`` describe what happens in each, ``focuses`` are the
    places of it in a picture of that ``size``.

    >>> import gradstep
    >>> import autograd_core as torch
    >>> made = gradstep.film(torch.tensor(2.0, requires_grad=True) ** 2)
    >>> len(made), made.svg()[:4], made.frame(0)[:4]
    (5, '<svg', '<svg')
    """

    title: str
    shots: tuple[Shot, ...]
    strokes: tuple[Stroke, ...]
    size: tuple[float, float]
    theme: str
    seconds: float
    focuses: tuple[Rectangle, ...]
    aspect: float | None = None

    def __len__(self) -> int:
        return len(self.shots)

    def svg(self) -> str:
        """Return one SVG that plays by itself, without a script. Of a large picture it shows the
        part around what happens."""
        return self._playing(self._scene(follows=True))

    def _playing(self, scene: Scene, *, on_page: bool = False) -> str:
        return playing(
            scene, seconds=self.seconds, title=self.sentence, description=self.description,
            theme_name=self.theme, on_page=on_page,
        )  # fmt: skip

    def _scene(self, *, follows: bool) -> Scene:
        # who chose the shape of a slide sees all of it
        camera = follow(self.focuses, self.size) if follows and self.aspect is None else None
        width, height = self.size if camera is None else camera[:2]
        width = max(width, min(subtitle_width(self.shots), WIDTH))
        below = tuple(subtitles(self.shots, height, width))
        size = (width, height + SUBTITLE_ROOM)
        return Scene(self.strokes, below, len(self), size, camera, self.aspect)

    def frame(self, number: int) -> str:
        """Return frame ``number`` as SVG. Frames count from 0, negative numbers from the end."""
        return self._still(self._scene(follows=False), number)

    def _still(self, scene: Scene, number: int, *, plain: bool = False) -> str:
        shot = self.shots[number]
        return still(
            scene, number % len(self), title=f"{self._title}: {shot.headline}",
            description=shot.detail, theme_name=self.theme, plain=plain,
        )  # fmt: skip

    def gif(self) -> bytes:
        """Return an animated GIF, which presentations play; it takes the extra ``png``.

        Raises:
            RendererUnavailable: the extra is not installed.
        """
        scene = self._scene(follows=True)
        stills = (self._still(scene, number, plain=True) for number in range(len(self)))
        return write_gif(stills, [*[self.seconds] * (len(self) - 1), self.seconds + HOLD])

    def html(self) -> str:
        """Return a self-contained page with the film, buttons and a scrubber."""
        svg = self._playing(self._scene(follows=False), on_page=True)
        return write_film_page(
            svg, self._said(), self._title, self.seconds, self.theme, self.focuses
        )

    @property
    def sentence(self) -> str:
        """The film in one sentence, for screen readers."""
        of = self.title or "a computation graph"
        return f"Film of the backward pass of {of}, in {len(self)} frames."

    @property
    def description(self) -> str:
        """A description of everything that happens."""
        return "; ".join(self._said()) + "."

    def _said(self) -> list[str]:
        return [": ".join(part for part in shot[:2] if part) for shot in self.shots]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write an ``.svg``, a ``.gif``, an ``.html``, or a directory of stills (``00.svg``,
        ``01.svg`` …).

        Raises:
            CannotWrite: there is another file, which gradstep has not written.
        """
        path = Path(path)
        require_place_of_film(path)
        suffix = path.suffix.lower()
        if suffix in (".svg", ".gif"):
            data = self.svg().encode() if suffix == ".svg" else self.gif()
            return write_atomically(path, data)
        if path.suffix:
            return write_atomically(path, self.html().encode())
        path.mkdir(exist_ok=True)
        digits = max(2, len(str(len(self) - 1)))
        for number in range(len(self)):
            write_atomically(path / f"{number:0{digits}}.svg", self.frame(number).encode())
        return path

    @property
    def _title(self) -> str:
        return self.title or "Computation graph"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        svg = self.svg()
        return {"image/svg+xml": svg, "text/html": svg, "text/plain": self.description}

    def _repr_html_(self) -> str:
        return self.svg()
