"""What is said of user code that runs once more."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.graph.addresses import step_number


def restore_text(indices: Sequence[int], called: str, restore_note: str) -> str:
    """Say that user code at nodes ``indices`` runs again, and what is put back before.

    >>> restore_text([3], "are called again", ".grad is put back")
    'the hooks or Functions of #4 are called again: .grad is put back'
    """
    nodes = ", ".join(step_number(index) for index in indices[:8])
    more = f" and {len(indices) - 8} more" if len(indices) > 8 else ""
    return f"the hooks or Functions of {nodes}{more} {called}: {restore_note}"
