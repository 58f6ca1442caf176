"""Numbers as characters: a sparkline, the bars of a histogram, the blocks of a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gradstep.debugger.snapshot import Value
from gradstep.graph.statistics import format_number
from gradstep_tui.app.widgets.text import Line, Part, StyleName, fit

LEVELS = "▁▂▃▄▅▆▇█"
SHADES = "░▒▓█"
TROUBLE = "!"


def decades(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the smallest and the largest decimal logarithm of the positive numbers in ``values``.

    >>> decades([None, 0.01, float("nan"), 100.0])
    (-2.0, 2.0)
    """
    logs = [math.log10(each) for each in values if each is not None and 0 < each < math.inf]
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
