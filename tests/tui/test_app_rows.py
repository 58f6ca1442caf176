"""The columns of the list at every width, what folds in it, and how it is sorted and filtered."""

from __future__ import annotations

import re

import pytest

import autograd_core
from autograd_core import Tensor
from gradstep import trace
from gradstep.console.session import Session
from gradstep_tui.app.plan.modules import FOLDED_AT_FIRST
from gradstep_tui.app.sections.gradient import GradientLine, aligned
from gradstep_tui.app.widgets.rows import RowWidths, fit_columns, headings
from gradstep_tui.app.widgets.text import Part
from tests.tui.screen_driver import Driver, on_screen
from tests.tui.sessions import residual_net, shared_weight

NATURAL = RowWidths(
    lanes=12, number=4, name=24, scope=20, shape=16, source=20, gradient=29, line=5, prefix="a.b"
)


@pytest.mark.parametrize("lanes", [1, 4, 9])
def test_a_wider_list_shows_no_column_shorter(lanes: int) -> None:
    before = fit_columns(NATURAL, lanes, 50)
    for width in range(51, 200):
        now = fit_columns(NATURAL, lanes, width)
        # more lanes may take what they need
        if now.lanes == before.lanes:
            for column in ("name", "scope", "shape", "source"):
                assert getattr(now, column) >= getattr(before, column), (column, width)
        before = now


def test_the_shape_is_the_last_to_go() -> None:
    widths = [fit_columns(NATURAL, 2, width) for width in range(44, 200)]
    for columns in widths:
        assert columns.shape or not (columns.scope or columns.source)


@pytest.mark.parametrize("width", range(44, 160, 3))
def test_columns_never_touch_and_fit(width: int) -> None:
    columns = fit_columns(NATURAL, 3, width)
    assert columns.total <= width
    text = " ".join(heading.text for heading in headings(columns, 3, "plan"))
    assert len(text) <= width
    assert text.startswith("~=a.b")


def looped(rounds: int) -> Session:
    """Return a session over the loss of a loop, traced."""
    with trace():
        w = autograd_core.tensor(0.9, requires_grad=True)
        h: Tensor = autograd_core.tensor(1.0)
        for _ in range(rounds):
            h = autograd_core.tanh(h * w)
        loss = h * 2
    return Session(loss, names={"w": w})


async def test_z_folds_the_rounds_of_a_loop_into_one_row_with_their_gradients() -> None:
    async with on_screen(looped(30)) as screen:
        text = await screen.press("j", "z")
        assert re.search(r"▸ +#2 × 30 rounds  61 nodes", text)
        await screen.press("c")
        text = await screen.wait_for(r"× 30 rounds  61 nodes +\S+ to 2")
        assert "end of the backward pass" in text
        assert "× 30" not in await screen.press("z")


async def test_a_long_loop_is_folded_at_first_and_a_search_opens_it() -> None:
    rounds = FOLDED_AT_FIRST // 2
    async with on_screen(looped(rounds)) as screen:
        assert f"× {rounds} rounds" in screen.text()
        text = await screen.press("slash", *"tanh:499", "enter")
        assert "× " not in text
        assert "tanh:499 " in text


async def test_a_move_into_a_long_loop_opens_it_and_one_past_it_does_not() -> None:
    async with on_screen(looped(FOLDED_AT_FIRST // 2)) as screen:
        assert "× 500 rounds" in await screen.press("c")
        assert "× 500 rounds" in await screen.press("r", "n")
        text = await screen.press("n")
        assert "× 500 rounds" not in text
        assert "× 500 rounds" in await screen.press("z", "n")  # whoever folds it has it so


async def test_a_folded_module_shows_its_worst_gradients() -> None:
    async with on_screen(residual_net(4)) as screen:
        await screen.press("c", "Z")
        assert await screen.wait_for(r"▸ +#\d+ encoder  Sequential  32 nodes +\S+ to \S+")


async def click_head(screen: Driver, word: str) -> str:
    line = next(y for y, row in enumerate(screen.text().splitlines()) if " node " in row)
    x = screen.text().splitlines()[line].index(word)
    await screen.pilot.click(offset=(x + 1, line))
    return await screen.settled()


async def test_a_click_on_a_head_sorts_and_escape_shows_all_again() -> None:
    async with on_screen(residual_net(3)) as screen:
        await screen.press("c")
        text = await click_head(screen, "gradient")
        assert " all › largest gradient first · " in text
        assert "gradient▼" in text
        text = await click_head(screen, "gradient")
        assert " all › smallest gradient first · " in text
        assert "gradient▲" in text
        assert " all ›" not in await click_head(screen, "gradient")
        assert "sends▼" in await click_head(screen, "arrived")
        assert " all ›" not in await screen.press("escape")


async def test_the_list_follows_each_letter_of_a_filter_and_forgets_one_that_was_left() -> None:
    async with on_screen(residual_net(3)) as screen:
        text = await screen.press("i", *"addmm")
        assert " all › 'addmm' › " in text
        assert "only NAME" not in text
        text = await screen.press("escape")
        assert " all ›" not in text


async def test_digits_turn_to_sections_and_a_number_begins_with_its_sign() -> None:
    async with on_screen(shared_weight()) as screen:
        assert "[6 leaves]" in await screen.press("6")
        text = await screen.press("1", "0", "n")
        assert "[1 gradient]" in text
        assert "1/9 run" in text
        assert "1 of 9" not in await screen.press("N")
        assert "4/9 run" in await screen.press("#", "4", "n")


async def test_the_prompt_of_a_change_says_what_may_be_typed() -> None:
    async with on_screen(shared_weight()) as screen:
        assert "VALUE is a number, or an expression" in await screen.press("e")
        text = await screen.press("escape", "colon", *"wa")
        assert "watch PLACE [if CONDITION]: stop when" in text


async def test_marks_of_what_changed_are_for_short_moves() -> None:
    async with on_screen(residual_net(4)) as screen:
        await screen.press("n")
        assert screen.app.debugger_screen.view.changed
        await screen.press("c")
        assert not screen.app.debugger_screen.view.changed


async def test_the_list_gets_the_width_that_its_columns_need() -> None:
    async with on_screen(residual_net(4), (200, 50)) as screen:
        rows = screen.app.debugger_screen.rows
        assert rows.size.width >= rows.natural_width - 1


async def test_values_stand_in_columns_with_the_place_of_their_row() -> None:
    x = autograd_core.tensor([[[1.0, -2.5]], [[10.0, 4.0]]], requires_grad=True)
    async with on_screen(Session((x * x).sum()), (100, 40)) as screen:
        text = await screen.press("c", "G", "5")
        assert "  [0, 0]   2 −5\n" in re.sub(r" +\n", "\n", text)
        assert "  [1, 0]  20  8\n" in re.sub(r" +\n", "\n", text)


@pytest.mark.parametrize("room", [40, 46, 52, 80])
def test_a_value_stands_below_its_label_where_there_is_no_room_beside_it(room: int) -> None:
    shown = [Part("rms 0.000123, −0.5 to 0.25"), Part("  [0.1, 0.2, 0.3]", "muted")]
    entry = GradientLine("+", "#4 transformer.h.7/addmm:1 out 1", shown)
    lines = [
        "".join(part.text for part in line)
        for line in aligned(entry, len(entry.label) + 2, room, whole=True)
    ]
    assert all(len(line) <= room for line in lines)
    assert entry.label in lines[0]
    assert all(any(part.text.strip() in line for line in lines) for part in shown)
