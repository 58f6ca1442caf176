"""How large gradients are, on a log scale: a sign beside each number, the shade and width of its
line, and the scale itself in the caption.  A gradient of 0 has a sign and a line of its own, with
a scale or without one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics, format_number

SIGNS = "▁▂▃▄▅▆▇█"
METER = "▄"
"""As often as a line is wide: lengths can be told apart where heights could not."""
ZERO = -1
"""The step of a gradient that is 0, below all that a log scale has."""
ZERO_SIGN = "○"

NOISE = 1e-3
"""A gradient of a parameter this far below all that flow between ops does not set the scale: it is
rounding, such as that of a bias before a normalization."""

CLIPPED = 0.05
"""Where this share of the gradients at either end is far from all others, it does not set the
scale."""

WIDE_SPREAD = 100.0
"""Where the largest gradient is so many times the smallest, pictures show magnitudes unasked."""


class Scale(NamedTuple):
    """A log scale from the power of ten ``low`` up to ``high``; some gradients are ``below`` it, or
    ``above``, and those less than ``noise`` are on no scale.

    >>> scale = Scale(-4, 0)
    >>> [scale.step(rms) for rms in (1e-4, 1e-2, 1.0)], scale.text
    ([1, 5, 8], 'rms ▄ 1e−4 … ▄▄▄▄ 1')
    >>> Scale(-4, 0, above=True).text
    'rms ▄ 1e−4 … ▄▄▄▄ ≥ 1'
    """

    low: int
    high: int
    below: bool = False
    above: bool = False
    noise: float = 0.0

    def step(self, rms: float) -> int:
        """Return where ``rms`` stands, from 1 to 8; 0 for what is on no log scale: 0, NaN, Inf and
        noise."""
        if not (rms > 0 and math.isfinite(rms)) or rms < self.noise:
            return 0
        share = (math.log10(rms) - self.low) / (self.high - self.low)
        return min(8, max(1, 1 + math.floor(share * 8)))

    def bounds(self, step: int) -> tuple[str, str]:
        """Return from where to where a step reaches."""
        width = (self.high - self.low) / len(SIGNS)
        low, high = (10 ** (self.low + width * edge) for edge in (step - 1, step))
        return format_number(float(f"{low:.1g}")), format_number(float(f"{high:.1g}"))

    @property
    def text(self) -> str:
        """The printed scale."""
        low, high = (format_number(10.0**power) for power in (self.low, self.high))
        low, high = "≤ " * self.below + low, "≥ " * self.above + high
        return f"rms {METER} {low} … {sign(len(SIGNS))} {high}"


class Gradients(NamedTuple):
    """The state of the gradients in a picture: whether the pass has begun, and the scale by which
    magnitudes are shown, if they are."""

    begun: bool
    scale: Scale | None

    def step(self, stats: Statistics | None) -> int:
        """Return the step of a gradient on the scale, 0 where it is unknown or in trouble or there
        is no scale; :data:`ZERO` for one that is 0, in any case."""
        if stats is None or stats.trouble:
            return 0
        if stats.is_zero:
            return ZERO
        return 0 if self.scale is None else self.scale.step(stats.rms)

    def awaits(self, graph: Graph, id: int) -> bool:
        """Tell whether a node of the pass has yet to run, after others have."""
        return (
            self.begun
            and id in graph.orders
            and id not in graph.statistics
            and id not in graph.undefined
        )


def sign(step: int) -> str:
    """Draw a meter, a bar of at most four characters.

    >>> sign(1), sign(8), sign(0), sign(ZERO)
    ('▄', '▄▄▄▄', '', '○')
    """
    if step == ZERO:
        return ZERO_SIGN
    return METER * shade(step)


def sparkline(sizes: Sequence[float], most: int = 12) -> str:
    """Draw sizes on the log scale from the smallest to the largest of them, of more than ``most``
    some, evenly chosen.

    >>> sparkline([1e-4, 1e-3, 1e-2, 0.0]), sparkline([1.0, math.nan])
    ('▁▅█○', '█!')
    """
    if len(sizes) > most:
        sizes = [sizes[round(at * (len(sizes) - 1) / (most - 1))] for at in range(most)]
    known = [math.log10(one) for one in sizes if 0 < one < math.inf]
    low, wide = min(known, default=0.0), max(1.0, max(known, default=0.0) - min(known, default=0.0))
    low = max(known, default=0.0) - wide
    return "".join(
        ZERO_SIGN if one == 0
        else SIGNS[min(7, int(8 * (math.log10(one) - low) / wide))] if 0 < one < math.inf
        else "!"
        for one in sizes
    )  # fmt: skip


def shade(step: int) -> int:
    """Return the shade and width of lines, from 1 to 4: two steps share one; 0 for :data:`ZERO`."""
    return (step + 1) // 2


def scale_of(graph: Graph, requested: bool | None) -> Scale | None:
    """Choose the scale for the gradients of ``graph``; None where there are none, or ``requested``
    says no.

    ``None`` leaves it to the gradients: they have to spread over more than a factor of
    :data:`WIDE_SPREAD`.
    """
    if requested is False or not has_gradients(graph):
        return None
    known = [
        (stats.rms, graph.kinds[graph.edge_targets[id]] in ("op", "group"))
        for id, stats in graph.edge_statistics.items()
        if graph.edge_kinds[id] == "gradient" and stats.rms > 0 and math.isfinite(stats.rms)
    ]
    least = NOISE * min((size for size, between in known if between), default=0.0)
    sizes = sorted(size for size, _ in known if size >= least)
    if not sizes or (requested is None and sizes[-1] <= WIDE_SPREAD * sizes[0]):
        return None
    left_out = math.floor(CLIPPED * len(sizes))
    whole, most = (
        # a little beyond a power of ten is that power
        (math.floor(math.log10(low) + 0.1), math.ceil(math.log10(high) - 0.1))
        for low, high in ((sizes[0], sizes[-1]), (sizes[left_out], sizes[-1 - left_out]))
    )
    low, high = most[0], max(most[1], most[0] + 1)
    return Scale(low, high, whole[0] < low, whole[1] > high, least)


def has_gradients(graph: Graph) -> bool:
    """Tell whether any node of the backward pass has run, as far as ``graph`` knows."""
    return any(
        id in graph.orders and graph.halves[id] == "backward"
        for known in (graph.statistics, graph.undefined)
        for id in known
    )
