"""Where gradstep is published: one address in pyproject.toml, and the same in files that no program
of ours reads; and what a release is made with."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ADDRESS = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]
NAMED_IN = [
    ".github/ISSUE_TEMPLATE/config.yml", "CITATION.cff", "CODE_OF_CONDUCT.md", "SECURITY.md",
    "conda/recipe.yaml", "editors/vscode/README.md", "editors/vscode/package.json",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMED_IN)
def test_a_file_names_the_address(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    hosts = set(re.findall(r"https://[\w.-]+/[\w-]*gradstep[\w-]*(?=[\s/.>)\"]|$)", text))
    assert {host for host in hosts if "pypi.org" not in host} == {ADDRESS}


def test_no_other_file_has_a_placeholder() -> None:
    folders = (".github", "conda", "docs", "editors", "gradstep", "tui", "viz")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.suffix in (".md", ".py", ".toml", ".cff")]
    placed = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if "__pycache__" not in path.parts and b"https://example.org" in path.read_bytes()
    }
    assert placed <= {"pyproject.toml", *NAMED_IN}


def test_the_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    extension = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    assert extension["version"] == version
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version: "{version}"' in (ROOT / "conda" / "recipe.yaml").read_text("utf-8")


def test_conda_needs_what_pip_needs() -> None:
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    needed = re.findall(r"- ([\w-]+) (>=\S+)$", recipe.partition("  run:")[2], re.MULTILINE)
    declared = [
        *PROJECT["project"]["dependencies"],
        f"python{PROJECT['project']['requires-python']}",
    ]
    assert {f"{name.removeprefix('python-')}{bounds}" for name, bounds in needed} == {*declared}


def test_the_metadata_has_addresses_and_whole_links() -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    metadata: dict[str, Any] = {}
    module.Addresses(str(ROOT), {"address": "https://host/it"}).update(metadata)
    assert metadata["urls"]["Issues"] == "https://host/it/issues"
    text = metadata["readme"]["text"]
    assert "https://host/it/raw/main/docs/images/debug-steps.svg" in text
    assert "](https://host/it/blob/main/docs/install.rst)" in text
    assert "https://host/it/raw/main/https" not in text


def test_workflows_use_actions_by_their_hash() -> None:
    uses = [
        line.partition("uses:")[2].strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "uses:" in line
    ]
    assert uses
    assert [
        each for each in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each)
    ] == []


def test_the_extension_has_an_icon_and_everything_that_it_packs() -> None:
    folder = ROOT / "editors" / "vscode"
    extension = json.loads((folder / "package.json").read_text("utf-8"))
    packed = {*extension["files"], extension["icon"], extension["main"].removeprefix("./")}
    assert "LICENSE" in packed  # package.sh copies that
    assert [name for name in packed - {"LICENSE"} if not (folder / name).is_file()] == []
    assert (folder / "icon.png").read_bytes().startswith(b"\x89PNG")
