"""A plot in words, for those who cannot see it."""

from __future__ import annotations

from gradstep.text import plural
from gradstep_viz.plots.contents import Contents

_WHAT = {
    None: "the size of gradients over a run, with the loss and the update-to-weight ratio",
    "rms": "the size of gradients over a run, and the gradient flow in a few calls",
    "update": "the update-to-weight ratio over a run",
    "nan": "NaN and Inf in gradients over a run",
    "loss": "the loss over a run",
    "memory": "the memory in use over a run",
    "time": "the time of the calls of a run",
}


def describe(contents: Contents) -> str:
    """Say what a plot shows."""
    parts = [f"A plot of {_WHAT[contents.what]}: {plural(len(contents.calls), 'call')}"]
    if contents.map is not None:
        leaves = sum(len(row.leaves) for row in contents.map.rows)
        parts[0] += f", {plural(leaves, 'leaf', 'leaves')}"
    return ". ".join([*parts, *(remark.text for remark in contents.remarks)]) + "."
