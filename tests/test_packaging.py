"""What a newcomer and a packager rely on: the README's commands, the wheel, the sources."""

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


# --- the README's commands ---------------------------------------------------------------------


def readme_command(number: int) -> str:
    """The command as CI extracts it."""
    script = ["bash", str(ROOT / ".ci" / "run"), "readme", str(number)]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def test_ci_takes_its_commands_out_of_the_readme() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    assert [readme_command(number) for number in range(1, 5)] == blocks


def test_the_first_command_sets_up_and_draws_and_the_second_tests() -> None:
    set_up, draw = readme_command(1).rsplit("&&\n", 1)
    assert "-e ." in set_up
    assert "test" not in set_up
    assert "gradstep render --view both -o digits.svg samples/digits_mlp.py" in draw
    install, test = readme_command(2).rsplit("&&\n", 1)
    assert "-e '.[test]'" in install
    assert "-m pytest" in test
    assert "-m sphinx" in readme_command(4)


def run_parts(script: str) -> tuple[int, str]:
    """What CI's parts end with and say, when ``script`` runs them."""
    end = 'run_parts; echo; echo "$summary"; drop_parts; exit $failed'
    source = f"set -uo pipefail; source .ci/parts.sh; {script}; {end}"
    run = subprocess.run(
        ["bash", "-c", source], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return run.returncode, run.stdout + run.stderr


def verdicts(said: str) -> dict[str, str]:
    return {name: verdict for verdict, name in re.findall(r"^ +\d+ s  (\w+) +(.*)$", said, re.M)}


def test_a_part_of_ci_that_needs_a_failed_one_is_skipped_and_says_so() -> None:
    code, said = run_parts(
        "part 'set up: all' false; part draw --needs 'set up: all' echo drawn;"
        "part look --needs draw echo looked; part lint echo linted"
    )
    assert code == 1
    assert verdicts(said) == {
        "set up: all": "FAILED", "draw": "skipped", "look": "skipped", "lint": "ok"
    }  # fmt: skip
    assert "skipped: needs set up: all\n" in said
    assert "skipped: needs draw\n" in said
    assert "drawn" not in said
    assert "linted" in said


def test_parts_of_ci_that_all_succeed_end_with_0() -> None:
    code, said = run_parts("part a true; part b --needs a true")
    assert (code, verdicts(said)) == (0, {"a": "ok", "b": "ok"})


def test_parts_of_ci_run_beside_each_other_and_what_they_say_stands_in_order() -> None:
    code, said = run_parts(
        "pipe=$(mktemp -u); mkfifo $pipe; part first cat $pipe;"
        'part second bash -c "echo told >$pipe; rm $pipe; echo second"; part wrong false;'
        "part late --after first --after wrong echo late"
    )
    assert (code, [*verdicts(said).values()]) == (1, ["ok", "ok", "FAILED", "ok"])
    assert "=== first\ntold\n\n=== second\nsecond\n\n=== wrong\n\n=== late\nlate\n" in said


def test_a_part_of_ci_is_interrupted_as_any_command() -> None:
    plainly = "import signal; assert signal.getsignal(2) is signal.default_int_handler"
    code, said = run_parts(f"part ask {sys.executable} -c '{plainly}'")
    assert code == 0, said


def test_a_part_of_ci_that_hangs_is_ended_and_says_so() -> None:
    code, said = run_parts("part next true; LIMIT_MINUTES=0.005; part wait sleep 3600")
    assert (code, verdicts(said)) == (1, {"wait": "FAILED", "next": "ok"})
    assert "ended after 0.005 minutes\n" in said


def test_a_part_of_ci_cannot_need_what_is_no_part() -> None:
    code, said = run_parts("part a --needs b true")
    assert code == 2
    assert "a needs b, which is no part" in said


def test_hatchling_is_bounded_alike_for_builds_and_for_tests() -> None:
    needed = PROJECT["build-system"]["requires"]
    assert set(needed) <= set(PROJECT["project"]["optional-dependencies"]["test"])
    assert re.fullmatch(r"hatchling>=[\d.]+,<\d+", needed[0])


def test_every_file_the_readme_speaks_of_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    names = set(
        re.findall(r"(?:samples|docs|tests|autograd_core|gradstep|viz|tui)/[\w/.-]*\w", text)
    )
    assert "samples/thrown_ball.py" in names
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
        wheel.read(name).decode(), re.M,
    )  # fmt: skip
    needed = {package for package, extra in needs if not extra}
    assert needed == {"numpy", "graphviz", "textual", "rich", "platformdirs"}
    brought = {(package.replace("-", "_"), extra) for package, extra in needs}
    assert {*EXTRA_OF.items()} <= brought


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
        "editors",
    ]
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    files += sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("*.toml"))
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
