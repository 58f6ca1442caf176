"""The modules of a program as a tree, each with the worst that is known of its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor, log10
from typing import Final

import numpy as np

from gradstep.graph.statistics import format_number
from gradstep.recording.run import Run
from gradstep.text import plural
from gradstep_viz.plots.contents import Contents
from gradstep_viz.plots.maps import Map
from gradstep_viz.plots.sizes import State
from gradstep_viz.report.charts import sparkline
from gradstep_viz.report.html import scrolling, text

_MOST_ROWS: Final = 40
"""Rows of a table; a larger module has one for each module in it."""
_FEW_ROWS: Final = 5
"""A module with so few rows stands in the table of its neighbours."""
_MOST_LEAVES: Final = 1500


@dataclass
class _Leaf:
    """A parameter, and what is known of it: the last size of its gradient, sizes over the calls,
    the update-to-weight ratio, and what is wrong."""

    name: str
    shape: str
    last: str = ""
    size: float = float("nan")
    line: str = ""
    update: str = ""
    wrong: list[str] = field(default_factory=list)


@dataclass
class _Module:
    name: str
    kind: str = ""
    leaves: list[_Leaf] = field(default_factory=list)
    modules: dict[str, _Module] = field(default_factory=dict)

    def below(self) -> Iterator[_Leaf]:
        """Yield all leaves in it."""
        waiting = [self]
        while waiting:
            module = waiting.pop()
            yield from module.leaves
            waiting += reversed(module.modules.values())

    @property
    def rows(self) -> int:
        """How many rows its table has."""
        count, waiting = 0, [self]
        while waiting:
            module = waiting.pop()
            count += 1 + len(module.leaves)
            waiting += module.modules.values()
        return count


def modules_section(run: Run | None, contents: Contents | None) -> str:
    """Write the tree."""
    if run is None or not run.leaves:
        return ""
    known = {} if contents is None or contents.map is None else _known(contents, contents.map)
    root = _Module("")
    for leaf in run.leaves[:_MOST_LEAVES]:
        *path, name = leaf.name.split(".")
        module = root
        for part in path:
            module = module.modules.setdefault(part, _Module(part))
        module.kind = leaf.module or module.kind
        row = known.get(leaf.number) or _Leaf("", "", wrong=["no call reached it"])
        row.name = name
        row.shape = "" if leaf.shape is None else "×".join(map(str, leaf.shape)) or "scalar"
        module.leaves.append(row)
    while len(root.modules) == 1 and not root.leaves and root.rows > _MOST_ROWS:
        ((name, inner),) = root.modules.items()
        inner.name = f"{root.name}.{name}".lstrip(".")
        root = inner
    parts = [f"<p>All are in <code>{text(root.name)}</code>.</p>"] if root.name else []
    parts += _written(root, "all modules")
    if len(run.leaves) > _MOST_LEAVES:
        parts.append(f"<p>and {len(run.leaves) - _MOST_LEAVES:,} more leaves</p>")
    return "\n".join(parts)


def _written(module: _Module, path: str) -> Iterator[str]:
    """Write a module: as a table, or, where that is too long, each module in it folded."""
    if module.rows <= _MOST_ROWS:
        yield _table(module, path)
        return
    few = {name: inner for name, inner in module.modules.items() if inner.rows <= _FEW_ROWS}
    if module.leaves or few:
        yield _table(_Module("", leaves=module.leaves, modules=few), path)
    for inner in module.modules.values():
        if inner.name in few:
            continue
        name, inner = _without_chains(inner)
        wrong = _worst(inner)
        state = " open" if wrong and inner.rows <= _MOST_ROWS else ""
        kind = f' <span class="mute">{text(inner.kind)}</span>' if inner.kind else ""
        said = f' <span class="wrong">{text(wrong)}</span>' if wrong else ""
        number = plural(sum(1 for _ in inner.below()), "leaf", "leaves")
        yield (
            f"<details{state}><summary><code>{text(name)}</code>{kind} "
            f'<span class="mute">{number}, gradient {text(_range(inner))}</span>{said}</summary>'
        )
        yield from _written(inner, name)
        yield "</details>"


def _without_chains(module: _Module) -> tuple[str, _Module]:
    """Return a module that has more than one module in it, and its name."""
    names = [module.name]
    while len(module.modules) == 1 and not module.leaves:
        (module,) = module.modules.values()
        names.append(module.name)
    return ".".join(names), module


def _table(module: _Module, path: str) -> str:
    head = "".join(
        f'<th scope="col">{title}</th>'
        for title in ("module, leaf", "gradient, last (rms)", "what stands out", "over the calls",
                      "update / weight", "shape")
    )  # fmt: skip
    rows = "".join(_rows(module, 0))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return scrolling(table, f"table of {path}")


def _rows(module: _Module, depth: int) -> Iterator[str]:
    for leaf in module.leaves:
        wrong = f'<span class="wrong">{text("; ".join(leaf.wrong))}</span>' if leaf.wrong else ""
        yield (
            f'<tr><th scope="row" style="--depth:{depth}"><code>{text(leaf.name)}</code></th>'
            f"<td>{text(leaf.last)}</td><td>{wrong}</td><td>{leaf.line}</td>"
            f"<td>{text(leaf.update)}</td><td>{text(leaf.shape)}</td></tr>"
        )
    for inner in module.modules.values():
        name, inner = _without_chains(inner)
        wrong = _worst(inner)
        said = f'<span class="wrong">{text(wrong)}</span>' if wrong else ""
        yield (
            f'<tr class="module"><th scope="row" style="--depth:{depth}"><code>{text(name)}</code>'
            f' <span class="mute">{text(inner.kind)}</span></th>'
            f"<td>{text(_range(inner))}</td><td>{said}</td><td></td><td></td><td></td></tr>"
        )
        yield from _rows(inner, depth + 1)


def _worst(module: _Module) -> str:
    """Say the worst that is known in a module, and of how many leaves."""
    every = [*module.below()]
    first = [leaf.wrong[0] for leaf in every if leaf.wrong]
    if not first:
        return ""
    worst = min(first, key=lambda word: (not word.startswith(("NaN", "Inf")), first.index(word)))
    number = first.count(worst)
    return worst if number == len(every) else f"{worst} ({number} of {len(every)})"


def _range(module: _Module) -> str:
    sizes = [leaf.size for leaf in module.below() if leaf.size == leaf.size]
    if not sizes:
        return "–"
    low, high = format_number(min(sizes)), format_number(max(sizes))
    return low if low == high else f"{low} … {high}"


def _known(contents: Contents, shown: Map) -> Mapping[int, _Leaf]:
    """Return what is known of each leaf."""
    sizes = shown.values[shown.states == State.SIZE]
    low, high = (floor(log10(sizes.min())), floor(log10(sizes.max())) + 1) if len(sizes) else (0, 1)
    known = {}
    for number, row in enumerate(shown.rows):
        states, values = shown.states[number], shown.values[number]
        leaf = _Leaf(row.name, "")
        reached = np.flatnonzero(states > State.NONE)
        if len(reached):
            last = int(reached[-1])
            leaf.size = float(values[last]) if states[last] <= State.ZERO else float("nan")
            leaf.last = {State.NAN: "NaN", State.INF: "Inf", State.ZERO: "0"}.get(
                State(int(states[last])), format_number(float(values[last]))
            )
        if len(reached) > 1:
            drawn = np.where(states == State.SIZE, values, np.nan)
            leaf.line = sparkline(drawn, states >= State.ZERO, low, high)
        leaf.wrong = list(_wrong(shown, number))
        if contents.spreads:
            spread = contents.spreads[number]
            if spread.is_zero:
                leaf.wrong.append("never changes")
            leaf.update = "0" if spread.is_zero else (
                "" if spread.median is None else format_number(float(f"{spread.median:.2g}"))
            )  # fmt: skip
        known.update(dict.fromkeys(row.leaves, leaf) if len(row.leaves) == 1 else {
            each: _Leaf("", "", leaf.last, leaf.size, leaf.line, leaf.update, leaf.wrong)
            for each in row.leaves
        })  # fmt: skip
    return known


def _wrong(shown: Map, row: int) -> Iterator[str]:
    states = shown.states[row]
    for state, word in ((State.NAN, "NaN"), (State.INF, "Inf")):
        places = np.flatnonzero(states == state)
        if len(places):
            yield f"{word} from call {int(shown.calls[row, places[0]]):,}"
    reached = states[states > State.ABSENT]
    if len(reached) and (reached == State.NONE).all():
        yield "no gradient arrived"
    sized = states[states > State.NONE]
    if len(sized) and (sized == State.ZERO).all():
        yield "0 in every call"
    elif len(sized) > 2 and (sized[-3:] == State.ZERO).all():
        yield "0 in the last calls"
    jumps = np.flatnonzero(shown.jumps[row])
    if len(jumps):
        yield f"a jump in call {int(shown.calls[row, jumps[0]]):,}"
