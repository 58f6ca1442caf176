"""Keys that people bring along from vim, gdb and pudb: views, matches, the prompt's history, and
displays that stay in view."""

from __future__ import annotations

from pathlib import Path

import pytest

import autograd_core as torch
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep_tui.app.history import MOST, VARIABLE, History
from tests.tui.screen_driver import LARGE, SMALL, Driver, on_screen
from tests.tui.sessions import chain, residual_net, shared_weight


def selected(screen: Driver) -> int:
    return screen.app.debugger_screen.view.node


async def test_half_pages_and_the_rows_in_view() -> None:
    async with on_screen(chain(200)) as screen:
        rows = screen.app.debugger_screen.rows
        half = round((rows.visible_height - 1) / 2)
        await screen.press("ctrl+d")
        assert selected(screen) == half
        await screen.press("#", "3", "ctrl+d", "ctrl+u")
        assert selected(screen) == 3 * half
        top = rows.scroll_offset.y
        for key, row in (("H", 0), ("L", rows.visible_height - 1), ("M", rows.visible_height // 2)):
            await screen.press(key)
            assert abs(selected(screen) - top - row) <= (key == "M")
        assert rows.scroll_offset.y == top


async def test_z_twice_centers_the_row_and_leaves_the_folds_as_they_were() -> None:
    async with on_screen(chain(200)) as screen:
        rows = screen.app.debugger_screen.rows
        await screen.press("#", "4", "0", "G", "H")
        node = selected(screen)
        await screen.press("z", "z")
        assert selected(screen) == node
        assert not screen.app.debugger_screen.view.folded
        assert rows.scroll_offset.y == node - rows.visible_height // 2
        await screen.press("z", "j", "z")  # two keys, not one
        assert len(screen.app.debugger_screen.view.folded) == 2


async def test_matches_are_found_forwards_and_backwards() -> None:
    x = torch.tensor(0.5, requires_grad=True)
    y = x
    for _ in range(5):
        y = torch.tanh(y) * 2
    async with on_screen(Session(y, names=Names({"x": x}))) as screen:
        assert "nothing was searched for" in await screen.press(";")
        await screen.press("/", *"tanh", "enter")
        graph = screen.app.debugger_screen.view.snapshot.graph
        found = [selected(screen)]
        for _ in range(2):
            await screen.press(";")
            found.append(selected(screen))
        matches = [at for at in range(len(graph)) if "tanh" in graph.names[at].lower()]
        assert len(set(found)) == min(3, len(matches))
        for before in reversed(found[:-1]):
            await screen.press(",")
            assert selected(screen) == before
        await screen.press("#", "2", ";")
        assert selected(screen) == found[-1]


async def test_what_was_typed_is_there_in_the_next_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "state" / "history"
    monkeypatch.setenv(VARIABLE, str(file))
    async with on_screen(shared_weight()) as screen:
        for line in ("display rms", "info leaves", "info leaves", "next 2"):
            await screen.type(line)
        await screen.press("/", *"mul", "enter")
    assert file.read_text().splitlines() == ["display rms", "info leaves", "next 2", "/mul"]
    assert file.stat().st_mode & 0o077 == 0
    async with on_screen(shared_weight()) as screen:
        prompt = screen.app.debugger_screen.prompt
        await screen.press(":", "up")
        assert prompt.value == "next 2"
        await screen.press("up")
        assert prompt.value == "info leaves"
        await screen.press("escape", ":", *"dis", "ctrl+r")
        assert prompt.value == "display rms"
        await screen.press("ctrl+r")
        assert prompt.value == "display rms"  # there is no other
        await screen.press("escape", "/", "up")
        assert prompt.value == "mul"


def test_a_history_that_cannot_be_kept_is_no_error_and_does_not_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))  # a folder
    history = History()
    history.add("next", search=False)
    assert history.lines(search=False) == ["next"]
    file = tmp_path / "history"
    file.write_text("".join(f"next {number}\n" for number in range(2 * MOST + 1)))
    monkeypatch.setenv(VARIABLE, str(file))
    assert len(History().lines(search=False)) == MOST
    assert len(file.read_text().splitlines()) == MOST


@pytest.mark.parametrize("size", [(60, 16), SMALL, LARGE])
async def test_displays_stay_in_view_and_mark_what_changed(size: tuple[int, int]) -> None:
    async with on_screen(shared_weight(), size) as screen:
        assert "1: " not in screen.text()
        await screen.type("display rms")
        text = await screen.type("display w.grad.rms")
        assert " 1: rms = " in text
        assert " 2: w.grad.rms = undefined" in text
        strip = screen.app.debugger_screen.strips[-1]
        await screen.press("n", "n")
        assert [part.style for part in strip.line(0)][-1] in ("changed", "text")
        await screen.press("c")
        assert " 2: w.grad.rms = " in screen.text()
        assert strip.line(1)[-1].style == "changed"
        assert strip.region.height == 2
        await screen.type("undisplay")
        assert " 1: rms" not in screen.text()


async def test_a_remark_on_a_key_is_gone_with_the_next_and_what_a_move_did_stays() -> None:
    async with on_screen(residual_net(2)) as screen:
        sent = "sent "
        assert sent in await screen.press("n")
        assert "nothing was searched for" in await screen.press(",")
        text = await screen.press("j")
        assert "nothing was searched for" not in text
        assert sent in text.splitlines()[-2]


async def test_a_deleted_breakpoint_leaves_the_next_one_marked() -> None:
    async with on_screen(shared_weight()) as screen:
        for place in ("#2", "#3", "#4"):
            await screen.type(f"break {place}")
        screen.app.debugger_screen.show_section("breakpoints")
        while screen.app.debugger_screen.chosen is None:
            await screen.press("w")
        await screen.press("j", "j", "delete", "delete", "delete")
        assert not screen.app.debugger_screen.view.snapshot.breakpoints
        assert "there are no breakpoints" in await screen.press("delete")
