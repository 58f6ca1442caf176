"""Check many random cases: ``python -m tests.laws KIND FIRST LAST``."""

from __future__ import annotations

import faulthandler
import sys
import time

from tests.laws.law import Case, shrink, watched

kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
moves = wrong = 0
began = time.monotonic()
for seed in range(first, last):
    faulthandler.dump_traceback_later(600, exit=True)
    case = Case.of(seed, kind)
    found = watched(case)
    moves += found.moves
    if found.wrong:
        wrong += 1
        print(f"=== seed {seed} ({kind})", flush=True)
        case, found = shrink(case, found)
        print(case.text())
        for line in found.wrong.splitlines():
            print("#", line[:400])
        sys.stdout.flush()
print(f"{last - first} programs, {moves} moves, {wrong} wrong, {time.monotonic() - began:.0f} s")
