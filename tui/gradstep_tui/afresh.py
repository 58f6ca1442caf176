"""A script that runs in a process of its own, and is recorded there with all tensors: as it is, or
under other circumstances.

``python -m gradstep_tui.afresh PATH CALL PIN ENGINE TARGET [ARGS...]`` is that process.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from gradstep.program.recording import Recording, record_target, schedule_of
from gradstep.program.target import Target, parse_target
from gradstep_tui import output
from gradstep_tui.ending import end_as, tell
from gradstep_tui.errors import ExitCode, Failure

_MOST: Final = 1 << 30
"""Bytes of a folder that is copied."""
_LEFT_OUT: Final = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.gsr")


def record_afresh(
    path: Path,
    target: str,
    arguments: list[str],
    *,
    call: str = "",
    pin: str = "",
    engine: str = "",
    folder: Path | None = None,
) -> None:
    """Record a script in a new process to a file; what it prints is on standard error.

    Args:
        call: which calls to keep in full, "" for those that ``record`` keeps.
        pin: ``cause:`` and one of :data:`CAUSES`, or ``vary:`` and one of :data:`VARIATIONS`; the
            ``engine`` is the library that it is about.
        folder: the current directory of the process.

    Raises:
        Failure: it could not be recorded.
    """
    command = [sys.executable, "-P", "-m", "gradstep_tui.afresh"]
    environment = dict(os.environ)
    if pin == "cause:hashes":
        environment["PYTHONHASHSEED"] = "0"
    done = subprocess.run(
        [*command, str(path), call, pin, engine, target, *arguments],
        stdout=2, cwd=folder, env=environment, check=False,
    )  # fmt: skip
    if not path.is_file():
        code = done.returncode
        raise Failure(
            f"{target} was not recorded",
            ExitCode(code) if code in set(ExitCode) else ExitCode.TARGET,
        )


def copied(target: Target, place: Path) -> Path:
    """Copy the files of a program to a new folder, and return the directory there in which to run
    it: the current one, if the program is in it, else that of the program.

    Raises:
        Failure: they are too many.
    """
    folder = target.folder.resolve()
    here = Path.cwd()
    root = here if folder.is_relative_to(here) else folder
    size = 0
    for directory, _, names in os.walk(root):
        size += sum((Path(directory) / name).lstat().st_size for name in names)
        if size > _MOST:
            raise Failure(
                f"{root} has more than 1 GB, too much to copy for each run; run it from a folder "
                "with the program alone",
                ExitCode.USAGE,
            )
    shutil.copytree(root, place, symlinks=True, ignore=_LEFT_OUT)
    return place


def name_within(target: Target) -> str:
    """Return what a target is called in the directory of :func:`copied`."""
    path = target.path
    assert path is not None
    inside = path.resolve().is_relative_to(Path.cwd())
    return str(path.resolve().relative_to(Path.cwd())) if inside else path.name


def _seed(torch: Any) -> None:
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # the generator of programs that do not make their own
    torch.manual_seed(0)


def _stop_clock(torch: Any) -> None:
    time.time = lambda: 0.0
    time.time_ns = lambda: 0


def _other_threads(torch: Any) -> None:
    torch.set_num_threads(1 if torch.get_num_threads() > 1 else 2)


def _one_thread(torch: Any) -> None:
    torch.set_num_threads(1)
    _deterministic(torch, warn_only=True)


def _deterministic(torch: Any, warn_only: bool = False) -> None:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS refuses
    torch.use_deterministic_algorithms(True, warn_only=warn_only)


def _other_tf32(torch: Any) -> None:
    other = not torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = other


def _double(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)


def _other_device(torch: Any) -> None:
    device = torch.accelerator.current_accelerator()
    if device is None:
        raise Failure("--vary default_device: this machine has no accelerator", ExitCode.TARGET)
    torch.set_default_device(device)


Pin = Callable[[Any], None]
CAUSES: Final[Mapping[str, tuple[str, Pin]]] = {
    "seeds": ("random numbers without a seed", _seed),
    "hashes": ("the order of a set, or hash()", lambda torch: None),
    "time": ("time.time()", _stop_clock),
    "threads": ("threads, or atomic additions", _one_thread),
}
"""Why two runs of a program may differ, and what takes the cause away; of the hashes, that is
PYTHONHASHSEED."""
VARIATIONS: Final[Mapping[str, Pin]] = {
    "threads": _other_threads,
    "deterministic": _deterministic,
    "tf32": _other_tf32,
    "default_dtype": _double,
    "default_device": _other_device,
}
ON_THE_CORE: Final = ("seeds", "hashes", "time", "default_dtype")
"""Those that mean something for gradstep's own engine."""


def _main(words: list[str]) -> int:
    path, call, pin, engine, name, *arguments = words
    output.begin()
    try:
        if pin:
            kind, _, word = pin.partition(":")
            change = CAUSES[word][1] if kind == "cause" else VARIATIONS[word]
            change(import_module(engine))
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
