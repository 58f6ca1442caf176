"""Renderers may be missing, slow or broken; a picture comes all the same."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path
from typing import Literal

import pytest

from gradstep_viz import theme
from gradstep_viz.errors import RendererUnavailable, RenderingFailed
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.renderers import (
    DotCommand,
    EmbeddedGraphviz,
    Renderer,
    Resvg,
    Svg2Pdf,
    embedded,
)
from gradstep_viz.picture.model import VIEWS, View
from gradstep_viz.rendering import render_graph
from tests.viz import sample_graphs

ROOT = Path(__file__).parents[2]


BY_GRAPHVIZ = RenderOptions(view="forward", layout="graphviz")
BY_OURSELVES = RenderOptions(view="forward")


class Fake:
    """A renderer that does what it is told."""

    name = "fake"

    def __init__(
        self,
        *formats: str,
        source: Literal["dot", "svg"] = "dot",
        fails: BaseException | None = None,
        says: bytes = b"",
    ) -> None:
        self.formats = frozenset(formats)
        self.source: Literal["dot", "svg"] = source
        self.fails = fails
        self.says = says
        self.asked = 0
        self.heard = ""

    def render(self, text: str, format: str) -> bytes:
        self.asked += 1
        self.heard = text
        if self.fails:
            raise self.fails
        return self.says


BROKEN: list[tuple[Renderer, str]] = [
    (Fake("json0", fails=RenderingFailed("fake took longer than 10 s")), "took longer"),
    (Fake("json0", fails=ZeroDivisionError("bug")), "crashed (ZeroDivisionError)"),
    (Fake("json0", fails=RendererUnavailable("not installed")), "not installed"),
    (Fake("json0", says=b"not json"), "invalid answer"),
    (Fake("json0", says=b'{"objects": [{}], "edges": []}'), "invalid answer"),
    (Fake("json0", says=b"[]"), "invalid answer"),
    (Fake("json0", says=b"\xff\xfe"), "invalid answer"),
    (Fake("png"), "no renderer on this machine"),
]


@pytest.mark.parametrize(("renderer", "note"), BROKEN)
def test_whatever_fails_the_own_layout_draws(renderer: Renderer, note: str) -> None:
    graph = sample_graphs.quadratic()
    drawn = render_graph(graph, "svg", BY_GRAPHVIZ, renderers=[renderer])
    assert drawn.data == render_graph(graph, "svg", RenderOptions(view="forward")).data
    assert note in " ".join(drawn.notes)


@pytest.mark.extra("graphviz")
def test_the_next_renderer_is_asked_when_one_fails() -> None:
    broken = Fake("json0", fails=RenderingFailed("no"))
    graph = sample_graphs.quadratic()
    helpers = [broken, EmbeddedGraphviz()]
    drawn = render_graph(graph, "svg", BY_GRAPHVIZ, renderers=helpers)
    assert broken.asked == 1
    assert drawn.data == render_graph(graph, "svg", BY_GRAPHVIZ).data


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_pictures_are_laid_out_by_ourselves_unless_graphviz_is_asked_for(view: View) -> None:
    fake = Fake("json0", fails=AssertionError("must not be asked"))
    assert not render_graph(
        sample_graphs.quadratic(), "svg", RenderOptions(view=view), renderers=[fake]
    ).notes
    assert fake.asked == 0


def test_png_without_a_renderer_says_what_to_do() -> None:
    with pytest.raises(RendererUnavailable, match=r"PNG; draw an SVG"):
        render_graph(sample_graphs.quadratic(), "png", renderers=[])
    blind = Fake("png", fails=RendererUnavailable("fake sees no font", remedy="install a font"))
    missing = Fake("png", fails=RendererUnavailable("no fake", remedy="install Fake"))
    with pytest.raises(RendererUnavailable) as caught:
        render_graph(sample_graphs.quadratic(), "png", renderers=[blind, missing])
    assert str(caught.value) == (
        "no renderer on this machine can make PNG (fake sees no font: install a font; "
        "no fake: install Fake); do one of these, or draw an SVG"
    )
    broken = Fake("pdf", fails=ValueError("bug"))
    with pytest.raises(RendererUnavailable, match=r"PDF \(fake crashed \(ValueError\)\)"):
        render_graph(sample_graphs.quadratic(), "pdf", renderers=[broken])


def test_png_comes_from_the_first_renderer_that_can() -> None:
    fake = Fake("png", says=b"\x89PNG")
    assert render_graph(sample_graphs.quadratic(), "png", renderers=[fake]).data == b"\x89PNG"


def test_a_converter_gets_our_svg_in_plain_css() -> None:
    fake = Fake("png", source="svg", says=b"\x89PNG")
    graph = sample_graphs.quadratic()
    assert (
        render_graph(graph, "png", RenderOptions(theme="dark"), renderers=[fake]).data == b"\x89PNG"
    )
    ElementTree.fromstring(fake.heard)
    assert theme.DARK["bg"] in fake.heard
    assert "var(" not in fake.heard
    assert "@" not in fake.heard


def test_where_a_converter_fails_the_next_renderer_is_asked() -> None:
    broken = Fake("png", source="svg", fails=RendererUnavailable("not installed"))
    fake = Fake("png", says=b"\x89PNG")
    drawn = render_graph(sample_graphs.quadratic(), "png", renderers=[broken, fake])
    assert drawn.data == b"\x89PNG"
    assert fake.heard.startswith("digraph")


@pytest.mark.parametrize(
    ("module", "renderer", "extra"),
    [
        ("resvg_py", Resvg(), "png"),
        ("svg2pdf_py", Svg2Pdf(), "pdf"),
        ("wasmtime", EmbeddedGraphviz(), "graphviz"),
    ],
)
def test_a_renderer_that_is_not_installed_names_the_extra(
    module: str, renderer: Renderer, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedded._load.cache_clear()
    with pytest.raises(RendererUnavailable) as caught:
        renderer.render("<svg/>", "png")
    assert str(caught.value) == f'{module} is not installed; pip install "gradstep[{extra}]"'


@pytest.mark.fonts
@pytest.mark.extra("png")
def test_png_by_resvg_is_twice_the_size_of_the_svg() -> None:
    graph = sample_graphs.quadratic()
    svg = ElementTree.fromstring(render_graph(graph, "svg").text)
    data = render_graph(graph, "png", renderers=[Resvg()]).data
    assert data.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (2 * int(svg.get("width", 0)), 2 * int(svg.get("height", 0)))


@pytest.mark.fonts
@pytest.mark.extra("pdf")
def test_a_pdf_has_a_title_and_each_label_once() -> None:
    data = render_graph(sample_graphs.quadratic(), "pdf", renderers=[Svg2Pdf()]).data
    title = re.findall(rb"/Title <feff([0-9a-f]+)>", data)[-1]
    assert "Q = 3a³ − b²" in bytes.fromhex(title.decode()).decode("utf-16-be")
    start = int(re.findall(rb"startxref\s+(\d+)", data)[-1])
    assert data[start:].startswith(b"xref")
    place = int(data[start:].split()[3])
    assert re.match(rb"\d+ 0 obj", data[place:])
    streams = re.findall(rb"stream\r?\n(x.*?)endstream", data, re.DOTALL)
    drawn = max(map(zlib.decompress, streams), key=lambda each: each.count(b" Tj"))
    assert set(re.findall(rb"(\d) Tr", drawn)) == {b"0"}  # filled, and nowhere stroked


@pytest.mark.extra("pdf")
def test_pdf_by_svg2pdf_keeps_text_as_text() -> None:
    data = render_graph(sample_graphs.quadratic(), "pdf", renderers=[Svg2Pdf()]).data
    assert data.startswith(b"%PDF-")
    assert b"/FontFile" in data


class Unseeing:
    """What a converter does where it finds no fonts: it leaves text out."""

    @staticmethod
    def svg_to_bytes(svg_string: str, zoom: float = 1) -> bytes:
        return b"\x89PNG"


def test_a_picture_without_its_text_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", Unseeing)
    with pytest.raises(RendererUnavailable, match="none of the fonts"):
        render_graph(sample_graphs.quadratic(), "png", renderers=[Resvg()])


@pytest.mark.fonts
@pytest.mark.extra("png")
def test_svg_that_no_converter_reads_is_a_failure_with_a_name() -> None:
    with pytest.raises(RenderingFailed, match="resvg cannot"):
        Resvg().render("<svg", "png")


@pytest.mark.dot
@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz executable here")
@pytest.mark.parametrize(("format", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF-")])
def test_the_real_dot_draws_every_view(format: str, magic: bytes) -> None:
    for view in VIEWS:
        graph = sample_graphs.mlp()
        drawn = render_graph(graph, format, RenderOptions(view=view), renderers=[DotCommand()])
        assert drawn.data.startswith(magic)


@pytest.mark.dot
@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz executable here")
@pytest.mark.extra("graphviz")
def test_the_real_dot_places_what_the_embedded_one_places() -> None:
    boxes = []
    for helper in (DotCommand(), EmbeddedGraphviz()):
        drawn = render_graph(
            sample_graphs.mlp(),
            "svg",
            RenderOptions(view="backward", layout="graphviz"),
            renderers=[helper],
        )
        assert not drawn.notes
        boxes.append(re.findall(r'<g id="[^"]*-(n\d+)" class="node', drawn.text))
    assert boxes[0] == boxes[1] != []


@pytest.mark.extra("graphviz")
def test_embedded_graphviz_is_stopped_when_it_takes_too_long() -> None:
    lines = "".join(f"a{i}->b{j};" for i in range(120) for j in range(120))
    with pytest.raises(RenderingFailed, match=r"longer than 0\.2 s"):
        EmbeddedGraphviz(time_limit=0.2).render(f"digraph {{{lines}}}", "json0")
    assert b"bb" in EmbeddedGraphviz().render("digraph {a->b}", "json0"), "it must still work"


@pytest.mark.extra("graphviz")
def test_embedded_graphviz_says_when_it_cannot_read_the_text() -> None:
    with pytest.raises(RenderingFailed, match="cannot read"):
        EmbeddedGraphviz().render("digraph {", "svg")


def test_without_graphviz_both_ways_to_have_it_are_told_and_the_picture_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    monkeypatch.setenv("PATH", "")
    embedded._load.cache_clear()
    drawn = render_graph(sample_graphs.quadratic(), "svg", BY_GRAPHVIZ)
    assert drawn.data == render_graph(sample_graphs.quadratic(), "svg", BY_OURSELVES).data
    wasmtime = 'wasmtime is not installed: pip install "gradstep[graphviz]"'
    dot = "no 'dot' on the PATH: install Graphviz (for example: apt install graphviz)"
    why = f"no renderer on this machine can make the layout of Graphviz ({wasmtime}; {dot})"
    assert drawn.notes == (f"{why}; do one of these", "drawn with gradstep's own layout instead")


@pytest.mark.extra("graphviz")
def test_embedded_graphviz_works_where_nothing_can_be_cached() -> None:
    program = (
        "from gradstep_viz.output.renderers import EmbeddedGraphviz;"
        "print(len(EmbeddedGraphviz().render('digraph {a}', 'svg')))"
    )
    nowhere = {**os.environ, "HOME": "/dev/null/no", "XDG_CACHE_HOME": "/dev/null/no"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=nowhere, cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "dot"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="the fake commands are shell scripts")
class TestDotCommand:
    def test_it_gives_the_bytes_of_the_command(self, tmp_path: Path) -> None:
        assert DotCommand(script(tmp_path, "cat")).render("digraph {}", "png") == b"digraph {}"

    def test_a_command_that_hangs_is_stopped(self, tmp_path: Path) -> None:
        hanging = DotCommand(script(tmp_path, "exec sleep 3600"), time_limit=0.2)
        with pytest.raises(RenderingFailed, match="longer than"):
            hanging.render("digraph {}", "png")

    def test_a_command_that_fails_is_quoted(self, tmp_path: Path) -> None:
        with pytest.raises(RenderingFailed, match="code 3: no memory"):
            DotCommand(script(tmp_path, "echo no memory >&2; exit 3")).render("digraph {}", "png")

    def test_a_command_that_says_nothing_has_failed(self, tmp_path: Path) -> None:
        with pytest.raises(RenderingFailed, match="code 0"):
            DotCommand(script(tmp_path, "exit 0")).render("digraph {}", "png")

    def test_a_command_that_is_missing(self) -> None:
        with pytest.raises(RendererUnavailable, match="install Graphviz"):
            DotCommand("no-such-command").render("digraph {}", "png")
