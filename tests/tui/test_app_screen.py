"""The screen: every key, what it sends to the session, and what the user then reads."""

from __future__ import annotations

import contextvars
import re
import signal
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.scrollbar import ScrollBar, ScrollBarRender

import autograd_core as torch
from gradstep import trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.snapshot import Reply
from gradstep.graph.addresses import step_number
from gradstep_tui.app import DebuggerApp
from gradstep_tui.app.keys import ALL_BINDINGS, KEY_GROUPS
from gradstep_tui.app.sections import SECTIONS
from gradstep_tui.app.widgets.line_view import LineView
from tests.golden import check_golden
from tests.tui.screen_driver import (
    LARGE,
    SHORT,
    SMALL,
    on_screen,
)
from tests.tui.sessions import (
    RecordedSession,
    chain,
    dense,
    residual_net,
    shared_weight,
    troubled,
)
from tests.waiting import LIMIT

SIZES = [SMALL, LARGE]
GOLDEN = Path(__file__).parent / "golden"


# -- moving ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
async def test_n_runs_one_node_and_the_pointer_follows(size: tuple[int, int]) -> None:
    session = shared_weight()
    async with on_screen(session, size) as screen:
        assert "▶" in screen.row(0)
        await screen.press("n")
        assert "✓" in screen.row(0)
        assert "▶" in screen.row(1)
        assert "1/9 run" in screen.text()
        assert "PAUSED" in screen.text()
    assert session.commands == ["next"]


async def test_upper_case_goes_backwards_and_says_that_it_is_the_past() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press("n", "n", "n", "N")
        assert "▶" in screen.row(2)
        assert "PAST" in screen.text()
        assert "recorded to 3" in screen.text()
        await screen.press("n")
        assert "PAUSED" in screen.text()
    assert session.commands == ["next", "next", "next", "reverse-next", "next"]


async def test_digits_are_a_count() -> None:
    session = chain(50)
    async with on_screen(session) as screen:
        assert "12 times" in await screen.press("#", "1", "2")
        await screen.press("n")
        assert "12/50 run" in screen.text()
        await screen.press("#", "1", "0", "N")
        assert "2/50 run" in screen.text()
        await screen.press("#", "7", "escape", "n")
        assert "3/50 run" in screen.text()
    assert session.commands == ["next 12", "reverse-next 10", "next"]


async def test_keys_typed_ahead_are_not_lost() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press(*"nnnnn")
        assert "5/9 run" in screen.text()


async def test_continue_runs_to_the_breakpoint_and_reverse_continue_back_to_it() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.type("break tanh")
        await screen.press("c")
        assert "▶" in screen.row(6)
        assert "breakpoint 1: tanh" in screen.text()
        await screen.press("c")
        assert "FINISHED" in screen.text()
        await screen.press("C")
        assert "▶" in screen.row(6)
        await screen.press("C")
        assert "▶" in screen.row(0)


@pytest.mark.parametrize(
    ("size", "shown"), [((80, 24), "−2 everywhere"), ((60, 20), "all −2"), ((160, 48), "−2 every")]
)
async def test_a_constant_gradient_keeps_its_sign(size: tuple[int, int], shown: str) -> None:
    x = torch.ones(3, requires_grad=True)
    async with on_screen(Session(((-x) * 2).sum(), names={"x": x}), size=size) as screen:
        text = await screen.press("n", "n", "n")
        assert shown in screen.row(3)
        assert "rms 2" not in text


async def test_u_runs_to_the_selection_and_enter_goes_back_to_one() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press("j", "j", "j", "u")
        assert "▶" in screen.row(3)
        await screen.press("k", "k", "enter")
        assert "▶" in screen.row(1)
        assert "already the current one" in await screen.press("u")
        await screen.press("#", "5", "u")
        assert "▶" in screen.row(4)
    assert session.commands == ["until #4", "until #2", "until #5"]


async def test_r_goes_back_to_the_start() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press("n", "n", "r")
        assert "▶" in screen.row(0)
    assert session.commands[-1] == "restart"


# -- selecting ---------------------------------------------------------------------------


SELECTIONS = [
    (["j"], 1),
    (["down", "down"], 2),
    (["j", "j", "k"], 1),
    (["j", "up"], 0),
    (["#", "5", "j"], 5),
    (["G"], 8),
    (["end"], 8),
    (["G", "g"], 0),
    (["end", "home"], 0),
    (["pagedown"], 8),
    (["G", "pageup"], 0),
    (["G", "j"], 8),
    (["k"], 0),
    (["G", "full_stop"], 0),
]


async def test_the_selection_moves_and_nothing_runs() -> None:
    session = shared_weight()
    async with on_screen(session, (80, 28)) as screen:
        for keys, selected in SELECTIONS:
            await screen.press("g", *keys)
            marked = [line for line in screen.text().splitlines() if line.startswith("▌")]
            assert len(marked) == 1
            assert f" {step_number(selected)} " in marked[0], keys
    assert session.commands == []


async def test_a_click_selects_a_row() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.pilot.click("ExecutionList", offset=(10, 5))
        await screen.settled()
        assert screen.row(4).startswith("▌")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", SIZES)
async def test_the_pointer_stays_in_the_middle_third(size: tuple[int, int]) -> None:
    async with on_screen(chain(1000), size) as screen:
        await screen.type("until #500")
        shown = [line for line in screen.text().splitlines() if re.search(r" #\d+ mul:", line)]
        shown = [line for line in shown if "✓" in line or "▶" in line or "○" in line]
        place = next(number for number, line in enumerate(shown) if "▶" in line)
        assert len(shown) // 3 - 1 <= place <= 2 * len(shown) // 3 + 1


# -- breakpoints and commands ------------------------------------------------------------


async def test_b_sets_and_deletes_a_breakpoint_on_the_selected_row() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.press("j", "j", "b")
        assert "●" in screen.row(2)[:3]
        assert screen.row(2).startswith("▌"), "the selection stays where it was"
        await screen.press("b")
        assert "●" not in screen.row(2)[:3]
    assert session.commands == ["break #3", "delete 1"]


async def test_a_breakpoint_on_an_op_marks_all_its_rows() -> None:
    async with on_screen(shared_weight(), (80, 28)) as screen:
        await screen.type("break mul")
        assert [i for i in range(9) if "●" in screen.row(i)[:3]] == [2, 5, 7]


async def test_an_empty_line_repeats_the_last_command() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.type("next 2")
        await screen.type("")
        assert "4/9 run" in screen.text()
    assert session.commands == ["next 2", "next 2"]


async def test_the_prompt_recalls_what_was_typed_and_escape_closes_it() -> None:
    session = shared_weight()
    async with on_screen(session) as screen:
        await screen.type("next 2")
        await screen.press("colon", "up", "enter")
        assert "4/9 run" in screen.text()
        await screen.press("colon", "n", "e", "x", "escape", "n")
        assert "5/9 run" in screen.text()
    assert session.commands == ["next 2", "next 2", "next"]


async def test_a_wrong_command_is_an_error_in_words_and_in_the_red_of_the_theme() -> None:
    async with on_screen(shared_weight()) as screen:
        text = await screen.type("frobnicate")
        assert "error: unknown command: frobnicate (help lists them)" in text
        line = next(n for n, row in enumerate(text.splitlines()) if "error:" in row)
        for theme in ("gradstep-dark", "gradstep-light", "nord", "ansi-light"):
            screen.app.theme = theme
            await screen.settled()
            style = screen.app.screen.get_style_at(3, line)
            assert style.color is not None
            red = Color.parse(screen.app.theme_variables["trouble"])
            assert Color.from_rich_color(style.color).rgb == red.rgb


async def test_an_answer_of_several_lines_opens_the_console() -> None:
    async with on_screen(shared_weight()) as screen:
        text = await screen.type("help")
        assert "[console]" in text
        assert "> help" in text, "an answer that is too long is read from its first line on"
        assert "next [COUNT]" in text


# -- leaving and help --------------------------------------------------------------------


@pytest.mark.parametrize(("key", "outcome"), [("q", "continue"), ("D", "detach"), ("Q", "abort")])
async def test_q_goes_on_and_capital_q_aborts(key: str, outcome: str) -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press(key)
    assert screen.outcome == outcome


async def test_the_help_page_lists_every_key_and_closes_again() -> None:
    async with on_screen(shared_weight(), (120, 100)) as screen:
        text = await screen.press("question_mark")
        for group in KEY_GROUPS:
            assert group.title in text
        for binding in ALL_BINDINGS:
            assert binding.tooltip in text
        await screen.press("escape", "n")
        assert "1/9 run" in screen.text()


def test_no_two_keys_are_the_same() -> None:
    keys = [key for binding in ALL_BINDINGS for key in binding.key.split(",")]
    assert len(keys) == len(set(keys))


# -- trouble -----------------------------------------------------------------------------


async def test_text_of_users_is_never_markup_and_never_a_terminal_command() -> None:
    async with on_screen(troubled()) as screen:
        text = await screen.press("c")
        assert "+= [bold]nan[/bold]" in text
        assert "+= inf�[31m" in text
        assert "+= zero⏎行列" in text
        assert "[/] trouble" in text
        assert "\x1b" not in text


async def test_nan_and_inf_are_marked_with_a_letter() -> None:
    async with on_screen(troubled()) as screen:
        await screen.press("c")
        assert re.search(r"nan 1/2 .*N", screen.row(1))
        assert re.search(r"inf 1/2 .*I", screen.row(2))


async def test_a_node_that_raises_is_shown_and_the_screen_lives_on() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3

    def refuse(g: torch.Tensor) -> None:
        raise RuntimeError("boom [red]here[/]")

    y.register_hook(refuse)
    session = Session((y * y).sin().cos(), names={"x": x})
    async with on_screen(session) as screen:
        text = await screen.press("c")
        assert "FAILED" in text
        assert "boom [red]here[/]" in text
        assert "▶" in screen.row(3)
        await screen.press("N")
        assert "▶" in screen.row(2)


async def test_an_exception_out_of_the_session_is_an_error_not_a_crash() -> None:
    class Broken(RecordedSession):
        def reply(self, line: str, place: str = "") -> Reply:
            raise SystemExit(3)

    async with on_screen(shared_weight(Broken)) as screen:
        assert "error: SystemExit: 3" in await screen.press("n")


class Gated(RecordedSession):
    """Its ``continue`` lasts until the test opens the gate; ``asked`` is what it was asked then."""

    gate: threading.Event
    at_work = False
    asked: list[str]

    def reply(self, line: str, place: str = "") -> Reply:
        self.at_work = True
        if line == "continue":
            assert self.gate.wait(LIMIT)
        reply = super().reply(line, place)
        self.at_work = False
        return reply

    def _note(self, question: str) -> None:
        if self.at_work and threading.current_thread() is threading.main_thread():
            self.asked.append(question)

    def detail(self, index: int) -> Any:
        self._note(f"detail of {index}")
        return super().detail(index)

    def phases(self, index: int) -> Any:
        self._note(f"phases of {index}")
        return super().phases(index)

    def contributions(self, index: int, input_nr: int = 0) -> Any:
        self._note(f"contributions of {index}")
        return super().contributions(index, input_nr)

    def complete(self, line: str, column: int) -> list[str]:
        self._note(f"completion of {line}")
        return super().complete(line, column)

    @property
    def snapshot(self) -> Any:
        self._note("snapshot")
        return super().snapshot


def gated(length: int = 12) -> Gated:
    session = chain(length, Gated)
    session.gate, session.asked = threading.Event(), []
    return session


async def test_a_session_at_work_is_asked_nothing() -> None:
    """Neither by keys nor by timers, nor by a terminal that changes its size."""
    session = gated(200)
    async with on_screen(session, grace=SHORT) as screen:
        await screen.press("#", "9", "n", "c")
        await screen.wait_for("BUSY")
        assert "runs next" in await screen.resize(100, 30)  # as it was
        assert "shown once it pauses" in await screen.press("tab", "tab")
        for _ in SECTIONS:
            await screen.press("tab")
        assert "busy with continue" in await screen.press("y")
        await screen.press("j", "pagedown", "G", "z", "w", "j", "escape", "h", "exclamation_mark")
        await screen.press("colon", *"un", "tab", "escape", "slash", *"mul", "enter", "p", "b")
        await screen.tick()
        assert session.asked == []
        session.gate.set()
        await screen.wait_for("FINISHED")
        assert "to be seen" not in await screen.press("tab")
    assert session.commands == ["next 9", "continue"]


async def test_the_report_of_a_stop_opens_from_its_top_and_makes_way_when_one_goes_on() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press("tab", "tab", "tab")
        text = await screen.press("colon", *"catch rms > 1.1", "enter", "c")
        assert "[2 report]" in text
        below = text.split("[2 report]")[1]
        assert "catch 1: rms > 1.1, in of #6" not in below.splitlines()[0]
        assert below.splitlines()[1].startswith("catch 1: rms > 1.1")
        assert "path" in below
        assert "[4 contributions]" in await screen.press("n")  # as it was before


async def test_why_answers_for_the_selected_node_and_as_a_command() -> None:
    async with on_screen(shared_weight()) as screen:
        await screen.press("c", "G")
        text = await screen.section("why")
        assert "nothing is wrong with w.grad itself" in text
        text = await screen.press("colon", *"why b", "enter")
        assert "[2 report]" in text
        assert "b.grad" in text.split("[2 report]")[1]


async def test_the_formula_stands_below_the_gradient_with_numbers_and_the_line_below_that() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    with trace():
        loss = (a * 3) * a
    async with on_screen(RecordedSession(loss, names=Names({"a": a}))) as screen:
        text = await screen.press("n", "k")
        assert "│         loss = (a * 3) * a" in text
        assert re.search(r"#2 mul:1 +2  = g · a = 1 · 2", text)
        assert re.search(r"#3 \+= a +6  = g · \w+ = 1 · 6", text)


async def test_a_rule_without_room_beside_the_gradient_stands_below_it_as_a_whole() -> None:
    weight = torch.tensor(2.0, requires_grad=True)
    with trace():
        loss = (weight + 1) * 3
    for width in (80, 120, 126, 160):
        async with on_screen(Session(loss, names={"first_weight": weight}), (width, 30)) as screen:
            lines = (await screen.press("n")).splitlines()
            (at,) = [number for number, line in enumerate(lines) if "not sent yet" in line]
            below = lines[at + 1 if "by g" not in lines[at] else at]
            assert re.search(r"by g = 3\s*$", below)


async def test_a_node_that_never_returns_is_interrupted_by_asking_twice() -> None:
    class Endless(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            while True:
                pass

    x = torch.ones(2, requires_grad=True)
    async with on_screen(
        RecordedSession(Endless.apply(x).sum(), names=Names({"x": x})), grace=SHORT
    ) as screen:
        await screen.press("c")
        await screen.wait_for("BUSY")
        assert "press it again to interrupt the node" in await screen.press("ctrl+c")
        await screen.press("ctrl+c")
        await screen.wait_for("PAUSED")
        assert "interrupted in #2 endless:1, which has not run to its end" in screen.text()


async def test_a_long_run_leaves_the_screen_alive() -> None:
    session = gated()
    async with on_screen(session, grace=SHORT) as screen:
        await screen.press("c")
        await screen.wait_for("BUSY")
        assert "busy with continue" in await screen.press("n")
        await screen.press("j")
        assert screen.row(1).startswith("▌")
        session.gate.set()
        assert "BUSY" not in await screen.wait_for("FINISHED")
    assert session.commands == ["continue"]


async def test_leaving_during_a_run_waits_for_its_end() -> None:
    session = gated()
    async with on_screen(session, grace=SHORT) as screen:
        assert "will close" in await screen.press("c", "q")
        assert session.position == 0
        session.gate.set()
        await screen.until(lambda: screen.app.return_value is not None)
    assert screen.outcome == "continue"
    assert session.position == 12


async def test_commands_run_in_another_thread_with_the_context_of_the_caller() -> None:
    mode = contextvars.ContextVar("mode", default="unset")
    seen: list[tuple[str, bool]] = []

    class Watching(RecordedSession):
        def reply(self, line: str, place: str = "") -> Reply:
            seen.append((mode.get(), threading.current_thread() is threading.main_thread()))
            mode.set("set by the first command")
            return super().reply(line, place)

    token = mode.set("of the script")
    async with on_screen(shared_weight(Watching)) as screen:
        await screen.press("n", "n")
    mode.reset(token)
    assert seen == [("of the script", False), ("set by the first command", False)]


async def test_what_the_script_prints_meanwhile_lands_in_the_console() -> None:
    class Printing(RecordedSession):
        def reply(self, line: str, place: str = "") -> Reply:
            print("hello from a hook [b]")
            return super().reply(line, place)

    async with on_screen(shared_weight(Printing)) as screen:
        await screen.press("n")
        await screen.section("console")
        assert "script: hello from a hook [b]" in screen.text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(40, 10), (59, 40), (100, 15), (10, 3), (1, 1)])
async def test_a_terminal_that_is_too_small_says_what_is_needed(size: tuple[int, int]) -> None:
    async with on_screen(shared_weight(), size) as screen:
        first = screen.text().splitlines()[0]
        assert "gradstep needs 60x16".startswith(first.rstrip("…"))
        assert "execution" not in screen.text()
        assert "0/9 run" in await screen.resize(*SMALL)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 60), (120, 30), (160, 48), (240, 70)])
async def test_every_size_shows_every_row_in_its_width(size: tuple[int, int]) -> None:
    async with on_screen(residual_net(4), size) as screen:
        text = await screen.press("#", "9", "n")
        lines = text.splitlines()
        assert len(lines) == size[1]
        assert "#10 addmm" in text
        assert "9/34 run" in text


@pytest.mark.parametrize("size", [(60, 16), (80, 24)])
async def test_the_lines_around_the_panes_are_not_cut_in_a_small_terminal(
    size: tuple[int, int],
) -> None:
    async with on_screen(shared_weight(), size) as screen:
        for keys in ([], ["n"], ["#", "2", "n"], ["N"], ["c"], ["r"]):
            lines = (await screen.press(*keys)).splitlines()
            for line in (lines[0], lines[-1]):
                assert "…" not in line


async def test_only_visible_rows_are_asked_for() -> None:
    asked: set[int] = set()

    class Counting(RecordedSession):
        def detail(self, index: int) -> object:  # type: ignore[override]
            asked.add(index)
            return super().detail(index)

    async with on_screen(chain(5000, Counting)) as screen:
        await screen.press("G", "g", "n")
    assert len(asked) < 100


async def test_an_empty_plan_opens_and_closes() -> None:
    async with on_screen(RecordedSession([])) as screen:
        assert "end of the backward pass" in screen.text()
        await screen.press("j", "n", "b", "u", "q")
    assert screen.outcome == "continue"


# -- looks -------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "make", "keys"),
    [
        ("shared_weight", shared_weight, ["#", "5", "n", "G"]),
        ("residual_net", lambda: residual_net(4), ["#", "9", "n", "b", "3"]),
        ("dense", lambda: dense(30), ["#", "7", "n"]),
        ("troubled", troubled, ["c", "colon", *"what", "enter"]),
    ],
)
async def test_the_screen_is_the_stored_one(name: str, make, keys: list[str], size) -> None:  # type: ignore[no-untyped-def]
    async with on_screen(make(), size) as screen:
        path = GOLDEN / f"{name}_{size[0]}x{size[1]}.txt"
        check_golden(path, await screen.press(*keys) + "\n")


async def test_meanings_keep_their_colours_in_every_theme() -> None:
    async with on_screen(troubled()) as screen:
        for theme in ("gradstep-dark", "gradstep-light", "nord", "ansi-light"):
            screen.app.theme = theme
            await screen.settled()
            colours = screen.app.theme_variables
            assert len({colours[name] for name in ("backward", "leaf", "saved", "trouble")}) == 4


async def test_without_colours_everything_is_still_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_screen(troubled()) as screen:
        text = await screen.press("c", "g", "j")
        assert re.search(r"nan 1/2 .*N", screen.row(1))
        assert re.search(r"^ ▄!!·∅$", text, re.MULTILINE)
        assert screen.app.no_color


async def test_marks_are_ascii_where_there_are_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.__stderr__", TextIOWrapper(BytesIO(), encoding="ascii"))
    try:
        async with on_screen(shared_weight()) as screen:
            text = await screen.press("#", "5", "n")
            assert text.isascii()
            assert re.search(r"^> > \. \| \|   #6 mul:1|^> > O-\+-\+ +#6 mul:1", text, re.MULTILINE)
    finally:
        LineView.plain = False
        ScrollBar.renderer = ScrollBarRender


async def test_what_would_show_more_is_said_at_the_start() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    async with on_screen(Session(x * x), LARGE) as screen:
        assert "with gradstep.trace()" in screen.text()


def test_a_signal_that_comes_while_the_screen_is_entered_does_not_enter_it_again() -> None:
    a = torch.tensor(3.0, requires_grad=True)
    app = DebuggerApp(Session(a * a))
    entered: list[int] = []

    def enter(number: int, _: object) -> None:
        entered.append(number)
        if len(entered) < 5:  # there is no thread yet that writes
            signal.raise_signal(signal.SIGCONT)

    before = signal.signal(signal.SIGCONT, enter)
    try:
        app._resume_once()
        signal.raise_signal(signal.SIGCONT)
        assert len(entered) == 1
        signal.raise_signal(signal.SIGCONT)
        assert len(entered) == 2
    finally:
        signal.signal(signal.SIGCONT, before)
