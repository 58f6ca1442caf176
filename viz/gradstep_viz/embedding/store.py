"""Drawings that were made before, on disk, each with the state of the files it came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gradstep_viz.errors import CannotWrite
from gradstep_viz.output.files import write_atomically


def gradstep_version() -> str:
    """Return the version that is installed; drawings of another one are not used."""
    try:
        return version("gradstep")
    except PackageNotFoundError:
        return ""


class Store:
    """Keeps drawings in the directory ``folder``; several processes may use it at once.

    Where it cannot be written, nothing is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, identity: Any) -> dict[str, Any] | None:
        """Return the drawing put under ``identity``, unless one of its files has changed since."""
        try:
            entry = json.loads(self._path(identity).read_text(encoding="utf-8"))
            current = all(_digest(Path(f)) == digest for f, digest in entry["files"].items())
            kept: dict[str, Any] = entry["kept"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # never made, or not by this program
        return kept if current else None

    def put(self, identity: Any, kept: Mapping[str, Any], files: Iterable[str]) -> None:
        """Keep something that was made from ``files``, as JSON."""
        entry = {"files": {file: _digest(Path(file)) for file in files}, "kept": kept}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n")
            write_atomically(self._path(identity), json.dumps(entry).encode())
        except (OSError, CannotWrite):
            return

    def _path(self, identity: Any) -> Path:
        text = repr((gradstep_version(), identity))
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _digest(file: Path) -> str:
    """Hash the content; "" when there is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
