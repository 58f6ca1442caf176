"""The flow of a pass: the list sorted and filtered, the chart over its nodes, keys on leaves with
many contributions, and the marks of what a move changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

import autograd_core
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.history.contributions import ContributionOrder
from gradstep.debugger.history.ledger import MOST_SHOWN
from gradstep_tui.app.plan.flow import Flow
from gradstep_tui.app.widgets.text import Line
from tests.tui.screen_driver import LARGE, SMALL, Driver, on_screen
from tests.tui.sessions import residual_net, troubled

DEEP, BAD = 60, 23


def vanishing(torch: Any) -> Session:
    """Sixty products, of which number 23 from the loss all but stops the gradient."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for number in range(DEEP, 0, -1):
        y = y * (1e-9 if number == BAD else 1.01)
    return Session(y.sum(), names=Names({"x": x}))


def rows(screen: Driver) -> list[str]:
    """The rows of the list that speak of nodes."""
    return [line for line in screen.text().splitlines() if re.match(r"[▌ ].[✓▶ ] [●○◉■□] +#", line)]


async def looked(screen: Driver) -> None:
    """Wait until the flow of every node has been looked at."""
    main = screen.app.debugger_screen
    await screen.until(lambda: main.view.notes.flow.looked >= main.view.snapshot.position)
    await screen.settled()


async def test_two_keys_find_the_node_at_which_the_gradient_vanishes(torch: Any) -> None:
    async with on_screen(vanishing(torch)) as screen:
        await screen.press("c", "a")
        await looked(screen)
        assert "largest gradient first" in screen.text()
        await screen.press("a")
        await looked(screen)
        assert "largest jump first" in screen.text()
        assert screen.app.debugger_screen.view.node == BAD  # the sum runs before the products
        assert rows(screen)[0].startswith("▌")
        assert "×1e−9" in rows(screen)[0]
        await screen.press("a")
        assert "largest jump" not in screen.text()


async def test_the_largest_gradient_comes_first_and_nodes_that_have_not_run_last() -> None:
    async with on_screen(residual_net(3)) as screen:
        await screen.press("#", "5", "n", "a")
        await looked(screen)
        view = screen.app.debugger_screen.view
        shown = [int(row[row.index("#") + 1 :].split()[0]) - 1 for row in rows(screen)]
        sizes = [
            total.statistics.rms
            for node in shown
            if node < 5
            for total in [view.facts.detail(node).incoming[0].total]
            if total is not None
        ]
        assert len(sizes) == 5
        assert sizes == sorted(sizes, reverse=True)
        assert all(node < 5 for node in shown[:5])


async def test_the_contributions_of_a_leaf_can_be_sorted_too() -> None:
    weight = autograd_core.tensor(2.0, requires_grad=True)
    total = sum((weight * factor for factor in (3.0, 1.0, -7.0, 5.0)), autograd_core.tensor(0.0))
    async with on_screen(Session(total, names=Names({"weight": weight})), (80, 30)) as screen:
        await screen.press("c", "G", "4", "w", "a")
        lines = [line for line in screen.text().splitlines() if line.startswith("  + ")]
        assert [line.split()[5] for line in lines] == ["−7", "5", "3", "1"]
        assert lines == sorted(
            lines, key=lambda line: -abs(float(line.split()[5].replace("−", "-")))
        )
        assert "+= weight" in screen.text()


async def test_the_list_shows_only_what_is_asked_for() -> None:
    async with on_screen(residual_net(3), LARGE) as screen:
        count = screen.app.debugger_screen.view.snapshot.length
        assert f" {count} of" not in screen.text()
        await screen.press("i")
        await screen.complete_line("module encoder.1.norm")
        assert "all › module encoder.1.norm › " in screen.text()
        assert rows(screen)
        assert all(".1.norm" in row or "+=" in row for row in rows(screen))
        await screen.type("only addmm")
        assert rows(screen)
        assert all("addmm" in row for row in rows(screen))
        first = screen.app.debugger_screen.view.node
        await screen.press("j")
        assert screen.app.debugger_screen.view.node != first
        await screen.type("only nothing of that name")
        assert not rows(screen)
        assert f" 0 of {count}" in screen.text()
        await screen.press("j", "k", "g", "G", "n")  # nothing to select, and no harm
        assert "sort by what? plan, size, jump" in await screen.type("sort sizes")
        await screen.type("only all")
        assert f" of {count}" not in screen.text().splitlines()[1]


async def test_only_nan_lists_what_is_no_number() -> None:
    async with on_screen(troubled()) as screen:
        await screen.press("c")
        await looked(screen)
        await screen.type("only nan")
        assert len(rows(screen)) == 2  # one leaf has nan, one inf


async def test_the_chart_has_axes_and_a_cursor_that_keys_and_clicks_move() -> None:
    async with on_screen(vanishing(autograd_core), LARGE) as screen:
        await screen.press("c")
        await looked(screen)
        pane = screen.app.debugger_screen.panes["pass"]
        pane.activate("flow")
        text = await screen.press("g")
        assert "1e−9 ┤" in text
        assert re.search(r" 1 +node +\d", text)
        assert "└▲" in text
        while screen.app.debugger_screen.chosen is not pane:
            await screen.press("w")
        text = await screen.press("#", "3", "l")
        assert screen.app.debugger_screen.view.node == 3
        assert "└───▲" in text
        assert "sends on 1.01 times that" in text
        await screen.press("h")
        assert screen.app.debugger_screen.view.node == 2
        place = pane.region
        await screen.pilot.click(offset=(place.x + 10 + 20, place.y + 4))
        assert screen.app.debugger_screen.view.node == 22  # a column stands for several


async def test_a_key_on_a_leaf_reads_no_more_contributions_than_it_shows(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    session = Session(torch.stack([x * 2 for _ in range(2000)]).sum(), names=Names({"x": x}))
    read: list[int] = []
    some = ContributionOrder.some

    def counted(self: ContributionOrder, index: int, first: int, last: int) -> Any:
        read.append(last - first)
        return some(self, index, first, last)

    async with on_screen(session, LARGE) as screen:
        monkeypatch.setattr(ContributionOrder, "some", counted)
        monkeypatch.setattr(Flow, "look_further", lambda *_: False)
        for end in ("G", "c"):
            await screen.press(end)
            read.clear()
            await screen.press("G", "k", "G")
            assert sum(read) < 4 * MOST_SHOWN  # of 2,000


@pytest.mark.parametrize("back", [False, True])
async def test_a_phase_marks_what_it_delivered_until_the_next(back: bool) -> None:
    w = autograd_core.tensor(3.0, requires_grad=True)
    async with on_screen(Session((w * w) * 2, names=Names({"w": w})), SMALL) as screen:

        def marked() -> frozenset[int]:
            return screen.app.debugger_screen.view.changed

        await screen.press("n", "s")
        assert not marked()  # the formula is there, and nothing was sent
        await screen.press("s")
        leaf = screen.app.debugger_screen.view.snapshot.length - 1
        assert marked() == {leaf}
        if back:
            await screen.press("S")
            assert marked() == {leaf}  # it was taken back
            await screen.press("S")
            assert not marked()


async def test_a_phase_is_told_as_a_node_is(torch: Any) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    told: list[str] = []
    async with on_screen(Session((w * w) * 2, names=Names({"w": w})), (100, 30)) as screen:
        for key in ("n", "s", "s", "s", "S", "S", "S", "S"):
            told.append((await screen.press(key)).splitlines()[-2].strip())
    assert told == [
        "#1 mul:2 sent 2 → #2 mul:1",
        "#2 mul:1: formula 2 → 6, 6",
        "#2 mul:1 sent 6 → w (None → 6, 1 of 2)",
        "#2 mul:1 sent 6 + 6 → w (None → 12, 2 of 2)",
        "took back #2 mul:1 → w (12 → 6, 1 of 2)",
        "took back #2 mul:1 → w (6 → None, 0 of 2)",
        "took back #2 mul:1: formula 6, 6 → 2",
        "took back #1 mul:2 → #2 mul:1",
    ]


async def test_all_that_a_move_changed_is_marked_forwards_and_backwards(torch: Any) -> None:
    w = torch.tensor(3.0, requires_grad=True)
    async with on_screen(Session((w * w) * 2, names=Names({"w": w})), LARGE) as screen:

        def marks(lines: Iterable[Line]) -> list[str]:
            parts = (part for line in lines for part in line)
            return [part.text for part in parts if part.style.startswith("changed") and part.text]

        def marked(*names: str) -> list[list[str]]:
            view = screen.app.debugger_screen
            rows = marks(map(view.rows.line, range(view.rows.line_count())))
            return [rows, *(marks(view.panes[name]._page.lines) for name in names)]

        assert marked("pass", "node") == [[], [], []]
        await screen.press("n")
        assert marked("pass", "node") == [["2"], [], ["2", "2"]]  # what arrived, and the sum
        await screen.press("n")
        assert marked("pass") == [["12", "2 of 2"], ["2/2", "12"]]
        await screen.press("N")
        assert marked("pass") == [["not yet", "0 of 2"], ["0/2"]]
        await screen.press("j")
        assert marked("pass") == [["not yet", "0 of 2"], ["0/2"]]  # until the next move
        await screen.press("#", "3", "n")
        assert marked("pass")[1][0] == "12"  # its .grad
    async with on_screen(Session(torch.sqrt(w * 0) * 2), LARGE) as screen:
        await screen.press("n", "n")
        row = screen.app.debugger_screen.rows.line(2)
        assert [part.text for part in row if part.style == "changed trouble"] == ["inf"]
