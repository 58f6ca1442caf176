"""Measure `gradstep check`: ``python -m tests.check_corpus seen|held_out|healthy``.

Each program is checked as a user would, in a process of its own, in a file named train.py: the
name of the bug is nowhere to be read. With ``--mended`` the programs with bugs are checked after
their remedies, and should give no alarm. The held-out half is for the final measurement only.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.check_corpus.report import Verdict, verdict
from tests.check_corpus.running import healthy_programs, mended, program_of, text
from tests.check_corpus.table import ALL, BUGS, Bug, engines_of


class Task(NamedTuple):
    name: str
    engine: str
    source: str
    bug: Bug | None  # nothing is wrong with it


def tasks(kind: str, engines: list[str], is_mended: bool) -> list[Task]:
    if kind == "healthy":
        return [
            Task(program.stem, engine, text(program, engine), None)
            for program in healthy_programs()
            for engine in engines
            if engine in engines_of(program.stem)
        ]
    return [
        Task(bug.name, engine, mended(bug, source), None)
        if is_mended
        else Task(bug.name, engine, source, bug)
        for bug in BUGS
        if bug.half == kind
        for engine in engines
        if engine in bug.engines
        for source in [text(program_of(bug), engine)]
    ]


def checked(task: Task, options: list[str], limit: float) -> tuple[Verdict, str, float]:
    """What `gradstep check` says of one program; its report; how many seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(task.source, "utf-8")
        command = [sys.executable, "-m", "gradstep", "check", *options, "train.py"]
        began = time.monotonic()
        try:
            run = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False
            )
            code, report, errors = run.returncode, run.stdout, run.stderr
        except subprocess.TimeoutExpired:
            code, report, errors = -1, "", f"ended after {limit:g} s\n"
        seconds = time.monotonic() - began
    return verdict(report, code, task.bug), report + errors, seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.check_corpus", description=__doc__)
    parser.add_argument("kind", choices=["seen", "held_out", "healthy"])
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--engine", choices=ALL, action="append", help="default: both")
    parser.add_argument("--mended", action="store_true", help="after the remedies of the table")
    parser.add_argument("--options", default="", help='for gradstep check, as "--call all"')
    parser.add_argument("--limit", type=float, default=120, help="seconds for one program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the reports, too")
    asked = parser.parse_args()

    engines = asked.engine or [each for each in ALL if importlib.util.find_spec(each)]
    chosen = tasks(asked.kind, engines, asked.mended)
    if unknown := {*asked.names} - {task.name for task in chosen}:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    chosen = [task for task in chosen if not asked.names or task.name in asked.names]
    width = max(len(task.name) for task in chosen)

    found = told = alarms = bugs = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        results = pool.map(lambda task: checked(task, asked.options.split(), asked.limit), chosen)
        for task, (said, report, seconds) in zip(chosen, results, strict=True):
            bugs += task.bug is not None
            found += said.found and task.bug is not None
            told += said.told
            alarms += said.found and task.bug is None
            print(f"{task.name:{width}}  {task.engine:13}  {said}  {seconds:4.1f} s", flush=True)
            if asked.show:
                print(report)
    if bugs:
        print(f"{bugs} programs with bugs: {found} found, {told} with line and cause")
    else:
        print(f"{len(chosen)} programs without bugs: {alarms} false alarms")


if __name__ == "__main__":
    main()
