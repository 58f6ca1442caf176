"""Numbers as characters: sparklines, charts, the bars of a histogram, the blocks of a heat map."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from gradstep.debugger.snapshot import Value
from gradstep.graph.statistics import format_number
from gradstep_tui.app.widgets.text import Line, Part, StyleName, fit

LEVELS = "▁▂▃▄▅▆▇█"
SHADES = "░▒▓█"
TROUBLE = "!"
_LABEL = 9  # cells of the labels of the upward axis
_FEWEST, _MOST = 4, 12  # rows of a chart between its axes


def decades(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the smallest and the largest decimal logarithm of the positive numbers in ``values``.

    >>> decades([None, 0.01, float("nan"), 100.0])
    (-2.0, 2.0)
    """
    logs = [math.log10(value) for value in values if value is not None and 0 < value < math.inf]
    return (min(logs), max(logs)) if logs else (0.0, 0.0)


def level(value: float, low: float, high: float) -> str:
    """Return the bar of a magnitude, between two decimal logarithms; ``·`` for zero.

    >>> level(0.01, -2, 2), level(100.0, -2, 2), level(0.0, -2, 2), level(1.0, 0, 0)
    ('▁', '█', '·', '▄')
    """
    if not value:
        return "·"
    if high <= low:
        return LEVELS[3]
    place = (math.log10(value) - low) / (high - low)
    return LEVELS[max(0, min(len(LEVELS) - 1, round(place * (len(LEVELS) - 1))))]


def sparkline(values: Sequence[float | None]) -> Line:
    """Return one character per magnitude, on a logarithmic scale; ``!`` for one that is not finite,
    a blank for none.

    >>> "".join(part.text for part in sparkline([1e-3, None, float("nan"), 10.0]))
    '▁ !█'
    """
    low, high = decades(values)
    line: Line = []
    for value in values:
        if value is None:
            line.append(Part(" "))
        elif math.isfinite(value):
            line.append(Part(level(value, low, high), "backward"))
        else:
            line.append(Part(TROUBLE, "trouble"))
    return line


def chart_width(width: int) -> int:
    """Return how many columns a chart may have in a pane of this width."""
    return max(1, width - _LABEL - 2)


def chart_column(x: int) -> int:
    """Return the column of a chart that is drawn in cell ``x``."""
    return x - _LABEL - 1


def chart_rows(height: int) -> int:
    """Return how many rows a chart has between its axes in a pane of this height."""
    return max(_FEWEST, min(_MOST, height - 4))


def chart(
    columns: Sequence[Collection[float | None]],
    rows: int,
    cursor: int | None,
    ends: tuple[int, int],
    name: str,
) -> list[Line]:
    """Return magnitudes upwards in decades, those of each column above each other, with both axes:
    the one to the right goes from one to the other of ``ends`` and has a ``name``.

    A magnitude that is not finite stands at the top; None is left out.  ``cursor`` is the column
    that is marked.

    >>> for line in chart([[1.0], [0.1, 0.01], [float("nan")]], 3, 1, (1, 3), "call"):
    ...     print("".join(part.text for part in line).rstrip())
           1 ┤• !
         0.1 ┤ •
        0.01 ┤ •
             └─▲─
              1 call 3
    """
    low, high = decades(size for column in columns for size in column)
    low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    places = [{_chart_row(size, low, high, rows): size for size in column} for column in columns]
    lines: list[Line] = []
    for row in range(rows - 1, -1, -1):
        power = low + (high - low) * row / (rows - 1)
        has_label = row in (0, rows - 1) or power.is_integer()
        label = format_number(10.0**power) if has_label else ""
        tick = " ┤" if has_label else " │"
        line: Line = [Part(fit(label, _LABEL - 1, right=True) + tick, "muted")]
        for number, sizes in enumerate(places):
            line.append(_chart_mark(sizes, row, marked=number == cursor))
        lines.append(line)
    ticks = "".join("▲" if number == cursor else "─" for number in range(len(columns)))
    first, last = f"{ends[0]:,}", f"{ends[1]:,}"
    between = name.center(max(len(name) + 2, len(columns) - len(first) - len(last)))
    lines.append([Part(" " * _LABEL + "└" + ticks, "muted")])
    lines.append([Part(f"{' ' * _LABEL} {first}{between}{last}", "muted")])
    return lines


def _chart_mark(sizes: Mapping[int, float | None], row: int, *, marked: bool) -> Part:
    if row not in sizes:
        return Part(" ")
    size = sizes[row]
    if size == 0:
        return Part("0", "trouble")
    if size is None or not math.isfinite(size):
        return Part(TROUBLE, "trouble")
    return Part("•", "strong" if marked else "backward")


def _chart_row(size: float | None, low: float, high: float, rows: int) -> int:
    """Return the row of a size, the top one where it is not finite, -1 where it is unknown."""
    if size is None:
        return -1
    if not math.isfinite(size):
        return rows - 1
    if not size:
        return 0
    return round((math.log10(size) - low) / (high - low) * (rows - 1))


def histogram_lines(value: Value, width: int, bins: int = 8) -> list[Line]:
    """Return one bar per interval of the finite elements, and a line for the others."""
    histogram = value.histogram(bins)
    lines: list[Line] = []
    most = max(histogram.counts, default=0)
    digits = len(str(most))
    room = max(4, width - 26 - digits)
    for number, count in enumerate(histogram.counts):
        low, high = histogram.edges[number], histogram.edges[number + 1]
        filled = -(-count * room // most) if most else 0
        label = f"{format_number(low)} … {format_number(high)}"
        lines.append(
            [
                Part(fit(label, 20, right=True) + " ", "muted"),
                Part(fit(str(count), digits, right=True) + " "),
                Part("█" * filled, "backward"),
            ]
        )
    for word, count in (("nan", histogram.nans), ("inf", histogram.infs)):
        if count:
            lines.append([Part(fit(word, 20, right=True) + f" {count}", "trouble")])
    return lines


def heat_map_lines(value: Value, width: int, rows: int = 12) -> list[Line]:
    """Return two cells per block: darker is larger, ``−`` marks what is negative, ``!!`` what is no
    number."""
    picture = value.heat_map(rows, max(1, (width - 2) // 2))
    means, trouble = picture.means, picture.trouble
    largest = max((abs(x) for x in means.ravel().tolist() if math.isfinite(x)), default=0.0)
    lines: list[Line] = []
    for mean_row, trouble_row in zip(means.tolist(), trouble.tolist(), strict=True):
        line: Line = [Part("  ")]
        line += [_block(x, bad, largest) for x, bad in zip(mean_row, trouble_row, strict=True)]
        lines.append(line)
    return lines


def _block(mean: float, trouble: bool, largest: float) -> Part:
    if trouble or not math.isfinite(mean):
        return Part(TROUBLE * 2, "trouble")
    if not mean:
        return Part("· ", "faint")
    shade = SHADES[min(len(SHADES) - 1, int(len(SHADES) * abs(mean) / largest))]
    style: StyleName = "saved" if mean < 0 else "backward"
    return Part(shade + ("−" if mean < 0 else shade), style)
