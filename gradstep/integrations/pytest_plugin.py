"""For pytest: the mark ``gradstep`` and the fixture ``gradstep_watch`` fail a test where something
is wrong with its training. Until one of them is used, this imports nothing."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from gradstep.findings.finding import Finding
    from gradstep.program.watching import Run

_MARK: Final = (
    "gradstep(severity='warning', ignore=()): fails where gradstep finds something so bad, or "
    "worse, in the backward() calls of the test (error, warning, info); ignore has codes to leave "
    "out"
)


class _Watched:
    """A test that is watched: the run, and how bad findings have to be."""

    def __init__(self, name: str, severity: str = "warning", ignore: Collection[str] = ()) -> None:
        # late: whoever does not use this does not wait for it
        from gradstep.findings.finding import severities_from
        from gradstep.program.watching import watch

        self.name, self.run = name, watch(ignore=ignore)
        self.severities = severities_from(severity)
        self.is_failure = False

    def said(self) -> tuple[str, Finding] | None:
        """Return the report, and the worst finding; None where none is bad enough."""
        report = self.run.named(self.name).report()
        worst = next((each for each in report.findings if each.severity in self.severities), None)
        text = report.text(everything="info" in self.severities)
        return None if worst is None else (text, worst)


_WATCHED: Final = pytest.StashKey[_Watched]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", _MARK)


@pytest.fixture
def gradstep_watch(request: pytest.FixtureRequest) -> Run:
    """Fails the test if gradstep finds something wrong in its ``backward()`` calls, as the mark
    ``gradstep`` does; returns the :class:`~gradstep.program.watching.Run` that looks at them."""
    return _watched(request.node).run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Watch a test that asks for it, and fail it where something is wrong."""
    if _mark_of(item) is None and _WATCHED not in item.stash:
        return (yield)
    watched = _watched(item)
    test: Any = getattr(item, "obj", None)
    if iscoroutinefunction(test):  # whose loop may have a context that was made before
        method = test.__name__ if _is_test_case(item) else ""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(item.instance if method else item, method or "obj", watched.run(test))  # type: ignore[attr-defined]
            result = yield
    else:
        with watched.run:
            result = yield
    if not watched.run.report().calls:
        item.warn(pytest.PytestWarning(f"{item.name}: gradstep saw no backward() in it"))
    if (said := watched.said()) is not None:
        watched.is_failure = True
        pytest.fail(said[0], pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what was found: as the failure, or, of a test that failed by itself, beside it."""
    made = yield
    watched = item.stash.get(_WATCHED, None)
    said = None if watched is None or call.when != "call" else watched.said()
    if watched is None or said is None or call.excinfo is None:
        return made
    text, worst = said
    if not watched.is_failure:
        if made.failed:
            made.sections.append(("gradstep", text))
    elif hasattr(made.longrepr, "toterminal"):
        crash: Any = getattr(made.longrepr, "reprcrash", None)
        if crash is not None:  # the line of the summary
            crash.message = f"{worst.what} [{worst.code}]"
            if worst.source is not None:
                crash.path, crash.lineno = worst.source
        if not hasattr(item.config, "workerinput"):  # what xdist sends has no colours
            made.longrepr = _Coloured(made.longrepr, text)  # type: ignore[assignment]
    return made


class _Coloured:
    """How a failure is shown on the terminal; for all else it is ``plain``."""

    def __init__(self, plain: Any, text: str) -> None:
        self._plain, self._text = plain, text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def __str__(self) -> str:
        return str(self._plain)

    def toterminal(self, tw: Any) -> None:
        """Write it, with the colours that pytest has for failures and warnings."""
        for line in self._text.splitlines():
            tw.line(line, red=line.startswith("error ["), yellow=line.startswith("warning ["))


def _mark_of(item: pytest.Item) -> pytest.Mark | None:
    return item.get_closest_marker("gradstep")


def _watched(item: pytest.Item) -> _Watched:
    """Return how a test is watched: as its mark says."""
    if _WATCHED in item.stash:
        return item.stash[_WATCHED]
    mark = _mark_of(item)
    given, named = ((), {}) if mark is None else (mark.args, mark.kwargs)
    unknown = [*map(repr, given), *(named.keys() - {"severity", "ignore"})]
    problem = f"it takes severity and ignore, not {', '.join(unknown)}"
    try:
        if not unknown:
            return item.stash.setdefault(_WATCHED, _Watched(item.name, **named))
    except (TypeError, ValueError) as error:
        problem = str(error)
    pytest.fail(f"the mark gradstep of {item.name}: {problem}", pytrace=False)


def _is_test_case(item: pytest.Item) -> bool:
    """Return whether unittest runs a test: it takes the method from its class."""
    cases = getattr(sys.modules.get("unittest"), "TestCase", ())
    return issubclass(getattr(item, "cls", None) or object, cases)
