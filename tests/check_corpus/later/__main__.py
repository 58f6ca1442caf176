"""Measure `gradstep check` on the later corpus: ``python -m tests.check_corpus.later read``.

It prints for each program the exit code, the codes and lines of errors and warnings, and what
they are worth (judging.py says how that is decided). The half ``unread`` is for measuring only,
by someone who does not tell whoever writes rules what is in it. Each program is checked in a
process of its own, a fork of this one, which has PyTorch loaded already, and in a file named
train.py. With ``--fixed`` the programs with bugs are checked after their remedies; with
``--outcome`` they are not checked but run, with the bug and fixed, and their last lines are
printed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gradstep_tui.cli import main as gradstep
from tests.check_corpus.later.judging import alarms, worth
from tests.check_corpus.later.table import HALVES, Half, bugs, healthy, program_of
from tests.check_corpus.running import mended, numbers_of, run


def in_a_fork(work: Callable[[], Any]) -> Any:
    """What ``work`` returns, in a process of its own."""
    with tempfile.TemporaryFile("w+") as answer:
        if not (child := os.fork()):
            try:
                json.dump(work(), answer)
                answer.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        return json.load(answer)


def checked(source: str) -> tuple[int, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(source, "utf-8")
        os.chdir(folder)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = gradstep(["check", "--format", "json", "train.py"])
        return code, json.loads(output.getvalue())


def measure(name: str, source: str, lines: list[int], words: tuple[str, ...]) -> str:
    began = os.times().children_user
    code, document = in_a_fork(lambda: checked(source))
    found = alarms(document)
    judgement = worth(found, lines, words) if lines else ("alarm" if found else "silence")
    seconds = os.times().children_user - began
    codes = " ".join(f"{each.code}:{','.join(map(str, sorted(each.lines)))}" for each in found)
    print(f"{name:32}  exit {code}  {judgement:11}  {codes or '-'}  {seconds:.1f} s", flush=True)
    return judgement


def last_line(source: str, name: str) -> str:
    def work() -> str:
        ended = run(source, name, "torch")
        return repr(ended.error) if ended.error else ended.output.strip().splitlines()[-1]

    return in_a_fork(work)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.check_corpus.later", description=__doc__)
    parser.add_argument("half", choices=HALVES)
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--fixed", action="store_true", help="after the remedies of the table")
    parser.add_argument("--outcome", action="store_true", help="run the programs, check nothing")
    asked = parser.parse_args()
    half: Half = asked.half
    torch.set_num_threads(1)
    counts: Counter[str] = Counter()
    for bug in bugs(half):
        if asked.names and bug.name not in asked.names:
            continue
        source = program_of(half, bug).read_text("utf-8")
        if asked.outcome:
            lines = [last_line(each, bug.name) for each in (source, mended(bug, source))]
            print(f"{bug.name:32}  {lines[0]}  |  fixed: {lines[1]}", flush=True)
        elif asked.fixed:
            counts["fixed, " + measure(bug.name, mended(bug, source), [], ())] += 1
        else:
            counts[measure(bug.name, source, numbers_of(bug.at, source), bug.words)] += 1
    for program in healthy(half):
        if (asked.names and program.stem not in asked.names) or asked.outcome or asked.fixed:
            continue
        counts["healthy, " + measure(program.stem, program.read_text("utf-8"), [], ())] += 1
    print(", ".join(f"{word}: {count}" for word, count in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main())
