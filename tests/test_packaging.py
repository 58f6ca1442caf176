"""What a newcomer and a packager rely on: the README's files, the wheel, the sources."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.extras import EXTRA_OF

ROOT = Path(__file__).parents[1]
FOLDERS = {  # of the packages that are installed, and below which of the repository's they are
    "autograd_core": ".", "gradstep": ".", "gradstep_viz": "viz", "gradstep_tui": "tui"
}  # fmt: skip
PACKAGES = tuple(FOLDERS)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


# --- what is declared --------------------------------------------------------------------------


def test_hatchling_is_bounded_alike_for_builds_and_for_tests() -> None:
    needed = PROJECT["build-system"]["requires"]
    assert set(needed) <= set(PROJECT["project"]["optional-dependencies"]["test"])
    assert re.fullmatch(r"hatchling>=[\d.]+,<\d+", needed[0])


def test_every_file_the_readme_speaks_of_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    names = set(
        re.findall(r"(?:samples|docs|tests|autograd_core|gradstep|viz|tui)/[\w/.-]*\w", text)
    )
    assert "samples/same_area.py" in names
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []


# --- the wheel ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    with zipfile.ZipFile(next(target.glob("*.whl"))) as archive:
        yield archive


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {*PACKAGES}
    held = {name for name in wheel.namelist() if name.partition("/")[0] in PACKAGES}
    written = {
        path.relative_to(ROOT / folder).as_posix()
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    demos = {f"gradstep/demos/{path.name}" for path in (ROOT / "samples" / "bugs").glob("*.*")}
    assert held == written | demos
    assert {f"{package}/py.typed" for package in PACKAGES} <= held


def test_the_wheel_names_command_python_and_licence(wheel: zipfile.ZipFile) -> None:
    information = {
        name.partition(".dist-info/")[2]: wheel.read(name).decode()
        for name in wheel.namelist()
        if ".dist-info/" in name
    }
    assert "gradstep = gradstep.__main__:main" in information["entry_points.txt"]
    assert "Requires-Python: >=3.11" in information["METADATA"]
    assert "MIT License" in information["licenses/LICENSE"]
    targets = re.findall(r'(?:\]\(|src="|srcset=")([^)" ]+)', information["METADATA"])
    assert len(targets) > 20
    assert [target for target in targets if not target.startswith("https://")] == []


def test_the_wheel_needs_little_and_its_extras_bring_what_messages_say(
    wheel: zipfile.ZipFile,
) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    needs = re.findall(
        r"^Requires-Dist: ([\w-]+)(?:\[.*?\])?[^;\n]*(?:; extra == '(\w+)')?$",
        wheel.read(name).decode(),
        re.M,
    )
    needed = {package for package, extra in needs if not extra}
    assert needed == {"numpy", "graphviz", "textual", "rich", "platformdirs"}
    brought = {(package.replace("-", "_"), extra) for package, extra in needs}
    modules = {
        ("pillow" if module == "PIL" else module, extra) for module, extra in EXTRA_OF.items()
    }
    assert modules <= brought


# --- the sources -------------------------------------------------------------------------------


def sources(*suffixes: str) -> list[Path]:
    folders = [
        "autograd_core",
        "gradstep",
        "viz",
        "tui",
        "samples",
        "tests",
        "benchmarks",
        "docs",
        ".ci",
        ".github",
        "editors",
    ]
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    files += [path for suffix in ("md", "toml", "py", "txt") for path in ROOT.glob(f"*.{suffix}")]
    return [
        path
        for path in files
        if path.is_file()
        and "__pycache__" not in path.parts
        and (not suffixes or path.suffix in suffixes)
    ]


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    path_of_a_machine = re.compile(rb"(?<![\w.])/(?:home|opt|root|tmp|Users|work)/\w")
    named = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in sources()
        if path.suffix != ".npz" and (match := path_of_a_machine.search(path.read_bytes()))
    ]
    assert named == []


def test_every_test_file_has_a_name_of_its_own() -> None:
    names = [path.name for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert len(names) == len(set(names))
    assert list((ROOT / "tests").rglob("__init__.py")) == []
