"""A film as SVG: one picture that plays by itself, or one still per frame."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep_viz.films.strokes import Stroke
from gradstep_viz.output.svg import finish

PALE = 0.5


def playing(
    strokes: Sequence[Stroke],
    frames: int,
    size: tuple[float, float],
    *,
    seconds: float,
    title: str,
    description: str,
    theme_name: str,
    aspect: float | None = None,
) -> str:
    """Write one SVG that plays without a script.

    Its first frame is its last one.  It shows nothing else where animation is not wanted or not
    known, and on paper, and it pauses while the pointer is over it.
    """
    kinds: dict[tuple[int, int, int], None] = {}
    parts = []
    for markup, start, stop, solid in strokes:
        kind = (start, stop, min(max(solid, start), stop))
        if kind == (0, frames, 0):
            parts.append(markup)
            continue
        kinds[kind] = None
        parts.append(f'<g class="{_name(kind)}">{markup}</g>')
    rules = [*_rules(), *_motion(list(kinds), frames, seconds)]
    return finish(
        ["\n".join(parts)], *size, title=title, description=description, theme_name=theme_name,
        rules=rules, aspect=aspect, ported=_has_ports(strokes),
    ).decode()  # fmt: skip


def still(
    strokes: Sequence[Stroke],
    frame: int,
    size: tuple[float, float],
    *,
    title: str,
    description: str,
    theme_name: str,
    aspect: float | None = None,
) -> str:
    """Write the SVG of one frame."""
    parts = [
        f'<g class="pale">{stroke.markup}</g>' if frame < stroke.solid else stroke.markup
        for stroke in strokes
        if stroke.start <= frame < stroke.stop
    ]
    return finish(
        ["\n".join(parts)], *size, title=title, description=description, theme_name=theme_name,
        rules=_rules(), aspect=aspect, ported=_has_ports(strokes),
    ).decode()  # fmt: skip


def _has_ports(strokes: Sequence[Stroke]) -> bool:
    return any('class="port ' in stroke.markup for stroke in strokes)


def _rules() -> list[str]:
    return [
        "@scope .ring rect{fill:none;stroke:var(--gs-ink);stroke-width:1.8px}",
        "@scope .bar rect{fill:var(--gs-line);opacity:.3}",
        "@scope .bar.now rect{fill:var(--gs-bwd);opacity:1}",
        f"@scope .pale{{opacity:{PALE}}}",
    ]


def _name(kind: tuple[int, int, int]) -> str:
    return "f" + "-".join(map(str, kind))


def _motion(kinds: Sequence[tuple[int, int, int]], frames: int, seconds: float) -> list[str]:
    hold = 2.0  # the end stays a little longer
    total = frames * seconds + hold

    def percent(frame: int) -> str:
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
    watched = "screen and (prefers-reduced-motion:no-preference)"  # paper shows the last frame
    rules.append(f"@media {watched}{{{''.join(moving)}}}")
    rules.append('@scope:hover g[class^="f"]{animation-play-state:paused}')
    return rules
