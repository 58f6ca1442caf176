"""Fences in Markdown, through pymdownx.superfences alone and through MkDocs."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pymdownx", reason="pymdownx is not installed (the extra 'docs' has it)")

import markdown as python_markdown

import gradstep_viz.markdown

ROOT = Path(__file__).parents[3]

CODE = """\
import autograd_core as torch
open("runs", "a").write("x")
x = torch.tensor(2.0, requires_grad=True)
z = torch.log(x * x)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(CODE)
    return tmp_path


def html(text: str) -> str:
    fences = [
        {
            "name": name,
            "class": name,
            "validator": gradstep_viz.markdown.validate,
            "format": gradstep_viz.markdown.format,
        }
        for name in ("autograd-graph", "autograd-film")
    ]
    return python_markdown.markdown(
        text,
        extensions=["attr_list", "pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": {"custom_fences": fences}},
    )


def fence(body: str, options: str = "", name: str = "autograd-graph") -> str:
    return f"```{name} {options}\n{body}\n```\n"


def test_a_fence_becomes_the_picture(folder: Path) -> None:
    page = html("Before.\n\n" + fence(CODE, 'view="backward"') + "\nAfter.")
    assert page.startswith("<p>Before.</p>\n<div")
    assert page.endswith("<p>After.</p>")
    assert "Backward graph of z: 2 nodes from LogBackward0 back to the leaf x.</title>" in page


def test_options_are_those_of_the_directive(folder: Path) -> None:
    options = 'step="all" view="backward" caption="a < b" alt="mine" width="50%" include_source'
    page = html(fence("model.py:z", options))
    assert "<figcaption>a &lt; b</figcaption>" in page
    assert ">mine</title>" in page
    assert "width:50%" in page
    assert '<code class="language-python">import autograd_core' in page
    assert re.search(r">x\.grad</text><text[^>]*>1</text>", page)


def test_an_attribute_list_may_name_classes_and_an_id(folder: Path) -> None:
    page = html("```{ .autograd-graph .wide #here view=forward data-zoom=no }\nmodel.py:z\n```")
    assert '<div id="here" data-zoom="no">' in page
    assert 'class="autograd-graph wide"' in page
    assert "Forward graph of z" in page


def test_a_film_plays(folder: Path) -> None:
    assert "@keyframes" in html(fence("model.py:z", 'seconds="2"', "autograd-film"))


def test_pictures_on_a_page_share_no_ids(folder: Path) -> None:
    page = html(fence("model.py:z") * 2 + fence("model.py:z", 'view="forward"') * 2)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert page.count("<svg") == 4
    assert len(ids) == len(set(ids))


def test_code_runs_once_and_again_when_its_file_changes(folder: Path) -> None:
    html(fence("model.py:z"))
    html("Other text.\n\n" + fence("model.py:z"))
    assert (folder / "runs").read_text() == "x"
    (folder / "model.py").write_text(CODE + "z = z * 2\n")
    assert "3 operations" in html(fence("model.py:z"))
    assert (folder / "runs").read_text() == "xx"
    assert (folder / ".cache" / "gradstep" / ".gitignore").read_text() == "*\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "options", "said"),
    [
        ("1 / 0", "", "autograd-graph: line 1: ZeroDivisionError: division"),
        ("x = 1\nif x", "", "autograd-graph: line 2: SyntaxError"),
        ("none.py:x", "", "autograd-graph: cannot read none.py"),
        ("model.py:z", 'sight="far"', "autograd-graph: there is no option sight; there are al"),
        ("model.py:z", 'view="far"', "autograd-graph: the option view: 'far' is not one of"),
        ("model.py:z", 'theme="pink"', "autograd-graph: the option theme: 'pink' is not one of"),
    ],
)
def test_what_goes_wrong_is_logged_where_mkdocs_counts_it(
    folder: Path, body: str, options: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        page = html(f"{fence(body, options)}\n<b>on</b>")
    (record,) = caplog.records
    assert record.getMessage().startswith(said)
    assert "<b>on</b>" in page
    assert ("autograd-graph: " in page) == ("option" not in said)


MKDOCS = """\
site_name: p
theme: {name: null, custom_dir: theme}
markdown_extensions:
  - pymdownx.superfences:
      custom_fences:
        - name: autograd-graph
          class: autograd-graph
          validator: !!python/name:gradstep.markdown.validate
          format: !!python/name:gradstep.markdown.format
"""


@pytest.mark.documents
def test_a_mkdocs_site_shows_the_graph_and_strict_finds_failures(folder: Path) -> None:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed (the extra 'docs' has it)")
    (folder / "mkdocs.yml").write_text(MKDOCS)
    (folder / "theme").mkdir()
    (folder / "theme" / "main.html").write_text("<main>{{ page.content }}</main>")
    (folder / "docs").mkdir()
    page = folder / "docs" / "index.md"

    def build() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    page.write_text("# Title\n\n" + fence("model.py:z"))
    done = build()
    assert done.returncode == 0, done.stderr
    assert "graph of z" in (folder / "site" / "index.html").read_text(encoding="utf-8")
    assert build().returncode == 0
    assert (folder / "runs").read_text() == "x"
    page.write_text("# Title\n\n" + fence("1 / 0"))
    done = build()
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
