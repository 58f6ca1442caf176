"""The calls of modules in which ops ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradstep.capturing.names import Names
from gradstep.contract.module_paths import OUTSIDE, ModuleCall, ScopePath
from gradstep.graph.entries import Numbers
from gradstep.graph.model import Call


def calls_of(
    recorded: Iterable[tuple[Sequence[int], Sequence[Any]]], names: Names
) -> tuple[list[Call], Numbers]:
    """Return the calls of modules, and in which of them each node ran, of nodes and their
    records."""
    of_nodes = [
        (ids, [getattr(one, "scope", OUTSIDE) for one in records]) for ids, records in recorded
    ]
    known: dict[ModuleCall, ScopePath] = {}
    for _, places in of_nodes:
        for place in places:
            call = place.call
            while call is not None and call not in known:
                known[call] = place
                call = call.outer
    numbers: dict[ModuleCall | None, int] = {None: -1}
    calls: list[Call] = []
    times = Counter[str]()
    for call, place in sorted(known.items(), key=lambda one: one[0].number):
        module = names.scope(place._replace(path=call.path, call=None))
        times[module] += 1
        numbers[call] = len(calls)
        calls.append(Call(module, times[module], numbers[call.outer]))
    inside = Numbers()
    for ids, places in of_nodes if calls else ():
        inside.put(np.array(ids, np.int64), np.array([numbers[one.call] for one in places]))
    return calls, inside
