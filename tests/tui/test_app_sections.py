"""The panes and their sections: what each of them says of the selected node and of the pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from gradstep import trace
from gradstep.comparing.runs import compare
from gradstep.comparing.values import Tolerance
from gradstep.console.session import Session
from gradstep.debugger import Timeline
from gradstep.engines.recorded import RecordedCall, names_of
from gradstep.program.recording import record
from gradstep.recording.reading import FileRun
from gradstep_tui.app.arrangement import HUGE, NARROW, OTHER_RUN, PLAIN, WIDE, arrangement
from gradstep_tui.app.sections import SECTIONS
from gradstep_tui.app.sections.page import tab_text
from gradstep_tui.app.widgets.execution import ExecutionList
from gradstep_tui.commands.diff import session_beside
from tests.tui.screen_driver import LARGE, SMALL, on_screen
from tests.tui.sessions import chain, shared_weight, troubled

HUGE_SIZE = (200, 60)


async def test_tab_goes_through_the_sections_and_a_count_chooses_one() -> None:
    async with on_screen(shared_weight()) as screen:
        assert "[1 gradient]" in screen.text()
        assert "[2 report]" in await screen.press("tab")
        assert "[3 why]" in await screen.press("tab")
        assert "[2 report]" in await screen.press("shift+tab")
        assert "[console]" in await screen.press("shift+tab", "shift+tab")
        assert OTHER_RUN not in screen.text()
        for name in [name for name in SECTIONS if name != OTHER_RUN]:
            assert f"[{tab_text(name)}]" in await screen.section(name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((80, 24), ["gradient"]),
        ((120, 36), ["gradient", "leaves", "source"]),
        (LARGE, ["gradient", "leaves", "source"]),
        (
            HUGE_SIZE,
            ["gradient", "leaves", "source", "console", "modules", "breakpoints", "graph"],
        ),
    ],
)
async def test_a_larger_terminal_shows_more_panes(size: tuple[int, int], shown: list[str]) -> None:
    async with on_screen(shared_weight(), size) as screen:
        text = screen.text()
        assert [name for name in SECTIONS if f"[{tab_text(name)}]" in text] == sorted(
            shown, key=list(SECTIONS).index
        )


async def test_a_leaf_over_the_calls_of_a_recording(tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path / "run.gsr", call="7", budget=None):
        for number in range(1, 13):
            w.grad = None
            (w * (10.0**number if number != 9 else float("nan"))).sum().backward()
    with FileRun(tmp_path / "run.gsr") as run:
        call = RecordedCall(run, 7)
        async with on_screen(Session.of_call(call, names=names_of(call), call=7)) as screen:
            text = await screen.section("run")
            assert "all leaves: rms of .grad in 12 of 12 calls" in text
            rows = re.findall(r"^ +([0-9.e+]*) [┤│](.*)$", text, re.MULTILINE)
            assert rows[0][1].rstrip().index("!") == 8  # the ninth call
            places = [line.index("•") for _, line in rows if "•" in line]
            assert places == sorted(places, reverse=True)
            assert "└──────▲─────" in text
            assert re.search(r"^ +1 +call +12$", text, re.MULTILINE)
            assert "w: rms" in await screen.press("n", "n")


async def test_two_passes_stand_beside_each_other(tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    for number in (2, 3):
        with record(tmp_path / f"{number}.gsr", values="all"):
            (w.sin() * float(number)).sum().backward()
    with FileRun(tmp_path / "2.gsr") as one, FileRun(tmp_path / "3.gsr") as other:
        comparison = compare(one, other, Tolerance())
        async with on_screen(session_beside(("a", "b"), comparison, (one, other)), LARGE) as screen:
            text = screen.text()
            assert "[other run]" in text
            assert "} goes to the next difference" in text
            text = await screen.press("right_curly_bracket")
            assert "before #2 mul:1" in text
            assert "b mul:1: " in text
            assert "b stands at #2" in text
            text = await screen.press("right_curly_bracket")
            assert re.search(r"in +2 everywhere.*\n.* 3 everywhere", text)
            assert "before #2 mul:1" in await screen.press("left_curly_bracket")


async def test_a_program_that_runs_has_no_other_calls() -> None:
    async with on_screen(shared_weight()) as screen:
        assert "only a recording knows its other calls" in await screen.section("run")


@pytest.mark.parametrize("chosen", [NARROW, WIDE, HUGE, PLAIN])
def test_every_section_has_one_place_at_every_size(chosen) -> None:  # type: ignore[no-untyped-def]
    placed = [name for names in chosen.panes.values() for name in names]
    assert sorted(placed) == sorted({*SECTIONS} - ({"modules"} if chosen is PLAIN else set()))


async def test_the_program_takes_the_place_of_modules_where_there_are_none() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    with trace():
        loss = (a * 3) * a
    async with on_screen(Session(loss, names={"a": a}), HUGE_SIZE) as screen:
        text = screen.text()
        assert text.index("[source]") < text.index("[1 gradient]") < text.index("[breakpoints]")
        assert "─[mod" + "ules]" not in text  # as this line is shown, too
        assert "▸" in text
        assert "loss = (a * 3) * a" in text


async def test_a_small_terminal_shows_two_lines_of_the_program_and_the_leaves() -> None:
    async with on_screen(shared_weight()) as screen:
        text = await screen.press("#", "5", "n")
        *_, before, here, leaves, _, _, _ = text.splitlines()
        assert re.fullmatch(r"  \d+ │             inner = w \* h \+ b", before) or "inner" in here
        assert re.match(r"▸ \d+ │ ", here)
        assert re.search(r"\.grad +b rms 1\.2 +w None \+ rms 1\.35 ■□□", leaves)
        for section in ("values", "leaves", "console"):
            await screen.section(section)
            assert re.search(r"^▸ \d+ │ ", screen.text(), re.MULTILINE), section


async def test_one_key_switches_the_list_to_forward_values_and_to_both() -> None:
    async with on_screen(shared_weight()) as screen:
        assert " gradient " in screen.text()
        text = await screen.press("v")
        assert " value " in text
        assert " gradient arrived" not in text
        assert re.search(r"#7 tanh:1 .* rms 0\.69", screen.row(6))
        text = await screen.press("n", "v")
        assert re.search(r"value +gradient arrived", text)
        assert re.search(r" 5\.69 +1 +:38$", screen.row(0))
        text = await screen.press("v")
        assert " value " not in text


async def test_the_arrangement_follows_the_terminal() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.section("values")
        for size in (HUGE_SIZE, SMALL, (120, 36)):
            assert "[5 values]" in await screen.resize(*size), arrangement(*size).name


async def test_a_click_on_a_tab_turns_to_it() -> None:
    async with on_screen(shared_weight()) as screen:
        lines = screen.text().splitlines()
        y = next(number for number, line in enumerate(lines) if "[1 gradient]" in line)
        await screen.pilot.click(offset=(lines[y].index("values"), y))
        assert "[5 values]" in await screen.settled()


async def test_what_an_empty_section_says_fits_its_pane() -> None:
    async with on_screen(chain(3), HUGE_SIZE) as screen:
        text = re.sub(r"\s+", " ", " ".join(line[:37] for line in screen.text().splitlines()))
        assert "no breakpoints: b sets one on the row, B one with a condition" in text


# -- of the node -------------------------------------------------------------------------


async def test_the_gradient_section_shows_contributions_their_sum_and_who_is_missing() -> None:
    async with on_screen(shared_weight()) as screen:
        text = await screen.press("#", "5", "n", "G")
        assert "1 of 3 arrived" in text
        assert re.search(r"\+ #3 decoder/mul:2 out 0 +rms 1\.35", text)
        assert re.search(r"· #6 decoder/mul:1 out 0 +not yet", text)
        assert re.search(r"· #8 encoder/mul:1 out 0 +not yet", text)
        assert re.search(r"= sum so far +rms 1\.35", text)
        await screen.press("c", "G")
        assert "3 of 3 arrived" in screen.text()
        assert re.search(r"= sum  ", screen.text())


async def test_nothing_yet_undefined_and_zero_are_three_different_things() -> None:
    async with on_screen(troubled()) as screen:
        text = await screen.press("G")
        assert "nothing yet" in text
        assert "∅" not in text
        text = await screen.press("c", "G")
        assert re.search(r"= sum +∅ undefined", text)
        assert screen.row(4).endswith(" ∅")
        text = await screen.press("k")
        assert re.search(r"= sum +0 everywhere ", text)
        assert re.search(r" 0 everywhere +0$", screen.row(3))


async def test_the_contributions_show_the_running_sum_and_what_cancelled() -> None:
    """x reaches the sum three times: as 3, as -3 and as 1."""
    x = torch.tensor(2.0, requires_grad=True)
    session = Session(x * 3 - x * 3 + x, names={"x": x})
    async with on_screen(session, (100, 30)) as screen:
        await screen.press("c", "G")
        text = await screen.section("contributions")
        sums = re.findall(r"\+ #\d+ \w+:\d out \d +(\S+) +(\S+)  (\S+)", text)
        assert [(adds, total) for adds, total, _ in sums] == [("1", "1"), ("−3", "−2"), ("3", "1")]
        assert [lost for _, _, lost in sums] == ["-", "50", "86"], "percent"


async def test_the_value_section_shows_statistics_a_histogram_and_blocks() -> None:
    x = torch.tensor(np.arange(-8.0, 8.0).reshape(4, 4), requires_grad=True)
    session = Session((x * x).sum() / 2, names={"x": x})
    async with on_screen(session, (100, 50)) as screen:
        await screen.press("c", "G")
        text = await screen.section("values")
        assert "min −8" in text
        assert re.search(r"−8 … −6\.12 2 █+", text)
        assert "█−" in text, "a large negative element"
        assert "██" in text
        assert "x.grad" in await screen.press("J", "J", "J", "J", "J")


async def test_the_saved_section_shows_values_and_the_line_that_freed_them() -> None:
    async with on_screen(shared_weight(), (80, 40)) as screen:
        text = await screen.press("j", "j")
        text = await screen.section("values")
        assert re.search(r"self +\[3\] float32", text)
        assert re.search(r"rms 1\.2 +min −0\.25 at \[1\]  max 2 at \[2\]", text)
        assert "0 zero  1 negative  2 positive" in text


async def test_a_freed_value_is_called_so() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    async with on_screen(Session(y, names={"x": x}), (80, 30)) as screen:
        assert "freed by an earlier backward" in await screen.section("values")


async def test_a_changed_value_names_the_line_that_changed_it() -> None:
    with trace(values=True):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        loss = (y * y).sum()
        y.mul_(2.0)
    async with on_screen(Session(loss), (80, 40)) as screen:
        await screen.press("j")
        text = await screen.section("values")
        assert "! changed in place" in text
        assert re.search(r"at .*test_app_sections\.py:\d+", text)


async def test_the_source_section_marks_the_forward_line_among_its_neighbours() -> None:
    with trace(values=True):
        x = torch.tensor(2.0, requires_grad=True)
        loss = x.tanh()  # the line that is looked for
    async with on_screen(Session(loss), (100, 40)) as screen:
        text = await screen.section("source")
        marked = [line for line in text.splitlines() if line.startswith("▸")]
        assert len(marked) == 2, "in the section, and in the strip"
        assert "the line that is looked for" in marked[0]
        assert "requires_grad=True" in text


async def test_rules_that_are_not_those_of_single_edges_are_named_as_far_as_known() -> None:
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g * 2.0

    x = torch.ones(3, 4, requires_grad=True)
    norm = torch.nn.functional.layer_norm(Own.apply(x), (4,))
    async with on_screen(Session(norm, torch.ones(3, 4), names={"x": x})) as screen:
        assert re.search(r"∂ input.* layer_norm_backward\(|by layer_norm_backward", screen.text())
        assert re.search(r"by the backward at test_app_sections\.py:\d+", await screen.press("j"))


async def test_inside_shows_the_phases_and_what_a_hook_changed() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: None)
    async with on_screen(Session(y + 1.0, names={"x": x}), (80, 40)) as screen:
        assert "not called yet" in await screen.press("j")
        await screen.press("n")
        text = await screen.press("s")
        assert "INSIDE" in text
        assert re.search(r"▶ tensor hook .*changed it", text)
        assert re.search(r"1 → 10", text)
        text = await screen.press("s")
        assert re.search(r"▶ tensor hook .*changed nothing", text)
        text = await screen.press("s")
        assert "▶ formula" in text
        text = await screen.press("S", "S")
        assert "▶ formula" not in text
        text = await screen.press("n", "k")
        assert text.count("✓ ") > 4
        assert "delivery along edge 1" in await screen.press("J")


async def test_numbers_show_time_bytes_forward_value_and_module() -> None:
    with trace(values=True):
        x = torch.tensor(3.0, requires_grad=True)
        y = (x * x).tanh()
    async with on_screen(Session(y), (80, 30)) as screen:
        text = await screen.section("values")
        assert re.search(r"time +not run yet", text)
        assert "  module " not in text
        text = await screen.press("n", "k")
        assert re.search(r"time +\S+ µs", text)
        assert re.search(r"forward value  scalar float32\n +1\n", text)
        assert re.search(r"recording .* of 1\.0 GB", text)


# -- of the pass -------------------------------------------------------------------------


async def test_leaves_show_grad_before_and_now_as_it_accumulates() -> None:
    async with on_screen(shared_weight()) as screen:

        def leaf(name: str) -> str:
            found = (row for row in screen.text().splitlines() if re.match(rf"[ ▌]{name} ", row))
            return next(found)

        await screen.section("leaves")
        assert re.search(r"w +\[3\] +None → +None yet +□□□ 0/3", leaf("w"))
        assert re.search(r"b +\[3\] +all 0 → +all 0 +□ 0/1", leaf("b"))
        await screen.press("#", "3", "n")
        assert re.search(r"■□□ 1/3 +pending rms 1\.35", leaf("w"))
        await screen.press("c")
        assert re.search(r"None → +rms 2\.9 +■■■ 3/3$", leaf("w"))
        assert re.search(r"all 0 → +rms 1\.2 +■ 1/1$", leaf("b"))


def calls_of(sizes: list[float]) -> Session:
    """A session after calls that added these gradients to one weight."""
    weight, timeline = torch.tensor(1.0, requires_grad=True), Timeline()
    for call, size in enumerate(sizes, 1):
        Session(weight * size, names={"weight": weight}, call=call, timeline=timeline).finish()
    return Session(weight * 1, names={"weight": weight}, call=len(sizes) + 1, timeline=timeline)


async def test_leaves_have_a_sparkline_over_the_calls_with_nan_marked() -> None:
    async with on_screen(calls_of([0.01, 1.0, 100.0, float("nan")]), (100, 30)) as screen:
        text = await screen.section("leaves")
        assert re.search(r"weight .*▁▅█!", text)
        text = await screen.section("backward calls")
        assert text.count("! added to what was there: weight") == 3
        assert re.search(r"▶ +5 ", text)


async def test_the_graph_section_draws_producers_and_consumers_as_boxes_to_click() -> None:
    async with on_screen(shared_weight(), (80, 40)) as screen:
        await screen.section("graph")
        text = await screen.press("#", "5", "n")
        assert "┏" in text
        lines = text.splitlines()
        y = next(number for number, line in enumerate(lines) if "│#7 encoder/tanh:1" in line)
        await screen.pilot.click(offset=(lines[y].index("#7") + 1, y))
        await screen.settled()
        assert screen.row(6).startswith("▌")
        assert "┃#7 encoder/tanh:1" in screen.text()


async def test_breakpoints_are_switched_and_deleted_by_key() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    session = Session((x * x).tanh(), names={"x": x})
    async with on_screen(session, (80, 30)) as screen:
        await screen.type("break mul if rms > 3")
        await screen.press("j", "j", "b")
        text = await screen.section("breakpoints")
        assert "◆" in screen.row(1)[:3], "a breakpoint with a condition"
        assert re.search(r"● +1 break mul if rms > 3", text)
        await screen.press("w", "space")
        assert re.search(r"◌ +1 .* off", screen.text())
        assert "◌" in screen.row(1)[:3]
        await screen.press("space")
        assert "◆" in screen.row(1)[:3]
        await screen.press("j", "enter")
        assert screen.row(2).startswith("▌")
        await screen.press("delete")
        assert "●" not in screen.row(2)[:3]
        assert [point.number for point in session.breakpoints.points] == [1]
        assert "choose a breakpoint first" in await screen.press("escape", "delete")


async def test_changes_are_listed_marked_compared_and_undone() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    session = Session((x * x).tanh(), names={"x": x})
    async with on_screen(session, (80, 40)) as screen:
        text = await screen.section("changes")
        assert "nothing was changed" in text
        await screen.press("n", "asterisk")
        await screen.complete_line("0.5")
        assert re.search(r" E *$", screen.row(1).split("test_app")[0]), screen.row(1)
        assert "E  1 scale #2 by 0.5" in screen.text()
        await screen.press("c")
        text = await screen.press("d")
        assert re.search(r"x\.grad +\S+ +\S+ +50 %", text)
        await screen.press("U")
        assert "nothing was changed" in screen.text()
        await screen.type("zero #2")
        assert "zero #2" in screen.text()
        await screen.press("U", "x", "enter")
        assert "mute edge 0 of #2" in screen.text()
        await screen.press("X", "enter")
        assert "unmute edge 0 of #2" in screen.text()
        await screen.press("U", "U", "tilde")
        await screen.complete_line("0.1")
        assert "clip #2 to 0.1" in screen.text()
        await screen.press("U", "e", "7", "enter")
        assert "set #2" in screen.text()


async def test_a_sum_that_was_changed_adds_up() -> None:
    x = torch.ones(4, requires_grad=True)
    session = Session(torch.sin(x * 3).sum(), names={"x": x})
    async with on_screen(session) as screen:
        text = await screen.press("n", "e", *"0.5", "enter")
        account = re.search(
            r"\+ #1 sum:1 out 0 +1 everywhere .*\n.* E set #2 → +0.5 everywhere .*\n.*"
            r" = sum +0.5 everywhere",
            text,
        )
        assert account, text


async def test_t_checks_the_node_and_keeps_the_answer() -> None:
    with trace(values=True):
        x = torch.tensor([0.5, 2.0], requires_grad=True)
        loss = (x * x).sum()
    async with on_screen(Session(loss, names={"x": x}), (80, 30)) as screen:
        text = await screen.press("j", "t")
        assert "[2 report]" in text
        assert "check #2" in text
        assert "MulBackward0: right" in text or "mul: right" in text.lower()
        assert "right" in await screen.press("k")


async def test_nested_passes_are_a_breadcrumb_to_enter_and_leave() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    inner = torch.tensor(3.0, requires_grad=True)
    y = x * x

    def hook(g: torch.Tensor) -> None:
        with torch.enable_grad():
            (inner * inner).backward()

    y.register_hook(hook)
    async with on_screen(Session(y, names={"x": x}), (100, 30)) as screen:
        await screen.press("n", "k")
        assert screen.row(0).endswith(" H>")
        assert re.search(r"\.backward\(\) ran inside: > enters it", screen.text())
        text = await screen.press("greater_than_sign")
        assert re.search(r"backward\(\) › .*backward\(\)", text.splitlines()[0])
        assert text.splitlines()[-1].startswith(" < leave this pass")
        await screen.section("backward calls")
        assert "in MulBackward0" in screen.text()
        text = await screen.press("less_than_sign")
        assert "›" not in text.splitlines()[0]


async def test_the_heads_of_columns_follow_where_a_scrollbar_goes() -> None:
    x = torch.ones(3, requires_grad=True)
    inner = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(20):
        y = y.tanh()

    def hook(g: torch.Tensor) -> None:
        with torch.enable_grad():
            (inner * inner).sum().backward()

    x.register_hook(hook)
    with trace():
        # of this width, as the scrollbar decides what fits
        async with on_screen(Session(y.sum(), names={"x": x}), (72, 24)) as screen:
            rows = screen.app.screen.query_one(ExecutionList)
            for key in ("c", "greater_than_sign", "less_than_sign"):
                await screen.press(key)
                assert rows._fixed == rows.fixed_lines()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("make", [shared_weight, troubled])
async def test_every_section_has_something_to_say_before_and_after(make) -> None:  # type: ignore[no-untyped-def]
    async with on_screen(make()) as screen:
        for name in [name for name in SECTIONS if name != OTHER_RUN]:
            await screen.section(name)
            for key in ("r", "full_stop", "c", "g"):
                lines = (await screen.press(key)).splitlines()
                tab = next(
                    number for number, line in enumerate(lines) if f"[{tab_text(name)}]" in line
                )
                assert lines[tab + 1].strip(), f"{name} after {key}"


def test_sections_import_nothing_of_the_app() -> None:
    """They are functions from records to lines; a widget that they need would be a circle."""
    for file in (Path(__file__).parents[2] / "tui" / "app" / "sections").glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "from textual" not in text, file.name
        assert "gradstep_tui.app.screen" not in text, file.name
