"""What every SVG is: well-formed, accessible, at home in any page, the same bytes every time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph
from gradstep_viz import render, theme
from gradstep_viz.errors import VizError
from gradstep_viz.layout import labels, lay_out, routes
from gradstep_viz.output.svg import document as document_module
from gradstep_viz.output.svg import escape
from gradstep_viz.output.svg.style import style
from gradstep_viz.picture import records
from gradstep_viz.picture.compose import make_picture
from tests.viz import sample_graphs

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parents[2]


def document(**options: object) -> str:
    return render(sample_graphs.quadratic(), layout="own", **options).text  # type: ignore[arg-type]


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
@pytest.mark.parametrize("layout", ["own", "graphviz"])
def test_every_svg_introduces_itself(view: str, layout: str) -> None:
    text = render(sample_graphs.mlp(), view=view, layout=layout).text  # type: ignore[arg-type]
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    title, desc = root[0], root[1]
    assert (title.tag, desc.tag) == (f"{SVG}title", f"{SVG}desc")
    assert title.text
    assert title.text.startswith({"both": "Forward and backward"}.get(view, view.capitalize()))
    assert " graph of loss: 7 " in title.text
    assert desc.text
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert text.endswith("</svg>\n")
    assert "<!--" not in text
    assert "<?xml" not in text
    width, height = root.get("width"), root.get("height")
    assert root.get("viewBox") == f"0 0 {width} {height}"


def test_boxes_and_lines_are_groups_with_classes_and_tooltips() -> None:
    root = ElementTree.fromstring(document())
    classes = [group.get("class", "").split() for group in root.iter(f"{SVG}g")]
    assert sum(names[0] == "node" for names in classes) == 14
    assert sum(names[0] == "edge" for names in classes) == 14
    assert sum("saved" in names for names in classes) == 2
    node = next(group for group in root.iter(f"{SVG}g") if group.get("class") == "node bwd")
    tooltip = node.find(f"{SVG}title")
    assert tooltip is not None
    assert tooltip.text is not None
    assert "SubBackward0" in tooltip.text


@pytest.mark.parametrize("texts", [1, 3, 100])
def test_texts_that_are_made_when_they_are_written_are_the_same(
    texts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = document()
    monkeypatch.setattr(records, "MANY", 0)
    monkeypatch.setattr(document_module, "BATCH", texts)
    monkeypatch.setattr(document_module, "_WINDOW", 1 << 10)
    assert document() == known
    assert "\0" not in known


def test_courses_that_are_found_when_they_are_written_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    picture = make_picture(sample_graphs.mlp())
    known = lay_out(picture).routes
    monkeypatch.setattr(routes, "MANY", 0)
    monkeypatch.setattr(labels, "MANY", 0)
    late = lay_out(picture).routes
    for name in ("start", "segments"):
        assert list(late.column(name)) == list(known.column(name))


def test_two_pictures_share_a_page_without_sharing_names() -> None:
    texts = [document(), document(view="forward"), document(theme="dark")]
    ids = [name for text in texts for name in re.findall(r'\bid="([^"]+)"', text)]
    assert len(ids) == len(set(ids))
    for text in texts:
        found = re.search(r"<style>\n(.*?)\n</style>", text, re.DOTALL)
        assert found is not None
        prefix = re.search(r'class="gs (gs-[0-9a-f]{8})"', text)
        assert prefix is not None
        selectors = re.findall(r"(?:^|\{)(\.[^{}]+)\{", found[1], re.MULTILINE)
        assert selectors
        assert all(selector.startswith(f".{prefix[1]}") for selector in selectors)
        for selector in selectors:
            while "(" in selector:
                selector = re.sub(r"\([^()]*\)", "", selector)
            assert all(f".{prefix[1]}" in part for part in selector.split(","))


@pytest.mark.parametrize("layout", ["own", "graphviz"])
def test_every_arrow_points_into_its_box(layout: str) -> None:
    for graph in (sample_graphs.shared(), sample_graphs.mlp()):
        picture = make_picture(graph, "both")
        root = ElementTree.fromstring(render(graph, layout=layout, full=True).text)
        rectangles = {}
        tips = {}
        for group in root.iter(f"{SVG}g"):
            name = (group.get("id") or "").rpartition("-")[2]
            rectangle, tip = group.find(f"{SVG}rect"), group.find(f"{SVG}path[@class='tip']")
            if rectangle is not None:
                rectangles[name] = [
                    float(rectangle.get(k, 0)) for k in ("x", "y", "width", "height")
                ]
            if tip is not None:
                tips[name] = [float(n) for n in re.findall(r"-?[\d.]+", tip.get("d", ""))]
        for line in picture.lines:
            x, y, width, height = rectangles[picture.boxes[line.target].key]
            tip_x, tip_y, side_x, side_y, back_x, back_y = tips[line.key]
            base_x, base_y = tip_x + side_x + back_x / 2, tip_y + side_y + back_y / 2
            assert x - 2 <= tip_x <= x + width + 2
            assert y - 2 <= tip_y <= y + height + 2
            assert not (x < base_x < x + width and y < base_y < y + height)


def test_all_coordinates_are_inside_the_view_box() -> None:
    root = ElementTree.fromstring(document())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    texts = list(root.iter(f"{SVG}text"))
    assert len(texts) > 10
    for text in texts:
        assert 0 <= float(text.get("x", -1)) <= width
        assert 0 <= float(text.get("y", -1)) <= height


def test_themes_choose_the_colours() -> None:
    assert "light-dark(" in document()
    for name, tokens in (("light", theme.LIGHT), ("dark", theme.DARK)):
        text = document(theme=name)
        assert "light-dark(" not in text
        assert "color-scheme" not in text
        assert f"--gs-bg:{tokens['bg']}" in text


def test_viewers_without_css_variables_get_the_light_colours() -> None:
    found = [
        (rule, name)
        for rule in style("p", "auto").splitlines()[2:]
        for name in re.findall(r"(fill|stroke):var\(", rule)
    ]
    assert len(found) > 10
    for rule, name in found:
        assert re.search(rf"{name}:#[0-9a-f]{{6}};{name}:var\(", rule), rule


HOSTILE = [
    "<script>alert(1)</script>",
    "a & b",
    "quo\"te's",
    "back\\slash\\",
    "new\nline",
    "\x00\x1b\x7f",
    "lone \ud800 surrogate",
    "]]>",
    "--> <!-- x",
    "\u202eevil",
    "n" * 10_000,
    "量" * 50,
    "",
    " ",
    '" onload="x',
    "</style></svg>",
    "\\N \\G \\l %s {0}",
]


class Tags(HTMLParser):
    """All tags of a page outside its picture, and all attributes in it that could run anything."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside_picture = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside_picture |= tag == "svg"
        if not self.inside_picture or tag in ("script", "img", "iframe"):
            self.found.append(tag)
        self.found += [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        self.inside_picture &= tag != "svg"


def tags_of(page: str) -> list[str]:
    parser = Tags()
    parser.feed(page)
    parser.close()
    return parser.found


def one_op(name: str) -> Graph:
    build = GraphBuilder(name)
    leaf = build.node("leaf", "forward", name, variable=name, scope=name, detail=name)
    op = build.node("op", "forward", name, scope=name, detail=name)
    build.edge("value", leaf, op, label=name, dtype=name)
    return build.graph()


PAGE_TAGS = tags_of(render(one_op("harmless"), format="html", view="forward").text)


def test_a_page_has_our_script_and_its_data_and_no_other() -> None:
    assert PAGE_TAGS.count("script") == 2
    # what every page carries, whatever it shows
    assert len(render(one_op("harmless"), format="html", view="forward").data) < 58_000


@pytest.mark.sampled(20)
@pytest.mark.parametrize("format", ["svg", "html", "dot", "mermaid", "txt", "json"])
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:12]))
def test_hostile_names_do_no_harm(name: str, format: str) -> None:
    text = render(one_op(name), format=format, view="forward").data.decode()
    harmless = render(one_op("harmless"), format=format, view="forward").data
    assert format == "json" or len(text) < len(harmless) + 50_000
    if format == "svg":
        root = ElementTree.fromstring(text)
        assert not list(root.iter(f"{SVG}script"))
        assert all(not any(key.startswith("on") for key in e.attrib) for e in root.iter())
    elif format == "html":
        assert tags_of(text) == PAGE_TAGS
    elif format == "txt":
        assert "\x1b" not in text
        assert text.count("\n") <= 5


@pytest.mark.parametrize("name", ["red \x1b[31mname", "two\nlines", "turned\u202eabout"])
def test_messages_write_hostile_names_on_one_line(name: str) -> None:
    graph = one_op(name)
    for option in ({"around": f"{name}s"}, {"expand": (f"{name}s",)}, {"path": f"a..{name}"}):
        with pytest.raises(VizError) as raised:
            render(graph, **option)  # type: ignore[arg-type]
        assert str(raised.value).isprintable()


@pytest.mark.sampled(6)
@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz executable here")
@pytest.mark.parametrize("name", [*HOSTILE, "<b>x</b>", "<"], ids=lambda name: ascii(name[:12]))
def test_graphviz_takes_hostile_names_as_text(name: str) -> None:
    dot = render(one_op(name), format="dot", view="forward").data
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True)
    assert drawn.stderr == b""
    assert {e.tag for e in ElementTree.fromstring(drawn.stdout).iter()}.isdisjoint(
        {f"{SVG}script", f"{SVG}b"}
    )


@given(st.text())
def test_escape_makes_any_text_safe(text: str) -> None:
    document = f'<a b="{escape(text)}">{escape(text)}</a>'
    element = ElementTree.fromstring(document)
    kept = (element.text or "").replace("\r\n", "\n").replace("\r", "\n")
    plain = "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))
    plain = "".join(c for c in plain if not "\ud800" <= c <= "\udfff")
    assert kept == plain.replace("\r\n", "\n").replace("\r", "\n")


def test_bytes_do_not_depend_on_the_seed_of_hashes() -> None:
    program = "import sys; from tests.viz.sample_graphs import drawn_in_all_formats as drawn;"
    program += "sys.stdout.buffer.write(drawn())"
    another = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": another},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert done.stdout == sample_graphs.drawn_in_all_formats()
