"""What is checked before anything is merged: the parts of CI, the jobs on GitHub, the hooks."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.conftest import pytest_collection_modifyitems, pytest_ignore_collect, spread

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def readme_command(number: int) -> str:
    """The command as CI extracts it."""
    script = ["bash", str(ROOT / ".ci" / "run"), "readme", str(number)]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def test_ci_takes_its_commands_out_of_the_readme() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    assert [readme_command(number) for number in range(1, 5)] == blocks


def test_the_first_command_sets_up_and_draws_and_the_second_tests() -> None:
    set_up, draw = readme_command(1).rsplit(" &&\n", 1)
    assert set_up == "python3 -m venv .venv && .venv/bin/pip install -q -e ."
    assert "gradstep render --view both -o digits.svg samples/digits_mlp.py" in draw
    install, test = readme_command(2).rsplit(" && ", 1)
    assert "-e '.[test]'" in install
    assert "-m pytest" in test
    assert "-m sphinx" in readme_command(4)


class NoxSession(NamedTuple):
    name: str
    tags: list[str]
    requires: list[str]
    source: str


def nox_sessions() -> dict[str, NoxSession]:
    """What noxfile.py declares, read without nox."""
    source = (ROOT / "noxfile.py").read_text("utf-8")
    declared = {}
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and function.decorator_list:
            given = {
                keyword.arg: ast.literal_eval(keyword.value)
                for decorator in function.decorator_list
                if isinstance(decorator, ast.Call) and not decorator.args
                for keyword in decorator.keywords
                if keyword.arg in ("tags", "requires")
            }
            body = ast.get_source_segment(source, function) or ""
            declared[function.name] = NoxSession(
                function.name, given.get("tags", []), given.get("requires", []), body
            )
    return declared


def workflow_list(name: str, key: str) -> list[str]:
    """The list that a matrix of a workflow has under a key."""
    text = (ROOT / ".github" / "workflows" / name).read_text("utf-8")
    (items,) = re.findall(rf"^ +{key}: \[(.*)\]$", text, re.MULTILINE)
    return [item.strip(' "') for item in items.split(",")]


def test_ci_runs_the_commands_of_the_readme_as_they_stand_there() -> None:
    run = {
        int(number)
        for session in nox_sessions().values()
        if "ci" in session.tags
        for number in re.findall(r"run_readme\(session, (\d)\)", session.source)
    }
    activate = {n for n in range(1, 5) if readme_command(n) == "source .venv/bin/activate\n"}
    assert run == {1, 2, 3, 4} - activate
    assert len(activate) == 1


def test_what_a_session_requires_stands_above_it() -> None:
    declared = list(nox_sessions().values())
    names = [session.name for session in declared]
    for index, session in enumerate(declared):
        assert set(session.requires) <= set(names[:index]), session.name


def test_each_part_of_ci_is_a_job_on_github() -> None:
    sessions = nox_sessions()
    jobs = [job.partition(" -- ")[0] for job in workflow_list("ci.yml", "session")]
    assert [job for job in jobs if job not in sessions] == []
    only_sets_up = {"environment", "torch"}
    parts = {session.name for session in sessions.values() if "ci" in session.tags}
    assert set(jobs) == parts - only_sets_up


def test_the_tests_that_noxfile_selects_are_there() -> None:
    source = (ROOT / "noxfile.py").read_text("utf-8")
    paths = re.findall(r'"(tests/[\w/.]+)"', source)
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_workflows_name_pythons_and_pytorches_that_have_a_session() -> None:
    source = (ROOT / "noxfile.py").read_text("utf-8")

    def listed(name: str) -> list[str]:
        return re.findall(r'"(.*?)"', re.findall(rf"^{name} = \[(.*)\]", source, re.MULTILINE)[0])

    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert set(re.findall(r'"(3\.\d+)"', workflow)) == set(listed("PYTHONS"))
    assert workflow_list("pytorch.yml", "release") == listed("PYTORCHES")
    assert nox_sessions()["pytorch_release"].tags == ["all"]


@pytest.mark.parametrize("code", [0, 1])
def test_ci_run_ends_as_its_sessions_do_and_lists_their_seconds(tmp_path: Path, code: int) -> None:
    """Of a copy of what git knows, with a nox and a ``python3`` that install nothing."""
    clone, programs = tmp_path / "clone", tmp_path / "programs"
    (clone / ".ci").mkdir(parents=True)
    programs.mkdir()
    shutil.copy(ROOT / ".ci" / "run", clone / ".ci")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    (clone / "not_added.py").touch()
    report = {"sessions": [{"name": "draw", "result": "success", "duration": 12.3}]}
    nox = f"#!/bin/sh\nls -A\necho '{json.dumps(report)}' >.nox/report.json\nexit {code}\n"
    python = f"""#!/bin/sh
case $* in
*venv*) mkdir -p .nox/nox/bin && cp {programs}/nox .nox/nox/bin ;;
*pip*) ;;
*) exec {sys.executable} "$@" ;;
esac
"""
    for name, text in {"nox": nox, "python3": python}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    run = subprocess.run(
        ["bash", ".ci/run"], cwd=clone, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (code, "")
    assert ".ci\n" in run.stdout
    assert "not_added.py" not in run.stdout
    assert "     12  success  draw\n" in run.stdout


DEFAULT = "not slow and not torch and not documents"


@pytest.mark.parametrize(
    ("source", "expression", "collected"),
    [
        ("", DEFAULT, True),
        ("", "torch and not slow", False),
        ("", "", True),
        ("", "dot", True),  # how its tests are marked is not looked up
        ("@pytest.mark.slow", DEFAULT, True),
        ("@pytest.mark.slow", "(documents or slow) and not torch", True),
        ("@pytest.mark.slow", "torch and not slow", False),
        ("@pytest.mark.documents", "slow", False),
        ("pytestmark = pytest.mark.torch", DEFAULT, False),
        ("pytestmark = pytest.mark.torch", "(documents or slow) and not torch", False),
        ("pytestmark = pytest.mark.torch", "torch and not slow", True),
        ("pytestmark = [pytest.mark.torch, pytest.mark.slow]", "torch and not slow", False),
        ("def test_with_either(\n    torch, tmp_path\n): ...", "torch", True),
        ("import autograd_core as torch", "torch", False),
        ("from tests.both import on_pytorch", "torch", True),
        ("from tests.viz import picture_programs", "slow", True),
    ],
)
def test_a_file_without_the_marks_that_are_asked_for_is_not_read(
    source: str, expression: str, collected: bool, tmp_path: Path
) -> None:
    (path := tmp_path / "test_it.py").write_text(source, "utf-8")
    config: Any = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
    assert pytest_ignore_collect(path, config) is (None if collected else True)


def test_a_sample_is_spread_over_all_kinds_and_always_the_same() -> None:
    cases = [letter + digit for letter in "abcd" for digit in "123"]
    chosen = spread(cases, set, 4, "a test")
    assert {*"".join(chosen)} == {*"abcd123"}
    assert chosen == spread(cases, set, 4, "a test")
    assert {*spread(cases, set, 20, "a test")} == {*cases}


@pytest.mark.parametrize("whole", [False, True])
def test_of_a_sampled_test_a_few_cases_run_with_each_engine(whole: bool) -> None:
    def item(place: int, engine: str) -> Any:
        marks = {"sampled": pytest.mark.sampled(2), engine: True}
        spec = SimpleNamespace(params={"case": place, "engine": engine}, indices={"case": place})
        path, nodeid = Path(__file__), f"test.py::test[{place}-{engine}]"
        return MarkedItem(path, nodeid, spec, marks)

    every = [item(place, engine) for place in range(5) for engine in ("autograd_core", "torch")]
    items, left_out = [*every], list[Any]()
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    config: Any = SimpleNamespace(option=SimpleNamespace(whole=whole), hook=hook)
    pytest_collection_modifyitems(config, items)
    assert [
        len([each for each in items if engine in each.marks])
        for engine in ("autograd_core", "torch")
    ] == ([5, 5] if whole else [2, 2])
    assert {*map(id, [*items, *left_out])} == {*map(id, every)}


class MarkedItem:
    """As much of a test as is asked for."""

    def __init__(self, path: Path, nodeid: str, callspec: Any, marks: dict[str, Any]) -> None:
        self.path, self.nodeid, self.callspec, self.marks = path, nodeid, callspec, marks

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)

    def iter_markers(self, name: str) -> list[Any]:
        return [self.marks[name]] if name in self.marks else []

    def add_marker(self, marker: object) -> None:
        """Where PyTorch is not installed."""


def pinned(file: str) -> set[str]:
    text = (ROOT / file).read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pins = [re.fullmatch(r"([\w.-]+)==[\w.]+", line) for line in lines]
    assert None not in pins
    return {re.sub(r"[-_.]+", "-", pin[1]).lower() for pin in pins if pin}


def test_every_package_of_tests_and_documentation_has_one_exact_version() -> None:
    project, groups = PROJECT["project"], {**PROJECT["dependency-groups"]}
    libraries = groups.pop("libraries")
    assert {*libraries} <= pinned("tests/check_corpus/libraries.txt")
    extras = [each for needed in project["optional-dependencies"].values() for each in needed]
    tools = [each for needed in groups.values() for each in needed if type(each) is str]
    needed = [*project["dependencies"], *extras, *tools]
    names = {re.sub(r"[-_.]+", "-", re.split(r"[\[=<>]", each)[0]).lower() for each in needed}
    assert names - pinned("constraints.txt") - {"gradstep"} == set()


@pytest.mark.parametrize(
    ("subject", "remedy"),
    [
        ("tests: Wait for the end of a process", ""),
        ("gradstep, op table: Name locals after what they hold", ""),
        ("fixup! tests: Wait for the end of a process", ""),
        ('Revert "tests: Wait for the end of a process"', ""),
        ("x: Y" + "y" * 68, ""),
        ("x: Y" + "y" * 69, "73 characters, 1 too many"),
        ("Wait for the end of a process", "'area: Verb what'"),
        ("tests: wait for the end of a process", "'area: Verb what'"),
        ("Tests: Wait for the end of a process", "'area: Verb what'"),
        ("", "'area: Verb what'"),
    ],
)
def test_the_subject_of_a_commit_says_its_area(subject: str, remedy: str, tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nWhy, in a line that may be {'very ' * 20}long.\n")
    hook = [sys.executable, str(ROOT / ".ci" / "commit_subject.py"), str(message)]
    run = subprocess.run(hook, capture_output=True, text=True, check=False)
    assert run.returncode == bool(remedy)
    assert remedy in run.stderr
