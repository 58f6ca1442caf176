"""Golden files: committed texts that tests compare with, and one switch that renews them."""

from __future__ import annotations

import os
from pathlib import Path

SWITCH = "GRADSTEP_UPDATE_GOLDEN"
IS_RENEWED = os.environ.get(SWITCH) == "1"


def check_golden(path: Path, text: str) -> None:
    """Compare a text with its file, which the switch writes first."""
    if IS_RENEWED:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists(), f"{path.name} is missing; {SWITCH}=1 writes it"
    assert text == path.read_text("utf-8"), f"{SWITCH}=1 renews it, if this is meant"
