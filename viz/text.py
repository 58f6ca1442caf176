"""A picture in plain words: for terminals, for screen readers, and for the SVG's description."""

from __future__ import annotations

from viz.picture import Box, Picture

MOST_DESCRIBED_LINES = 40


def write_text(picture: Picture) -> str:
    """One line per box, with what flows into it; values stand in a column of their own.

    The forward half is listed from its inputs on, the backward half in the order it runs in.
    """
    sections = [picture.title] if picture.title else []
    inputs = _inputs(picture)
    for half, caption in zip(picture.halves, picture.captions, strict=True):
        boxes = [i for i, box in enumerate(picture.boxes) if box.half == half]
        if half == "backward":
            boxes.sort(key=lambda i: _turn(picture.boxes[i]))
        names = _names(picture)
        width = max((len(names[i]) for i in boxes), default=0)
        value_width = max((len(picture.boxes[i].right) for i in boxes), default=0)
        sections += ["", caption] if sections else [caption]
        for i in boxes:
            box = picture.boxes[i]
            sources = ", ".join(names[source] for source in inputs[i])
            cells = [f"  {names[i]:<{width}}", f"{box.right:>{value_width}}"]
            cells.append("  ".join(part for part in (box.detail, *_chips(box)) if part))
            if sources:
                cells.append(f"← {sources}")
            sections.append("  ".join(cell for cell in cells if cell).rstrip())
    return "\n".join(sections) + "\n"


def describe(picture: Picture) -> str:
    """The description that a screen reader speaks: what it is, then the lines one by one."""
    sentences = [caption.replace(" · ", ", ") + "." for caption in picture.captions]
    names = _names(picture)
    lines = [
        f"{names[line.source]} → {names[line.target]}"
        + (f" (saved {line.label})" if line.kind == "saved" else "")
        for line in picture.lines[:MOST_DESCRIBED_LINES]
    ]
    if left := len(picture.lines) - len(lines):
        lines.append(f"and {left:,} more")
    return " ".join([*sentences, "; ".join(lines)]).strip()


def _inputs(picture: Picture) -> list[list[int]]:
    inputs: list[list[int]] = [[] for _ in picture.boxes]
    for line in picture.lines:
        inputs[line.target].append(line.source)
    return inputs


def _turn(box: Box) -> tuple[int, int]:
    """The seed first, then the nodes as they run, then what has no order."""
    if box.role == "out":
        return (-1, box.node)
    return (1 << 62 if box.order is None else box.order, box.node)


def _names(picture: Picture) -> list[str]:
    """Titles, numbered where several boxes share one."""
    total: dict[str, int] = {}
    for box in picture.boxes:
        total[box.title] = total.get(box.title, 0) + 1
    seen: dict[str, int] = {}
    names = []
    for box in picture.boxes:
        if total[box.title] == 1:
            names.append(box.title)
            continue
        seen[box.title] = seen.get(box.title, 0) + 1
        names.append(f"{box.title}:{seen[box.title]}")
    return names


def _chips(box: Box) -> list[str]:
    return [f"[{' '.join(part for part in (chip.name, chip.right) if part)}]" for chip in box.chips]
