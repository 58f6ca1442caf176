"""Links from boxes to the lines of the program: where they lead, and where none may."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import gradstep
import gradstep_viz
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph, Source
from gradstep_viz.picture.links import Links

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tra in.py").touch()
    return tmp_path


def graph_from(file: str) -> Graph:
    build = GraphBuilder("linked")
    build.node("op", "forward", "mul", source=Source(file, 7))
    build.node("op", "forward", "add")
    return build.graph()


def hrefs(text: str) -> list[str | None]:
    return [a.get("href") for a in ElementTree.fromstring(text).iter(f"{SVG}a")]


def test_an_editor_gets_the_whole_path(repository: Path) -> None:
    source = Source("tra in.py", 7)
    whole = (repository / "src" / "tra%20in.py").resolve().as_posix()
    for template, expected in (
        ("vscode://file/{path}:{line}", f"vscode://file{whole}:7"),
        ("file://{path}", f"file://{whole}"),
    ):
        assert Links(template, repository / "src").href(source) == expected
    assert Links("file://{path}", repository).href(Source("gone.py", 7)) == ""


def test_the_web_gets_the_path_within_the_repository(repository: Path) -> None:
    links = Links("https://host/blob/main/{path}#L{line}", repository / "src")
    expected = "https://host/blob/main/src/tra%20in.py#L7"
    assert links.href(Source("tra in.py", 7)) == expected
    assert links.href(Source(str(repository / "src" / "tra in.py"), 7)) == expected
    assert links.href(Source("/elsewhere/private/x.py", 7)) == ""
    assert links.href(None) == ""


def test_a_box_whose_line_is_known_is_a_link(repository: Path) -> None:
    graph = graph_from("src/tra in.py")
    options = {"link": "../{path}#{line}", "folder": repository, "view": "forward"}
    text = gradstep.render(graph, **options).text
    assert hrefs(text) == ["../src/tra%20in.py#7"]
    assert ElementTree.fromstring(text).get("role") == "group"  # an image has no links in it
    assert 'URL="../src/tra%20in.py#7"' in gradstep.render(graph, format="dot", **options).text
    assert 'click n0 href "' in gradstep.render(graph, format="mermaid", **options).text
    assert "tra%20in.py#7" in gradstep.render(graph, format="html", **options).text
    assert hrefs(gradstep.render(graph, view="forward").text) == []


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("javascript:alert({line})//{path}", "may not begin with javascript:"),
        ("JavaScript:{path}", "may not begin with javascript:"),
        ("data:text/html,{path}", "may not begin with data:"),
        ("java\nscript:{path}", "a control character"),
        (" javascript:{path}", "a control character"),
        ("https://host/#L{line}", "needs {path}"),
        ("https://host/{path}#{column}", "{column} means nothing"),
    ],
)
def test_links_that_could_run_something_or_lead_nowhere_are_refused(
    link: str, complaint: str
) -> None:
    with pytest.raises(gradstep_viz.VizError) as caught:
        gradstep.render(graph_from("x.py"), link=link, view="forward")
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    "file", ['a"onload="x.py', "a&b<script>.py", "a'b.py", "a)b.py", "a\nb.py"]
)
def test_names_of_files_stay_within_their_link(file: str) -> None:
    for link in ("https://host/{path}#L{line}", 'x"onclick="y/{path}'):
        text = gradstep.render(graph_from(file), link=link, view="forward").text
        (href,) = hrefs(text)
        assert href is not None
        attributes = [key for each in ElementTree.fromstring(text).iter() for key in each.attrib]
        assert not any(key.startswith("on") for key in attributes)
