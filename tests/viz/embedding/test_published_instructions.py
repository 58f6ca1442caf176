"""Projects of strangers, set up from nothing with what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODEL = """\
import autograd_core as torch

w = torch.tensor([0.5, -1.0], requires_grad=True)

def loss():
    return ((w * torch.tensor([1.0, 2.0])).sum() - 3.0) ** 2
"""


def published(language: str) -> str:
    """The first block of that language in the README's section about documents."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## In documents\n")[1]
    found = re.search(rf"^(```+){language}\n(.*?)^\1$", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[2]


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


def test_a_sphinx_project(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is not installed (the extra 'docs' has it)")
    (tmp_path / "conf.py").write_text(published("python"))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "index.rst").write_text("Title\n=====\n\n" + published("rst"))
    assert run(tmp_path, "sphinx", "-q", "-W", ".", "html") == ""
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "Backward graph of loss: 4 nodes from PowBackward0 back to the leaf w." in page
    assert "@keyframes" in page
    assert "The gradients of the loss" in page


def test_a_mkdocs_project(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed (the extra 'docs' has it)")
    pytest.importorskip("pymdownx", reason="pymdownx is not installed (the extra 'docs' has it)")
    (tmp_path / "mkdocs.yml").write_text("site_name: Mine\n" + published("yaml"))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Title\n\n" + published("markdown"))
    run(tmp_path, "mkdocs", "build", "--strict")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Backward graph of loss: 4 nodes from PowBackward0 back to the leaf w." in page
    assert "<figcaption>The gradients of the loss</figcaption>" in page
