"""Commands in processes of their own, which begin with everything imported.

Python takes a second to import NumPy, the core, pictures and the debugger. So one process does it
once and forks for each command: own arguments, folder, environment and streams, but no start-up.
PyTorch takes five more, with what its optimizers and FSDP2 import: programs that import it have a
process that has done so, too.
What a test says about start-up, encodings or ends of streams needs :mod:`subprocess` itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parents[1]
can_fork = hasattr(os, "fork")
TORCH = ("torch", "torch.distributed.fsdp", "torch._dynamo")
ENGINES = ("gradstep.engines.native", "gradstep.engines.pytorch", "gradstep.findings")
IMPORTS_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)


def run_python(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    with_torch: bool | None = None,
    merged: bool = False,
) -> CompletedProcess[str]:
    """Run ``python ARGUMENTS``, a script or ``-m MODULE``, in ``folder``; nothing is on stdin.
    ``with_torch``: whether PyTorch has been imported; by default, where a program imports it.
    ``merged``: its stderr stands in its stdout."""
    (done,) = run_together(
        arguments, folder, [environment or {}], with_torch=with_torch, merged=merged
    )
    return done


def run_together(
    arguments: Sequence[str],
    folder: Path,
    environments: Sequence[Mapping[str, str]],
    *,
    with_torch: bool | None = None,
    merged: bool = False,
) -> list[CompletedProcess[str]]:
    """Run ``python ARGUMENTS`` in several processes at the same time, one for each environment,
    which is added to this process's."""
    whole = [{**os.environ, **each, "PYTHONIOENCODING": "utf-8"} for each in environments]
    if with_torch is None:
        programs = [path for word in arguments if (path := folder / word).suffix == ".py"]
        with_torch = any(
            IMPORTS_TORCH.search(path.read_text("utf-8")) for path in programs if path.is_file()
        )
    with tempfile.TemporaryDirectory() as streams:
        files = [
            [Path(streams, f"{name}{number}") for name in ("out", "out" if merged else "err")]
            for number in range(len(whole))
        ]
        start = _fork if can_fork else _start
        codes = start(arguments, folder, whole, files, with_torch)
        return [
            CompletedProcess(
                arguments, code, out.read_text("utf-8"), "" if merged else err.read_text("utf-8")
            )
            for code, (out, err) in zip(codes, files, strict=True)
        ]


def run_beside(
    runs: Sequence[Sequence[str]], folders: Sequence[Path]
) -> list[CompletedProcess[str]]:
    """Run ``python ARGUMENTS`` for each of ``runs`` in a folder of its own, at the same time.

    The engine for PyTorch has been imported, too: it takes longer than most programs of tests.
    """
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryDirectory() as streams:
        files = [[Path(streams, f"{name}{n}") for name in ("out", "err")] for n in range(len(runs))]
        if can_fork:
            orders = [
                [list(run), str(folder), environment, *map(str, paths)]
                for run, folder, paths in zip(runs, folders, files, strict=True)
            ]
            codes = _order(orders, _server(*TORCH, *ENGINES))
        else:
            codes = [
                _start(run, folder, [environment], [paths], True)[0]
                for run, folder, paths in zip(runs, folders, files, strict=True)
            ]
        return [
            CompletedProcess(
                list(run),
                code,
                out.read_text("utf-8", "replace"),
                err.read_text("utf-8", "replace"),
            )
            for run, code, (out, err) in zip(runs, codes, files, strict=True)
        ]


def _fork(
    arguments: Sequence[str], folder: Path, environments: Any, files: Any, with_torch: bool
) -> list[int]:
    orders = [
        [list(arguments), str(folder), environment, *map(str, paths)]
        for environment, paths in zip(environments, files, strict=True)
    ]
    return _order(orders, _server(*(TORCH if with_torch else ())))


def _order(orders: list[Any], server: subprocess.Popen[str]) -> list[int]:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(orders) + "\n")
    server.stdin.flush()
    codes: list[int] = json.loads(server.stdout.readline())
    return codes


def _start(
    arguments: Sequence[str], folder: Path, environments: Any, files: Any, _with_torch: bool
) -> list[int]:
    with ExitStack() as opened:
        started = []
        for environment, paths in zip(environments, files, strict=True):
            out, err = (opened.enter_context(path.open("ab")) for path in paths)
            command = [sys.executable, *arguments]
            started.append(
                subprocess.Popen(
                    command, cwd=folder, env=environment, stdin=DEVNULL, stdout=out, stderr=err
                )
            )
        return [each.wait() for each in started]


def run_gradstep(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    with_torch: bool | None = None,
    merged: bool = False,
) -> CompletedProcess[str]:
    """Run ``gradstep ARGUMENTS``."""
    return run_python(
        ["-m", "gradstep", *arguments], folder, environment, with_torch=with_torch, merged=merged
    )


def fork_commands(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """Let ``module`` run its Python commands by forking, too."""
    start = subprocess.run

    def run(command: Sequence[str], **how: Any) -> Any:
        if command[0] != sys.executable:
            return start(command, **how)
        words = [word for word in command[1:] if word != "-P"]
        done = run_python(words, how["cwd"], how["env"])
        return CompletedProcess(
            command, done.returncode, done.stdout.encode(), done.stderr.encode()
        )

    monkeypatch.setattr(module.subprocess, "run", run)


@cache
def _server(*modules: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, __file__, *modules]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=PIPE, stdout=PIPE, text=True)


def _serve() -> None:
    """Carry out orders from stdin, one a line; it is a process of its own that ends in each."""
    import gc
    import pkgutil
    from importlib import import_module

    for name in ("gradstep.debugger", "gradstep.program", "gradstep_viz", "gradstep_tui.commands"):
        package = import_module(name)
        for each in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not each.name.startswith("gradstep_viz.sphinx"):
                import_module(each.name)
    for name in sys.argv[1:]:
        package = import_module(name)
        if name in ENGINES:
            for each in pkgutil.walk_packages(package.__path__, f"{name}."):
                import_module(each.name)
    gc.freeze()  # what is imported stays, and is not copied to be looked at
    for line in sys.stdin:
        sys.stdout.flush()
        children = []
        for order in json.loads(line):
            children.append(os.fork())
            if not children[-1]:
                _carry_out(*order)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps(codes), flush=True)


def _carry_out(
    arguments: list[str], folder: str, environment: dict[str, str], out: str, err: str
) -> NoReturn:
    """Be ``python ARGUMENTS``, up to its end; taking all the modules apart is left out there."""
    import atexit
    import runpy
    import warnings

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    write = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, path in enumerate((os.devnull, out, err)):
        os.dup2(os.open(path, write if number else os.O_RDONLY), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    code: object = 0
    if arguments[0] == "-W":
        sys.warnoptions.append(arguments[1])
        warnings.simplefilter(arguments[1])  # type: ignore[arg-type]
        arguments = arguments[2:]
    try:
        if arguments[0] == "-m":
            sys.argv, sys.path[0] = arguments[1:], folder
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = arguments, str(Path(arguments[0]).parent)
            _ = runpy.run_path(arguments[0], run_name="__main__")  # there until the process ends
    except SystemExit as exit:
        code = exit.code or 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve()
