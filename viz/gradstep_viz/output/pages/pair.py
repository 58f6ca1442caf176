"""A page of two graphs beside each other: what is selected in one is selected in the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradstep.graph.model import Half
from gradstep_viz.output.pages.frame import write_page
from gradstep_viz.output.svg import escape

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
    data = {"partners": partners, "differences": [each._asdict() for each in differences]}
    title = f"{names[0]} and {names[1]}"
    return write_page("pair", [body], data, title, theme_name, within=("graph",))
