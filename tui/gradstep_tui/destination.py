"""Where a picture goes: to a file, or to standard output, which is then kept free for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Literal, NamedTuple

from gradstep.user_files import is_same_file
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.output import flush, show_bytes
from gradstep_tui.ranks import file_of_rank

Opens = Literal["", "asked", "set"]
"""Whether a browser opens a file: ``asked`` for by an option, or ``set`` by the program."""


def writable(path: Path) -> Path:
    """Resolve ``path``, if a file can be written there."""
    problem = ""
    if path.is_dir():
        problem = "it is a directory; name a file in it"
    elif not path.parent.is_dir():
        problem = f"there is no directory {path.parent}; create it first"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "it is read-only; choose another place"
    if problem:
        raise Failure(f"cannot write {path}: {problem}", ExitCode.USAGE)
    return path.resolve()


def place_of_picture(format: str, path: Path) -> Path:
    """Resolve ``path``, if a picture can be written there, and takes the place of nothing else.

    Raises:
        VizError: a file is there that gradstep has not written.
    """
    # late: a recording need not wait for what draws
    from gradstep_viz.formats import FORMATS
    from gradstep_viz.output.files import require_replaceable

    place = writable(path)
    require_replaceable(path, FORMATS[format].mark)
    return place


class Destination(NamedTuple):
    """What ``-o`` names: a file, or standard output.

    It is made before a script runs: that may take long, and change the directory. ``path`` is None
    for standard output, and in a process of a job that leaves the file to another one. A browser
    ``opens`` the file where that is asked for, or set.
    """

    name: str
    path: Path | None = None
    opens: Opens = ""

    @classmethod
    def of(
        cls,
        name: str,
        on_rank: str,
        saves: bool,
        inputs: Iterable[Path],
        resolve: Callable[[Path], Path],
        opens: Opens = "",
    ) -> Destination:
        """Return where ``name`` is in this process, which ``saves`` its output or leaves it to
        another one.

        Args:
            inputs: the files that the command reads.
            resolve: returns the place of a file, if it can be written.

        Raises:
            Failure: no file can be written there, or it is one of ``inputs``; or standard output is
                to be opened.
        """
        if name == "-":
            if opens == "asked":
                raise Failure("--open needs a file; name one with -o", ExitCode.USAGE)
            return cls("-")
        path = file_of_rank(Path(name), on_rank)
        if any(is_same_file(path, file) for file in inputs):
            raise Failure(
                f"cannot write {path}, which this command reads; name another file with -o",
                ExitCode.USAGE,
            )
        return cls(str(path), resolve(path) if saves else None, opens)

    def kept_free(self) -> AbstractContextManager[None]:
        """Standard output is for the picture, where that goes there."""
        return stdout_kept_free() if self.name == "-" else nullcontext()

    def take(self, save: Callable[[Path], object], data: Callable[[], bytes]) -> list[str]:
        """Take the picture, and return what is to be said of that."""
        if self.name == "-":
            show_bytes(data())
            return []
        if self.path is not None:
            save(self.path)
            if self.opens and not _shown_in_browser(self.path):
                return [f"wrote {self.name}, but no browser opened"]
        return [f"wrote {self.name}"]


def add_open_option(add: Callable[..., object]) -> None:
    """Add ``--open`` to a command that writes a file to look at; without it, the settings of the
    program say whether it opens."""
    # fmt: off
    add("--open", dest="opens", action="store_const", const="asked",
        help="open the file in a browser")
    add("--no-open", dest="opens", action="store_const", const="",
        help="do not, even if [tool.gradstep] has open = true")
    # fmt: on


def _shown_in_browser(path: Path) -> bool:
    import webbrowser  # which few ask for

    return webbrowser.open(path.as_uri())


@contextmanager
def stdout_kept_free() -> Iterator[None]:
    """What the script and its children print on standard output goes to standard error; where that
    is closed, nowhere."""
    flush()
    try:
        kept = os.dup(1)
    except OSError:
        raise Failure("standard output is closed; name a file with -o", ExitCode.USAGE) from None
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno() if sys.stderr is None else 2, 1)
            with redirect_stdout(sys.stderr or nowhere):
                yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
