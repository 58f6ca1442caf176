"""What becomes of a gradient after the pass: which optimizer uses it, and how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradstep.capturing.names import Names
from gradstep.findings.reports.formatting import line_text
from gradstep.findings.reports.rows import Row
from gradstep.findings.source_lines import assigned

WILL_NOT_CHANGE = "will not change"


def optimizer_rows(names: Names, name: str, leaf: Any, file: str) -> Iterator[Row]:
    """Say so where none of the optimizers that the program names would change ``leaf``; ``file`` is
    the one in which the pass was called, where they may have been made."""
    if leaf is None or not names.optimizers:
        return
    groups = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
    if not groups:
        first, *others = names.optimizers
        who = f"neither {first} nor {' nor '.join(others)} has" if others else f"{first} lacks"
        yield "likely", f"{name} {WILL_NOT_CHANGE}: {who} it among its parameters"
        for title in names.optimizers:
            yield from (("", line_text(at)) for at in assigned(title, file))
    for title, group in groups:
        if group.get("lr") == 0:
            yield "note", f"{title} {WILL_NOT_CHANGE} {name}: its learning rate is 0"
