"""The recordings of a job of several processes, one of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from gradstep.comparing.ranks import RankFinding, compare_ranks
from gradstep.guest.collector import collector_slowed
from gradstep.recording.reading import FileRun
from gradstep.text import plural
from gradstep_tui.errors import ExitCode, Failure


def paths_by_rank(names: Sequence[str]) -> dict[int, Path]:
    """Return the recording of each rank, in order.

    Raises:
        Failure: two are of the same rank.
        RecordingError: one cannot be read, or has no call.
    """
    paths: dict[int, Path] = {}
    for name in names:
        with FileRun(Path(name)) as run:
            run.require_calls()
            rank = run.header.rank
        if rank in paths:
            raise Failure(
                f"{paths[rank]} and {name} are both of rank {rank}: name one recording of each",
                ExitCode.USAGE,
            )
        paths[rank] = Path(name)
    return dict(sorted(paths.items()))


def compared(paths: Sequence[Path]) -> list[RankFinding]:
    """Return what the ranks of a job do differently."""
    with ExitStack() as within, collector_slowed():
        return compare_ranks([within.enter_context(FileRun(path)) for path in paths])


def text_of(findings: Sequence[RankFinding], count: int) -> str:
    """Say what ``count`` ranks do differently, one line each."""
    compared = "graphs, losses, parameters, gradients and times are alike"
    return "\n".join(map(str, findings)) or f"{plural(count, 'rank')}: {compared}"


def json_of(findings: Sequence[RankFinding], count: int) -> str:
    """Return the same as a JSON document."""
    document = {"ranks": count, "findings": [finding._asdict() for finding in findings]}
    return json.dumps(document, indent=2, ensure_ascii=False)
