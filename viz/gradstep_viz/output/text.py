"""A picture in plain words: as a listing for terminals, as a description line by line for screen
readers, and as the one sentence that stands in for it where it cannot be seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from gradstep.graph.model import Half
from gradstep.text import plural
from gradstep_viz.picture.formatting import HOOK, NOT_YET, listed
from gradstep_viz.picture.legend import has_hooks, shows_zeros
from gradstep_viz.picture.magnitude import SIGNS, ZERO, ZERO_SIGN, sign
from gradstep_viz.picture.model import Box, Line, Picture

MOST_DESCRIBED_LINES = 40


def write_text(picture: Picture, legend: bool = False) -> str:
    """Write one line per box, with what flows into it (←) and what it saves (⋯); values stand in a
    column of their own.

    The forward half is listed from its inputs on, the backward half in the order it runs in;
    ``legend`` explains below them the marks that occur.
    """
    sections = [picture.title] if picture.title else []
    names = _names(picture)
    flows, saved = _sources(picture, names)
    for half, caption in zip(picture.halves, picture.captions, strict=True):
        boxes = [i for i, box in enumerate(picture.boxes) if box.half == half]
        if half == "backward":
            boxes.sort(key=lambda i: _running_order(picture.boxes[i]))
        width = max((len(names[i]) for i in boxes), default=0)
        value_width = max((len(picture.boxes[i].right) for i in boxes), default=0)
        sections += ["", caption] if sections else [caption]
        for i in boxes:
            box = picture.boxes[i]
            cells = [
                f"  {names[i]:<{width}}",
                f"{box.right:>{value_width}}",
                "  ".join(part for part in (box.detail, *_chips(box)) if part),
                f"← {', '.join(flows[i])}" if flows[i] else "",
                f"⋯ {', '.join(dict.fromkeys(saved[i]))}" if saved[i] else "",
            ]
            sections.append("  ".join(cell for cell in cells if cell).rstrip())
    if legend:
        marks = dict(_marks(picture))
        width = max(map(len, marks), default=0)
        sections += ["", "legend"] + [
            f"  {mark:<{width}}  {meaning}" for mark, meaning in marks.items()
        ]
    return "\n".join(sections) + "\n"


def _marks(picture: Picture) -> Iterator[tuple[str, str]]:
    """List the marks that occur in the text, with what they mean."""
    boxes, kinds = picture.boxes, set(picture.lines.column("kind"))
    if kinds - {"saved"}:
        yield "←", "what its values or gradients come from"
    if "saved" in kinds:
        yield "⋯", "whose values it saves for the backward pass"
    if any(box.order is not None for box in boxes):
        yield "#1 #2", "the order in which the backward pass runs"
    if any(box.chips for box in boxes):
        yield "[name]", "a leaf of its own, or the gradient of one"
    for box in boxes:
        if box.stacked:
            yield box.right, "several that are alike"
            break
    if picture.scale is not None:
        yield sign(len(SIGNS)), f"how large a gradient is: {picture.scale.text}"
    if shows_zeros(picture):
        yield ZERO_SIGN, "a gradient of 0"
    if has_hooks(picture):
        yield HOOK, "a hook changed the gradient: before → after"
    if any(box.right == NOT_YET for box in boxes):
        yield NOT_YET, "no gradient has flowed there yet"
    if any(box.right == "undefined" for box in boxes):
        yield "undefined", "no gradient flows there at all, which is not 0"
    if any(box.alert for box in boxes):
        yield "!", "NaN, Inf, or changed after it was saved"


def describe(picture: Picture) -> str:
    """Describe the picture for a screen reader: what it is, then the lines one by one."""
    sentences = [caption.replace(" · ", ", ") + "." for caption in picture.captions if caption]
    described = picture.lines[:MOST_DESCRIBED_LINES]
    names = _names(picture, 1 + max((max(x.source, x.target) for x in described), default=-1))
    lines = [
        f"{names[line.source]} → {names[line.target]}"
        + (f" (saved {line.label})" if line.kind == "saved" else "")
        + _came(line)
        for line in described
    ]
    if left := len(picture.lines) - len(lines):
        lines.append(f"and {left:,} more")
    return " ".join([*sentences, "; ".join(lines)]).strip()


def _sources(picture: Picture, names: list[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Find for each box the names of those whose values or gradients arrive there, and of those
    whose values it saves."""
    flows: list[list[str]] = [[] for _ in picture.boxes]
    saved: list[list[str]] = [[] for _ in picture.boxes]
    for line in picture.lines:
        kind = saved if line.kind == "saved" else flows
        kind[line.target].append(names[line.source] + _came(line))
    return flows, saved


def _came(line: Line) -> str:
    """Say what came along a line, where that is worth a word: a hook changed it, or it is 0."""
    return f" ({line.label})" if line.hooked or line.step == ZERO else ""


def _running_order(box: Box) -> tuple[int, int]:
    """Sort the seed first, then the nodes as they run, then what has no order."""
    if box.role == "out":
        return (-1, box.node)
    return (1 << 62 if box.order is None else box.order, box.node)


def _names(picture: Picture, count: int | None = None) -> list[str]:
    """Number titles where several boxes of a half share one; of the first ``count`` boxes, if that
    is given."""
    total = Counter(picture.boxes.rows("half", "title"))
    seen: Counter[tuple[Half, str]] = Counter()
    names = []
    for key in islice(picture.boxes.rows("half", "title"), count):
        seen[key] += 1
        names.append(key[1] if total[key] == 1 else f"{key[1]}:{seen[key]}")
    return names


def _chips(box: Box) -> list[str]:
    return [f"[{' '.join(part for part in (chip.name, chip.right) if part)}]" for chip in box.chips]


def alternative_text(picture: Picture) -> str:
    """Say in a sentence what the picture shows: the ``alt`` of documents, the title of an SVG."""
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
    marked = f"; in trouble: {listed(trouble)}" if trouble else ""
    marked += f"; {picture.zeros}" if picture.zeros else ""
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
    """List ``the leaves w and b``, whether they have a box or stand inside one."""
    names = list(dict.fromkeys(_leaf_names(picture, half)))
    if not names:
        return ""
    return f"the {'leaf' if len(names) == 1 else 'leaves'} {listed(names)}"


def _leaf_names(picture: Picture, half: Half) -> Iterator[str]:
    for at, role, title, chips in picture.boxes.rows("half", "role", "title", "chips"):
        if at != half:
            continue
        if role == "leaf":
            yield title.removesuffix(".grad")
        for chip in chips:
            if chip.role == "leaf":
                yield chip.name.removesuffix(".grad")
