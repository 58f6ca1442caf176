"""What every test shares: how hard Hypothesis tries, and when a marked test is skipped."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import itertools
import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests.both import TORCH
from tests.extras import missing_extras, reason_to_skip

T = TypeVar("T")
ROOT = Path(__file__).parents[1]

# `ci` is the default everywhere: few examples, always the same ones. README.md names the command
# for `full`, which looks for new ones every time.
# However slow the machine is, nothing fails for taking long.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
settings.register_profile("ci", max_examples=12, derandomize=True, database=None)
settings.register_profile("full", max_examples=2000, print_blob=True)
settings.load_profile("ci")

# Where it is forbidden to keep what was compiled, pytest rewrites every test anew in every worker,
# and each command that a test runs compiles the program again: a third of all the time.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# There is a worker for every core, and more threads would only wait for each other. It also makes
# results the same every time: where several threads write to one place, as `max_unpool2d` of
# PyTorch does for repeated indices, the last one wins. NumPy and PyTorch read it when imported.
os.environ["OMP_NUM_THREADS"] = "1"

# whatever the terminal or the CI of whoever runs the tests asks for
for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

os.environ["GRADSTEP_HISTORY"] = ""  # no test reads or writes what the user typed


@functools.cache
def a_font_is_seen() -> bool:
    """Whether a letter in the fonts of our pictures leaves a trace in a PNG."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        return True  # what needs a font needs this package, too, and says so

    from gradstep_viz.theme import FONT_FAMILY

    page = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{}</svg>"
    letter = f"<text y='9' font-size='9' font-family='{FONT_FAMILY}'>M</text>"
    empty, written = (svg_to_bytes(svg_string=page.format(text)) for text in ("", letter))
    return empty != written


@functools.cache
def _finds_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


NEEDS = {
    "torch": (_finds_torch, "PyTorch is not installed"),
    "dot": (functools.cache(lambda: shutil.which("dot") is not None), "`dot` is not on PATH"),
    "fonts": (a_font_is_seen, "no font of our pictures, such as DejaVu Sans Mono, is installed"),
}


LEAVING_OUT = ("torch", "slow", "documents")  # the marks by which most runs choose
IMPORTED = re.compile(r"^from (tests[\w.]*) import ([^#\n(]*|\([^)]*)", re.MULTILINE)


@functools.cache
def _source(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Return a file, those of tests that it imports, and those that they import."""
    files, todo = set(), [path]
    while todo:
        if (each := todo.pop()) in files or not _source(each):
            continue
        files.add(each)
        for module, names in IMPORTED.findall(_source(each)):
            folder = ROOT.joinpath(*module.split("."))
            todo += [folder.with_suffix(".py"), *(folder / f"{n}.py" for n in names.split(", "))]
    return frozenset(files)


@functools.cache
def _whole_file_has(mark: str, path: Path) -> bool:
    marked = re.compile(rf"^pytestmark = \[?\s*(?:.*, )?pytest\.mark\.{mark}\b", re.MULTILINE)
    return bool(marked.search(_source(path)))


@functools.cache
def _some_test_may_have(mark: str, path: Path) -> bool:
    """Whether a file, its folder's conftest.py or what they import names a mark."""
    beside = _imported(path.with_name("conftest.py")) - {ROOT / "tests/conftest.py"}
    named = rf"\bmark\.{mark}\b" + r"|def \w+\([^)]*\btorch\b" * (mark == "torch")  # the fixture
    return any(re.search(named, _source(each)) for each in _imported(path) | beside)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `.ci/run --all` asks for."""
    parser.addoption(
        "--whole", action="store_true", help="run whole matrices, not a sample that is the same"
    )


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest) -> Callable[[Sequence[T], int], list[T]]:
    """Choose a few cases of many, always the same ones; all of them with `--whole`."""

    def choose(cases: Sequence[T], count: int) -> list[T]:
        if request.config.option.whole or count >= len(cases):
            return list(cases)
        return random.Random(0).sample(list(cases), count)

    return choose


_PARTS = (
    "autograd.forward_ad", "autograd.function", "autograd.functional", "autograd.gradcheck",
    "autograd.graph", "nn.modules.module", "utils.checkpoint",
)  # fmt: skip


@pytest.fixture(params=["autograd_core", TORCH])
def torch(request: pytest.FixtureRequest) -> Any:
    """This core, and PyTorch where it is installed."""
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    for part in _PARTS:
        importlib.import_module(f"{name}.{part}")
    return importlib.import_module(name)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser for all pages."""
    from tests.viz.browser import CHROMIUM, Browser

    if CHROMIUM is None:
        pytest.skip("needs Chromium on the PATH")
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture
def declared() -> Iterator[None]:
    """Takes entries that a test declares out of the table again, and what users have of them."""
    from autograd_core.op import OPS
    from autograd_core.op.public import NAMESPACES, PUBLIC
    from autograd_core.tensor import Tensor

    before, functions, methods = dict(OPS), dict(NAMESPACES[""]), set(vars(Tensor))
    count = len(PUBLIC)
    yield
    OPS.clear()
    OPS.update(before)
    NAMESPACES[""].clear()
    NAMESPACES[""].update(functions)
    del PUBLIC[count:]
    for name in set(vars(Tensor)) - methods:
        delattr(Tensor, name)


@pytest.fixture(autouse=True)
def _own_excepthook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what a test leaves in ``sys.excepthook``, as a group of processes of PyTorch does:
    it would tell of what the scripts of later tests raise."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)


@pytest.fixture(scope="session")
def takes_minutes(request: pytest.FixtureRequest) -> None:
    """Leave a test to `--whole`."""
    if not request.config.option.whole:
        pytest.skip("takes minutes: --whole runs it")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files none of whose tests have the marks that are asked for.

    To make 9,000 tests and drop them again takes each worker ten seconds.
    """
    expression = config.option.markexpr
    names = set(re.findall(r"\w+", expression)) - {"and", "or", "not"}
    if collection_path.suffix != ".py" or not names or not names <= set(LEAVING_OUT):
        return None
    possible = [
        [True]
        if _whole_file_has(mark, collection_path)
        else [False, True][: 1 + _some_test_may_have(mark, collection_path)]
        for mark in LEAVING_OUT
    ]
    for marks in itertools.product(*possible):
        if eval(expression, dict(zip(LEAVING_OUT, marks, strict=True))):
            return None
    return True


def _left_out(config: pytest.Config) -> tuple[list[Path], list[Path]]:
    """Return the modules of tests in the paths that pytest was given: those that are for PyTorch
    and left out, and the others."""
    if "not torch" not in config.option.markexpr or config.args_source.name != "ARGS":
        return [], []
    given = [config.invocation_params.dir / each.partition("::")[0] for each in config.args]
    modules = [
        each for path in given for each in ([path] if path.is_file() else path.rglob("test_*.py"))
    ]
    for_torch = [each for each in modules if _whole_file_has("torch", each)]
    return for_torch, [each for each in modules if each not in for_torch]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how to run the tests that were asked for and left out."""
    left_out, _ = _left_out(config)
    if left_out:
        command = f"python -m pytest -m 'torch and not slow' {' '.join(config.args)}"
        terminalreporter.write_line(
            f"modules left out, as they drive PyTorch: {len(left_out)}; to run them: {command}",
            yellow=True,
        )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Be not green where most of what was asked for was left out."""
    left_out, others = _left_out(session.config)
    if session.exitstatus == pytest.ExitCode.OK and len(left_out) > len(others):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Any, Any]:
    """Look for no doctests in tests: there are none, and it takes each worker two seconds."""
    found = yield
    return [each for each in found if type(each).__name__ != "DoctestModule"]


def pytest_collection_finish() -> None:
    """Leave what has been imported and collected to itself: each look for garbage goes over all."""
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int | None:
    """Return one worker more than there are cores, unless the environment says how many: a third
    of the time they wait, for a terminal, a browser or a command."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 2


def spread(cases: Sequence[T], traits: Callable[[T], set[Any]], count: int, seed: str) -> list[T]:
    """Choose a few cases, always the same ones, so that as many traits occur as can."""
    left, chosen = random.Random(seed).sample(list(cases), len(cases)), list[T]()
    missing = set().union(*map(traits, cases))
    while left and len(chosen) < count:
        best = max(left, key=lambda case: len(traits(case) & missing))
        left.remove(best)
        chosen.append(best)
        missing -= traits(best)
    return chosen


def _leave_out_of_samples(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests marked as ``sampled``, keep as many cases as the mark says, for each engine, or for
    PyTorch alone."""
    matrices: dict[Any, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            engine = item.get_closest_marker("torch") is not None
            matrices.setdefault((item.nodeid.partition("[")[0], engine), []).append(item)
    left_out: set[pytest.Item] = set()
    for (name, engine), cases in matrices.items():
        mark: Any = cases[0].get_closest_marker("sampled")
        count = mark.kwargs["torch"] if engine and mark.kwargs else sum(mark.args) or len(cases)
        left_out |= {*cases} - {*spread(cases, _parameters, count, name)}
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=[*left_out])


def _parameters(item: Any) -> set[Any]:
    return {
        (name, item.callspec.params[name] if isinstance(item.callspec.params[name], str) else place)
        for name, place in item.callspec.indices.items()
    }


@pytest.hookimpl(trylast=True)  # after -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not of a sample; skip, with the reason, what needs something that this
    machine does not have."""
    if not config.option.whole:
        _leave_out_of_samples(config, items)
    for item in items:
        for mark in LEAVING_OUT:
            if item.get_closest_marker(mark) and not _some_test_may_have(mark, item.path):
                raise pytest.UsageError(f"{item.nodeid}: -m {mark} would not find its file")
        for name, (present, reason) in NEEDS.items():
            if item.get_closest_marker(name) and not present():
                item.add_marker(pytest.mark.skip(reason=reason))
        needed = [name for mark in item.iter_markers("extra") for name in mark.args]
        if missing := missing_extras(needed):
            item.add_marker(pytest.mark.skip(reason=reason_to_skip(missing)))
