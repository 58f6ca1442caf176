"""A script that runs in a process of its own, and is recorded there with all tensors.

``python -m gradstep_tui.afresh PATH CALL TARGET [ARGS...]`` is that process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gradstep.program.recording import Recording, record_target, schedule_of
from gradstep.program.target import parse_target
from gradstep_tui import output
from gradstep_tui.ending import end_as, tell
from gradstep_tui.errors import ExitCode, Failure


def record_afresh(path: Path, target: str, arguments: list[str], *, call: str = "") -> None:
    """Record a script in a new process to a file; what it prints is on standard error.

    Raises:
        Failure: it could not be recorded.
    """
    command = [sys.executable, "-P", "-m", "gradstep_tui.afresh"]
    done = subprocess.run(
        [*command, str(path), call, target, *arguments],
        stdout=2, check=False,
    )  # fmt: skip
    if not path.is_file():
        code = done.returncode
        raise Failure(
            f"{target} was not recorded",
            ExitCode(code) if code in set(ExitCode) else ExitCode.TARGET,
        )


def _main(words: list[str]) -> int:
    path, call, name, *arguments = words
    output.begin()
    try:
        target = parse_target(name)
        recording = Recording(
            Path(path), schedule_of(call, 0, "all", None), command=(name, *arguments),
            folder=target.folder,
        )  # fmt: skip
        return end_as(record_target(target, arguments, recording))
    except (KeyboardInterrupt, Exception) as error:
        code = tell(error)
        if code is None:
            raise
        return code


if __name__ == "__main__":
    sys.exit(output.end(_main(sys.argv[1:])))
