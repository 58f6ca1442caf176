"""Small Sphinx projects, built as their authors would."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed (the extra 'docs' has it)")

from sphinx.cmd.build import build_main
from sphinx.util.docutils import docutils_namespace

from gradstep_viz import theme
from gradstep_viz.embedding import Request, draw, printing, snippet_of
from gradstep_viz.errors import RendererUnavailable
from gradstep_viz.output.renderers import Svg2Pdf

pytestmark = pytest.mark.documents

CONF = 'project = "p"\nextensions = ["gradstep.sphinx"]\nhtml_theme = "basic"\nnumfig = True\n'

MODEL = """\
import autograd_core as torch
from powers_of_mine import cube
open("runs", "a").write("m")
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(6.0, requires_grad=True)
Q = 3 * cube(a) - b**2
"""

INDEX = """\
Title
=====

See :numref:`fig-q` and :ref:`the other <other>`.

.. autograd-graph:: model.py:Q
   :view: backward
   :step: all
   :caption: The gradient of *Q*
   :name: fig-q

.. _other:

.. autograd-graph::
   :alt: My "own" words
   :include-source:
   :width: 50%
   :align: center
   :class: extra
   :context:

   import autograd_core as torch
   x = torch.tensor(2.0, requires_grad=True)
   z = torch.log(x * x)

.. autograd-graph::
   :context:
   :view: forward

   z * z

.. autograd-graph:: model.py:Q
   :view: backward
   :step: all

.. autograd-film:: model.py:Q

.. toctree::

   second
"""

SECOND = """\
Second
======

.. autograd-graph::

   import autograd_core as torch
   open("runs", "a").write("s")
   torch.ones(3, requires_grad=True).sum()
"""

Build = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "powers_of_mine.py").write_text("def cube(x):\n    return x**3\n")
    for name, text in (
        ("conf.py", CONF), ("model.py", MODEL), ("index.rst", INDEX), ("second.rst", SECOND),
    ):  # fmt: skip
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def build(project: Path, capfd: pytest.CaptureFixture[str]) -> Build:
    """Build the project, and return the exit code and what was said on standard error."""

    def command(builder: str = "html", *options: str) -> tuple[int, str]:
        out = project.parent / builder
        with docutils_namespace():
            code = build_main(["-q", "--no-color", "-b", builder, *options, str(project), str(out)])
        return code, capfd.readouterr().err

    return command


def page(project: Path, name: str = "index") -> str:
    return (project.parent / "html" / f"{name}.html").read_text(encoding="utf-8")


def runs(project: Path) -> str:
    return "".join(sorted((project / "runs").read_text()))


def test_html_holds_the_pictures_themselves(project: Path, build: Build) -> None:
    assert build("html", "-W") == (0, "")
    text = page(project)
    assert text.count("<svg ") == 6  # the window of the film is one inside of its SVG
    assert text.count('role="img"') == 5
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert "<title " in text
    said = "4 nodes from SubBackward0 back to the leaves b and a."
    assert f"Backward graph of Q = 3 * cube(a) - b**2: {said}" in text
    assert "My &quot;own&quot; words</title>" in text
    assert 'class="autograd-graph extra"' in text
    assert "width:50%;margin:auto" in text
    assert 'class="autograd-film"' in text
    assert "@keyframes" in text
    for picture in re.findall(r"<svg .*?</svg>", text, re.DOTALL):
        assert "<script" not in picture
        assert not re.search(r"url\(|href|src=|@import|//(?!www\.w3\.org/2000/svg)", picture)


WIDE = """\
.. autograd-graph::

   import autograd_core as torch
   x = torch.tensor(2.0, requires_grad=True)
   torch.stack([x.sin() * x.cos() + x.exp() * x.sqrt() for _ in range(5)]).sum()
"""


@pytest.mark.parametrize("builder", ["html", "dirhtml"])
def test_a_wide_picture_scrolls_by_keyboard_and_is_to_be_had_in_full_size(
    project: Path, build: Build, builder: str
) -> None:
    (project / "second.rst").write_text(f"Second\n======\n\n{WIDE}")
    assert build(builder, "-W") == (0, "")
    name = "second/index" if builder == "dirhtml" else "second"
    file = project.parent / builder / f"{name}.html"
    text = file.read_text(encoding="utf-8")
    (link,) = re.findall(r'<a href="([^"]+)">Full size</a>', text)
    full = (file.parent / link).read_text(encoding="utf-8")
    assert "Forward and backward graph of" in full
    assert text.count('tabindex="0" role="group" aria-label="A picture that may scroll"') == 1


def test_a_caption_makes_a_numbered_figure_that_can_be_referred_to(
    project: Path, build: Build
) -> None:
    build("html", "-W")
    text = page(project)
    assert re.search(r'<figure[^>]* id="fig-q">\s*<div class="autograd-graph"', text)
    assert re.search(r'href="#fig-q"><span class="std std-numref">Fig\. 1</span>', text)
    assert re.search(r"The gradient of <em>Q</em>", text)
    assert re.search(r'href="#other"><span class="std std-ref">the other</span>', text)
    assert re.search(r'id="other"', text)


def test_the_source_is_shown_above_and_highlighted(project: Path, build: Build) -> None:
    build("html", "-W")
    assert re.search(r'class="highlight-python.*?tensor.*?</pre>.*?<svg', page(project), re.DOTALL)


def test_builders_without_pictures_get_the_text(project: Path, build: Build) -> None:
    for builder, file in (("text", "index.txt"), ("man", "p.1")):
        assert build(builder, "-W") == (0, "")
        text = (project.parent / builder / file).read_text(encoding="utf-8")
        assert "backward ↑" in text
        assert "PowBackward0" in text
        assert "pow runs: 8" in text


def test_an_epub_gets_files_that_need_no_variables(project: Path, build: Build) -> None:
    """Pages with SVG in them would have to be declared, and Sphinx does not."""
    build("epub", "-D", "version=1", "-D", "copyright=me")
    folder = project.parent / "epub"
    text = (folder / "index.xhtml").read_text(encoding="utf-8")
    assert "<svg" not in text
    pictures = re.findall(r'<img alt="([^"]+)"[^>]* src="(_images/graph-\w+\.svg)"', text)
    assert len(pictures) == 5
    assert pictures[0][0].startswith("Backward graph of Q = 3 * cube(a) - b**2: 4 nodes")
    for _, file in pictures:
        svg = (folder / file).read_text(encoding="utf-8")
        assert "PowBackward0" in svg or "log" in svg or "mul" in svg
        assert "var(" not in svg
        assert "@keyframes" not in svg


@pytest.mark.parametrize("maker", ["svg2pdf", "rsvg-convert", "dot"])
def test_latex_gets_vector_pictures(
    project: Path, build: Build, maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if maker == "svg2pdf":
        try:
            Svg2Pdf().render('<svg xmlns="http://www.w3.org/2000/svg"/>', "pdf")
        except RendererUnavailable as error:
            pytest.skip(str(error))
    elif not shutil.which(maker):
        pytest.skip(f"{maker}, which makes PDF, is not on the PATH")
    only(maker, monkeypatch)
    code, said = build("latex")
    assert code == 0
    # Graphviz draws graphs, no films
    assert said.count("the picture is printed as text") == said.count("WARNING") == (maker == "dot")
    tex = (project.parent / "latex" / "p.tex").read_text(encoding="utf-8")
    pictures = re.findall(r"\\sphinxincludegraphics(?:\[[^]]*\])?\{\{(graph-\w+)\}\.pdf\}", tex)
    assert len(pictures) >= 4
    for name in pictures:
        assert (project.parent / "latex" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert re.search(r"\\caption\{The gradient of.*?\}\\label\{\\detokenize\{index:fig-q\}\}", tex)
    assert "width=0.500\\linewidth" in tex
    assert re.search(r"\\capstart\s+.*maxheight=\.85\\textheight", tex), "room for the caption"
    assert tex.count("maxheight=") == 1


def only(maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if of all that makes PDF and PNG, the machine had but this."""
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: which(name) if name == maker else None)
    for package, name in (("svg2pdf_py", "svg2pdf"), ("resvg_py", "resvg")):
        if name != maker:
            monkeypatch.setitem(sys.modules, package, None)


def test_what_is_printed_has_colours_that_need_no_variables(tmp_path: Path) -> None:
    code = "import autograd_core as t\nx = t.tensor(2.0, requires_grad=True)\nx * x"
    for film in (False, True):
        drawing = draw(Request((snippet_of(code, tmp_path),), {}, film=film))
        plain = printing._plain(drawing.still)
        assert "var(" not in plain
        assert "light-dark" not in plain
        assert "color-scheme" not in plain
        assert f"fill:{theme.LIGHT['fwdbg']}" in plain
        ElementTree.fromstring(plain)


def test_where_nothing_makes_a_pdf_latex_gets_text_and_a_warning_with_its_line(
    project: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    only("nothing", monkeypatch)
    code, said = build("latex")
    assert code == 0
    assert "index.rst:6: WARNING: no renderer on this machine can make a PDF of a picture" in said
    tex = (project.parent / "latex" / "p.tex").read_text(encoding="utf-8")
    assert "PowBackward0" in tex
    assert "dQ/dQ" in tex
    assert not re.search("[∂−←↑↓⋯]", tex), "pdflatex stops at these"


def test_only_what_changed_is_run_again(project: Path, build: Build) -> None:
    build()
    assert runs(project) == "mms"  # for the graph, which stands there twice, and for the film
    build()
    assert runs(project) == "mms"
    (project / "index.rst").write_text(f"Text above.\n\n{INDEX}\nText below.\n")
    build()
    assert runs(project) == "mms"
    assert "Text below." in page(project)
    (project / "second.rst").write_text(SECOND.replace("ones(3", "ones(2"))
    build()
    assert runs(project) == "mmss"


def test_a_changed_module_is_drawn_anew(project: Path, build: Build) -> None:
    build()
    before, second = page(project), page(project, "second")
    (project / "powers_of_mine.py").write_text("def cube(x):\n    return x * x * x\n")
    assert build("html", "-W") == (0, "")
    assert runs(project).count("s") == 1
    assert page(project) != before
    assert page(project).count("MulBackward0") > before.count("MulBackward0")
    assert page(project, "second") == second


def test_another_version_of_the_program_reads_everything_anew(
    project: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()
    monkeypatch.setattr("gradstep_viz.sphinx.gradstep_version", lambda: "99")
    monkeypatch.setattr("gradstep_viz.embedding.store.gradstep_version", lambda: "99")
    build()
    assert runs(project) == "mmmmss"


def test_configuration_says_the_view(project: Path, build: Build) -> None:
    build("html", "-D", "autograd_graph_view=forward")
    assert "Forward graph of" in page(project, "second")


PAGE = """\
Page {0}
======

See :numref:`fig-{0}`.

.. autograd-graph:: model.py:Q
   :caption: The gradient of *Q*, and {0}
   :name: fig-{0}
"""


def test_parallel_builds_give_the_same_pages(project: Path, build: Build) -> None:
    names = [f"more{number}" for number in range(6)]
    (project / "second.rst").write_text(SECOND + "\n.. toctree::\n\n   " + "\n   ".join(names))
    for number, name in enumerate(names):  # fewer pages are built one after the other
        (project / f"{name}.rst").write_text(PAGE.format(number))
    assert build("html", "-W") == (0, "")
    alone = page(project)
    shutil.rmtree(project.parent / "html")
    assert build("html", "-W", "-j", "2") == (0, "")
    assert page(project) == alone


# --- what goes wrong ---


def failing(project: Path, directive: str) -> None:
    (project / "index.rst").write_text(f"Title\n=====\n\n{directive}\n\nThe end.\n")
    (project / "second.rst").unlink()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("directive", "place", "said"),
    [
        (".. autograd-graph::\n\n   x = 1\n   x / 0", "index.rst:7", "ZeroDivisionError"),
        (".. autograd-graph::\n   :view: both\n\n   if x", "index.rst:7", "SyntaxError"),
        (".. autograd-graph:: none.py:x", "index.rst:4", "cannot read none.py"),
        (".. autograd-graph:: model.py:R", "index.rst:4", "model.py has no R"),
        (".. autograd-graph:: model.py:Q\n   :hops: 2", "index.rst:4", "hops needs around"),
        (".. autograd-graph::", "index.rst:4", "neither a file nor code"),
        (".. autograd-graph:: model.py:Q\n\n   x", "index.rst:4", "both a file and code"),
        (".. autograd-film::\n\n   import autograd_core as t\n   t.ones(2)", "index.rst:4", "grad"),
    ],
)
def test_a_failure_is_a_warning_at_its_line_and_the_page_goes_on(
    project: Path, build: Build, directive: str, place: str, said: str
) -> None:
    failing(project, directive)
    code, warning = build()
    assert code == 0
    assert re.search(rf"{re.escape(place)}: WARNING: autograd-\w+: .*{re.escape(said)}", warning)
    assert warning.count("WARNING") == 1
    assert "Traceback" not in warning
    text = page(project)
    assert "The end." in text
    assert "autograd-" in text


def test_a_failure_is_an_error_where_warnings_are(project: Path, build: Build) -> None:
    failing(project, ".. autograd-graph:: none.py:x")
    assert build("html", "-W")[0] == 1


def test_an_option_that_does_not_exist_is_docutils_to_refuse(project: Path, build: Build) -> None:
    failing(project, ".. autograd-graph:: model.py:Q\n   :view: sideways")
    assert "'sideways' is not one of auto, forward, backward, both, flow" in build()[1]
    failing_option = project / "index.rst"
    failing_option.write_text(failing_option.read_text().replace(":view:", ":sight:"))
    assert 'unknown option: "sight"' in build()[1]


def test_nothing_runs_while_the_extension_is_set_up(project: Path, build: Build) -> None:
    (project / "index.rst").write_text("Title\n=====\n")
    (project / "second.rst").unlink()
    build("html", "-W")
    assert not (project / "runs").exists()


def test_a_context_starts_anew_in_every_document_and_on_request(
    project: Path, build: Build
) -> None:
    block = ".. autograd-graph::\n   :context:{}\n\n   {}\n\n"
    code = "import autograd_core as t; x = t.tensor(2.0, requires_grad=True); x * 2"
    failing(project, block.format("", code) + block.format(" reset", "x * 3"))
    (project / "zz.rst").write_text(":orphan:\n\n" + block.format("", "x * 3"))
    said = build()[1]
    assert re.search(r"index\.rst:12: WARNING: autograd-graph: NameError", said)
    assert re.search(r"zz\.rst:6: WARNING: autograd-graph: NameError", said)


def test_myst_uses_the_same_directives(project: Path, build: Build) -> None:
    pytest.importorskip("myst_parser", reason="MyST is not installed (the extra 'docs' has it)")
    (project / "index.rst").unlink()
    (project / "second.rst").unlink()
    (project / "conf.py").write_text(CONF.replace('["gradstep', '["myst_parser", "gradstep'))
    (project / "index.md").write_text(
        "# Title\n\n```{autograd-graph} model.py:Q\n:view: backward\n:caption: Of *Q*\n```\n\n"
        "```{autograd-graph}\nimport autograd_core as torch\n1 / 0\n```\n"
    )
    said = build()[1]
    assert re.search(r"index\.md:10: WARNING: autograd-graph: ZeroDivisionError", said)
    assert "<figure" in page(project)
    assert "Backward graph of Q" in page(project)
    assert "Of <em>Q</em>" in page(project)


def test_a_picture_for_paper_is_made_once(
    project: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(printing, "_printed", lambda drawing: (made.append(1), ("pdf", b"%PDF"))[1])
    build("latex", "-d", str(project.parent / "trees"))
    first = len(made)
    (project / "index.rst").write_text(f"More.\n\n{INDEX}")
    build("latex", "-d", str(project.parent / "trees"))
    assert len(made) == first == 5  # two of the six are the same
