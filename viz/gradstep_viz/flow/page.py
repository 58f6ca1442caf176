"""A page of rows, which open and close."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep_viz.flow.layout import ROW, FlowPicture, PageRows
from gradstep_viz.flow.svg import draw_block, draw_row, draw_words, flow_rules, write_flow_svg
from gradstep_viz.flow.text import alternative_text, describe_rows
from gradstep_viz.output.pages.frame import write_page
from gradstep_viz.output.svg.document import finish
from gradstep_viz.output.svg.elements import number

_BODY = """\
<header hidden>
<button type="button" id="open">Open all</button>
<button type="button" id="close">Close all</button>
</header>
<main>
{picture}
</main>"""


def write_flow_page(
    picture: FlowPicture, frame: FlowPicture, page: PageRows, theme_name: str
) -> str:
    """Write the page: ``picture`` is what is seen without a script, ``frame`` and ``page`` what the
    script draws."""
    rows = frame.table.rows
    last = max(block.y for block in frame.blocks if block.tone == "line")
    svg = finish(
        _body(frame, page, last),
        frame.width,
        frame.height,
        title=alternative_text(frame),
        description=describe_rows(frame),
        theme_name=theme_name,
        rules=flow_rules(theme_name, plain=False),
        role="group",
    )
    data = {
        "svg": svg.decode(),
        "width": frame.width,
        "top": page.top,
        "names": page.names,
        "foot": frame.height - last,
        "places": page.places,
        "links": page.links,
        "ports": page.ports,
        "port": page.port,
        "rows": [
            {
                "header": row.header,
                "panel": row.panel,
                "folds": row.closed is not None,
                "badge": bool(row.badge),
                "open": row.closed is not None and row.starts_open,
            }
            for row in rows
        ],
    }
    body = _BODY.format(picture=write_flow_svg(picture, theme_name).decode())
    return write_page("flow", [body], data, frame.title, theme_name)


def _body(frame: FlowPicture, page: PageRows, last: float) -> Iterator[str]:
    head = [words for words in frame.words if words.y < page.top]
    foot = [words for words in frame.words if words.y > last]
    yield "\n".join(map(draw_words, head))
    yield draw_block(next(block for block in frame.blocks if block.tone == "line"))
    yield '<g class="panels"></g>\n<g class="lanes edge"></g>'
    for row, closed in zip(page.rows, page.closed, strict=True):
        yield draw_row(row, f'data-row="{row.number}"')
        if closed is not None:
            yield draw_row(closed, f'data-row="{row.number}" data-closed=""', "c")
    moved = [words._replace(y=words.y - last) for words in foot]
    yield f'<g class="foot" transform="translate(0 {number[last]})">'
    yield draw_block(next(b for b in reversed(frame.blocks) if b.y == last)._replace(y=0))
    yield "\n".join(map(draw_words, moved))
    yield "</g>"


__all__ = ["ROW", "write_flow_page"]
