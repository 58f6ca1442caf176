"""Which process of a job shows what gradstep has to say: a job of many runs the command in each.

torchrun, ``accelerate launch`` and the like tell a process its number and the count by the
environment variables ``RANK`` and ``WORLD_SIZE``.  All processes must do the same work, since they
wait for each other in their collective calls.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradstep.guest.ranks import rank_and_size
from gradstep_tui import output
from gradstep_tui.errors import ExitCode, Failure

ALL = "all"


def add_rank_option(add: Callable[..., Any], default: str | None, told: str = "") -> None:
    """Add ``--on-rank`` to the options of a command; ``told`` says what the default is."""
    add("--on-rank", default=default, metavar="N", help="in a job of several processes (torchrun), "
        f"the number of the one that does this, or all (default: {told or default})")  # fmt: skip


def chooses_this_process(wanted: str) -> bool:
    """Return whether ``--on-rank`` names this process; otherwise have it show nothing.

    Raises:
        Failure: there is no such process.
    """
    rank, size = rank_and_size()
    if wanted != ALL:
        if not wanted.isdecimal() or int(wanted) >= size:
            there = f"name a process from 0 to {size - 1}, or {ALL}"
            alone = "there is only one process (RANK and WORLD_SIZE name no other)"
            raise Failure(f"--on-rank {wanted}: {there if size > 1 else alone}", ExitCode.USAGE)
        if rank != int(wanted):
            output.be_silent()
            return False
    return True


def file_of_rank(path: Path, wanted: str) -> Path:
    """Return the file of this process, where each writes one.

    >>> file_of_rank(Path("train.svg"), "0")
    PosixPath('train.svg')
    """
    rank, size = rank_and_size()
    if wanted != ALL or size == 1:
        return path
    return path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def prefix() -> str:
    """Return what a line begins with in a job of several processes: as PyTorch's own do."""
    rank, size = rank_and_size()
    return f"[rank{rank}]: " if size > 1 else ""
