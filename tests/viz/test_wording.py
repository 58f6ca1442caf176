"""Own names for nodes, and a choice of the facts in a picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gradstep
from gradstep_viz.errors import UnknownNode, VizError
from gradstep_viz.flow.compose import make_flow_picture
from gradstep_viz.flow.text import write_flow_text
from gradstep_viz.level_of_detail import Composer, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.compose import make_picture
from tests.viz import picture_programs, sample_graphs

ENGINES = ["core", pytest.param("pytorch", marks=pytest.mark.torch)]

NET = """
import torch
from torch import nn

fc1, fc2 = nn.Linear(2, 3), nn.Linear(3, 1)
x = torch.ones(5, 2)
h = torch.tanh(fc1(x))
fc2(h).pow(2).mean().backward()
"""
LABELS = ["fc1/addmm:1=W₁ x + b₁", "fc1.weight=W₁", "TanhBackward0=σ′"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("format", ["svg", "txt", "dot", "mermaid", "html"])
def test_nodes_and_leaves_bear_names_of_the_users_own(engine: str, format: str) -> None:
    graph = picture_programs.graph_of_code(NET, engine)
    text = gradstep.render(graph, format=format, label=LABELS).text
    for name in ("W₁ x + b₁", "W₁.grad", "σ′"):
        assert name in text
    for name in ("fc1.weight", "AddmmBackward0 #8"):
        assert name not in re.sub(r"<title>.*?</title>|tooltip.*", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("address", ["fc1/addmm:1", "fc1"])
def test_a_label_names_both_halves_of_an_op_and_its_row(engine: str, address: str) -> None:
    code = NET.replace("fc2(h)", "loss = fc2(h)").replace(".backward()", "\nloss.backward()")
    graph = picture_programs.graph_of_code(code, engine)
    labels = {address: "W₁ x + b₁", "loss": "L"}
    boxes = make_picture(graph, "both", labels=labels).boxes
    named = [box.half for box in boxes if box.title == "W₁ x + b₁"]
    assert sorted(named) == ["backward", "forward"]
    assert {"L", "∂L/∂L"} <= {box.title for box in boxes}
    options = RenderOptions(label=[f"{one}={own}" for one, own in labels.items()])
    text = write_flow_text(make_flow_picture(graph, options))
    rows = [line[3:] for line in text.splitlines() if re.match("[●○◎]", line)]
    assert [row.startswith("W₁ x + b₁ Linear") for row in rows].count(True) == 1
    assert not any(row.startswith("fc1 ") for row in rows)
    assert rows[-1].startswith("L ")


def test_the_label_of_an_op_among_others_stands_in_their_row() -> None:
    code = NET.replace("h = torch.tanh(fc1(x))", "h = torch.tanh(fc1(x) * 2)")
    graph = picture_programs.graph_of_code(code, "core")
    options = RenderOptions(label=["mul:1=twice", "fc1.weight=W₁", "x=X"])
    text = write_flow_text(make_flow_picture(graph, options))
    assert re.search(r"h\s+twice, tanh", text)
    assert "X input" in text
    assert "Largest layer ■: fc1, 9 parameters" in text, "it still has its weight"


@pytest.mark.parametrize("engine", ENGINES)
def test_boxes_are_called_as_the_program_calls_modules_and_results(engine: str) -> None:
    graph = picture_programs.graph_of_code(NET, engine)
    boxes = {box.title: box.detail for box in make_picture(graph, "forward").boxes}
    assert boxes["fc1"] == "Linear · addmm"
    assert boxes["h"] == "tanh"
    assert "AddmmBackward0" in {box.title for box in make_picture(graph, "backward").boxes}


def test_a_layer_of_a_sequential_is_told_by_its_class() -> None:
    code = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
model(torch.ones(5, 2)).sum().backward()
"""
    boxes = make_picture(picture_programs.graph_of_code(code, "core"), "forward").boxes
    assert {"Linear 0", "Tanh 1"} <= {box.title for box in boxes}


def test_labels_may_stand_in_a_file(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("# of the paper\npow:1 = a³\n\nb = β = 6\n", "utf-8")
    text = gradstep.render(sample_graphs.quadratic(), format="txt", label=str(names)).text
    assert "a³" in text
    assert "β = 6" in text
    assert RenderOptions(label=str(names)).labels == {"pow:1": "a³", "b": "β = 6"}


def test_text_of_a_label_is_escaped() -> None:
    text = gradstep.render(sample_graphs.quadratic(), label="pow:1=<b>&").text
    assert "&lt;b&gt;&amp;" in text
    assert "<b>" not in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"label": "pow:9=x"}, UnknownNode, "nothing here is called 'pow:9'; did you mean pow"),
        ({"label": "nowhere.txt"}, VizError, "cannot read labels from 'nowhere.txt'"),
        ({"label": "pow:1="}, VizError, "'pow:1=' is not a label"),
        ({"show": "colours"}, VizError, "choose one of shapes, rms, formulas, saved, lines"),
    ],
)
def test_what_cannot_be_is_said(options, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        gradstep.render(sample_graphs.quadratic(), format="txt", **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_picture_shows_the_facts_that_were_asked_for(engine: str) -> None:
    graph = picture_programs.graph_of_code(NET, engine)
    signs = {
        "shapes": r"\[5, 3\]",
        "rms": r"rms \d",
        "formulas": r"1 − result",
        "saved": r"class=\"edge saved|e saved",
        "lines": r"train\.py:7",
    }

    def shown(show: str | tuple[str, ...]) -> set[str]:
        text = gradstep.render(graph, show=show).text
        text = re.sub(r"<title>.*?</title>|<desc>.*?</desc>", "", text, flags=re.DOTALL)
        return {fact for fact, sign in signs.items() if re.search(sign, text)}

    assert shown(()) == {*signs} - {"lines"}
    assert shown("shapes, lines") == {"shapes", "lines"}
    for fact in signs:
        assert shown(fact) == {fact}


def test_trouble_is_shown_whatever_was_asked_for() -> None:
    code = "import torch\nx = torch.zeros(2, requires_grad=True)\n(x / x).sum().backward()\n"
    text = gradstep.render(picture_programs.graph_of_code(code, "core"), show="shapes").text
    assert "nan" in text


@pytest.mark.parametrize("engine", ENGINES)
def test_saved_values_bear_names_of_the_program_or_none(engine: str) -> None:
    code = """
import torch
from torch import nn

fc = nn.Linear(2, 3)
x = torch.ones(5, 2, requires_grad=True)
h = torch.tanh(fc(x))
(h * torch.ones(5, 3) * h.sin()).sum().backward()
"""
    graph = picture_programs.graph_of_code(code, engine)
    picture = make_picture(folding_of(graph, "both").graph)
    titles = [box.title for box in picture.boxes]
    saved = {
        (titles[line.source], titles[line.target]): line.label
        for line in picture.lines
        if line.kind == "saved"
    }
    details = {box.title: box.detail for box in picture.boxes}
    assert "h · 60 B" in saved.values()
    assert saved["h", "TanhBackward0"] == "60 B"  # which leaves the box that made it
    assert details["AddmmBackward0"] == "g, g @ fc.weight, xᵀ @ g"
    words = " ".join([*saved.values(), *details.values(), *titles])
    assert not re.search(r"\b(self|other|mat1|mat2|result\d)\b", words)


@pytest.mark.parametrize("engine", ENGINES)
def test_of_two_inputs_without_a_name_each_has_its_own_word(engine: str) -> None:
    code = """
import torch
x = torch.ones(5, requires_grad=True)
(x.sin() * x.cos()).sum().backward()
"""
    graph = picture_programs.graph_of_code(code, engine)
    boxes = make_picture(folding_of(graph, "both").graph).boxes
    details = {box.title: box.detail for box in boxes}
    assert details["MulBackward0"] == "g · input₂, g · input₁"


def titles_of(code: str, max_boxes: int, engine: str = "core") -> list[str]:
    graph = picture_programs.graph_of_code(code, engine)
    options = RenderOptions(view="forward", max_boxes=max_boxes)
    picture = Composer(folding_of(graph, "forward")).compose(options).picture
    return [*(box.title for box in picture.boxes), *(frame.label for frame in picture.frames)]


@pytest.mark.parametrize("engine", ENGINES)
def test_rounds_are_called_by_the_modules_that_each_runs(engine: str) -> None:
    code = """
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        parts = [nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)) for _ in range(3)]
        self.down = nn.ModuleList(parts)

    def forward(self, x):
        for down in self.down:
            x = down(F.relu(x))
        return x


Net()(torch.ones(5, 4, requires_grad=True)).sum().backward()
"""
    titles = titles_of(code, 8, engine)
    assert {"relu", "relu + down.1 … 2", "relu + down.0"} <= set(titles)
    assert not any("round" in title for title in titles)


@pytest.mark.parametrize("engine", ENGINES)
def test_ops_at_one_line_go_by_the_variable_that_holds_their_result(engine: str) -> None:
    ops = ["sin", "cos", "tanh", "exp", "sigmoid", "relu"]
    code = "import torch\nx = torch.ones(3, requires_grad=True)\n"
    for at, op in enumerate(ops * 3):
        code += f"u_{at} = ({'x' if not at else f'u_{at - 1}'}.{op}() * {at + 2}).neg()\n"
    titles = titles_of(f"{code}u_17.sum().backward()\n", 21, engine)
    assert {f"u_{at}" for at in range(18)} <= set(titles)


def test_the_round_that_is_open_is_a_typical_one() -> None:
    code = """
import torch
w = torch.ones(3, requires_grad=True)
h = None
for t in range(20):
    a = w if h is None else h * w
    h = a.tanh().sin().cos()
h.sum().backward()
"""
    assert "t = 1" in titles_of(code, 10)[-1]
    assert "t = 0" in titles_of(code, 10)
