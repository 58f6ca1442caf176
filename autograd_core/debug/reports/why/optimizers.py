"""What becomes of a gradient after the pass: which optimizer uses it, and how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograd_core.dag.names import Names
from autograd_core.debug.reports.rows import Row


def optimizer_rows(names: Names, name: str, leaf: Any) -> Iterator[Row]:
    """Say so where none of the optimizers that the program names would change ``leaf``."""
    if leaf is None or not names.optimizers:
        return
    groups = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
    if not groups:
        first, *others = names.optimizers
        who = f"neither {first} nor {' nor '.join(others)} has" if others else f"{first} lacks"
        among = " among its parameters" if others else ", which is none of its parameters"
        yield "likely", f"{name} will not change: {who} it{among}"
    for title, group in groups:
        if group.get("lr") == 0:
            yield "note", f"{title} will not change {name}: its learning rate is 0"
