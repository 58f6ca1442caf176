"""What ``gradstep check`` is for a script, for a part of the caller's own program: a block, a
function, a loss, or a recording."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from functools import partial, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Self, TypeVar, cast

from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.roots import tensors_in
from gradstep.capturing.sources import portable
from gradstep.contract.events import noting_events
from gradstep.contract.lookup import is_root
from gradstep.findings.finding import Finding, Program
from gradstep.findings.report import (
    Ended,
    Report,
    Scope,
    left,
    report_on_graph,
    report_on_recording,
    report_on_run,
)
from gradstep.findings.thresholds import Thresholds
from gradstep.findings.whole_run.conclusions import certain
from gradstep.findings.whole_run.watch import Watch
from gradstep.graph.errors import NotInGraph
from gradstep.guest.fence import has_failed, tell_anew
from gradstep.guest.own_files import traceback_of_program
from gradstep.program.calls import Calls, CallSelector, InterceptedCall, intercepting
from gradstep.program.recorded_calls import keep_texts
from gradstep.program.refused_pass import findings_of
from gradstep.program.settings import script_of_program, settings_of_program
from gradstep.program.tracebacks import raised_by
from gradstep.recording.reading import FileRun
from gradstep.records import CallKind, Gradients
from gradstep.text import suggests

EVERY: Final = CallSelector(None, ("backward", "grad"))
F = TypeVar("F", bound=Callable[..., Any])


class Run:
    """Looks at the backward calls that a program makes within ``with``, or within a function that
    this decorates. Made by :func:`watch`.

    It may be entered again, and then goes on. Calls of the thread that entered it are looked at.
    What an inner one looks at is not in the report of an outer one.
    """

    def __init__(
        self,
        variables: Mapping[str, Any],
        ignore: Collection[str],
        thresholds: Thresholds | None = None,
    ) -> None:
        self._variables, self._ignored = variables, tuple(ignore)
        self._name = "this program"
        self._watch = Watch(thresholds=thresholds)
        self._counts: Counter[CallKind] = Counter()
        self._within: ExitStack | None = None
        self._depth = 0
        self._ended: Ended | None = None
        self._error: BaseException | None = None
        self._refused: tuple[Finding, ...] = ()

    def start(self) -> None:
        """Begin to look at calls, or go on, until :meth:`close`; where a block can be written,
        ``with`` tells more. What the ops of PyTorch make is not noted, and on which lines: a mode
        that does has to end where it began."""
        self.enter(modes=False)

    def enter(self, *, modes: bool) -> None:
        """Begin to look at calls, or go on; with ``modes`` only where those of PyTorch that are on
        are the same again at the end."""
        self._depth += 1
        if self._depth > 1:
            return
        if not self._counts:
            tell_anew()
        self._within = ExitStack()
        self._within.enter_context(noting_events())
        calls: Calls = self._within.enter_context(
            intercepting(
                self._look, EVERY, values=True if modes else "core", lines=modes,
                variables=self._variables,
            )
        )  # fmt: skip
        calls.counts.update(self._counts)
        self._within.callback(self._keep, calls)

    def close(self) -> None:
        """Look at no more calls; the findings stay."""
        if self._depth == 1 and self._within is not None:
            self._within.close()
        self._depth = max(self._depth - 1, 0)

    def named(self, name: str) -> Self:
        """Have the report call the program so, where that is no script; return this."""
        self._name = name
        return self

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found so far, worst first, notes included."""
        return self.report().findings

    @property
    def certain(self) -> tuple[Finding, ...]:
        """The errors and warnings of the calls so far, whatever comes; what only the whole run
        shows is not among them, unless nobody looks any more."""
        if self._ended:
            return tuple(self.report().bad)
        facts = self._watch.facts_so_far(is_cut_short=True)
        return tuple(left(certain(facts), self._ignored, _program() or Program(self._name)))

    def report(self) -> Report:
        """Return the report on the calls so far."""
        error = self._error
        program = _program()
        scope = Scope(
            program or Program(self._name), self._ignored, in_python=program is None,
            ended=self._ended, has_failed=has_failed(), findings=self._refused,
            raised=None if error is None else raised_by(error), error=error,
        )  # fmt: skip
        is_cut_short = bool(self._ended or error or self._depth)
        return report_on_run(self._watch.facts_so_far(is_cut_short=is_cut_short), scope)

    def __enter__(self) -> Self:
        self.enter(modes=True)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if error is not None and self._depth == 1:
                self._error, self._refused = error, findings_of(error)
                error.__traceback__ = traceback_of_program(error.__traceback__)
        finally:
            self.close()

    def __call__(self, function: F) -> F:
        """Have the calls looked at that ``function`` makes, which may be ``async``."""
        self.named(getattr(function, "__name__", self._name))
        if iscoroutinefunction(function):

            @wraps(function)
            async def awaited(*given: Any, **named: Any) -> Any:
                with self:
                    return await function(*given, **named)

            return cast("F", awaited)

        @wraps(function)
        def watched(*given: Any, **named: Any) -> Any:
            with self:
                return function(*given, **named)

        return cast("F", watched)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def _look(self, intercepted: InterceptedCall) -> bool | Gradients:
        """Look at a call, and carry it out; after one that made NaN or infinity of leaves, nothing
        that follows says anything."""
        if self._watch.trouble and not self._watch.was_skipped(intercepted.call):
            self._ended = Ended("not_finite", f"the {self._watch.trouble}")
        if self._ended:
            return False
        find_names = partial(getattr, intercepted, "names")
        return self._watch.look(intercepted.call, find_names, intercepted.number)

    def _keep(self, calls: Calls) -> None:
        self._counts = calls.counts


@suggests
def watch(model: Any = None, optimizer: Any = None, *, ignore: Collection[str] = ()) -> Run:
    """Look at the backward calls of a block or a function, as ``gradstep check`` does at those of a
    script.

    Gradients, parameters and random numbers are what they would be, bit for bit. Nothing stays
    behind.

    >>> import autograd_core as torch, gradstep
    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> unused = torch.tensor(3.0, requires_grad=True)
    >>> with gradstep.watch() as run:
    ...     (w * w).sum().backward()
    >>> [(finding.code, finding.leaves) for finding in run.findings if finding.is_bad]
    [('unreached', ('unused',))]

    As a decorator, it looks at each call of the function:

    >>> run = gradstep.watch()
    >>> @run
    ... def train():
    ...     (w * w).sum().backward()
    >>> train()
    >>> run.report().calls
    1

    Args:
        model, optimizer: objects that no variable of the program has, as where a framework keeps
            them; others are found without.
        ignore: codes of findings to leave out, beside those that a pyproject.toml names.

    Raises:
        TypeError: a function is given as the model.
        ValueError: there is no finding of such a code, or a pyproject.toml has a wrong key.
    """
    settings = settings_of_program()
    ignored = settings.ignored(ignore)
    if isinstance(model, FunctionType):
        raise TypeError("watch takes a model: to decorate a function, write @gradstep.watch()")
    given = {"model": model, "optimizer": optimizer}
    variables = {name: value for name, value in given.items() if value is not None}
    return Run(variables, ignored, settings.thresholds)


@suggests
def check(
    subject: Any,
    *,
    names: Names | Mapping[str, Any] | None = None,
    ignore: Collection[str] = (),
) -> Report:
    """Tell what is wrong with a loss, with what a function does, or with a recorded run.

    ``subject`` is one of

    * a tensor, or several: the graph is looked at before ``backward``, and the derivative of each
      op is compared with finite differences. Nothing runs, and nothing changes. That takes what
      ``trace(values=True)`` keeps of the forward pass; without it, fewer mistakes are found.
    * a function without arguments: it runs under :func:`watch`. What it raises is in the report.
    * the file of a recording.

    >>> import gradstep
    >>> import autograd_core as torch
    >>> with gradstep.trace(values=True):
    ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     w = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     loss = x.exp().sum()
    >>> report = gradstep.check(loss, names={"x": x, "w": w})
    >>> for finding in report.findings:
    ...     print(f"{finding.severity}: {finding.what}")
    warning: w requires a gradient, but the loss does not depend on it
    >>> [result.sentence for result in report.derivatives]
    ['SumBackward0: right (self)', 'ExpBackward0: right (self)']
    >>> report.raise_for("warning")
    Traceback (most recent call last):
    gradstep.findings.report.CheckFailed: loss: 1 warning
    ...

    Args:
        names: of a loss, the program's variables, as a dictionary or :class:`Names`; by default
            those of the calling program. Leaves and modules among them are checked, too.
        ignore: codes of findings to leave out, beside those that a pyproject.toml names.

    Raises:
        TypeError: it is none of these.
        ValueError: there is no finding of such a code, or a pyproject.toml has a wrong key.
        NotInGraph: a tensor requires no gradient.
        RecordingError: the file cannot be read.
    """
    settings = settings_of_program()
    ignored = settings.ignored(ignore)
    if isinstance(subject, str | os.PathLike):
        path = os.fspath(subject)
        if path.endswith(".py"):
            raise TypeError(
                f"check takes a loss, a function or a recording; of a script: gradstep check {path}"
            )
        return report_on_file(Path(path), ignored, settings.thresholds)
    if not is_root(subject) and callable(subject):
        run = watch(ignore=ignore)
        with suppress(Exception):  # the report has it
            run(subject)()
        return run.report()
    try:
        tensors_in(subject)
    except NotInGraph as error:
        if is_root(subject):
            raise
        raise TypeError(f"check takes a loss, a function or a recording: {error}") from None
    known = caller_names() if names is None else names
    known = known if isinstance(known, Names) else Names(known)
    return report_on_graph(subject, known, ignored)


def _program() -> Program | None:
    """Return the program that runs as a script, None where it is no file of the user's that a
    command could run again, as in a notebook or under pytest."""
    file = script_of_program()
    return Program(portable(file, Path.cwd()), tuple(sys.argv[1:])) if file else None


def report_on_file(
    path: Path, ignored: Collection[str], thresholds: Thresholds | None = None
) -> Report:
    """Return the report on a recording, without findings of the ``ignored`` codes.

    Raises:
        RecordingError: the file cannot be read, or has no call.
    """
    with FileRun(path) as run:
        run.require_calls()
        keep_texts(run, {call.line.file for call in run.calls() if call.line is not None})
        return report_on_recording(run, str(path), ignored, thresholds)
