"""Memory that passes have freed is given back before it adds up."""

from __future__ import annotations

import pytest

from gradstep.guest import collector
from gradstep.guest.collector import FreedMemory


def test_memory_is_given_back_when_the_process_holds_much_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, given_back = 100 << 20, []

    def give_back() -> None:
        nonlocal held
        given_back.append(held >> 20)
        held = 90 << 20

    monkeypatch.setattr(collector, "held_memory", lambda: held)
    monkeypatch.setattr(collector, "give_back_memory", give_back)
    memory = FreedMemory()
    memory.give_back()
    for megabytes in (150, 160, 153):
        held = megabytes << 20
        memory.give_back()
    assert given_back == [100, 160]


def test_a_process_holds_memory_or_nobody_tells() -> None:
    before = collector.held_memory()
    room = b"x" * (1 << 26)
    assert before is None or collector.held_memory() - before > len(room) // 2
