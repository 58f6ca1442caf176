"""`gradstep.render`: formats, files and what goes wrong with them."""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

import gradstep
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.serialize import from_json
from gradstep_viz.errors import CannotWrite, FormatMismatch, NothingToDraw, UnknownFormat
from tests.viz import sample_graphs

GRAPH = sample_graphs.quadratic()


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("q.svg", "<svg"),
        ("q.html", "<!DOCTYPE html>"),
        ("q.dot", "digraph"),
        ("q.gv", "digraph"),
        ("q.json", "{"),
        ("q.mmd", "flowchart"),
        ("q.txt", "Q = 3a³ − b²"),
        ("Q.SVG", "<svg"),
    ],
)
def test_the_suffix_says_the_format(tmp_path: Path, name: str, start: str) -> None:
    rendering = gradstep.render(GRAPH, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text == rendering.text
    assert text.startswith(start)
    assert text.endswith("\n")


def test_an_explicit_format_goes_with_any_unknown_suffix(tmp_path: Path) -> None:
    gradstep.render(GRAPH, tmp_path / "picture", format="dot")
    assert (tmp_path / "picture").read_text().startswith("digraph")


def test_contradictions_and_unknown_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FormatMismatch, match=r"'q.png' says png, but svg .* name it q.svg"):
        gradstep.render(GRAPH, tmp_path / "q.png", format="svg")
    with pytest.raises(UnknownFormat, match="svg, png, pdf, dot, html, json, mermaid, txt"):
        gradstep.render(GRAPH, format="gif")
    with pytest.raises(UnknownFormat, match="cannot tell the format"):
        gradstep.render(GRAPH, tmp_path / "q.xyz")
    for option in ("view", "layout", "theme"):
        with pytest.raises(UnknownFormat, match=f"there is no {option} 'odd'"):
            gradstep.render(GRAPH, **{option: "odd"})
    assert not list(tmp_path.iterdir())


def test_an_empty_graph_is_said_to_be_empty() -> None:
    with pytest.raises(NothingToDraw, match="the graph is empty"):
        gradstep.render(GraphBuilder("").graph(), format="svg")


def test_half_a_graph_has_no_other_half() -> None:
    build = GraphBuilder()
    build.node("op", "forward", "mul")
    with pytest.raises(NothingToDraw, match="no backward half"):
        gradstep.render(build.graph(), view="backward")
    with pytest.raises(NothingToDraw):
        gradstep.render(GraphBuilder().graph())


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "q.svg"
    gradstep.render(GRAPH, target)
    before = target.read_text()

    def full_disk(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(CannotWrite, match=r"no space left.*choose a directory"):
        gradstep.render(GRAPH, target, title="after")
    assert target.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["q.svg"]


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="no such file or directory") as caught:
        gradstep.render(GRAPH, tmp_path / "missing" / "q.svg")
    assert caught.value.where.endswith("q.svg")
    (tmp_path / "q.svg").mkdir()
    with pytest.raises(CannotWrite):
        gradstep.render(GRAPH, tmp_path / "q.svg")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="rights of files")
def test_the_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    gradstep.render(GRAPH, tmp_path / "q.svg")
    assert (tmp_path / "q.svg").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "q.svg").chmod(0o600)
    gradstep.render(GRAPH, tmp_path / "q.svg")
    assert (tmp_path / "q.svg").stat().st_mode & 0o777 == 0o600


def test_json_loads_back_equal() -> None:
    assert from_json(gradstep.render(GRAPH, format="json").text) == GRAPH


def test_notebooks_get_the_svg() -> None:
    rendering = gradstep.render(GRAPH)
    assert rendering._repr_svg_() == rendering.text
    shown = rendering._repr_mimebundle_()
    assert shown["image/svg+xml"] == shown["text/html"] == rendering._repr_html_() == rendering.text
    assert re.match(r"<svg of [\d,]+ bytes: Forward and backward graph of Q", shown["text/plain"])
    assert shown["text/plain"] == repr(rendering)
    assert gradstep.render(GRAPH, format="dot")._repr_svg_() is None
    assert bytes(rendering) == rendering.data


def test_a_notebook_shows_a_page_in_a_frame_of_its_own_and_text_as_text() -> None:
    page = gradstep.render(GRAPH, format="html")
    shown = page._repr_mimebundle_()
    assert re.fullmatch(
        '<iframe title="[^"]+" srcdoc="[^"]+" style="[^"]+"></iframe>', shown["text/html"]
    )
    assert unescape(shown["text/html"].split('"')[3]) == page.text
    assert shown["text/plain"] == repr(page)
    for name in ("txt", "dot", "mermaid"):
        text = gradstep.render(GRAPH, format=name)
        assert text._repr_mimebundle_() == {"text/plain": text.text}
        said: list[str] = []
        text._repr_pretty_(SimpleNamespace(text=said.append), False)
        assert said == [text.text]


def test_the_page_holds_the_picture_and_its_title() -> None:
    page = gradstep.render(GRAPH, format="html").text
    assert "<title>Q = 3a³ − b²</title>" in page
    assert gradstep.render(GRAPH, view="both").text in page
    assert 'content="dark"' in gradstep.render(GRAPH, format="html", theme="dark").text


def test_text_lists_nodes_in_the_order_they_run() -> None:
    text = gradstep.render(GRAPH, format="txt", view="backward").text
    words = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert words == [
        "∂Q/∂Q",
        "SubBackward0",
        "PowBackward0:1",
        "MulBackward0",
        "PowBackward0:2",
        "b.grad",
        "a.grad",
    ]


def test_mermaid_names_every_box_and_line() -> None:
    text = gradstep.render(GRAPH, format="mermaid", view="both").text
    assert text.count(":::") == 14
    assert text.count("-->") + text.count("-.->") == 14
    assert re.findall(r"subgraph (\w+)", text) == ["forward", "backward"]
    numbers = [n for row in re.findall(r"linkStyle (\S+)", text) for n in row.split(",")]
    assert sorted(map(int, numbers)) == list(range(14))


def test_mermaid_of_one_half_has_no_subgraph() -> None:
    assert "subgraph" not in gradstep.render(GRAPH, format="mermaid", view="forward").text


def test_tensors_are_captured() -> None:
    torch = pytest.importorskip("autograd_core")
    a = torch.tensor(2.0, requires_grad=True)
    svg = gradstep.render(3 * a**3, view="backward").text
    assert "MulBackward0" in svg
    json.loads(gradstep.render(3 * a**3, format="json").text)
