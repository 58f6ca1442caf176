"""The command language: what each word does and says, and where its errors point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradstep import trace
from gradstep.console import complete
from gradstep.console.helping import TOPICS
from gradstep.console.session import Session
from gradstep.debugger.errors import CommandError
from gradstep.findings.reports.source import lines_around
from gradstep.graph.model import Source
from gradstep.text import WIDTH
from tests.both import on_the_core

LINE = next(
    number
    for number, line in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1)
    if line.strip() == "loss = net(torch.ones(5, 3)).pow(2).mean()"
)
COMMANDS = [command for _, commands in TOPICS for command in commands]


@pytest.fixture
def session(torch: Any) -> Session:
    """Eleven nodes: mean, pow, 2/addmm, 2.bias, 2/t, 2.weight, relu, and the same of layer 0."""
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with trace(values=True):
        loss = net(torch.ones(5, 3)).pow(2).mean()
    return Session(loss)


def answers(session: Session, *lines: str) -> str:
    """The answer to the last line; none may be an error."""
    text = ""
    for line in lines:
        reply = session.reply(line)
        assert not reply.error, reply.text
        text = reply.text
    return text


# words


def test_no_word_or_abbreviation_is_taken_twice() -> None:
    words = [word for command in COMMANDS for word in (command.word, *command.short)]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("short", "word"),
    [
        ("n", "next"), ("s", "step"), ("c", "continue"), ("u", "until"), ("b", "break"),
        ("tb", "tbreak"), ("w", "watch"), ("i", "info"), ("p", "print"), ("l", "list"),
        ("bt", "where"), ("q", "quit"), ("rn", "reverse-next"), ("rs", "reverse-step"),
        ("rc", "reverse-continue"), ("d", "delete"), ("f", "frame"), ("fin", "finish"),
        ("h", "help"), ("adv", None), ("disp", "display"), ("undisp", "undisplay"),
        ("cond", "condition"), ("ig", "ignore"), ("dif", "difference"), ("whe", "where"),
    ],
)  # fmt: skip
def test_gdbs_abbreviations_and_unique_beginnings_are_understood(
    session: Session, short: str, word: str | None
) -> None:
    reply = session.reply(f"help {short}")
    if word is None:
        assert reply.error
    else:
        assert reply.text.startswith(word)


def test_an_empty_line_repeats_the_last_one(session: Session) -> None:
    assert answers(session, "") == ""
    answers(session, "next", "", "")
    assert session.position == 3


def test_help_tells_of_every_command_and_topic(session: Session) -> None:
    overview = answers(session, "help")
    for command in COMMANDS:
        assert command.usage in overview
        assert command.summary in answers(session, f"help {command.word}")
    assert "rms" in answers(session, "help expressions")
    assert "train.py:12" in answers(session, "help places")


def test_all_help_fits_eighty_columns(session: Session) -> None:
    pages = ["help", "help expressions", "help places"]
    pages += [f"help {command.word}" for command in COMMANDS]
    for page in pages:
        for line in answers(session, page).splitlines():
            assert len(line) <= 80, page


# errors


@pytest.mark.sampled(torch=8)
@pytest.mark.parametrize(
    ("line", "wrong", "said"),
    [
        ("nxt", "nxt", "unknown command: nxt; did you mean next?"),
        ("  frobnicate 3", "frobnicate", "unknown command: frobnicate (help lists them)"),
        ("re", "re", "'re' may be reverse-next, reverse-step"),
        ("next x", "x", "'x' is not a count"),
        ("step 0", "0", "'0' is not a count"),
        ("continue -1", "-1", "'-1' is not a count"),
        ("until", "", "where? A place is #12"),
        ("until nowhere", "nowhere", "nothing here is called 'nowhere'"),
        ("until addmm x", "x", "'x' is not a count"),
        ("jump", "", "where? A place is #12"),
        ("jump 0", "0", "there is no node #0; they run as #1 to #11"),
        ("break 99", "99", "a line is written with its file, as train.py:99"),
        ("jump nowhere", "nowhere", "nothing here is called"),
        ("break nowhere if nan", "nowhere", "nothing here is called"),
        ("break addmm if rms >> 10", "> 10", "unexpected '>'"),
        ("break addmm if", "", "an expression is missing"),
        ("tbreak if rsm > 10", "rsm", "unknown word 'rsm'; did you mean rms?"),
        ("break #99", "#99", "there is no node #99"),
        ("break #x", "#x", "there is no node #x; they run as #1 to #11"),
        ("catch", "", "catch what? A condition"),
        ("catch rms", "rms", "rms is a number, no condition"),
        ("watch", "", "which leaf, or which node? info leaves lists the leaves"),
        ("watch nowhere", "nowhere", "nothing here is called"),
        ("mark 1x", "1x", "'1x' is not a name"),
        ("watch 0.weight if op > 3", "3", "a text cannot be compared so"),
        ("logpoint", "", "where? logpoint PLACE TEXT"),
        ("logpoint addmm", "", "which text?"),
        ("logpoint addmm rms {rsm}", "rsm", "unknown word 'rsm'"),
        ("logpoint addmm {", "{", "a brace stands alone"),
        ("delete 7", "7", "there is no breakpoint 7"),
        ("delete one", "one", "'one' is not a count"),
        ("disable 7", "7", "there is no breakpoint 7"),
        ("ignore", "", "which? ignore NUMBER COUNT"),
        ("ignore 7", "7", "there is no breakpoint 7"),
        ("condition", "", "which? condition NUMBER"),
        ("commands", "", "there are no breakpoints"),
        ("commands 7", "7", "there is no breakpoint 7"),
        ("print rsm", "rsm", "unknown word 'rsm'"),
        ("print bias", "bias", "no tensor here is called 'bias'; did you mean 2.bias, 0.bias?"),
        ("print 2.bais.grad", "2.bais.grad", "there is no leaf '2.bais' here; did you mean 2.bias"),
        ("print nosuch.grad", "nosuch.grad", "there is no leaf 'nosuch'"),
        ("print out", "out", "this node has not run yet"),
        ("print in.7", "in.7", "nothing arrives at this node as in.7"),
        ("print saved.nosuch", "saved.nosuch", "this node keeps no 'nosuch'"),
        ("display rms >", "", "this ends too early"),
        ("undisplay 3", "3", "there is no display 3"),
        ("list nowhere", "nowhere", "nothing here is called"),
        ("frame nowhere", "nowhere", "nothing here is called"),
        ("info", "", "info takes one of: breakpoints"),
        ("info nothing", "nothing", "there is no topic 'nothing'"),
        ("info h", "h", "'h' may be history, hooks"),
        ("info calls w", "w", "no finished call has a leaf 'w'"),
        ("info node nowhere", "nowhere", "nothing here is called"),
        ("check nowhere", "nowhere", "nothing here is called"),
        ("set", "", "by how much? set [PLACE] VALUE"),
        ("scale x", "x", "unknown word 'x'"),
        ("scale op", "op", "op is not a number"),
        ("scale nowhere 2", "nowhere", "nothing here is called"),
        ("scale 1/0", "1/0", "division by zero"),
        ("scale out 2", "out", "out cannot be changed"),
        ("scale in.5 2", "in.5", "has no input 5"),
        ("clip -1", "-1", "a limit cannot be -1"),
        ("scale 0.weight 2", "0.weight", "nothing has arrived at"),
        ("mute in", "in", "in cannot be muted"),
        ("mute out.9", "out.9", "sends nothing along edge 9"),
        ("mute hook", "hook", "has no hook 0"),
        ("undo", "", "there is nothing to undo"),
        ("source", "", "which file? source FILE"),
        ("source nosuch.commands", "nosuch.commands", "cannot read nosuch.commands (no such file"),
        ("save", "", "save breakpoints FILE"),
        ("save me x", "me", "there is no thing to save: 'me'"),
        ("save breakpoints", "", "to which file?"),
        ("save breakpoints no/such/file", "no/such/file", "cannot write no/such/file"),
        ("help nxt", "nxt", "unknown command: nxt; did you mean next?"),
    ],
)
def test_an_error_points_at_the_wrong_word(
    session: Session, line: str, wrong: str, said: str
) -> None:
    reply = session.reply(line)
    assert reply.error
    first, second, *rest = reply.text.splitlines()
    assert first == line
    caret, _, message = second.partition("^")
    assert caret.isspace() or not caret
    assert line[len(caret) :].startswith(wrong)
    assert said in " ".join([message.strip(), *rest]).strip()
    assert all(len(each) <= 80 for each in (second, *rest))
    assert session.position == 0


@pytest.mark.parametrize("line", ["down", "up"])
def test_the_ends_of_the_path_are_told(session: Session, line: str) -> None:
    reply = session.reply(line)
    assert reply.error
    assert "goes no further" in reply.text


@pytest.mark.parametrize(
    "line", ["print", "print rms", "info node", "frame", "check", "break", "scale 2", "up"]
)
def test_at_the_end_of_the_pass_a_node_must_be_named(session: Session, line: str) -> None:
    answers(session, "continue")
    reply = session.reply(line)
    assert reply.error
    assert "the pass is over" in reply.text.lower()
    answers(session, "print 0.weight.grad.rms", "info node #1", "frame #1", "print rms", "where")


# moving


@pytest.mark.parametrize(
    ("lines", "position"),
    [
        ("next", 1), ("n 3", 3), ("next 3;reverse-next", 2), ("n 3;back 2", 1), ("n 3;N", 2),
        ("c", 11), ("u 0/addmm", 7), ("advance relu", 6), ("jump 7", 6), ("jump #7", 6),
        ("j relu", 6), ("n 5;restart", 0), ("n 5;run", 0), ("until t 2", 9), ("u t;u t", 9),
        ("over;over;over", 6), ("n 2;over", 6), ("n 3;finish", 6), ("c;rc", 0),
        ("jump end", 11), ("jump end;jump 1", 0),
        ("n 6;reverse-over", 2), ("n 5;reverse-finish", 2), ("b t;c 2", 9), ("b t;c;c;rc", 4),
    ],
)  # fmt: skip
def test_commands_move(session: Session, lines: str, position: int) -> None:
    answers(session, *lines.split(";"))
    assert session.position == position, session.reply("order").text


def test_what_moves_stops_at_a_catch_and_hears_log_points(torch: Any) -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    session = Session((torch.sqrt(x) * 0).sum(), names={"x": x})
    said = answers(session, "catch nan", "log #2 hello", "watch x", "next 9")
    assert said.startswith("#2 mul:1: hello\ncatch 1: nan, out of #3 sqrt:1 is nan 1/2")
    assert (session.position, [each.hits for each in session.breakpoints.points]) == (3, [1, 1, 0])
    assert "watch 3: x.grad" in answers(session, "next")
    assert "catch 1: nan" in answers(session, "reverse-next 4")
    assert answers(session, "jump 1").startswith("#1 sum:1")


def test_finish_where_there_is_no_module_is_refused(session: Session) -> None:
    assert answers(session, "reverse-finish").startswith("nothing is left to undo")
    for line, node in (("finish", "#1"), ("next", ""), ("finish", "#2"), ("reverse-finish", "#1")):
        reply = session.reply(line)
        assert reply.error == bool(node)
        assert not node or reply.text.startswith(f"{node} is in no module: there is no end to run")
    answers(session, "next", "finish")
    assert session.graph.address(session.position) == "1/relu:1"


@on_the_core
def test_a_step_goes_into_the_node_and_says_what_is_over(session: Session) -> None:
    answers(session, "until addmm")
    said = [answers(session, "step") for _ in range(3)]
    assert said[0].splitlines()[0].startswith("inside #3 2/addmm:1  AddmmBackward0")
    assert said[0].splitlines()[1].startswith("  after formula: rms")
    assert "after reduction to the shape of input 0" in said[1]
    assert "after delivery along edge 0" in said[2]
    answers(session, "rs", "rs", "rs")
    assert session.snapshot.phase == 0


# looking


def test_print_shows_a_tensor_with_its_distribution(torch: Any) -> None:
    x = torch.linspace(-1.0, 1.0, 64, requires_grad=True)
    session = Session((x * x * x).sum())
    answers(session, "continue")
    lines = answers(session, "print x.grad").splitlines()
    assert lines[0] == "x.grad  [64] float32"
    assert lines[1] == "  rms 1.38  min 7.56e−4 at [31]  max 3 at [0]"
    assert lines[2] == "  0 zero  0 negative  64 positive"
    assert lines[3].strip().startswith("7.56e−4 |")
    assert lines[3].endswith("| 3")
    assert lines[4].endswith(" ...")
    assert len(lines[3]) < 80


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([float("nan"), 1.0], "1 nan"),
        ([float("inf"), 1.0], "1 inf"),
        ([0.0, 0.0, 1.0, 1.0], "2 zero  0 negative  2 positive"),
    ],
)
def test_print_counts_trouble(torch: Any, value: list[float], text: str) -> None:
    x = torch.tensor(value, requires_grad=True)
    session = Session(x * 1.0, torch.tensor(value))
    assert text in answers(session, "print")


def test_print_says_what_is_not_there(session: Session) -> None:
    text = answers(session, "print 0.weight.grad")
    assert text == "0.weight.grad is None: no gradient, which is not a gradient of 0"
    assert answers(session, "print rms > 3 and nan") == "rms > 3 and nan = no"
    assert answers(session, "print shape") == "shape = []"
    assert answers(session, "print op") == "op = mean"


def test_displays_are_shown_wherever_it_stops_and_in_later_passes(
    torch: Any, session: Session
) -> None:
    assert answers(session, "display op") == "1: op = mean"
    answers(session, "display saved.x.rms")
    text = answers(session, "next")
    assert "1: op = pow" in text
    assert "2: saved.x.rms is unknown (this node keeps no 'x'; it keeps saved.self)" in text
    assert answers(session, "info display") == answers(session, "display")
    answers(session, "undisplay 2")
    a = torch.tensor(1.0, requires_grad=True)
    later = Session(a.tanh() * 2.0, breakpoints=session.breakpoints)
    assert answers(later, "next").splitlines()[1:] == ["1: op = tanh"]
    assert answers(later, "undisplay") == "all displays removed"
    assert answers(later, "display") == "there are no displays"


def test_list_shows_the_program_around_the_line_and_for_a_leaf_around_that_of_its_sender(
    torch: Any,
    session: Session,
) -> None:
    head, *lines = answers(session, "next 2", "list").splitlines()
    assert head == f"test_commands.py:{LINE}  #3 2/addmm:1"
    here = [line for line in lines if line.startswith("-> ")]
    assert here == [f"-> {LINE}          loss = net(torch.ones(5, 3)).pow(2).mean()"]
    assert len(lines) == 11
    head, *_ = answers(session, "list 2.bias").splitlines()
    assert head == f"test_commands.py:{LINE}  #3 2/addmm:1, which sends to #4 2.bias"
    untraced = torch.tensor(1.0, requires_grad=True)
    assert answers(Session(untraced * 2.0), "list").startswith(
        "the forward line of #1 mul:1 is not known\nscopes and source lines are unknown"
    )


def test_order_marks_here_and_breakpoints(session: Session) -> None:
    text = answers(session, "break addmm", "next 2", "frame #5", "order")
    assert {line[:3] for line in text.splitlines()} == {"->b", " * ", "   ", "  b"}
    assert "#3 2/addmm:1" in next(line for line in text.splitlines() if line.startswith("->"))
    assert "0/t:1" in answers(session, "order 0/t")


def test_a_mark_keeps_a_position_to_jump_to(session: Session) -> None:
    assert answers(session, "mark") == "no marks: mark NAME sets one here"
    answers(session, "next 3", "mark here", "continue")
    assert answers(session, "mark").startswith("here  #4 2.bias")
    answers(session, "jump here")
    assert session.position == 3


def test_a_watch_of_a_node_stops_at_each_gradient_that_arrives_there(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    h = a * 3.0
    watched = Session(h * h + h, names={"a": a})
    assert answers(watched, "watch mul:1").startswith("watch 1: mul:1 (#3)")
    said = [answers(watched, "continue").splitlines()[0] for _ in range(3)]
    assert said == [
        "watch 1: mul:1, #1 added 1: 1 of 3 have arrived, sum 1",
        "watch 1: mul:1, #2 added 6, 6: 3 of 3 have arrived, sum 13",
        "end of the backward pass",
    ]
    assert "2 of 3" not in answers(watched, "reverse-continue")
    assert answers(watched, "info breakpoints").startswith("1  watch mul:1  1 node, hit 3 times")


def test_where_goes_from_here_to_the_loss_and_up_and_down_go_along_it(session: Session) -> None:
    answers(session, "until relu")
    lines = answers(session, "where").splitlines()
    assert lines.pop(1) == f"      {LINE} │ loss = net(torch.ones(5, 3)).pow(2).mean()"
    assert [line.split()[1 if line.startswith("->") else 0] for line in lines] == [
        "#7", "#3", "#2", "#1"
    ]  # fmt: skip
    assert answers(session, "up").startswith("#3 2/addmm:1")
    assert answers(session, "up 2").startswith("#1 mean:1")
    assert answers(session, "print op") == "op = mean"
    assert answers(session, "down").startswith("#2 pow:1")
    assert answers(session, "where 2").splitlines()[0].startswith("-> #2")
    answers(session, "next")
    assert answers(session, "print address") == "address = 0/addmm:1"


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("breakpoints", "break addmm  2 nodes, hit 1 time"),
        ("display", "there are no displays"),
        ("changes", "nothing was changed"),
        ("history", "2 of 11 nodes recorded"),
        ("hooks", "no hooks are known before it runs"),
        ("hooks #1", "no hooks here"),
        ("leaves", "0.weight.grad  0 of 1 in  None"),
        ("contributions", "#2 pow:1"),
        ("contributions #1", "the seed"),
        ("node", "out.0"),
        ("node #2", "1 of 1 arrived"),
        ("pending", "#3 2/addmm:1  1 of 1 in"),
        ("phases #2", "formula"),
        ("phases", "this node has not run yet"),
        ("calls", "no call has finished yet"),
        ("pass", "11 nodes, 4 leaves among them; 2 have run, 2 are recorded"),
        ("saved", "saved."),
        ("saved #1", "this node keeps no tensor"),
    ],
)
def test_info_tells(session: Session, topic: str, said: str) -> None:
    assert said in answers(session, "break addmm", "continue", f"info {topic}")


@on_the_core
def test_info_hooks_tells_what_each_made_of_the_gradient(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    y = x * 2.0
    y.register_hook(lambda g: g * 10.0)
    session = Session(y.sum())
    assert "not called yet" in answers(session, "info hooks #2")
    text = answers(session, "next 2", "info hooks #2")
    assert text.split() == ["tensor", "hook", text.split()[2], "1", "->", "10"]


def test_check_holds_the_rule_to_its_forward(session: Session) -> None:
    assert "PowBackward0: right (" in answers(session, "check pow")
    assert "MeanBackward0" in answers(session, "check")


@on_the_core
def test_lint_reads_the_graph_and_wraps_what_it_says(torch: Any) -> None:
    gain = torch.tensor(2.0, requires_grad=True)
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace():
        loss = (weight * (gain * 0.5).item()).sum()
    session = Session(loss, names={"gain": gain, "weight": weight})
    text = answers(session, "lint")
    assert text.startswith("warning: gain gets no gradient")
    assert "test_commands.py" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    fine = Session(weight.sum(), names={"weight": weight})
    assert "gain" not in answers(fine, "lint")


def test_lint_does_not_blame_the_pass_for_its_own_gradients(torch: Any) -> None:
    new, old = (torch.ones(3, requires_grad=True) for _ in range(2))
    old.sum().backward()
    session = Session((new * old).sum(), names={"new": new, "old": old})
    before = answers(session, "lint")
    assert "old has a .grad from an earlier backward()" in " ".join(before.split())
    assert answers(session, "continue", "lint") == before


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("break rms > 3", "break if rms > 3"),
        ("tbreak nan", "tbreak if nan"),
        ("break #2 rms > 3", "break #2 if rms > 3"),
        ("watch nan", "catch nan"),
        ("jump nan", "until nan"),
        ("next rms > 3", "until rms > 3"),
        ("continue nan", "until nan"),
        ("catch #2", "break #2"),
    ],
)
def test_a_condition_is_no_place(session: Session, line: str, remedy: str) -> None:
    reply = session.reply(line)
    assert reply.error
    assert f"did you mean: {remedy}?" in " ".join(reply.text.split())
    word = remedy.partition(",")[0]
    assert not session.reply(word).error


@on_the_core
def test_a_pass_inside_a_node_can_be_entered_and_left(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    w = torch.tensor([3.0], requires_grad=True)

    def penalty(g: object) -> None:
        with torch.enable_grad():
            (w * w).sum().backward()

    y = x * 2.0
    y.register_hook(penalty)
    session = Session(y.sum())
    answers(session, "next 2", "enter mul")
    lines = answers(session, "info frames").splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("->")
    assert "inside MulBackward0" in lines[1]
    assert "w.grad  2 of 2 in  6" in answers(session, "info leaves")
    assert answers(session, "leave").startswith("#3 ")
    for line, said in (("leave", "outermost pass"), ("enter #1", "has not started a backward")):
        reply = session.reply(line)
        assert reply.error
        assert said in reply.text


# changing


def test_edits_change_the_leaves_and_undo_takes_them_back(session: Session) -> None:
    answers(session, "until 0/addmm")
    assert "scale" in answers(session, "scale 0.5")
    assert "scale" in answers(session, "info changes")
    answers(session, "continue")
    table = answers(session, "difference")
    assert "0.weight.grad" in table
    assert "50 %" in table
    text = answers(session, "undo")
    assert text.startswith("undone: scale")
    assert answers(session, "difference").startswith("nothing was changed")


@pytest.mark.parametrize(
    ("line", "expression", "value"),
    [
        ("set 2", "min", "min = 2"), ("set -inf", "inf", "inf = yes"),
        ("set nan", "nan", "nan = yes"), ("zero", "zero", "zero = yes"),
        ("scale 1/rms", "rms", "rms = 1"), ("clip 0", "absmax", "absmax = 0"),
        ("set #3 in.0 3", "max", "max = 3"), ("set in / in", "min", "min = 1"),
        ("set #3 in = in * 0 + 3", "max", "max = 3"), ("set in.0 -2", "absmax", "absmax = 2"),
        ("set in * 3 / in", "min", "min = 3"), ("scale 2 / rms", "rms", "rms = 2"),
        ("set 3", "in[in < 2]", "in[in < 2]  [0] float32  no elements"),
    ],
)  # fmt: skip
def test_a_change_is_seen_at_once(session: Session, line: str, expression: str, value: str) -> None:
    assert answers(session, "until addmm", line, f"print {expression}") == value


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("set in[in != in]", "a value of shape [0] does not fit a gradient of shape"),
        ("scale in", "in is not a number"),
        ("set nowhere * 2", "unknown word 'nowhere'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(session: Session, line: str, said: str) -> None:
    answers(session, "until addmm")
    assert said in session.reply(line).text


def test_unmute_lets_an_edge_be_heard_again_and_keeps_later_changes(session: Session) -> None:
    answers(session, "until 2/addmm", "mute out.2", "scale 2", "unmute out.2")
    assert answers(session, "undo").startswith("undone: unmute edge 2 of #3")
    assert answers(session, "unmute out.2").startswith("unmute edge 2 of #3")
    assert session.reply("unmute out.2").text.endswith("edge 2 of #3 is not muted")
    text = answers(session, "continue", "difference")
    assert [line.split()[-2] for line in text.splitlines()[-4:]] == ["100"] * 4


def test_an_edge_is_muted_once(session: Session) -> None:
    answers(session, "until 2/addmm", "mute out.2")
    assert session.reply("mute out.2").text.endswith("edge 2 of #3 is muted already")
    answers(session, "undo", "continue")
    assert "None" not in answers(session, "print 2.weight.grad")


@on_the_core
def test_a_muted_hook_is_not_called(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    y = x * 2.0
    y.register_hook(lambda g: g * 10.0)
    session = Session(y.sum())
    answers(session, "mute #2 hook.0", "continue")
    assert answers(session, "print x.grad.max") == "x.grad.max = 2"


# breakpoints with commands, files


def test_commands_of_a_breakpoint_are_carried_out_up_to_the_next_movement(
    session: Session,
) -> None:
    answers(session, "break addmm", "commands", "print op", "continue")
    assert answers(session, "print index", "end") == "breakpoint 1 carries out 3 commands"
    text = answers(session, "continue")
    assert text.count("op = addmm") == 2
    assert "index =" not in text
    assert session.position == session.length
    assert "     print op" in answers(session, "info breakpoints")


def test_breakpoints_that_send_each_other_back_and_forth_are_stopped(session: Session) -> None:
    answers(session, "break #3", "commands", "continue", "end")
    answers(session, "break #6", "commands", "reverse-continue", "end")
    reply = session.reply("continue")
    assert reply.error
    assert "keep triggering each other" in reply.text


def test_breakpoints_are_saved_and_sourced_again(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "points"
    answers(
        session, "break addmm if rms > 0.5", "ignore 1 1", "tbreak --pending tanh",
        "catch nan, inf", "break if rms > 5", "watch 0.weight if call == 1", "disable 5",
        "logpoint relu rms {rms}", "condition 6 rms > 0", "commands 1", "print op", "end",
    )  # fmt: skip
    assert answers(session, f"save breakpoints {file}").startswith("6 breakpoints saved")
    before = answers(session, "info breakpoints")
    answers(session, "delete")
    assert answers(session, "info b") == "no breakpoints"
    answers(session, f"source {file}")
    after = answers(session, "info breakpoints")
    renumbered = after
    for number in range(1, 7):
        renumbered = renumbered.replace(f"{number + 6}  ", f"{number}  ", 1)
    assert renumbered == before
    assert answers(session, f"save breakpoints {file}").startswith("6 breakpoints saved")


def test_saving_never_overwrites_a_file_that_is_something_else(
    session: Session, tmp_path: Path
) -> None:
    script, binary = tmp_path / "train.py", tmp_path / "weights"
    script.write_text("import this\n")
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (script, binary):
        content = file.read_bytes()
        reply = session.reply(f"save breakpoints {file}")
        assert reply.error
        assert "holds something else" in " ".join(reply.text.split())
        assert file.read_bytes() == content


def test_a_sourced_file_stops_at_its_first_wrong_line(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "commands"
    file.write_text("# comment\n\nnext\n  break addmm if rms >> 1\nnext\n")
    reply = session.reply(f"source {file}")
    assert reply.error
    assert reply.text.splitlines() == [
        f"{file}:4: unexpected '>'", "    break addmm if rms >> 1", " " * 22 + "  ^",
    ] or reply.text.startswith(f"{file}:4: unexpected '>'")  # fmt: skip
    assert session.position == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("source {file}", "is being carried out already"),
        ("break addmm\ncommands\nnext", "ends inside a block of commands; add end"),
    ],
)
def test_a_file_that_cannot_end_is_refused(
    session: Session, tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "commands"
    file.write_text(content.format(file=file))
    reply = session.reply(f"source {file}")
    assert reply.error
    assert said in reply.text
    assert session.position == 0
    answers(session, "next")
    assert session.position == 1


@pytest.mark.parametrize(
    ("line", "leave"),
    [("quit", "continue"), ("q", "continue"), ("detach", "detach"), ("abort", "abort")],
)
def test_leaving_is_asked_of_whoever_shows_the_session(
    session: Session, line: str, leave: str
) -> None:
    assert session.reply(line).leave == leave
    assert session.reply("next").leave == ""


# completion


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("unt", ["until"]),
        ("dis", ["disable", "display"]),
        ("break add", ["addmm"]),
        ("b rel", ["relu"]),
        ("break addmm ", ["if"]),
        ("break addmm if r", ["ratio", "rms"]),
        ("catch den", ["denormal"]),
        ("print 0.w", ["0.weight.grad"]),
        ("watch 2.", ["2.bias.grad", "2.weight.grad"]),
        ("info h", ["history", "hooks"]),
        ("help exp", ["expressions"]),
        ("delete ", ["1"]),
        ("nonsense x", []),
        ("next ", []),
        ("re x", []),
    ],
)
def test_completion_offers_what_may_stand_there(
    session: Session, line: str, offered: list[str]
) -> None:
    answers(session, "break mean")
    assert complete(session, line, len(line)) == offered
    assert complete(session, f"{line} more", len(line)) == offered


def test_completion_of_nothing_offers_every_command(session: Session) -> None:
    assert complete(session, "", 0) == sorted(command.word for command in COMMANDS)


@pytest.fixture
def untraced(torch: Any) -> Session:
    a = torch.tensor(2.0, requires_grad=True)
    return Session((a * 3.0).sin(), names={"a": a})


def test_where_nothing_can_move_that_is_said(untraced: Session) -> None:
    session = untraced
    first = "#1 sin:1  SinBackward0  g · "
    for line in ("reverse-next", "reverse-step", "reverse-over", "reverse-finish"):
        assert session.reply(line).text.startswith(f"nothing is left to undo\n{first}")
    assert session.reply("next 9").text == "end of the backward pass"
    for line in ("next", "step", "over", "finish"):
        assert session.reply(line).text == "nothing is left to run\nend of the backward pass"


def test_going_back_to_before_the_only_phase_of_a_node_says_so(untraced: Session) -> None:
    session = untraced
    session.reply("continue")
    assert session.reply("rs").text == "#3 a  AccumulateGrad\n  before its first phase"
    assert session.reply("rs").text.startswith("inside #2 mul:1")


def test_a_session_without_a_trace_says_how_to_get_one(untraced: Session) -> None:
    session = untraced
    how = "run the forward pass within `with gradstep.trace():`"
    assert how in repr(session)
    for line in ("info pass", "info node", "break train.py:3"):
        assert how in " ".join(session.reply(line).text.split())


def test_a_place_that_is_not_here_can_wait_for_a_pass_that_has_it(untraced: Session) -> None:
    session = untraced
    refused = " ".join(session.reply("break exp").text.split())
    assert refused.endswith("; --pending exp waits for a pass that has this place")
    waiting = session.do("break --pending exp").text
    assert waiting.endswith("(waits for a pass that has this place)")


@on_the_core
def test_at_most_ten_elements_are_listed_and_the_others_counted(torch: Any) -> None:
    x = torch.arange(12.0).requires_grad_()
    session = Session((x * 2).sum(), names={"x": x})
    head, _, *rows = answers(session, "continue", "print x.grad where x.grad == 2").splitlines()
    assert head == "x.grad  12 of 12 elements"
    assert (len(rows), rows[-1].strip()) == (11, "... 2 more")
    answers(session, "print x where x < 10")
    rows = answers(session, "print x where x < 10").splitlines()[2:]
    assert len(rows) == 10
    assert "more" not in rows[-1]


@pytest.mark.parametrize(("length", "lines"), [(WIDTH - 8, 2), (WIDTH - 7, 3)])
def test_what_is_wrong_stands_beside_its_caret_where_it_fits(length: int, lines: int) -> None:
    error = CommandError("-" * length, 6)
    error.line = "print nothing"
    shown = error.text.splitlines()
    assert (len(shown), max(map(len, shown))) == (lines, WIDTH if lines == 2 else WIDTH - 7)


@pytest.mark.parametrize(("line", "shown"), [(-1, []), (0, []), (1, [1, 2]), (3, [2, 3]), (4, [])])
def test_no_lines_are_shown_around_one_that_the_file_does_not_have(
    line: int, shown: list[int], tmp_path: Path
) -> None:
    """Its number may be from a recording, and the file another one by now."""
    (path := tmp_path / "train.py").write_text("a\nb\nc\n", "utf-8")
    around = lines_around(Source(str(path), line), 1, 1)
    assert [each.number for each in around] == shown
    assert [each.number for each in around if each.here] == [line] * bool(shown)
