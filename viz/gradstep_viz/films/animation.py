"""A film as SVG: one picture that plays by itself, or one still per frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from gradstep_viz import theme
from gradstep_viz.films.camera import Camera
from gradstep_viz.films.strokes import Stroke
from gradstep_viz.output.svg import finish

PALE = 0.5
HOLD = 2.0  # seconds that the end stays longer
MOVING = 0.4  # of a frame, while the camera moves
_WANTED = "screen and (prefers-reduced-motion:no-preference)"  # paper shows the last frame


class Scene(NamedTuple):
    """What a film shows: its picture, the texts below it, and the window on the picture, None where
    all of it is seen."""

    picture: Sequence[Stroke]
    subtitles: Sequence[Stroke]
    frames: int
    size: tuple[float, float]
    camera: Camera | None
    aspect: float | None

    def body(self, markup: Callable[[Stroke], str], moves: str) -> list[str]:
        """Return the elements of it, the picture behind its window, which ``moves``."""
        parts = [text for stroke in self.picture if (text := markup(stroke))]
        if self.camera is not None:
            width, height, _ = self.camera
            parts = [
                f'<svg width="{width:g}" height="{height:g}"><g {moves}>',
                *parts,
                "</g></svg>",
            ]
        return [*parts, *(text for stroke in self.subtitles if (text := markup(stroke)))]


def playing(
    scene: Scene, *, seconds: float, title: str, description: str, theme_name: str,
    on_page: bool = False,
) -> str:  # fmt: skip
    """Write one SVG that plays without a script.

    Its first frame is its last one.  It shows nothing else where animation is not wanted or not
    known, and on paper, and it pauses while the pointer is over it.  ``on_page``, a page decides
    whether it plays.
    """
    frames = scene.frames
    kinds: dict[tuple[int, int, int], None] = {}

    def markup(stroke: Stroke) -> str:
        start, stop, solid = stroke.start, stroke.stop, stroke.solid
        kind = (start, stop, min(max(solid, start), stop))
        if kind == (0, frames, 0):
            return stroke.markup
        kinds[kind] = None
        return f'<g class="{_name(kind)}">{stroke.markup}</g>'

    parts = scene.body(markup, 'class="f-camera"')
    motion = _motion(list(kinds), scene, seconds, "screen" if on_page else _WANTED)
    return finish(
        ["\n".join(parts)], *scene.size, title=title, description=description,
        theme_name=theme_name, rules=[*_rules(), *motion],
        aspect=scene.aspect, ported=_has_ports(scene.picture),
    ).decode()  # fmt: skip


def still(
    scene: Scene, frame: int, *, title: str, description: str, theme_name: str, plain: bool = False
) -> str:
    """Write the SVG of one frame; a ``plain`` one is for what knows no variables of CSS."""

    def markup(stroke: Stroke) -> str:
        if not stroke.start <= frame < stroke.stop:
            return ""
        return f'<g class="pale">{stroke.markup}</g>' if frame < stroke.solid else stroke.markup

    x, y = (0.0, 0.0) if scene.camera is None else scene.camera.corners[frame]
    parts = scene.body(markup, f'transform="translate({-x:g} {-y:g})"')
    return finish(
        ["\n".join(parts)], *scene.size, title=title, description=description,
        theme_name=theme_name, rules=_rules(theme_name, plain=plain), plain=plain,
        aspect=scene.aspect, ported=_has_ports(scene.picture),
    ).decode()  # fmt: skip


def _has_ports(strokes: Sequence[Stroke]) -> bool:
    return any('class="port ' in stroke.markup for stroke in strokes)


def _rules(theme_name: str = "", *, plain: bool = False) -> list[str]:
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    line, now = (base[name] if plain else f"var(--gs-{name})" for name in ("line", "bwd"))
    return [
        f"@scope .bar rect{{fill:{line};opacity:.3}}",
        f"@scope .bar.now rect{{fill:{now};opacity:1}}",
        f"@scope .pale{{opacity:{PALE}}}",
    ]


def _name(kind: tuple[int, int, int]) -> str:
    return "f" + "-".join(map(str, kind))


def _motion(
    kinds: Sequence[tuple[int, int, int]], scene: Scene, seconds: float, watched: str
) -> list[str]:
    frames = scene.frames
    total = frames * seconds + HOLD

    def percent(frame: float) -> str:
        return f"{100 * frame * seconds / total:.4g}%"

    rules, moving = [], []
    for kind in kinds:
        start, stop, solid = kind
        keys = {0: 1.0 if start == 0 else 0.0}
        if start < solid:
            keys[start] = PALE
        if solid < stop:
            keys[solid] = 1.0
        if stop < frames:
            keys[stop] = 0.0
            rules.append(f"@scope .{_name(kind)}{{opacity:0}}")
        elif solid >= frames:
            rules.append(f"@scope .{_name(kind)}{{opacity:{PALE}}}")
        steps = "".join(f"{percent(frame)}{{opacity:{value:g}}}" for frame, value in keys.items())
        rules.append(f"@keyframes @name-{_name(kind)}{{{steps}}}")
        moving.append(f"@scope .{_name(kind)}{{animation-name:@name-{_name(kind)}}}")
    moving.append(
        # it begins with its end, which is what a preview or a screenshot sees
        f'@scope g[class^="f"]{{animation-duration:{total:g}s;'
        f"animation-delay:-{frames * seconds:g}s;"
        "animation-timing-function:step-end;animation-iteration-count:infinite}"
    )
    if scene.camera is not None:
        corners = scene.camera.corners
        path = [(0.0, corners[0])]
        for frame, (before, now) in enumerate(pairwise(corners), 1):
            if now != before:
                path += [(float(frame), before), (frame + MOVING, now)]
        steps = "".join(f"{percent(at)}{{transform:{_moved(corner)}}}" for at, corner in path)
        rules.append(f"@scope .f-camera{{transform:{_moved(corners[-1])}}}")
        rules.append(f"@keyframes @name-camera{{{steps}}}")
        name = "animation-name:@name-camera;animation-timing-function:ease-in-out"
        moving.append(f"@scope g.f-camera{{{name}}}")
    rules.append(f"@media {watched}{{{''.join(moving)}}}")
    rules.append('@scope:hover g[class^="f"]{animation-play-state:paused}')
    return rules


def _moved(corner: tuple[float, float]) -> str:
    return f"translate({-corner[0]:g}px,{-corner[1]:g}px)"
