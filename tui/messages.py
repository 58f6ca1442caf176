"""What the command says beside its output: notes on standard error."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Write a note for the user."""
    print(f"gradstep: {text}", file=sys.stderr)
