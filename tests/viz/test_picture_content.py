"""What boxes, lines and captions say."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import autograd_core as torch
import gradstep
from autograd_core.autograd.profiler import profile
from gradstep import capture, trace
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Cost, Graph, SavedValue, Source
from gradstep.graph.statistics import format_statistics, statistics
from gradstep_viz.picture import box_text, formatting
from gradstep_viz.picture.box_text import joined
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.model import Box, Line, Picture
from tests.viz import sample_graphs


def box(picture: Picture, title: str) -> Box:
    return next(box for box in picture.boxes if box.title == title)


def line(picture: Picture, source: str, target: str) -> Line:
    return next(
        line
        for line in picture.lines
        if (picture.boxes[line.source].title, picture.boxes[line.target].title) == (source, target)
    )


def test_the_quadratic_says_what_the_drawing_by_hand_says() -> None:
    picture = make_picture(sample_graphs.quadratic())
    assert picture.title == "Q = 3a³ − b²"
    assert picture.captions == (
        "forward ↓ · 4 ops, 2 leaves",
        "backward ↑ · 4 nodes, 2 leaf gradients · run #1 #2 … · ⋯ saved 8 B",
    )
    assert (box(picture, "a").right, box(picture, "a").detail) == ("2", "leaf · requires grad")
    assert (box(picture, "mul").right, box(picture, "mul").detail) == ("24", "3 · x")
    assert (box(picture, "SubBackward0").right, box(picture, "SubBackward0").detail) == (
        "#1",
        "g, −g",
    )
    assert (box(picture, "a.grad").right, box(picture, "a.grad").detail) == ("36", "#6 · 0 + 36")
    assert box(picture, "∂Q/∂Q").right == "1"
    assert line(picture, "SubBackward0", "MulBackward0").label == "1"
    assert line(picture, "mul", "sub").label == "24"
    assert line(picture, "a", "pow").label == ""
    assert line(picture, "a", "PowBackward0").label == "self · 4 B"


def test_each_view_shows_its_half() -> None:
    graph = sample_graphs.quadratic()
    assert {box.half for box in make_picture(graph, "forward").boxes} == {"forward"}
    backward = make_picture(graph, "backward")
    assert {box.half for box in backward.boxes} == {"backward"}
    assert all(line.kind == "gradient" for line in backward.lines)


def test_an_output_is_paired_with_its_seed_even_if_the_capture_did_not_say_so() -> None:
    graph = sample_graphs.quadratic()
    pairs = {a: b for a, b in graph.pairs.items() if graph.kinds[a] not in ("output", "seed")}
    picture = make_picture(replace(graph, pairs=pairs))
    pair = box(picture, "Q").pair
    assert pair is not None
    assert picture.boxes[pair].title == "∂Q/∂Q"


def test_many_leaves_sit_inside_their_consumers_and_all_are_shown_on_demand() -> None:
    graph = sample_graphs.mlp()
    picture = make_picture(graph)
    addmm = [box for box in picture.boxes if box.title == "addmm"]
    assert [[chip.name for chip in box.chips] for box in addmm] == [
        ["x", "fc1.bias"],
        ["fc2.bias"],
    ]
    titles = [box.title for box in make_picture(graph, leaves=True).boxes]
    assert "fc1.weight" in titles
    assert "fc1.weight.grad" in titles
    assert all(not box.chips for box in make_picture(graph, leaves=True).boxes)


def test_a_shared_leaf_stays_one_box_while_its_uses_are_few() -> None:
    titles = [box.title for box in make_picture(sample_graphs.shared(), leaves=False).boxes]
    assert titles.count("w") == 1
    assert titles.count("x") == 0


def test_leaves_have_boxes_in_one_half_alone_if_they_have_them_beside_the_other() -> None:
    graph = sample_graphs.mlp()
    both = make_picture(graph)
    for view in ("forward", "backward"):
        alone = make_picture(graph, view)
        assert [box.title for box in alone.boxes] == [
            box.title for box in both.boxes if box.half == view
        ]


def test_a_leaf_used_very_often_becomes_a_chip_that_says_so() -> None:
    t = sample_graphs.Twin("often")
    w = t.leaf("w", (2,))
    h = t.leaf("x", (2,), "leaf")
    for _ in range(9):
        h = t.op("mul", h, w, shape=(2,))
    picture = make_picture(t.finish(h))
    chips = [chip for box in picture.boxes for chip in box.chips]
    assert len(chips) == 18
    assert chips[0].right == "[2] · used 9 times"


def test_a_crowd_of_leaves_in_one_consumer_is_cut_short() -> None:
    t = sample_graphs.Twin("cat")
    cat = t.op("cat", *[t.leaf(f"part{i}", (2,)) for i in range(50)], shape=(100,))
    picture = make_picture(t.finish(cat), "forward")
    names = [chip.name for chip in box(picture, "cat").chips]
    assert len(names) == 6
    assert names[-1] == "… and 45 more"


def test_unknown_is_silent_and_undefined_is_said() -> None:
    build = GraphBuilder()
    a = build.node("leaf", "backward", "AccumulateGrad", variable="a")
    b = build.node("leaf", "backward", "AccumulateGrad", variable="b", undefined=True)
    op = build.node("op", "backward", "MulBackward0")
    build.edge("gradient", op, a)
    build.edge("gradient", op, b, output_nr=1, undefined=True)
    picture = make_picture(build.graph(), "backward")
    assert box(picture, "a.grad").right == ""
    assert box(picture, "b.grad").right == "undefined"
    assert line(picture, "MulBackward0", "b.grad").label == "undefined"


def test_nan_is_marked_by_a_sign_and_a_word_and_a_class() -> None:
    build = GraphBuilder()
    stats = statistics(np.array([1.0, np.nan, np.inf]))
    log = build.node("op", "forward", "log", shape=(3,), statistics=stats)
    out = build.node("output", "forward", "y", variable="y")
    build.edge("value", log, out, shape=(3,))
    picture = make_picture(build.graph(), "forward")
    assert box(picture, "log").alert
    assert box(picture, "log").right == "! nan 1/3"
    assert picture.lines[0].alert
    assert picture.lines[0].label == "[3] · ! nan 1/3"


def test_a_saved_value_that_was_changed_in_place_is_an_alarm() -> None:
    build = GraphBuilder()
    a = build.node("constant", "forward", "a", variable="a")
    kept = SavedValue("self", (2,), "float32", 8, "changed")
    node = build.node("op", "backward", "PowBackward0", saved=(kept,))
    build.edge("saved", a, node, label="self", nbytes=8)
    picture = make_picture(build.graph())
    assert box(picture, "PowBackward0").alert
    assert box(picture, "PowBackward0").detail == "! self changed in place"
    assert picture.lines[0].label == "! self · 8 B · changed in place"


def saved_labels(graph: Graph) -> dict[tuple[str, str], str]:
    picture = make_picture(graph)
    titles = [box.title for box in picture.boxes]
    return {
        (titles[line.source], titles[line.target]): line.label
        for line in picture.lines
        if line.kind == "saved"
    }


def test_a_saved_line_says_where_its_value_was_freed() -> None:
    with trace():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.exp(x)
        z = (torch.ones(2) * y * x).sum()
        z.backward()
    labels = saved_labels(capture(z, names={"x": x}))
    assert {ends: re.sub(r"\d+$", "N", label) for ends, label in labels.items()} == {
        ("mul", "MulBackward0"): "self · freed at test_picture_content.py:N",
        ("x", "MulBackward0"): "other · freed at test_picture_content.py:N",
        ("y", "ExpBackward0"): "result · freed at test_picture_content.py:N",
    }
    assert not any(line.alert for line in make_picture(capture(z, names={"x": x})).lines)


def test_a_saved_line_says_where_its_value_was_changed() -> None:
    """Also where the program names the value."""
    with trace():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.exp(x)
        z = (w * torch.sin(x)).sum()
        w.mul_(2)
    labels = saved_labels(capture(z, names={"x": x, "w": w}))
    changed = [label for label in labels.values() if label.startswith("!")]
    assert [re.sub(r"\d+$", "N", label) for label in changed] == [
        "! w · 8 B · changed in place at test_picture_content.py:N",
        "! result · 8 B · changed in place at test_picture_content.py:N",
    ]


def test_a_derived_forward_half_says_so() -> None:
    build = GraphBuilder(derived_forward=True)
    build.node("op", "forward", "mul")
    (caption,) = make_picture(build.graph(), "forward").captions
    assert caption == "forward ↓ · 1 op, 0 leaves · derived from the backward graph"


def test_long_names_are_cut_and_kept_whole_in_the_tooltip() -> None:
    build = GraphBuilder()
    name = "block." * 40 + "end"
    build.node("leaf", "forward", name, variable=name)
    (only,) = make_picture(build.graph(), "forward").boxes
    assert len(only.title) == 40
    assert only.title.endswith("block.end")
    assert name in only.tooltip


def test_a_source_line_names_no_absolute_path() -> None:
    build = GraphBuilder()
    for file in ("/where/it/is/train.py", "C:\\me\\train.py", "src/train.py"):
        build.node("op", "forward", "mul", source=Source(file, 7))
    tooltips = [box.tooltip for box in make_picture(build.graph(), "forward").boxes]
    assert [tooltip.splitlines()[-1] for tooltip in tooltips] == [
        "train.py:7",
        "train.py:7",
        "src/train.py:7",
    ]


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("g · (3 · a²)", "g · (3 · a²)"),
        ("conv_input(g, w, (4, 8), 1), conv_weight(g, x), over(g)", "conv_input(g, …), …"),
        ("cross_entropy_backward(scaled(g, scores, 1), weight)", "cross_entropy_backward(…)"),
        ("kernel_size (3, 3), stride (2, 2), padding (1, 1)", "kernel_size (3, 3), …"),
        (
            "no_call_and_no_list_in_this_very_long_text",
            "no_call_and_no_list_in_this_very_long_text",
        ),
    ],
)
def test_a_long_formula_leaves_out_whole_arguments(text: str, short: str) -> None:
    assert formatting.abbreviate(text, 26) == short


def test_a_long_formula_stands_before_the_scope_it_leaves_no_room_for() -> None:
    rule, build = "ans · (g − sum_dim(g · ans, −1, True))", GraphBuilder("scoped")
    for scope in ("fc", "encoder.layers.0.attention"):
        build.node("op", "backward", "SoftmaxBackward0", scope=scope, formula=rule, order=0)
    boxes = make_picture(build.graph(), "backward").boxes
    assert [box.detail for box in boxes] == [f"{rule} in fc", rule]


def test_the_title_is_the_statement_that_made_the_result_unless_it_has_one() -> None:
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        y = 3 * x**2
    names = {"x": x, "y": y}
    for view in ("forward", "backward", "both"):
        assert make_picture(capture(y, names=names), view).title == "y = 3 * x**2"
    assert make_picture(capture(y, names=names), title="squares").title == "squares"
    assert make_picture(capture(y, names=names, title="mine")).title == "mine"
    assert make_picture(capture([y, y + 1], names=names)).title == "y, output 1"


def test_a_formula_that_is_too_long_is_cut_at_its_end_behind_an_operator() -> None:
    text = "g · 0.5 · (1 − self · self) / ((1 + self · self) · (1 + self · self))"
    assert joined(text, "", "net") == "g · 0.5 · (1 − self · self) / ((1 + self · …"
    assert joined(text, "view, t", "net") == "g · 0.5 · (1 − self · self) / … · view, t"


def test_a_long_list_leaves_room_for_the_shape_ops_in_its_box() -> None:
    said = box_text.joined("dim 1, start 1, end 100, step 5", "with clone, unsafe_view", "")
    assert said == "dim 1, start 1, … · with clone, unsafe_view"


def test_a_picture_says_what_a_profile_measured() -> None:
    x = torch.ones(3, 4, requires_grad=True)
    with profile() as found, trace():
        z = x.sin().sum()
        z.backward(retain_graph=True)
    text = gradstep.render(z, format="txt", profile=found).text
    took = r"[\d.]+ (µs|ms|s)"
    assert re.search(rf"sin +{took}, 48 B  ", text)
    assert re.search(rf"SinBackward0 +#2  {took}, 48 B · g · cos\(x\)", text)
    assert re.search(rf"forward ↓ .* · took {took}\n", text)
    assert re.search(rf"backward ↑ .* · took {took}\n", text)
    assert not re.search(took, gradstep.render(z, format="txt").text)


def test_a_box_begins_its_second_line_with_what_it_took() -> None:
    build = GraphBuilder("two ops")
    build.costs[build.node("op", "forward", "exp")] = Cost(2e-6, 8)
    graph = build.graph()
    assert formatting.cost(graph, 0) == "2 µs, 8 B"
    assert box(make_picture(graph, "forward"), "exp").detail == "2 µs, 8 B"


def test_a_node_in_trouble_keeps_its_order() -> None:
    build = GraphBuilder("trouble")
    build.node(
        "op", "backward", "SqrtBackward0", order=5, statistics=statistics(np.array([np.nan, 1.0]))
    )
    assert make_picture(build.graph(), "backward").boxes[0].right == "! nan 1/2 #6"


def test_a_tensor_without_elements_is_called_empty() -> None:
    assert format_statistics(statistics(np.zeros((0, 3)))) == "empty"


def test_a_name_that_is_cut_has_one_ellipsis() -> None:
    text = joined("g", "with t", "encoder.layers.0.some_long_name_of_a_module.ln1")
    assert text == "g · with t in …ln1"


def test_the_product_of_a_dropout_module_is_called_dropout() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
    with trace():
        loss = model(torch.ones(1, 2)).sum()
    titles = [box.title for box in make_picture(capture(loss), "both").boxes]
    assert "dropout" in titles
    assert "mul" not in titles
    assert "MulBackward0" in titles


def test_a_number_that_names_a_module_is_no_factor() -> None:
    build = GraphBuilder("loss", modules={"1": "Scale"})
    build.node("op", "backward", "MulBackward0", order=0, formula="g · 0.5", scope="1")
    assert make_picture(build.graph(), "backward").boxes[0].detail == "g · 0.5 in Scale 1"


def test_a_line_says_how_many_values_it_stands_for() -> None:
    build = GraphBuilder("several")
    one, other = (build.node("op", "forward", name) for name in ("one", "other"))
    for shape in ((2, 3), (), None):
        build.edge("value", one, other, shape=shape)
    graph = build.graph()
    graph = replace(graph, edge_counts=dict.fromkeys(range(3), 7))
    labels = [line.label for line in make_picture(graph, "forward").lines]
    assert labels == ["7 × [2, 3]", "7 numbers", "7 values"]
