"""A picture in one sentence, for those who cannot see it: the ``alt`` of documents and the title
of every SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viz import wording
from viz.picture import Box, Picture

_NAMED = 3


def alternative_text(picture: Picture) -> str:
    """What the picture shows, as a sentence."""
    halves = picture.halves
    subject = f"{' and '.join(halves).capitalize() or 'Computation'} graph"
    of = f" of {picture.title}" if picture.title else ""
    leaves = {half: _leaves([box for box in picture.boxes if box.half == half]) for half in halves}
    parts = []
    if "forward" in halves:
        parts.append(_forward(picture) + (leaves["forward"] and f" from {leaves['forward']}"))
    if "backward" in halves:
        to = leaves["backward"]
        if known := leaves.get("forward"):
            to = "it" if known.startswith("the leaf ") else "them"
        parts.append(_backward(picture) + (leaves["backward"] and f" back to {to}"))
    trouble = [box.title for box in picture.boxes if box.alert and box.role != "out"]
    marked = f"; in trouble: {_listed(trouble)}" if trouble else ""
    return f"{subject}{of}: {', and '.join(parts)}{marked}."


def _forward(picture: Picture) -> str:
    ops = [box for box in picture.boxes if box.half == "forward" and box.role == "fwd"]
    return wording.plural(sum(box.ops for box in ops), "operation")


def _backward(picture: Picture) -> str:
    nodes = [box for box in picture.boxes if box.half == "backward" and box.role == "bwd"]
    first = min(nodes, key=lambda box: box.node if box.order is None else box.order, default=None)
    count = wording.plural(sum(box.ops for box in nodes), "node")
    return f"{count} from {first.title}" if first else count


def _leaves(boxes: Sequence[Box]) -> str:
    """``the leaves w and b``, whether they have a box or stand inside one."""
    names = list(dict.fromkeys(_leaf_names(boxes)))
    if not names:
        return ""
    return f"the {'leaf' if len(names) == 1 else 'leaves'} {_listed(names)}"


def _leaf_names(boxes: Sequence[Box]) -> Iterator[str]:
    for box in boxes:
        if box.role == "leaf":
            yield box.title.removesuffix(".grad")
        for chip in box.chips:
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
