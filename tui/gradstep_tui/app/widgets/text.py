"""Text as the screen shows it: user text made harmless, cells counted, styles named.

A line is a list of parts, each a text and the name of its style.  Styles are meanings
("leaf", "trouble"); ``line_view.py`` has their colours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from gradstep.debugger.snapshot import Snapshot, Value
from gradstep.debugger.snapshot.wording import short
from gradstep.graph.addresses import step_number
from gradstep.graph.statistics import format_shape
from gradstep.text import printable

StyleName = Literal[
    "text",
    "strong",
    "muted",
    "faint",
    "backward",
    "leaf",
    "saved",
    "trouble",
    "title",
    "changed",
    "changed trouble",
]
ELLIPSIS = "…"
WITH_PREFIX = 14  # cells of a dotted name; longer ones lose what most of them begin with
_SOURCE = re.compile(r" +\S+:\d+  ")  # a line of the program, as a row of its own
_LABEL = re.compile(r" +(?:\S+(?: \S+)*)? {2,}(?=\S)")
UNDEFINED = "∅ undefined"


# the same marks for a terminal whose encoding has none of these
_ASCII = str.maketrans(
    {
        **dict.fromkeys("│┃", "|"), **dict.fromkeys("─━╌", "-"),
        **dict.fromkeys("┤├┼┬┴╭╮╯╰┏┓┗┛└", "+"), "•": "*", "▲": "^", "▼": "v", "×": "x",
        "●": "o", "◉": "O", "○": ".", "■": "#", "□": "_",
        "▸": ">", "▾": "v", "✓": "x", "▶": ">", "◆": "?", "◌": "-", "▌": ">", "▕": "|", "…": "~",
        "⋯": "~", "∅": "0/", "→": ">", "·": "*", "−": "-", "∂": "d", "Σ": "S", "›": ">", "‹": "<",
        "µ": "u", "ᵀ": "^T", "²": "^2", "³": "^3", "√": "sqrt", "↓": "v", "↑": "^", "←": "<",
        "≠": "!=",
        **dict(zip("▁▂▃▄▅▆▇█", "__--==##", strict=True)), **dict(zip("░▒▓", ".:#", strict=True)),
    }
)  # fmt: skip


def has_marks(encoding: str) -> bool:
    """Return whether the marks of the screen can be written in ``encoding``."""
    try:
        "●┤▶■▁∅→".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def in_ascii(text: str) -> str:
    """Return ``text`` with marks of ASCII, each as wide as the one it stands for, and ``?`` for
    what has none.

    >>> in_ascii("✓ ●─╮ #2 mul:4 行")
    'x o-+ #2 mul:4 ??'
    """
    if text.isascii():
        return text
    plain = (
        character
        if character.isascii()
        else shown[: cell_len(character)].ljust(cell_len(character))
        if (shown := character.translate(_ASCII)).isascii()
        else "?" * cell_len(character)
        for character in text
    )
    return "".join(plain)


class Part(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: StyleName = "text"


Line = list[Part]


def changed(part: Part, is_so: bool = True) -> Part:
    """Return ``part`` as one that the last move changed, if that is so; trouble keeps its
    colour."""
    if not is_so:
        return part
    return part._replace(style="changed trouble" if part.style == "trouble" else "changed")


def fit(text: str, width: int, *, right: bool = False, keep_end: bool = False) -> str:
    """Return ``text`` in exactly ``width`` cells, cut with an ellipsis, aligned left or right.

    >>> fit("encoder", 4), fit("7", 3, right=True), fit("model.encoder", 6, keep_end=True)
    ('enc…', '  7', '…coder')
    """
    if width <= 0:
        return ""
    text = printable(text)
    length = cell_len(text)
    if length <= width:
        padding = " " * (width - length)
        return padding + text if right else text + padding
    if keep_end:
        while cell_len(text) > width - 1:
            text = text[1:]
        return set_cell_size(ELLIPSIS + text, width)
    return set_cell_size(text, width - 1) + ELLIPSIS


def common_prefix(names: Iterable[str]) -> str:
    """Return the dotted beginning that most of the long ``names`` share, "" where there is none.

    >>> common_prefix(f"transformer.h.{place}.mlp" for place in range(12))
    'transformer.h'
    >>> common_prefix(["net.0", "net.1"])
    ''
    """
    parts = [name.split(".") for name in dict.fromkeys(names) if name]
    if max((len(".".join(each)) for each in parts), default=0) <= WITH_PREFIX:
        return ""
    prefix: list[str] = []
    while parts:
        nexts = Counter(each[len(prefix)] for each in parts if len(each) > len(prefix) + 1)
        word, count = nexts.most_common(1)[0] if nexts else ("", 0)
        if 3 * count < 2 * len(parts):
            break
        parts = [each for each in parts if each[len(prefix) :][:1] == [word]]
        prefix.append(word)
    return ".".join(prefix)


def without_prefix(name: str, prefix: str) -> str:
    """Return ``name`` with ``~`` for the prefix that the head of its column names.

    >>> without_prefix("transformer.h.7.mlp", "transformer.h"), without_prefix("head", "")
    ('~.7.mlp', 'head')
    """
    return f"~{name.removeprefix(prefix)}" if prefix and name.startswith(f"{prefix}.") else name


def right_aligned(text: str, width: int, style: StyleName) -> Line:
    """Return ``text`` at the right end of ``width`` cells; the blanks before it have no style."""
    cells = fit(text, width, right=True)
    shown = cells.lstrip(" ")
    return [Part(cells[: len(cells) - len(shown)]), Part(shown, style)]


def wrapped(line: Line, width: int) -> list[Line]:
    """Return ``line`` in as many lines of at most ``width`` cells as it takes, those after the
    first indented; of a row with a label, to where its text begins.

    >>> ["".join(part.text for part in each) for each in wrapped([Part("one two three")], 9)]
    ['one two', '  three']
    >>> ["".join(part.text for part in each) for each in wrapped([Part(" at  one two three")], 13)]
    [' at  one two', '     three']
    """
    text = "".join(part.text for part in line)
    if cell_len(text) <= width or width < 8:
        return [line]
    head = len(text) - len(text.lstrip())
    label = text_column(text)
    indent = label if 0 < label <= width // 2 else head + 2
    rows = wrap(
        text[head:], width, initial_indent=" " * head, subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )  # fmt: skip
    return [[Part(row, line[-1].style)] for row in rows]


def text_column(row: str) -> int:
    """Return where the text of a row begins that has a label, 0 where it has none.

    >>> text_column("  saved.x  rms 3"), text_column("one two")
    (11, 0)
    """
    label = _LABEL.match(row)
    return 0 if label is None else label.end()


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Undo what broke the rows of a report, which have labels, into lines of a fixed width.

    >>> unwrapped(["headline", "  why  one", "       two", "  line  a.py:1  x"])
    ['headline', '  why  one two', '  line  a.py:1  x']
    """
    rows: list[str] = []
    column = 0
    for line in lines:
        head = len(line) - len(line.lstrip())
        if rows and head == column > 0 and not _SOURCE.match(line):
            rows[-1] += f" {line[head:]}"
            continue
        rows.append(line)
        column = 0 if line.startswith("  line ") else text_column(line)
    return rows


def is_accumulate(name: str) -> bool:
    """Return whether a node of this name adds to a leaf's ``.grad``."""
    return name == "AccumulateGrad"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """Return a shape as the screen shows it: ``[2, 3]``, ``scalar``."""
    return "scalar" if shape == () else format_shape(shape)


def node_label(snapshot: Snapshot, index: int, limit: int = 60) -> str:
    """Name a node where it is mentioned: ``#4 mul:2`` or ``#7 += weight``.

    Of a name longer than ``limit`` the end is kept, which tells more than the beginning.
    """
    graph = snapshot.graph
    accumulate = is_accumulate(graph.names[index])
    name = printable((accumulate and graph.variables.get(index)) or graph.address(index))
    if cell_len(name) > limit:
        name = fit(name, limit, keep_end=True)
    return f"{step_number(index)} {'+= ' if accumulate else ''}{name}".rstrip()


def value_part(value: Value) -> Part:
    """Return a value in three digits; trouble is marked by a word and by its colour."""
    stats = value.statistics
    return Part(short(stats), "trouble" if stats.trouble else "text")
