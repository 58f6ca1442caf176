"""New projects, set up from nothing with what the documentation says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of
from tests.waiting import LIMIT

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.documents
MODEL = """\
import autograd_core as torch

w = torch.tensor([0.5, -1.0], requires_grad=True)

def loss():
    return ((w * torch.tensor([1.0, 2.0])).sum() - 3.0) ** 2
"""


PAGE = ROOT / "docs" / "how_to" / "documents.rst"


def published(language: str, number: int = 0, page: Path = PAGE) -> str:
    """A block of that language on the page that tells how pictures come into documents."""
    blocks = [block.text for block in blocks_of(page) if block.language == language]
    return blocks[number]


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def test_a_sphinx_project_is_set_up_by_them(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is not installed (the extra 'docs' has it)")
    if find_spec("torch") is None:  # the page imports it; the core draws the same
        (tmp_path / "torch.py").write_text("from autograd_core import log, tensor")
    (tmp_path / "conf.py").write_text(published("python"))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "index.rst").write_text("Title\n=====\n\n" + published("rst"))
    assert run(tmp_path, "sphinx", "-q", "-W", ".", "html") == ""
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "Backward graph of loss: 4 nodes from PowBackward0 back to the leaf w." in page
    assert "@keyframes" in page
    assert "The gradients of the loss" in page


def test_a_mkdocs_project_is_set_up_by_them(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed (the extra 'docs' has it)")
    pytest.importorskip("pymdownx", reason="pymdownx is not installed (the extra 'docs' has it)")
    (tmp_path / "mkdocs.yml").write_text("site_name: Mine\n" + published("yaml"))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Title\n\n" + published("markdown", 1))
    run(tmp_path, "mkdocs", "build", "--strict")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Backward graph of loss: 4 nodes from PowBackward0 back to the leaf w." in page
    assert "<figcaption>The gradients of the loss</figcaption>" in page


def test_the_cells_of_a_quarto_document_show_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "nbclient or ipykernel is not installed (the extra 'docs' has them)"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    document = published("markdown", page=PAGE.with_name("quarto.rst"))
    cells = re.findall(r"^```\{python\}\n(.*?)^```", document, re.DOTALL | re.MULTILINE)
    if find_spec("torch") is None:
        cells = [cell.replace("import torch", "import autograd_core as torch") for cell in cells]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, startup_timeout=LIMIT).execute()
    shown = [cell.outputs[-1]["data"]["text/html"] for cell in notebook.cells]
    assert "Forward and backward graph of" in shown[0]
    assert "@keyframes" in shown[1]
    assert "<iframe" in shown[2]


def test_a_hook_before_commits_renews_pictures(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (the extra 'docs' has it)")
    (repository,) = yaml.safe_load(published("yaml", 1))["repos"]
    (hook,) = repository["hooks"]
    program, *arguments = hook["entry"].split()
    assert program == "gradstep"
    (tmp_path / "model.py").write_text(MODEL)
    readme = tmp_path / "README.md"
    readme.write_text(published("markdown", 2))
    run(tmp_path, "gradstep", *arguments)
    assert "![Forward and backward graph of loss:" in readme.read_text(encoding="utf-8")
    assert (tmp_path / "loss.svg").exists()
