"""Check many random cases: ``python -m tests.laws KIND FIRST LAST``; KIND is one of the walks, or
``pieces``, programs that run under commands."""

from __future__ import annotations

import faulthandler
import sys
import time
from typing import NamedTuple

from tests.laws import piece_programs
from tests.laws.law import Case, shrink, watched

PATIENCE = 600  # seconds


class Checked(NamedTuple):
    """How many moves a case made, or commands a program ran under, and what is wrong."""

    moves: int
    wrong: list[str]


def walked(seed: int, kind: str) -> Checked:
    """Check the walk of a seed."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    case = Case.of(seed, kind)
    found = watched(case)
    moves = found.moves
    if not found.wrong:
        return Checked(moves, [])
    case, found = shrink(case, found)
    said = [f"# {line[:400]}" for line in found.wrong.splitlines()]
    return Checked(moves, ["\n".join([f"=== seed {seed} ({kind})", case.text(), *said])])


def pieced(seed: int, count: int = 4) -> Checked:
    """Check the program of a seed."""
    program = piece_programs.random_program(seed)
    commands = piece_programs.commands_of(seed, count)
    wrong = []
    for outcome in piece_programs.check(program, commands):
        wrong.append(piece_programs.explained(seed, *piece_programs.shrink(program, outcome)))
    return Checked(count, wrong)


def main() -> None:
    """Check the seeds that the command line names."""
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    moves = wrong = 0
    began = time.monotonic()
    for seed in range(first, last):
        checked = pieced(seed) if kind == "pieces" else walked(seed, kind)
        moves += checked.moves
        wrong += bool(checked.wrong)
        for each in checked.wrong:
            print(each, flush=True)
    seconds = time.monotonic() - began
    print(f"{last - first} programs, {moves} moves, {wrong} wrong, {seconds:.0f} s")


main()
