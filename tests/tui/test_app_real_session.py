"""The screen over the real Session: the gradients are those of a plain run."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

import autograd_core as torch
from gradstep.console.session import Session
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Snapshot
from gradstep_tui.app.facts import Facts
from gradstep_tui.app.worker import SessionWorker
from tests.tui.screen_driver import LARGE, SMALL, on_screen


def last_state() -> tuple[torch.Tensor, torch.Tensor]:
    """One weight, used at each of four time steps."""
    weight = torch.tensor(2.0, requires_grad=True)
    state = torch.tensor(1.0)
    for x in [-1.0, 1.0, -1.0, 2.0]:
        state = weight * state + x
    return state, weight


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_stepping_back_and_forth_ends_with_the_gradient_of_a_plain_run(
    size: tuple[int, int],
) -> None:
    plain, expected = last_state()
    plain.backward()
    state, weight = last_state()
    async with on_screen(Session(state, names={"weight": weight}), size) as screen:
        assert "▶" in screen.row(0)
        await screen.press("#", "6", "n")
        assert re.search(r" 15 3 of 4", screen.row(8))
        await screen.press("#", "2", "N")
        assert "PAST" in screen.text()
        assert re.search(r" 11 2 of 4", screen.row(8))
        await screen.press("G", "u")
        assert "▶" in screen.row(8)
        await screen.type("break add")
        await screen.press("C")
        assert "▶" in screen.row(6)
        await screen.press("r", "c", "c", "c", "c", "c")
        assert "FINISHED" in screen.text()
        assert "error" not in screen.text()
        await screen.press("q")
    assert screen.outcome == "continue"
    assert weight.grad is not None
    assert expected.grad is not None
    assert weight.grad.item() == expected.grad.item() == 23.0


def public_values(of: object) -> list[object]:
    """What somebody comes to who has ``of``, by public names."""
    if isinstance(of, Mapping):
        return [*of.values()]
    if isinstance(of, (tuple, list, set, frozenset)):
        return [*of]
    if not type(of).__module__.startswith("gradstep"):
        return []
    names = [name for name in dir(of) if not name.startswith("_")]
    values = [getattr(of, name, None) for name in names]
    return [each for each in values if not callable(each)]


async def test_what_a_section_gets_leads_to_no_session() -> None:
    state, weight = last_state()
    async with on_screen(Session(state, names={"weight": weight})) as screen:
        await screen.press("#", "3", "n", "s")
        ahead: list[object] = [screen.app.debugger_screen.view]
        seen: dict[int, object] = {}
        while ahead:
            value = ahead.pop()
            if id(value) not in seen:
                seen[id(value)] = value
                ahead += public_values(value)
        kinds = {type(each) for each in seen.values()}
        assert Facts in kinds
        assert Snapshot in kinds
        assert not [kind for kind in kinds if issubclass(kind, (PassSession, SessionWorker))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "outcome"),
    [("quit", "continue"), ("q", "continue"), ("detach", "detach"), ("abort", "abort")],
)
async def test_leaving_by_command_closes_the_screen(line: str, outcome: str) -> None:
    state, weight = last_state()
    async with on_screen(Session(state, names={"weight": weight})) as screen:
        await screen.type(line)
    assert screen.outcome == outcome
