"""``gradstep check --diff``, ``--verify`` and ``--fix``: the fixes as a patch, tried, and made.

A fix is tried in a copy of the program's folder, where ``gradstep check`` runs the program again in
a process of its own. What it finds there, and what the program did, is compared with the first run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gradstep.capturing.sources import portable
from gradstep.findings.finding import Finding, Fix
from gradstep.findings.patches import agreeing, by_file, fixed, is_as_run, patch_of, text_of
from gradstep.findings.report import Report
from gradstep.guest.own_files import FOLDER
from gradstep.program.target import Target
from gradstep.text import listed, plural
from gradstep_tui import output
from gradstep_tui.errors import ExitCode, Failure

NO_FIX: Final = "none of the findings has a fix; the report says what to do"
_LARGEST: Final = 1 << 29
"""Bytes of a folder that is copied."""
_LEFT_OUT: Final = (".git", ".hg", ".venv", "venv", "__pycache__", "node_modules", ".mypy_cache")
_FACTOR: Final = 5
_PATIENCE: Final = 120.0
"""Seconds that a trial may take, beyond a few times what the first run took."""


def diff_of(report: Report, here: Path) -> str:
    """Return the fixes of what was found as a patch; not those that are only shown."""
    return patch_of(agreeing(finding.fix for finding in report.fixable()), here)


def tried(
    report: Report,
    target: Target,
    arguments: Sequence[str],
    seconds: float,
    options: Sequence[str] = (),
) -> Report:
    """Return the report with what became of each fix, when the program ran again with it and with
    those before it that are verified; the ``options`` say what was looked at."""
    fixable = report.fixable()
    root = _root(target)
    if not fixable:
        if report.bad:
            output.say(NO_FIX)
        return report
    output.say(
        f"runs the program again for {plural(len(fixable), 'fix', 'fixes')}, in a copy of "
        f"{root}: effects outside that folder happen again"
    )
    made: list[Fix] = []
    verdicts: dict[Finding, str] = {}
    before: Mapping[str, Any] = json.loads(report.json(root))
    with _copy(root) as copy:
        for finding in fixable:
            verdict = _wrong_place(finding.fix, root)
            if not verdict and _key(finding) not in _bad(before):
                verdict = "the fixes above are enough"
            if not verdict and len(agreeing([made, finding.fix])) < len(made) + len(finding.fix):
                verdict = "another fix changes the same line"
            if not verdict:
                _write([*made, *finding.fix], finding.fix, root, copy)
                limit = _PATIENCE + _FACTOR * seconds
                calls = ["--calls", str(report.calls)] if report.calls else []
                again = _checked_again(target, arguments, root, copy, [*options, *calls], limit)
                verdict = again if isinstance(again, str) else _harm(before, finding, again)
                if verdict or isinstance(again, str):
                    _write(made, finding.fix, root, copy)  # as it was before
                else:
                    made += finding.fix
                    before = again
            verdicts[finding] = verdict
    return replace(report, verdicts=verdicts)


def make(report: Report) -> str:
    """Make the verified fixes in the user's files, and say how many and where, "" of none."""
    fixes = [finding.fix for finding, verdict in report.verdicts.items() if not verdict]
    files = by_file([fix for several in fixes for fix in several])
    edited = [file for file in files if not is_as_run(Path(file))]
    if edited:
        raise Failure(
            f"{edited[0]} was edited in the meantime: nothing was changed", ExitCode.TARGET
        )
    for file, those in files.items():
        path = Path(file)
        text = text_of(path)
        data = text._replace(text=fixed(text.text, those)).data
        # beside it, so that a full disk leaves the file as it was
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as new:
            new.write(data)
        shutil.copymode(path, new.name)
        os.replace(new.name, path)
    names = listed([portable(file, Path.cwd()) for file in files])
    return f"made {plural(len(fixes), 'fix', 'fixes')} in {names}" if fixes else ""


def _root(target: Target) -> Path:
    """Return the folder that is copied: the current one, or that of a script elsewhere."""
    here, path = Path.cwd(), target.path
    return here if path is None or path.resolve().is_relative_to(here.resolve()) else target.folder


def _wrong_place(fixes: Sequence[Fix], root: Path) -> str:
    for file in by_file(fixes):
        path = Path(file)
        if not path.resolve().is_relative_to(root.resolve()):
            return f"{portable(file, root)} is not in {root}"
        if not is_as_run(path):
            return f"{portable(file, root)} has changed since it ran"
    return ""


@contextmanager
def _copy(root: Path) -> Iterator[Path]:
    """Copy a folder to a place for a while.

    Raises:
        Failure: it is too large.
    """
    size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        size += sum(path.stat().st_size for name in names if (path := Path(folder, name)).is_file())
        if size > _LARGEST:
            raise Failure(
                f"--verify copies {root}, which has more than {_LARGEST >> 20} MB; run it in a "
                "folder that has the program and little else",
                ExitCode.USAGE,
            )
    with tempfile.TemporaryDirectory(prefix="gradstep-") as place:
        copy = Path(place).resolve() / root.resolve().name
        left_out = shutil.ignore_patterns(*_LEFT_OUT)
        shutil.copytree(root, copy, symlinks=True, ignore=left_out)
        yield copy


def _write(fixes: Sequence[Fix], changed: Sequence[Fix], root: Path, copy: Path) -> None:
    """Write those files of the copy that ``changed`` is about, with all ``fixes`` in them."""
    for file in by_file(changed):
        those = by_file(fixes).get(file, [])
        text = text_of(Path(file))
        place = copy / Path(file).resolve().relative_to(root.resolve())
        place.write_bytes(text._replace(text=fixed(text.text, those)).data)


def _checked_again(
    target: Target,
    arguments: Sequence[str],
    root: Path,
    copy: Path,
    options: Sequence[str],
    limit: float,
) -> Mapping[str, Any] | str:
    """Check the copy of the program, and return the report, or why there is none."""
    path = target.path
    name = str(target)
    if path is not None:
        name = name.replace(target.place, str(path.resolve().relative_to(root.resolve())), 1)
    report = copy.parent / "report.json"
    command = [
        sys.executable, "-m", "gradstep", "check", "--format", "json", "-o", str(report),
        *options, *name.split(" ", 1), *arguments,
    ]  # fmt: skip
    paths = [place for place in sys.path if place and place.startswith(FOLDER)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*paths, *_paths()]))}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, timeout=limit, capture_output=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it took more than {limit:.0f} s"
    try:
        again: dict[str, Any] = json.loads(report.read_text("utf-8"))
    except (OSError, ValueError):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"the program failed: {''.join(last)}"
    report.unlink()
    return again


def _paths() -> list[str]:
    return list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))


def _harm(before: Mapping[str, Any], finding: Finding, after: Mapping[str, Any]) -> str:
    """Return what is wrong with a run after a fix of ``finding``, "" where nothing is."""
    if (how := _failure(after)) and how != _failure(before):
        return f"the program ends with {how}"
    known, bad = _bad(before), _bad(after)
    own = _key(finding)
    if len(bad.get(own, ())) >= len(known[own]):
        return f"{finding.code} is found again"
    new = next((each for each in bad if len(bad[each]) > len(known.get(each, ()))), None)
    if new is not None:
        return f"{new[0]} is found then: {bad[new][-1]}"
    lost = _lost(before["learning"], after["learning"])
    if finding.reason.frees_leaves:
        lost = [name for name in lost if name not in finding.leaves]
    if lost:
        return f"{lost[0]} gets no gradient then"
    is_known = before["first_loss"] is not None  # and not, where the program failed before it
    if finding.reason.keeps_loss and is_known and after["first_loss"] != before["first_loss"]:
        return "the first loss differs"
    return ""


def _failure(report: Mapping[str, Any]) -> str:
    """Return what a program ended with, "" where it did so in good order."""
    raised, code = report["program"]["error"], report["program"]["exit_code"]
    if raised:
        return f"its {raised['type']}"
    return f"exit code {code}" if code else ""


def _key(finding: Finding) -> tuple[str, tuple[str, ...]]:
    return finding.code, finding.leaves


def _bad(report: Mapping[str, Any]) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return what the errors and warnings of a report say, by their codes and leaves: their lines
    are others after a fix."""
    bad: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in report["findings"]:
        if each["severity"] != "info":
            bad.setdefault((each["code"], tuple(each["leaves"])), []).append(each["what"])
    return bad


def _lost(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the names of leaves that learned before and do not after. A fix may change a name:
    one in a list, ``blocks[0].weight``, is ``blocks.0.weight`` in a module, and ``0.weight`` is
    ``model.0.weight`` when there are two models."""
    others = {f".{_in_modules(name)}" for name in after if name not in before}
    lost = []
    for name in before:
        if name not in after:
            own = f".{_in_modules(name)}"
            same = next((each for each in others if each.endswith(own) or own.endswith(each)), None)
            if same is None:
                lost.append(name)
            else:
                others.remove(same)
    return lost


def _in_modules(name: str) -> str:
    return re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", name)
