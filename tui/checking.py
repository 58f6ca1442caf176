"""``gradstep check``: from a TARGET to what is wrong with its gradients, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from autograd_core.dag.names import Names
from autograd_core.dag.trace import trace
from autograd_core.debug.checking import check
from autograd_core.debug.linting import CODES, lint
from autograd_core.tensor import Tensor
from tui.failure import ExitCode, Failure, ScriptDone
from tui.intercept import Intercepted, intercepting
from tui.report import Report, report_text
from tui.script import guarded, run_script
from tui.target import find_named, parse_target, require_file, require_graph, single_scalar
from tui.wanted import Wanted

_PATIENCE = 2.0  # seconds until progress is shown


def check_target(
    text: str,
    arguments: list[str],
    *,
    call: Wanted,
    ignore: Sequence[str],
    everything: bool,
    quiet: bool,
) -> ExitCode:
    """Check a TARGET, print what is found, and return the exit code: FOUND where a rule is wrong,
    or lint has an error or a warning.

    Args:
        call: which call of a script; of several, the last one.
        ignore: codes of findings that are to be left out.
        everything: print also what is right, and what is only good to know.
        quiet: print one line for each thing that is wrong, and nothing else.

    Raises:
        Failure: with the exit code that fits.
    """
    unknown = sorted(set(ignore).difference(CODES))
    if unknown:
        raise Failure(
            f"--ignore: there is no finding '{unknown[0]}'; there are {', '.join(CODES)}",
            ExitCode.USAGE,
        )
    target = parse_target(text)
    require_file(target)
    folder = Path.cwd() if target.path is None else target.path.absolute().parent
    if target.path is not None and not target.name:
        report = _check_script(target.path, arguments, call)
    else:
        with trace(values=True):
            found = find_named(target, arguments)
        require_graph(found.root, target)
        report = _examine(str(target), (found.root,), Names(found.names))
    report = report.without(ignore)
    lines = report_text(report, folder, everything=everything, quiet=quiet)
    if lines:
        print(lines)
    return ExitCode.FOUND if report.is_bad else ExitCode.FINE


def _check_script(path: Path, arguments: list[str], call: Wanted) -> Report:
    reports: list[Report] = []

    def examine(found: Intercepted) -> bool:
        title = f"{path}, {found.title}"
        reports[:] = [_examine(title, found.call.roots, found.names)]
        if call.number is not None:
            raise ScriptDone
        return False

    variables: dict[str, Any] = {}
    with intercepting(examine, call, values=True) as calls:
        variables = run_script(path, arguments)
    if reports:
        return reports[0]
    calls.require_wanted()
    name, scalar = single_scalar(variables, calls.counts["grad"])
    return _examine(f"{path}:{name}", (scalar,), Names(variables))


def _examine(title: str, roots: tuple[Tensor, ...], names: Names) -> Report:
    progress = _Progress()
    try:
        return Report(
            title,
            lint(roots, names=names),
            guarded(lambda: check(roots, names=names, progress=progress)) or (),
        )
    finally:
        progress.close()


class _Progress:
    """A line on a terminal that counts nodes, for a check that takes long."""

    def __init__(self) -> None:
        self._start = self._shown = monotonic()
        self._written = False

    def __call__(self, done: int, length: int) -> None:
        now = monotonic()
        late = now - self._start > _PATIENCE and now - self._shown > 0.2
        if late and sys.stderr.isatty():
            self._written, self._shown = True, now
            print(f"\rchecked {done:,} of {length:,} nodes", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._written:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
