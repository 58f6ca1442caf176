"""Pictures of where two runs differ: one graph of both, or a page of the two beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from gradstep.comparing.align import Alignment, changes
from gradstep.comparing.merging import marked, merged
from gradstep.comparing.report import verdict
from gradstep.comparing.runs import Comparison
from gradstep.text import printable
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.pages import Spot, write_pair_page
from gradstep_viz.rendering import Rendering, render_graph

_MOST: Final = 1000
"""Differences that a page leads through."""


def draw_comparison(
    pair: Alignment,
    comparison: Comparison,
    names: tuple[str, str],
    format: str,
    options: RenderOptions,
    folder: Path,
) -> Rendering:
    """Draw the call that a comparison shows.

    One picture has the nodes of both graphs: what is added, removed or changed is marked, and
    numbers that differ stand beside each other, as ``0.5 ≠ 0.25``. A page (``html``) has both
    graphs, and selects in the other one what is selected in the one.

    Args:
        pair: the graphs of that call.
        names: what the runs are called.
        folder: where relative names of source files begin.
    """
    words = f"{names[0]} | {names[1]}: {verdict(comparison)}"
    if format != "html":
        graph = merged(pair, places=comparison.places)
        return render_graph(graph, format, replace(options, title=words), folder=folder)
    pages = [
        render_graph(graph, "html", replace(options, title=name), folder=folder)
        for graph, name in zip(marked(pair, places=comparison.places), names, strict=True)
    ]
    page = write_pair_page(
        (pages[0].text, pages[1].text), names, words, _partners(pair),
        [spot for spot, _ in zip(_spots(pair, comparison), range(_MOST), strict=False)],
        options.theme,
    )  # fmt: skip
    notes = dict.fromkeys(note for page in pages for note in page.notes)
    return Rendering("html", page.encode(), tuple(notes))


def _partners(pair: Alignment) -> tuple[dict[str, str], dict[str, str]]:
    """Return where an address in either graph leads in the other, "" for nowhere, unless it is the
    same there."""
    one, other, partners, *_ = pair
    addresses: tuple[dict[str, str], dict[str, str]] = {}, {}
    back = {partner: id for id, partner in enumerate(partners.tolist()) if partner >= 0}
    for side, (graph, there) in enumerate(((one, other), (other, one))):
        for id in range(len(graph)):
            partner = int(partners[id]) if side == 0 else back.get(id, -1)
            address = printable(graph.address(id))
            leads_to = printable(there.address(partner)) if partner >= 0 else ""
            if address != leads_to:
                addresses[side].setdefault(address, leads_to)
    return addresses


def _spots(pair: Alignment, comparison: Comparison) -> Iterator[Spot]:
    one, other, partners, *_ = pair
    for change in changes(pair):
        graph, id = (one, change.one) if change.one >= 0 else (other, change.other)
        addresses = (
            printable(one.address(change.one)) if change.one >= 0 else "",
            printable(other.address(change.other)) if change.other >= 0 else "",
        )
        words = " ".join(dict.fromkeys(filter(None, addresses)))
        details = f": {'; '.join(change.details)}" if change.details else ""
        yield Spot(addresses, graph.halves[id], f"{change.what} {words}{printable(details)}")
    for id, gap in comparison.places.items():
        addresses = printable(one.address(id)), printable(other.address(int(partners[id])))
        yield Spot(addresses, one.halves[id], f"{addresses[0]}: {gap}")
