"""A page around a film, with buttons and a scrubber; without a script the film plays by itself."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep_viz.output.pages.frame import write_page

_CONTROLS = """\
<nav aria-label="film" hidden>
<button type="button" id="first" aria-label="first frame" title="first frame (Home)">|◀</button>
<button type="button" id="back" aria-label="one frame back" title="one frame back (←)">◀</button>
<button type="button" id="play" title="play or pause (space)">Pause</button>
<button type="button" id="next" aria-label="one frame on" title="one frame on (→)">▶</button>
<button type="button" id="last" aria-label="last frame" title="last frame (End)">▶|</button>
<input type="range" id="slider" min="0" max="{last}" value="0" aria-label="frame">
<select id="speed" aria-label="speed" title="speed">
<option value="0.25">¼×</option><option value="0.5">½×</option>
<option value="1" selected>1×</option><option value="2">2×</option><option value="4">4×</option>
</select>
<button type="button" id="size" title="fit into the window, or full size (f)">Full size</button>
<output id="said" aria-live="polite"></output>
</nav>"""


def write_film_page(
    svg: str, said: Sequence[str], title: str, seconds: float, theme_name: str = "auto"
) -> str:
    """Write the page; ``svg`` is the playing film, ``said`` what each of its frames tells, and
    ``seconds`` how long each lasts."""
    body = ("<main>", f"{svg}</main>", _CONTROLS.format(last=len(said) - 1))
    data = {"shots": list(said), "milliseconds": 1000 * seconds}
    return write_page("film", body, data, title, theme_name)
