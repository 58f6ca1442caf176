"""A picture in one sentence, for those who cannot see it: the ``alt`` of documents and the title
of every SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograd_core.dag.model import Half
from autograd_core.text import plural
from viz.picture.model import Picture

_NAMED = 3


def alternative_text(picture: Picture) -> str:
    """What the picture shows, as a sentence."""
    halves = picture.halves
    subject = f"{' and '.join(halves) or 'computation'} graph"
    subject = f"Part of the {subject}" if picture.part else subject.capitalize()
    of = f" of {picture.title}" if picture.title else ""
    of += f", {picture.part}" if picture.part else ""
    leaves = {half: _leaves(picture, half) for half in halves}
    parts = []
    if "forward" in halves:
        parts.append(_forward(picture) + (leaves["forward"] and f" from {leaves['forward']}"))
    if "backward" in halves:
        to = leaves["backward"]
        if known := leaves.get("forward"):
            to = "it" if known.startswith("the leaf ") else "them"
        parts.append(_backward(picture) + (leaves["backward"] and f" back to {to}"))
    boxes = picture.boxes.rows("alert", "role", "title")
    trouble = [title for alert, role, title in boxes if alert and role != "out"]
    marked = f"; in trouble: {_listed(trouble)}" if trouble else ""
    return f"{subject}{of}: {', and '.join(parts)}{marked}."


def _forward(picture: Picture) -> str:
    boxes = picture.boxes.rows("half", "role", "ops")
    ops = sum(ops for half, role, ops in boxes if half == "forward" and role == "fwd")
    return plural(ops, "operation")


def _backward(picture: Picture) -> str:
    nodes = [
        (node if order is None else order, index, ops)
        for index, (half, role, node, order, ops) in enumerate(
            picture.boxes.rows("half", "role", "node", "order", "ops")
        )
        if half == "backward" and role == "bwd"
    ]
    count = plural(sum(ops for _, _, ops in nodes), "node")
    return f"{count} from {picture.boxes[min(nodes)[1]].title}" if nodes else count


def _leaves(picture: Picture, half: Half) -> str:
    """``the leaves w and b``, whether they have a box or stand inside one."""
    names = list(dict.fromkeys(_leaf_names(picture, half)))
    if not names:
        return ""
    return f"the {'leaf' if len(names) == 1 else 'leaves'} {_listed(names)}"


def _leaf_names(picture: Picture, half: Half) -> Iterator[str]:
    for at, role, title, chips in picture.boxes.rows("half", "role", "title", "chips"):
        if at != half:
            continue
        if role == "leaf":
            yield title.removesuffix(".grad")
        for chip in chips:
            if chip.role == "leaf":
                yield chip.name.removesuffix(".grad")


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b"]), _listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
