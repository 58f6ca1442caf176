"""``gradstep check``: from a TARGET to what is wrong with its gradients, and an exit code."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from gradstep.findings.as_data import as_json
from gradstep.findings.explanations import require_codes, summary
from gradstep.findings.finding import Finding, Program
from gradstep.findings.report import Report, left, one_line
from gradstep.guest.ranks import rank_and_size
from gradstep.program.calls import CallSelector
from gradstep.program.run import Failure as ProgramFailure
from gradstep.program.run import refuse_arguments
from gradstep.program.target import Target, parse_target
from gradstep.program.watching import EVERY, report_on_file
from gradstep_tui import output
from gradstep_tui.command_line import TargetParser
from gradstep_tui.commands.check_fixes import NO_FIX, diff_of, make, tried
from gradstep_tui.commands.check_run import Asked, RunChecked, check_run, report_on
from gradstep_tui.destination import Destination, stdout_kept_free, writable
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import ARGUMENTS, TARGET, time_of, words
from gradstep_tui.rank_recordings import compared, json_of, paths_by_rank, text_of
from gradstep_tui.ranks import add_rank_option, chooses_this_process

_NOTES = f"""\
{ARGUMENTS}
A script runs once, to its end. check looks closely at its first calls, then at
fewer and fewer, so that this takes no longer than the run itself. It notices
NaN and infinity in every call. Exit code 5 means an error or a warning:
{summary()}
gradstep explain CODE explains a finding. A comment in a line of the program
suppresses the findings of that line: # gradstep: ignore[stale-grad]

examples:
  gradstep check train.py
  gradstep check --for 60s train.py --epochs 1
  gradstep check --ignore stale-grad,dead-units train.py --epochs 1
  gradstep check -o report.html train.py       a page of the run
  gradstep check -q models/net.py:loss
  gradstep check run.rank*.gsr                 all processes of a job
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep check``."""
    command = TargetParser(
        "check",
        "[OPTIONS] TARGET [ARGS...]",
        "Run a script and report what is wrong with its gradients and its training, in\n"
        "single backward() calls and over the whole run. Derivatives of custom Functions\n"
        f"are compared with finite differences.\n\n{TARGET}",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("--call", default=None, metavar="K",
        help="look only at these calls, as closely as possible: 3, 1,100:110, last or all; for "
        "calls of autograd.grad(): grad:1, ...")
    add("--derivatives", action="store_true",
        help="compare the derivatives of all ops with finite differences, not only those of the "
        "program's own Functions")
    # fmt: on
    add("--calls", type=int, metavar="N", help="end after N calls and report")
    add("--for", dest="seconds", type=time_of, metavar="60s", help="end after this time and report")
    # fmt: off
    add("--ignore", type=words, default=[], metavar="CODES",
        help="leave out these kinds of findings (unreached,stale-grad), or single findings by "
        "their ids in JSON")
    add("--all", dest="everything", action="store_true", help="also list notes")
    add("--format", choices=["text", "json", "html"],
        help="html: a page with pictures; json: one document (see gradstep schema check); "
        "default: the suffix of FILE, else text")
    add("-o", dest="output", metavar="FILE", help="write the report to FILE, or - for standard "
        "output; a page, report.html, is updated during the run")
    add("--diff", action="store_true",
        help="print the fixes as a patch for git apply or patch -p1, instead of the report; leave "
        "out fixes that are only shown")
    add("--verify", action="store_true",
        help="run the program again with each fix, in a copy of its folder; a fix is verified if "
        "the finding disappears, no other appears, and everything still learns")
    add("--fix", action="store_true",
        help="verify the fixes, and apply the verified ones to the files")
    # fmt: on
    command.set_defaults(thresholds=None)  # of the project
    add_rank_option(add, "all")
    add("-q", dest="quiet", action="store_true", help="print one line per problem")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep check``: FOUND where there is an error or a warning; else the program's
    own exit code."""
    saves = chooses_this_process(options.on_rank)
    target = parse_target(options.target, module=options.module)
    _require_codes(options.ignore)
    destination = _destination(target, options, saves=saves)
    if target.is_recording and options.arguments:
        return _check_ranks([options.target, *options.arguments], options, destination)
    if (options.verify or options.fix) and rank_and_size()[1] > 1:
        raise Failure(
            "--verify and --fix run the program again, which a process of a job cannot do alone; "
            "check it in one process",
            ExitCode.USAGE,
        )
    begun = time.monotonic()
    is_data = options.diff or (options.format == "json" and destination is None)
    kept = nullcontext() if destination is None else destination.kept_free()
    with stdout_kept_free() if is_data else kept:
        report, failure = report_of(options, target, destination)
    if (options.verify or options.fix) and not target.is_recording:
        took = time.monotonic() - begun
        report = tried(report, target, options.arguments, took, _looking_as(options))
    code = _show(report, target, options, failure, destination)
    if options.fix and (told := make(report)):
        output.say(told)
    return code


def report_of(
    options: argparse.Namespace, target: Target, destination: Destination | None = None
) -> tuple[Report, ProgramFailure | None]:
    """Run a TARGET, or read it, and return the report on it, and how it failed. A page has its
    ``destination``: it is written while the TARGET runs."""
    _require_codes(options.ignore)
    if target.is_recording:
        return report_on_file(Path(target.place), options.ignore, options.thresholds), None
    selected = EVERY if options.call is None else CallSelector.parse(options.call)
    program = Program(str(target), tuple(options.arguments))

    def tell(certain: Finding) -> None:
        for finding in left([certain], options.ignore, program):
            output.relay(one_line(finding, target.folder))

    tells = None if options.quiet else tell
    asked = Asked(
        selected, options.derivatives, options.calls, options.seconds, tells,
        tells_failure=options.format in ("json", "html"), thresholds=options.thresholds,
    )  # fmt: skip

    def report(checked: RunChecked) -> Report:
        return report_on(target, options.arguments, checked, asked, options.ignore)

    if destination is None or destination.path is None or options.format != "html":
        checked = check_run(target, options.arguments, asked)
    else:
        # late, as all that draws
        from gradstep_tui.commands.check_page import LivePage

        with LivePage(destination.path, target.folder) as page:
            checked = check_run(
                target, options.arguments, asked, lambda known: page.update(lambda: report(known()))
            )
    return report(checked), checked.ran.failure


def _destination(target: Target, options: argparse.Namespace, *, saves: bool) -> Destination | None:
    """Return what ``-o`` names, if it is given, and choose the format of the report.

    Raises:
        VizError: no report is written in such a format, or a file is there that gradstep has not
            written.
    """
    if options.output is None:
        options.output = "-" if options.format == "html" else None
        options.format = options.format or "text"
    if options.output is None:
        return None
    # late: the report in a terminal need not wait for what draws
    from gradstep_viz.output.files import require_replaceable
    from gradstep_viz.report import MARK, report_format

    if options.output != "-":
        options.format = report_format(Path(options.output), options.format)

    def place(path: Path) -> Path:
        resolved = writable(path)
        if options.format == "html":
            require_replaceable(path, MARK)
        return resolved

    return Destination.of(options.output, options.on_rank, saves, target.files(), place)


def _looking_as(options: argparse.Namespace) -> list[str]:
    """Return the options for another run that is to look at the same."""
    return [
        *(["--call", options.call] if options.call is not None else []),
        *(["--derivatives"] if options.derivatives else []),
        *(["--ignore", ",".join(options.ignore)] if options.ignore else []),
    ]


def _check_ranks(
    names: Sequence[str], options: argparse.Namespace, destination: Destination | None
) -> int:
    """Tell what the processes of a job do differently, then what is wrong in the one that was named
    first there: what is wrong in all of them is wrong in it, too."""
    for name in names:
        if not parse_target(name).is_recording:
            refuse_arguments(parse_target(names[0]), [name])
    paths = paths_by_rank(names)
    findings = compared([*paths.values()])
    rank = findings[0].ranks[0] if findings else next(iter(paths))
    target = parse_target(str(paths[rank]))
    report = report_on_file(paths[rank], options.ignore, options.thresholds)
    if options.format == "json":
        whole = json.loads(json_of(findings, len(paths)))
        document = as_json(whole | {"report": json.loads(report.json(target.folder))})
        _write(document, report, destination)
    else:
        output.show(text_of(findings, len(paths)))
        if not options.quiet:
            output.show("")
        _show(report, target, options, None, destination)
    return ExitCode.FOUND if findings or report.bad else ExitCode.FINE


def _show(
    report: Report,
    target: Target,
    options: argparse.Namespace,
    failure: ProgramFailure | None,
    destination: Destination | None = None,
) -> int:
    """Print a report in the form that is asked for, or write it, and return the exit code."""
    if options.diff:
        output.show(diff_of(report, Path.cwd()), end="")
        if report.bad and not report.fixable():
            output.say(NO_FIX)
    elif options.format == "html":
        _write(report.html(target.folder).removesuffix("\n"), report, destination)
    elif options.format == "json":
        _write(report.json(target.folder), report, destination)
    elif destination is not None:
        told = report.text(target.folder, everything=options.everything)
        _write(told, report, destination)
    elif not options.quiet:
        output.show(report.text(target.folder, everything=options.everything), styles=_STYLES)
    elif report.bad:
        output.show(report.lines(target.folder))
    return end_as(failure, ExitCode.FOUND if report.bad else ExitCode.FINE)


def _write(written: str, report: Report, destination: Destination | None) -> None:
    """Print a document, or write it to its file."""
    if destination is None:
        output.show(written)
        return
    # late, as all that draws
    from gradstep_viz.output.files import write_atomically

    data = f"{written}\n".encode("utf-8", "replace")
    output.flush()  # in one log, what the program printed stands first
    for note in destination.take(lambda path: write_atomically(path, data), lambda: data):
        output.say(f"{note}: {report.verdict()}")


_STYLES: Final = {
    r"(?m)^error \[[\w-]+\]": "bold red",
    r"(?m)^warning \[[\w-]+\]": "bold yellow",
    r"(?m)^info \[[\w-]+\]": "bold blue",
    r"(?m)\^+$": "bold cyan",
    r"(?m)^  remedy:": "green",
    r"(?m)^  details:": "dim",
    r"(?m)^next:": "bold",
}
"""How parts of a report look in a terminal."""


def _require_codes(ignore: Sequence[str]) -> None:
    try:
        require_codes(ignore)
    except ValueError as error:
        raise Failure(f"--ignore: {error}", ExitCode.USAGE) from None
