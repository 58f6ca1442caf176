"""What a comparison of two runs says, as text for people and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final

from gradstep.capturing.sources import portable
from gradstep.comparing.circumstances import Circumstance
from gradstep.comparing.runs import Comparison, Difference, Divergence, Where
from gradstep.comparing.values import Gap, Tolerance
from gradstep.graph.model import Source
from gradstep.guest.cells import place_in
from gradstep.text import plural

VERSION: Final = 1
"""Of the format of the JSON document; raised for changes that readers have to follow."""
_MOST: Final = 10
"""How many differences of one kind are listed."""


def text(
    comparison: Comparison, names: tuple[str, str], here: Path, causes: Sequence[str] = ()
) -> str:
    """Return the report for a person; files are named as seen from ``here``. ``causes`` are
    changes; undone, they make the runs equal."""
    return "\n\n".join(
        "\n".join(block)
        for block in (
            [f"{names[0]} and {names[1]}: {verdict(comparison)}"],
            _programs(comparison, here),
            _structures(comparison, here),
            _alike(comparison),
            [*_divergence(comparison, here), *_why(comparison)],
            _over_calls(comparison),
            [f"cause: {cause}; without it, two runs are equal" for cause in causes],
            _looked_at(comparison),
        )
        if block
    )


def verdict(comparison: Comparison) -> str:
    """Say in a line whether two runs are equal."""
    if comparison.structures:
        many = plural(len(comparison.structures), "difference")
        graphs = f"the graphs differ ({many} in {comparison.structure_call})"
        return f"{graphs}, and so do values" if comparison.first else graphs
    if comparison.first is not None:
        return f"values differ, first in {comparison.first.call}"
    if any(comparison.only):
        one, other = comparison.only
        return f"equal, but one makes {plural(one or other, 'call')} more: the {_NTH[not one]}"
    bits = comparison.tolerance.kind == "bitwise" or comparison.same == comparison.values
    return "equal" + ("" if bits else f" within {_tolerance(comparison.tolerance)}")


_NTH: Final = ("first", "second")


def _tolerance(tolerance: Tolerance) -> str:
    if tolerance.kind == "bitwise":
        return "bit by bit"
    if tolerance.kind == "ulp":
        return f"{tolerance.amount:g} ulp"
    return "what the dtype allows" if tolerance.amount is None else f"{tolerance.amount:g}"


def _programs(comparison: Comparison, here: Path) -> list[str]:
    """Say what is different about the programs, and where and how they ran."""
    rows = []
    for each in comparison.circumstances[:_MOST]:
        places = dict.fromkeys(_place(source, here) for source in each.sources if source)
        name = " | ".join(places) or each.name or "argument"
        change = f"{each.one} → {each.other}" if each.one and each.other else ""
        rows.append((name, change or (f"− {each.one}" if each.one else f"+ {each.other}")))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"  {name:{width}}  {change}" for name, change in rows]
    more = len(comparison.circumstances) - _MOST
    lines += [f"  ... and {more:,} more"] * (more > 0)
    return ["differences before anything runs:", *lines] if lines else []


def _why(comparison: Comparison) -> list[str]:
    """Say from which circumstance the first difference follows."""
    first, why = comparison.first or comparison.first_bit, comparison.why
    if why is None:
        is_random = first is not None and first.is_random
        return ["why: it draws random numbers, and the generator was in another state"] * is_random
    if why.kind == "line":
        return ["why: its line is not the same in both programs"]
    if why.kind == "option":
        pair = f"{why.name} is {why.one} in the first, {why.other} in the second"
        return [f"why: {pair}, and a step was made with it before this call"]
    seeds = f"({why.one} | {why.other})"
    return [f"why: it comes from random numbers, and the seeds are not the same {seeds}"]


def _structures(comparison: Comparison, here: Path) -> list[str]:
    alike: dict[Hashable, list[Difference]] = {}
    for difference in comparison.structures:
        key = (difference.what, difference.details) if difference.details else difference
        alike.setdefault(key, []).append(difference)
    lines = [_structure(differences, here) for differences in [*alike.values()][:_MOST]]
    more = len(alike) - _MOST
    return [*lines, *([f"... and {more:,} more"] if more > 0 else [])]


def _alike(comparison: Comparison) -> list[str]:
    """Describe parts that were matched and look different."""
    lines = [
        f"same module, other name: {one or 'the model'} → {other or 'the model'}"
        for one, other, _ in comparison.renamed[:_MOST]
    ]
    more = len(comparison.renamed) - _MOST
    lines += [f"... and {more:,} more"] * (more > 0)
    for ops in comparison.compiled:
        one, other = (plural(count, "op") for count in ops)
        lines.append(f"compiled: {one} of the first, {other} of the second; results compared")
    return lines


def _structure(differences: Sequence[Difference], here: Path) -> str:
    """Describe differences that are the same, with one place where they are."""
    first = differences[0]
    names = dict.fromkeys(filter(None, first.addresses))
    places = dict.fromkeys(_place(source, here) for source in first.sources if source)
    module = f"in {first.module}" if first.module else ""
    details = f": {'; '.join(first.details)}" if first.details else ""
    words = [f"{first.what:8}", " → ".join(names), module, " and ".join(places)]
    more = f" and {len(differences) - 1:,} more" * (len(differences) > 1)
    return " ".join(filter(None, words)) + more + details


def _divergence(comparison: Comparison, here: Path) -> list[str]:
    first = comparison.first or comparison.first_bit
    if first is None:
        return []
    place = "here" if first.is_certain else "here or earlier"
    size = "" if comparison.first else ", but not in every bit"
    lines = [f"first difference{size}, {place}: {first.what}", f"  {first.gap}"]
    if first.source is not None:
        lines.append(f"  at {_place(first.source, here)}")
    call = f"  in {first.call}"
    lines.append(call if first.line is None else f"{call}, {_place(first.line, here)}")
    for given in first.inputs[:_MOST]:
        lines.append(f"  input {given.address}: {given.gap or 'not recorded'}")
    if first.unknown:
        lines.append(f"  before it, not recorded: {_listed(first.unknown)}")
    if first.growth:
        lines.append("from there it grows:")
        lines += [f"  {place.address}: {place.gap}" for place in first.growth[:_MOST]]
    if first.leaves:
        count = f"{len(first.leaves):,} of {plural(first.leaf_count, 'leaf', 'leaves')}"
        lines.append(f"at the end of the call, {count} differ:")
        lines += [f"  {leaf.address}.grad: {_least(leaf.gap)}" for leaf in first.leaves[:3]]
    if first.command and not first.is_certain:
        lines.append(f"to see more of this call: {first.command}")
    return lines


def _least(gap: Gap | None) -> str:
    """Describe a gap between values of which only bits and statistics are known."""
    if gap is not None and not gap.is_same and gap.relative == 0:
        return "not equal in every bit"
    return str(gap)


def _over_calls(comparison: Comparison) -> list[str]:
    lines = []
    for call in comparison.over_calls[1:]:
        loss = "" if call.loss is None else f"loss {call.loss}; "
        leaf = "" if call.leaf is None else f"{call.leaf.address} {_least(call.leaf.gap)}"
        lines.append(f"  {call.call}: {loss}{leaf}".removesuffix("; "))
    return ["over the calls:", *lines] if lines else []


def _looked_at(comparison: Comparison) -> list[str]:
    calls = f"{plural(comparison.calls, 'call')} of both, {comparison.full:,} in full"
    values = f"{plural(comparison.values, 'value')}, {comparison.same:,} equal"
    lines = [f"looked at: {calls}; {values}; tolerance: {_tolerance(comparison.tolerance)}"]
    if comparison.described:
        has_all = any(call.level == "all" for call in comparison.shown or ())
        lines.append(
            f"not looked at: the numbers of {plural(comparison.described, 'value')}, which are "
            "only described" + (" (record --values all keeps them)" if not has_all else "")
        )
    if any(comparison.only):
        lines.append(
            f"calls of one only: {comparison.only[0]:,} of the first, {comparison.only[1]:,} of "
            "the second"
        )
    return lines


def _listed(names: tuple[str, ...]) -> str:
    more = f", ... ({len(names) - _MOST:,} more)" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _place(source: Source, here: Path) -> str:
    return place_in(portable(source.file, here), source.line)


def json_text(
    comparison: Comparison, names: tuple[str, str], here: Path, causes: Sequence[str] = ()
) -> str:
    """Return a JSON document; its schema is in the documentation."""

    def place(source: Source | None) -> dict[str, Any] | None:
        if source is None:
            return None
        return {"file": portable(source.file, here), "line": source.line}

    def gap(apart: Gap | None) -> dict[str, Any] | None:
        if apart is None:
            return None
        relative, ulps = (
            number if math.isfinite(number) else None for number in (apart.relative, apart.ulps)
        )
        sides = None if apart.sides is None else [side._asdict() for side in apart.sides]
        return {
            "relative": relative, "ulps": ulps, "same": apart.is_same, "exact": apart.is_exact,
            "sides": sides,
        }  # fmt: skip

    def where(known: Where | None) -> dict[str, Any] | None:
        return None if known is None else {"at": known.address, "gap": gap(known.gap)}

    def divergence(first: Divergence | None) -> dict[str, Any] | None:
        if first is None:
            return None
        return {
            "call": first.call, "line": place(first.line), "what": first.what,
            "gap": gap(first.gap), "source": place(first.source), "certain": first.is_certain,
            "inputs": [*map(where, first.inputs)], "not_recorded": list(first.unknown),
            "growth": [*map(where, first.growth)], "leaves": [*map(where, first.leaves)],
            "leaf_count": first.leaf_count, "command": first.command,
            "is_random": first.is_random,
        }  # fmt: skip

    def circumstance(known: Circumstance) -> dict[str, Any]:
        return {**known._asdict(), "sources": [*map(place, known.sources)]}

    document = {
        "version": VERSION, "one": names[0], "other": names[1], "equal": comparison.is_equal,
        "causes": list(causes),
        "tolerance": str(comparison.tolerance), "calls": comparison.calls,
        "calls_of_one": list(comparison.only), "full": comparison.full,
        "values": comparison.values, "same": comparison.same, "described": comparison.described,
        "structure_call": comparison.structure_call,
        "circumstances": [*map(circumstance, comparison.circumstances)],
        "why": None if comparison.why is None else circumstance(comparison.why),
        "renamed": [renamed._asdict() for renamed in comparison.renamed],
        "compiled": [{"one": one, "other": other} for one, other in comparison.compiled],
        "structures": [
            {
                "what": structure.what, "addresses": list(structure.addresses),
                "module": structure.module,
                "sources": [*map(place, structure.sources)], "details": list(structure.details),
            }
            for structure in comparison.structures
        ],
        "first": divergence(comparison.first), "first_bit": divergence(comparison.first_bit),
        "over_calls": [
            {"call": call.call, "loss": gap(call.loss), "leaf": where(call.leaf)}
            for call in comparison.over_calls
        ],
    }  # fmt: skip
    return json.dumps(document, indent=2, ensure_ascii=False)
