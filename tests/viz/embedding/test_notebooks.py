"""What a notebook shows, and a gallery that is made of scripts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import autograd_core as torch
from gradstep import capture
from gradstep.console.session import Session
from gradstep_tui.notebook import graph_as_html, run_cell, session_as_html
from tests.waiting import LIMIT

ROOT = Path(__file__).parents[3]


def test_a_graph_is_shown_with_the_halves_it_has() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    for view, title in (
        ("both", "Forward and backward graph of y"),
        ("backward", "Backward graph of y"),
        ("forward", "Forward graph of y"),
    ):
        assert f">{title}: " in graph_as_html(capture(x * x, view, title="y"))  # type: ignore[arg-type]


def test_a_session_shows_where_it_stands_and_what_is_not_there_yet() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    session = Session(x * x + x)
    session.do("next 2")
    shown = session_as_html(session)
    assert "2 of 3 nodes have run; next is x" in shown
    assert "<td>none yet</td>" in shown
    session.do("next")
    assert "<td>5</td>" in session_as_html(session)
    assert "#3 runs next" in shown
    session.abort()


def test_a_cell_is_run_under_a_command_and_shares_the_variables_of_the_notebook(
    capsys: pytest.CaptureFixture[str],
) -> None:
    variables: dict[str, Any] = {"x": torch.tensor([0.0, 4.0], requires_grad=True)}
    leaf = torch.tensor(2.0, requires_grad=True)
    code = "import autograd_core as torch\nroot = x.sqrt()\n(root * x).sum().backward()\n"
    report = run_cell("check", [], code, variables, 7)
    assert capsys.readouterr().out == ""
    said = report.text()
    assert "[not-finite]" in said
    assert "Cell In[7], line 3" in said  # the first one has the magic
    assert "    3 | root = x.sqrt()\n" in said
    assert said.startswith("Cell In[7]: 1 warning")
    assert report.next == "%%gradstep debug --fail-on nan,inf"
    assert run_cell("check", [], "(w * 2).backward()", variables | {"w": leaf}).next == ""
    assert variables["root"].tolist() == [0.0, 2.0]
    assert "__name__" not in variables
    assert run_cell("why", ["x"], code, variables) is None
    assert "x.grad is nan" in capsys.readouterr().out
    variables["w"] = torch.tensor(2.0, requires_grad=True)
    cut = "v = w.detach().requires_grad_()\n(v * w.item()).backward()"
    assert run_cell("check", [], cut, variables).next == "%%gradstep why w"
    picture = run_cell("render", ["--view", "backward"], code, variables)
    assert "Backward graph of" in picture.text
    assert run_cell("film", [], code, variables).data.startswith(b"<svg")
    assert capsys.readouterr() == ("", "")
    assert run_cell("render", [], "x.sqrt(", variables) is None
    assert "SyntaxError" in capsys.readouterr().err


OTHER_CELLS = """\
import autograd_core as torch
model, old = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
unused = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD(old.parameters(), lr=0.1)
x = torch.ones(3, 2)
def loss():
    return model(x).square().mean()
"""


@pytest.mark.parametrize("loss", ["model(x).square().mean()", "loss()"])
def test_a_cell_is_not_blamed_for_what_other_cells_have_left(
    loss: str, capsys: pytest.CaptureFixture[str]
) -> None:
    variables: dict[str, Any] = {"__name__": "__main__"}
    exec(OTHER_CELLS, variables)
    for _ in range(2):
        run_cell("check", ["--all"], f"model.zero_grad()\n{loss}.backward()", variables)
        said = capsys.readouterr().out
        assert "nothing suspicious" in said
        assert not {"old", "unused", "opt"} & set(said.replace(".", " ").split())
    run_cell("why", ["weight"], f"{loss}.backward()", variables)
    assert "nothing is wrong with model.weight.grad" in capsys.readouterr().out


CELLS = [
    """import autograd_core as torch, gradstep
from gradstep import capture
from gradstep.console.session import Session
x = torch.tensor(2.0, requires_grad=True)
z = torch.log(x * x)
z""",
    "gradstep.render(z)",
    "gradstep.film(z)",
    "capture(z)",
    "%load_ext gradstep",
    "capture(z)",
    "Session(z)",
    "Session(z).snapshot",
    "%%gradstep check\nloss = (x - x).sqrt()\nloss.backward()",
    "%%gradstep render\nloss = (x * 3).sin()\nloss.backward()",
    "loss",
    "gradstep.check(z)",
    "session = Session(z)\nsession",
    "session.do('next 2');",
    "%gradstep check train.py",
    "%%gradstep record -o run.gsr\nfor step in range(3):\n    (x * step).sin().backward()",
    "%gradstep check --format json run.gsr",
    "%gradstep explain cut",
    "import gradstep\nwith gradstep.watch() as run:\n    (x.detach() * x).backward()\nrun.report()",
    "%%gradstep check\n1 +",
    "%unload_ext gradstep\ncapture(z)",
]


@pytest.mark.documents
def test_an_executed_notebook_shows_pictures_where_they_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "nbclient or ipykernel is not installed (the extra 'docs' has them)"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import autograd_core as torch\nx = torch.tensor(0.0, requires_grad=True)\n"
        "(x.sqrt() * x).backward()\n"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, startup_timeout=LIMIT).execute()

    def shown(cell: int) -> dict[str, Any]:
        ((output),) = notebook.cells[cell].outputs
        return dict(output["data"])

    def printed(cell: int) -> str:
        return "".join(output.get("text", "") for output in notebook.cells[cell].outputs)

    assert set(shown(0)) == {"text/plain"}
    assert shown(0)["text/plain"].startswith("tensor(1.386")
    for cell in (1, 2):
        assert shown(cell)["image/svg+xml"] == shown(cell)["text/html"]
        assert len(shown(cell)["text/plain"]) < 1000
    assert ": Forward and backward graph of z: 2 operations" in shown(1)["text/plain"]
    assert "text/html" not in shown(3)
    assert "graph of z" in shown(5)["text/html"]
    assert "0 of 3 nodes have run" in shown(6)["text/html"]
    assert "0 of 3 nodes have run" in shown(7)["text/html"]
    assert "not-finite" in shown(8)["text/html"]
    assert "Cell In[9]" in shown(8)["text/html"]
    assert "Cell In[9], line 2" in shown(8)["text/plain"]
    assert "graph of loss" in notebook.cells[9].outputs[-1]["data"]["text/html"]
    assert shown(10)["text/plain"].startswith("tensor(-0.279")
    assert "the graph of z" in shown(11)["text/html"]
    assert "looked at: the graph of z" in shown(11)["text/plain"]
    assert "2 of 3 nodes have run" in shown(12)["text/html"]  # drawn again
    assert not notebook.cells[13].outputs
    assert "not-finite" in shown(14)["text/html"]
    assert "train.py:3" in shown(14)["text/plain"]
    assert "run.gsr: 3 calls" in printed(15)
    assert json.loads(printed(16))["target"] == "run.gsr"
    assert printed(17).startswith("[cut] ")
    assert "Cell In[19], line 3" in shown(18)["text/plain"]
    (failed,) = notebook.cells[19].outputs
    assert "SyntaxError" in str(failed)
    assert "ScriptFailed" not in str(failed)
    assert "Cell In[20], line 2" in str(failed).replace('"', "").replace(":2", ", line 2")
    assert "text/html" not in shown(20)
    assert shown(20)["text/plain"].startswith("<Graph of z: ")


EXAMPLE = '''"""
The logarithm
=============
"""
import autograd_core as torch, gradstep
x = torch.tensor(2.0, requires_grad=True)
gradstep.render(torch.log(x * x), view="backward")
'''

CONF = """\
project = "p"
extensions = ["sphinx_gallery.gen_gallery"]
html_theme = "basic"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "image_scrapers": (),
    "reset_modules": (),
    "show_memory": False,
}
"""


@pytest.mark.documents
def test_sphinx_gallery_shows_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_gallery", reason="sphinx-gallery is not installed (extra 'docs')")
    from sphinx.cmd.build import build_main
    from sphinx.util.docutils import docutils_namespace

    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "README.rst").write_text("Examples\n========\n")
    (tmp_path / "examples" / "plot_log.py").write_text(EXAMPLE)
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.rst").write_text("Title\n=====\n\n.. toctree::\n\n   gallery/index\n")
    with docutils_namespace():
        assert build_main(["-q", str(tmp_path), str(tmp_path / "html")]) == 0
    page = (tmp_path / "html" / "gallery" / "plot_log.html").read_text(encoding="utf-8")
    assert "<svg " in page
    assert "Backward graph of" in page
