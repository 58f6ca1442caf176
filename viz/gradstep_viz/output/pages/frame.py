"""The frame of all pages, in the colours of the picture, and the pages that are little more: that
around a film, with buttons and a scrubber, and that of two graphs beside each other, where what is
selected in one is selected in the other."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from gradstep.graph.model import Half
from gradstep_viz import theme
from gradstep_viz.output.svg import escape

PACKED = 60_000
"""Bytes of data from which on a page has them packed."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="{schemes}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


_STILL = """\
<!DOCTYPE html>
<html lang="en" class="gs-report">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
{head}<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def write_still_page(style: str, body: str, title: str, head: str = "") -> str:
    """Write a page that has no script, in the colours that its style sheet says."""
    return _STILL.format(policy=_policy(), head=head, title=escape(title), style=style, body=body)


def write_page(
    name: str,
    body: Iterable[str],
    data: Any,
    title: str,
    theme_name: str,
    within: Sequence[str] = (),
) -> str:
    """Write a page with the style sheet and the script called ``name``, which finds ``data``, as
    JSON, in the element of that id; ``within`` are the scripts of pages that it contains."""
    folder = files("gradstep_viz.output.pages")
    common, style, script = (
        folder.joinpath(file).read_text(encoding="utf-8")
        for file in ("page.css", f"{name}.css", f"{name}.js")
    )
    scripts = [folder.joinpath(f"{part}.js").read_text("utf-8") for part in within]
    return _PAGE.format(
        policy=_policy(script, *scripts),
        schemes={"auto": "light dark", "light": "light", "dark": "dark"}[theme_name],
        title=escape(title or "Computation graph"),
        style=f"{_colours(theme_name)}\n{common}{style}",
        body="\n".join(body),
        # "</script" would end the element, wherever it stands
        data=_json(data).replace("<", "\\u003c"),
        script=script,
    )


def packed(pictures: list[dict[str, Any]]) -> Any:
    """Return pictures of some size, whose boxes are ``boxes`` and whose text is ``svg``, as a
    string that takes less room: deflated, in base64; others as they are.

    What they have in common is too far apart for deflate. So their lines and boxes stand in one
    list, those that differ in numbers alone beside each other, and pictures have places in it.
    """
    if len(_json(pictures)) < PACKED:
        return pictures
    parts = [
        one | {"boxes": [_json(box) for box in one["boxes"]], "svg": one.get("svg", "").split("\n")}
        for one in pictures
    ]
    texts = {text for part in parts for name in ("svg", "boxes") for text in part[name]}
    ordered = sorted(texts, key=lambda text: (re.sub(r"[\d.]+", "", text), text))
    places = {text: place for place, text in enumerate(ordered)}
    for part in parts:
        for name in ("svg", "boxes"):
            part[name] = [places[text] for text in part[name]]
    return base64.b64encode(zlib.compress(_json([ordered, parts]).encode(), 9, wbits=-15)).decode()


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _policy(*scripts: str) -> str:
    """Allow these scripts only, styles, and nothing from elsewhere."""
    digests = [hashlib.sha256(f"\n{script}".encode()).digest() for script in scripts]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    allowed = allowed or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _colours(theme_name: str) -> str:
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    rules = [f":root{{{_tokens(base)};font:{theme.TEXT_SIZE}px {theme.FONT_FAMILY}}}"]
    if theme_name == "auto":
        rules.append(f"@media (prefers-color-scheme:dark){{:root{{{_tokens(theme.DARK)}}}}}")
    return "\n".join(rules)


def _tokens(tokens: theme.Tokens) -> str:
    return ";".join(f"--{name}:{value}" for name, value in tokens.items())


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


LEAST_TEXT = 10  # pixels, of the smallest text of a film


def write_film_page(
    svg: str, said: Sequence[str], title: str, seconds: float, theme_name: str,
    focuses: Sequence[tuple[float, float, float, float]],
) -> str:  # fmt: skip
    """Write the page; ``svg`` is the playing film, ``said`` what each of its frames tells,
    ``seconds`` how long each lasts, and ``focuses`` where each of them has something to see."""
    body = ("<main>", f"{svg}</main>", _CONTROLS.format(last=len(said) - 1))
    places = [[round(number) for number in place] for place in focuses]
    data = {"shots": list(said), "milliseconds": 1000 * seconds, "places": places}
    data["legible"] = LEAST_TEXT / theme.MUTED_SIZE
    return write_page("film", body, data, title, theme_name)


_BODY = """\
<header hidden>
<p>{words}</p>
<button type="button" id="previous" title="previous difference (N)">Previous difference</button>
<button type="button" id="next" title="next difference (n)">Next difference</button>
<output id="where" aria-live="polite"></output>
</header>
<main>
{frames}
</main>"""

_FRAME = '<section><h2>{name}</h2><iframe title="{name}" name="gradstep-{side}" srcdoc="{page}">\
</iframe></section>'


class Spot(NamedTuple):
    """Where two graphs differ: the address in each, "" for none, and what to say of it."""

    addresses: tuple[str, str]
    half: Half
    words: str


def write_pair_page(
    pages: tuple[str, str],
    names: tuple[str, str],
    words: str,
    partners: tuple[Mapping[str, str], Mapping[str, str]],
    differences: Sequence[Spot],
    theme_name: str = "auto",
) -> str:
    """Write the page around two pages of graphs; ``partners`` leads from an address in either graph
    to that of its partner, "" for none, where these differ."""
    frames = [
        _FRAME.format(name=escape(name), side=side, page=escape(page))
        for side, (name, page) in enumerate(zip(names, pages, strict=True))
    ]
    body = _BODY.format(words=escape(words), frames="\n".join(frames))
    data = {"partners": partners, "differences": [row._asdict() for row in differences]}
    title = f"{names[0]} and {names[1]}"
    return write_page("pair", [body], data, title, theme_name, within=("graph",))
