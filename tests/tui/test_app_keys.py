"""Keys, mouse, prompt and palette over the real Session: what each of them does."""

from __future__ import annotations

import re
import threading

import pytest
from textual import events

import autograd_core as torch
from autograd_core import nn
from gradstep import trace
from gradstep.console.session import Session
from gradstep.debugger import Reply
from gradstep.graph.addresses import step_index
from gradstep_tui import output
from gradstep_tui.app.keys import ALL_BINDINGS
from gradstep_tui.app.sections import SECTIONS
from gradstep_tui.app.widgets.execution import ExecutionList
from gradstep_tui.app.widgets.prompt import Prompt
from gradstep_tui.app.widgets.timeline import Timeline
from gradstep_tui.app.worker import SnapshotReady
from gradstep_tui.printed import printed
from tests.tui.screen_driver import LARGE, SHORT, SMALL, Driver, on_screen
from tests.tui.sessions import chain, dense, residual_net, shared_weight, troubled


class Block(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(3, 4)
        self.down = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


def traced_net() -> Session:
    """Two blocks, traced, so that scopes and lines are known."""
    torch.manual_seed(0)
    net = nn.Sequential(Block(), Block())
    with trace(values=True):
        loss = net(torch.randn(2, 3)).sum()
    return Session(loss, names={"net": net})


def position(screen: Driver) -> int:
    found = re.search(r"· ([\d,]+)/[\d,]+ run", screen.text())
    assert found
    return int(found[1].replace(",", ""))


def selected(screen: Driver) -> int:
    rows = [line for line in screen.text().splitlines() if line.startswith("▌")]
    found = re.search(r" (#\d+) ", rows[0])
    assert found
    index = step_index(found[1])
    assert index is not None
    return index


# -- moving ------------------------------------------------------------------------------


async def test_o_runs_the_module_that_begins_here_and_capital_o_goes_back() -> None:
    async with on_screen(traced_net()) as screen:
        await screen.press("n", "o")
        assert position(screen) == 10, "behind the whole block 1"
        await screen.press("O")
        assert position(screen) == 1


async def test_f_finishes_the_module_and_capital_f_goes_back() -> None:
    async with on_screen(traced_net()) as screen:
        await screen.press("n", "n", "f")
        assert position(screen) == 5, "behind down"
        await screen.press("F")
        assert position(screen) == 1


async def test_s_goes_into_a_node_and_out_of_it() -> None:
    session = traced_net()
    async with on_screen(session) as screen:
        assert "INSIDE" in await screen.press("s")
        assert session.snapshot.phase == 1
        assert "next phase" in screen.text(), "the keys of the place"
        await screen.press("s")
        assert (session.position, session.snapshot.phase) == (1, 0)
        await screen.press("S")
        assert (session.position, session.snapshot.phase) == (0, 1)


async def test_brackets_and_clicks_on_the_timeline_jump() -> None:
    session = chain(200)
    async with on_screen(session) as screen:
        await screen.press("c", "left_square_bracket")
        assert position(screen) == 190
        await screen.press("#", "3", "left_square_bracket")
        assert position(screen) == 160
        await screen.press("right_square_bracket")
        assert position(screen) == 170
        await screen.pilot.click(Timeline, offset=(1 + 39, 0))
        await screen.settled()
        assert position(screen) == 100
        line = next(row for row in screen.text().splitlines() if row.startswith(" ▁"))
        assert line[40] == "▶"


async def test_the_timeline_marks_nan_and_inf_with_a_character() -> None:
    async with on_screen(troubled()) as screen:
        text = await screen.press("c")
        assert re.search(r"^ ▄!!·∅$", text, re.MULTILINE)
        await screen.press("g", "exclamation_mark")
        assert selected(screen) == 1
        await screen.press("exclamation_mark")
        assert selected(screen) == 2
        await screen.press("exclamation_mark")
        assert selected(screen) == 1, "round again"
        await screen.press("#", "2", "exclamation_mark")
        assert selected(screen) == 1, "the second one from here"


async def test_without_trouble_the_key_says_how_to_find_some() -> None:
    async with on_screen(shared_weight()) as screen:
        assert "no nan or inf has been seen" in await screen.press("n", "exclamation_mark")


# -- navigating --------------------------------------------------------------------------


async def test_h_and_l_follow_edges() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press("j", "l")
        assert selected(screen) == 2
        await screen.press("h")
        assert selected(screen) == 1
        await screen.press("#", "2", "l")
        assert selected(screen) == 6
        await screen.press("left", "right")
        await screen.press("G", "#", "3", "h")
        assert selected(screen) == 7
        assert "there is no node 9 that sends to it" in await screen.press("#", "9", "h")


async def test_slash_searches_and_an_empty_line_goes_on() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press("slash")
        await screen.complete_line("encoder")
        assert selected(screen) == 6
        await screen.press("slash", "enter")
        assert selected(screen) == 7
        await screen.press("slash", "enter")
        assert selected(screen) == 6, "round the end"
        await screen.press("slash")
        assert "nothing in this pass is called 'gelu'" in await screen.complete_line("GELU")
        await screen.press("slash")
        await screen.complete_line("decoder/mul:1")
        assert selected(screen) == 5
    assert session.commands == [], "nothing ran"


async def test_z_folds_the_module_of_the_row_and_unfolds_it() -> None:
    async with on_screen(residual_net(4)) as screen:
        await screen.press("j", "z")
        row = screen.row(1)
        assert "~.3.up" in row
        assert "nodes" in row
        await screen.press("Z")
        assert "addmm:1" in screen.row(1), "what is folded is unfolded first"
        await screen.press("Z")
        assert "▸" in screen.row(0)
        assert selected(screen) == 0
        await screen.press("Z", "j", "z", "z")
        assert "addmm:1" in screen.row(1)


async def test_a_search_unfolds_the_module_of_what_it_finds() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press("Z")
        await screen.press("slash", *"tanh", "enter")
        assert "tanh:1" in screen.row(6)
        assert selected(screen) == 6


async def test_a_folded_module_is_one_row_for_keys_and_steps() -> None:
    async with on_screen(residual_net(4)) as screen:
        await screen.press("Z")
        rows = [line for line in screen.text().splitlines() if "▸" in line]
        assert "encoder" in rows[0]
        assert "32 nodes" in rows[0]
        await screen.press("j")
        assert selected(screen) > 20
        await screen.press("g", "#", "4", "n")
        assert "4 of 32 nodes" in screen.row(0)
        assert "▶" in screen.row(0)
        await screen.press("z")
        assert "▶" in screen.row(4)


async def test_the_module_tree_folds_by_key_and_by_mouse() -> None:
    async with on_screen(residual_net(2), (100, 40)) as screen:
        await screen.section("modules")
        assert "▾ encoder" in screen.text()
        await screen.press("w", "z")
        assert "▸ encoder" in screen.text()
        assert "nodes" in screen.row(0)
        await screen.press("z", "j", "j", "enter")
        assert "▾ encoder" in screen.text()
        assert selected(screen) > 0


async def test_w_gives_the_keys_to_a_pane_and_escape_takes_them_back() -> None:
    async with on_screen(shared_weight()) as screen:
        text = await screen.press("w")
        assert "━[1 gradient]" in text
        await screen.press("j", "j")
        assert selected(screen) == 0, "the selection of the list stays"
        await screen.press("pagedown", "home", "end")
        await screen.press("escape", "j")
        assert "━[1 gradient]" not in screen.text()
        assert selected(screen) == 1


async def test_a_line_of_a_pane_leads_to_its_node() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press("n", "j")
        await screen.press("w", "j", "j")
        await screen.press("enter")
        assert selected(screen) == 1, "the producer of the contribution"


async def test_overflowing_lanes_name_where_the_edge_goes() -> None:
    async with on_screen(dense(30)) as screen:
        assert re.search(r"→#\d+\+\d+ +#8 total:23", await screen.press("#", "7", "n"))


# -- mouse -------------------------------------------------------------------------------


async def test_a_double_click_goes_to_the_row() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.pilot.double_click("ExecutionList", offset=(20, 6))
        await screen.settled()
        assert position(screen) == 5
        await screen.pilot.double_click("ExecutionList", offset=(20, 3))
        await screen.settled()
        assert position(screen) == 2
    assert session.commands == ["until #6", "until #3"]


async def test_the_wheel_scrolls_and_selects_nothing() -> None:
    async with on_screen(chain(500)) as screen:
        rows = screen.app.screen.query_one(ExecutionList)
        for _ in range(5):
            before = rows.scroll_offset.y
            rows.post_message(events.MouseScrollDown(rows, 5, 5, 0, 1, 0, False, False, False))
            await screen.until(lambda before=before: rows.scroll_offset.y > before)
        assert screen.app.debugger_screen.view.node == 0


async def test_a_click_on_a_hint_is_its_key() -> None:
    async with on_screen(shared_weight()) as screen:
        lines = screen.text().splitlines()
        await screen.pilot.click("Hints", offset=(lines[-1].index("next"), 0))
        await screen.settled()
        assert position(screen) == 1


# -- breakpoints and prompt ----------------------------------------------------------


async def test_capital_b_asks_for_a_condition_and_capital_w_for_a_leaf() -> None:
    session = traced_net()
    async with on_screen(session) as screen:
        await screen.press("j", "B")
        await screen.complete_line("rms > 10")
        assert "◆" in screen.row(1)[:3]
        await screen.press("W")
        await screen.complete_line(session.snapshot.leaves[0].name)
        kinds = [point.kind for point in session.breakpoints.points]
        assert kinds == ["breakpoint", "watch"]


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_keys_that_come_at_once_are_done_one_after_the_other(size: tuple[int, int]) -> None:
    session = traced_net()
    async with on_screen(session, size) as screen:
        prompt = screen.app.screen.query_one(Prompt)
        await screen.burst(*":nNcsqQDxe0")
        assert (prompt.value, position(screen)) == ("nNcsqQDxe0", 0)
        await screen.burst(
            "escape", "n", "/", *"linear", "enter", "n", ":", *"reverse-next", "enter"
        )
        assert position(screen) == 1
        assert not prompt.has_focus
        await screen.burst(":", *"xnext 3", "home", "delete", "enter", "#", "2", "N", "W", *"a")
        assert (prompt.value, position(screen)) == ("watch a", 2)
        await screen.burst("ctrl+c", "#", "1", "n", "?", "q", "n")
        assert position(screen) == 4


async def test_what_is_pasted_keeps_its_place_among_the_keys() -> None:
    async with on_screen(traced_net()) as screen:
        app = screen.app
        app.post_message(events.Paste("lost: the list takes no text"))
        app.post_message(events.Key("colon", ":"))
        app.post_message(events.Paste("next 2\nnext 3\n"))
        await screen.burst("enter", "n")
        assert position(screen) == 3


async def test_the_palette_gets_what_is_typed_behind_the_key_that_opens_it() -> None:
    async with on_screen(traced_net()) as screen:
        await screen.burst("ctrl+p", *"nNcsqQDxe0")
        await screen.wait_for("nNcsqQDxe0")
        assert position(screen) == 0
        await screen.press("escape")  # it still searches, and must not when the app ends
        await screen.until(lambda: screen.app.screen is screen.app.debugger_screen)


async def test_tab_completes_and_offers() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    async with on_screen(Session(x * x * x)) as screen:
        await screen.press("colon", *"unt", "tab")
        prompt = screen.app.screen.query_one("Prompt")
        assert prompt.value == "until "  # type: ignore[attr-defined]
        text = await screen.press("m", "tab")
        assert prompt.value == "until mul"  # type: ignore[attr-defined]
        assert text.splitlines()[-1].split() == ["mul", "mul:1", "mul:2"]
        await screen.press("escape", "colon", *"sort", "space", "j", "tab")
        assert prompt.value == "sort jump "  # type: ignore[attr-defined]
        await screen.press("escape")
        assert "n next" in screen.text()


async def test_an_error_points_at_the_word_and_its_sense_is_in_the_message_line() -> None:
    async with on_screen(traced_net(), (100, 40)) as screen:
        text = await screen.type("break sum if rns > 10")
        assert re.search(r"error: .*rns", text)
        await screen.section("console")
        lines = screen.text().splitlines()
        place = next(n for n, line in enumerate(lines) if line == "  break sum if rns > 10")
        assert lines[place + 1].index("^") == lines[place].index("rns")
        await screen.type("print 1 +")
        await screen.type("break sum if rms > (")
        await screen.press("n")
        assert position(screen) == 1, "the session goes on"


@pytest.mark.parametrize(
    ("line", "there"), [("rn", 4), ("rs", 4), ("rc", 0), ("n 2", 7), ("run", 0)]
)
async def test_the_prompt_knows_the_words_of_gdb(line: str, there: int) -> None:
    async with on_screen(traced_net()) as screen:
        await screen.press("#", "5", "n")
        await screen.type(line)
        assert position(screen) == there


async def test_what_is_typed_speaks_of_the_selected_row() -> None:
    async with on_screen(traced_net(), (100, 40)) as screen:
        await screen.press("#", "3", "j")
        text = await screen.type("info node")
        assert "#4 " in text.split("[console]")[1]
        await screen.type("frame #6")
        assert selected(screen) == 5, "and chooses another one"


def nan_at_once() -> Session:
    x = torch.tensor(0.0, requires_grad=True)
    return Session((x * 0.0).sqrt())


async def test_the_palette_offers_commands_sections_and_keys() -> None:
    async with on_screen(shared_weight(), LARGE) as screen:
        for offer, opened in (
            ("show contributions", r"\[4 contributions\]"),
            ("until PLACE", r"(?m)^ until$"),
        ):
            await screen.press("ctrl+p", *offer)
            await screen.wait_for(rf"(?s){offer}.*\n +{offer}")  # the input, and what it finds
            await screen.press("enter")
            await screen.wait_for(opened)
        assert screen.app.screen.query_one("Prompt").value == "until "  # type: ignore[attr-defined]


async def test_the_palette_runs_on_to_a_condition_that_is_typed() -> None:
    async with on_screen(nan_at_once(), LARGE) as screen:
        await screen.press("ctrl+p", *"nan")
        await screen.wait_for(r"until nan")
        await screen.press("enter")
        await screen.wait_for(r"catch 1: nan")


# -- long runs, and what goes wrong ------------------------------------------------------


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_long_run_shows_how_far_it_is_and_pauses(key: str) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    goes_on = threading.Event()
    for number in range(600):
        y = y * 1.001
        if number == 300:
            y.register_hook(lambda g: None if goes_on.wait() else g)
    session = Session(y, names={"x": x})
    async with on_screen(session, LARGE, grace=SHORT) as screen:
        await screen.press("c")
        await screen.wait_for(r"BUSY · [■□]+ continue · esc pauses")
        await screen.wait_for(r"· [1-9]\d*/601 run")
        await screen.press(key)
        goes_on.set()
        text = await screen.wait_for("PAUSED")
        assert "interrupted" in text
        assert 0 < position(screen) < 600
        await screen.press("n")
        assert "PAUSED" in screen.text()


async def test_a_script_that_exits_in_a_hook_leaves_the_screen_open() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2.0

    def hook(g: torch.Tensor) -> None:
        raise SystemExit(3)

    y.register_hook(hook)
    session = Session(y * y, names={"x": x})
    async with on_screen(session) as screen:
        text = await screen.press("c")
        assert "FAILED" in text
        assert "#2 raised SystemExit: 3" in text
        await screen.press("r")
        assert position(screen) == 0


async def test_a_graph_freed_before_says_so() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x * x
    y.backward()
    async with on_screen(Session(y, names={"x": x})) as screen:
        text = await screen.press("c")
        assert "FAILED" in text
        text = re.sub(r"\s+", " ", await screen.section("source"))
        assert "call that one with retain_graph=True" in text


async def test_what_was_printed_meanwhile_is_kept_for_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda g: print("seen by the hook"))
    printed().show()  # what other tests of this process printed
    capsys.readouterr()
    async with on_screen(Session(y, names={"x": x})) as screen:
        await screen.press("c")
        assert printed().is_open
    output.begin()
    capsys.readouterr()
    printed().show()
    assert capsys.readouterr() == ("seen by the hook\n", "")
    assert not printed().is_open


async def test_every_key_answers_at_every_moment_of_a_pass() -> None:
    """Before the first node, in the middle, inside a node, at the end; in the list and a pane."""
    leaving = {"q,ctrl+q", "D", "Q", "question_mark", "p", "P"}
    keys = [each.key.split(",")[0] for each in ALL_BINDINGS if each.key not in leaving]
    async with on_screen(traced_net()) as screen:
        for moment in (["#", "5", "n"], ["s"], ["c", "w"]):
            await screen.press("r", "escape", *moment)
            for key in keys:
                await screen.press(key, "escape")
                assert "Traceback" not in screen.text(), key
        await screen.press("escape", "r", "n")
        assert position(screen) == 1


async def test_every_section_at_every_size_draws_within_its_width() -> None:
    async with on_screen(traced_net()) as screen:
        for size in ((60, 16), (80, 24), (120, 36), (200, 60)):
            await screen.resize(*size)
            for name in SECTIONS:
                await screen.section(name)
                assert all(len(line) <= size[0] for line in screen.text().splitlines())


async def test_a_key_right_after_opening_is_not_overtaken_by_the_first_layout() -> None:
    """The panes lay themselves out once more when they know their width."""
    session = traced_net()
    async with on_screen(session) as screen:
        main = screen.app.debugger_screen
        main.panes["node"].on_resize()
        session.do("next 5")
        # before the callback of the layout
        main.on_snapshot_ready(SnapshotReady(session.snapshot, Reply(""), session.selected))
        text = await screen.settled()
        assert "#6 " in text.split("[1 gradient]")[1].splitlines()[1]
