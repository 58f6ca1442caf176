"""Pictures of real programs: small by default, with everything accounted for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
import gradstep
import gradstep_viz
from gradstep import Graph, capture
from gradstep.capturing import Names
from gradstep.graph.addresses import find_nodes
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.folding import neighbourhood
from gradstep.graph.folding.totals import saved_bytes
from gradstep.graph.serialize import from_json
from gradstep.graph.statistics import Statistics, format_bytes, format_number
from gradstep.text import plural
from gradstep_tui.cli import main
from gradstep_viz import theme
from gradstep_viz.level_of_detail import folded, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import text_width
from gradstep_viz.picture.leaves import host_leaves
from gradstep_viz.picture.magnitude import scale_of
from gradstep_viz.picture.model import Picture
from tests.viz import picture_programs, sample_graphs, sample_programs
from tests.viz.sample_programs import graph_of
from tests.viz.test_layout_laws import twins


def picture_of(graph: Graph, view: str = "both") -> Picture:
    (small, _), _ = folded(folding_of(graph, view), RenderOptions(view=view))  # type: ignore[arg-type]
    return make_picture(small, view)  # type: ignore[arg-type]


REGULAR = [one for one in sample_programs.ALL if one is not sample_programs.irregular]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("traced", [True, False], ids=["traced", "untraced"])
@pytest.mark.parametrize("program", REGULAR, ids=lambda program: program.__name__)
def test_every_program_takes_sixty_boxes_at_most(
    program: Callable[[], sample_programs.Program], traced: bool
) -> None:
    graph = graph_of(program, traced)
    for view in ("forward", "backward", "both"):
        picture = picture_of(graph, view)
        assert len(picture.boxes) <= 60
        ops = sum(box.ops for box in picture.boxes if box.role in ("fwd", "bwd"))
        expected = sum(
            kind == "op" and view in ("both", half)
            for kind, half in zip(graph.kinds, graph.halves, strict=True)
        )
        assert ops == expected


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", REGULAR, ids=lambda program: program.__name__)
def test_the_halves_of_a_ladder_fold_alike(program: Callable[[], sample_programs.Program]) -> None:
    boxes = picture_of(graph_of(program, traced=True)).boxes
    for index, box in enumerate(boxes):
        if box.pair is not None:
            partner = boxes[box.pair]
            assert partner.pair == index
            assert partner.stacked == box.stacked
            assert not box.stacked or partner.title == box.title


def test_a_transformer_is_one_layer_and_a_card_for_the_rest() -> None:
    for traced in (True, False):
        picture = picture_of(graph_of(sample_programs.transformer, traced))
        mirror, card = (box for box in picture.boxes if box.stacked)
        assert (card.title, card.right) == ("encoder.layers.1 … 47", "× 47")
        shapes = "[2, 8, 32] → same · " if card.half == "forward" else ""
        said = f"like encoder.layers.0 · {shapes}2,068 ops · 402 k parameters"
        assert card.detail.startswith(said)
        assert "saves" in mirror.detail
        assert ("TransformerEncoderLayer × 47" in card.tooltip) == traced


CHECKPOINTED = """
import autograd_core as torch
from autograd_core import nn
from autograd_core.utils.checkpoint import checkpoint

class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt())

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up = RMSNorm(width), nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(self.norm(x))))

torch.manual_seed(0)
blocks = nn.ModuleList(Block(8) for _ in range(9))
norm, head = RMSNorm(8), nn.Linear(8, 2)
x = torch.randn(4, 8).requires_grad_()
for block in blocks:
    x = checkpoint(block, x, use_reentrant=False)
loss = head(norm(x)).pow(2).mean()
loss.backward()
"""


def test_norms_are_shut_and_what_is_checkpointed_says_so(tmp_path: Path) -> None:
    script, saved = tmp_path / "net.py", tmp_path / "net.json"
    script.write_text(CHECKPOINTED, "utf-8")
    assert main(["render", "-o", str(saved), str(script)]) == 0
    graph = from_json(saved.read_text("utf-8"))
    small, _ = folded(folding_of(graph, "both"), RenderOptions(view="both"))
    groups = {
        (group.title, small.graph.halves[id]): group for id, group in small.graph.groups.items()
    }
    assert groups["norm", "forward"].ops == 6
    rest = groups["blocks.1 … 8", "backward"]
    assert len(rest.gradients) == 8
    assert rest.packed > 0
    assert groups["blocks.0.norm", "backward"].weights is not None
    (detail,) = {
        box.detail
        for box in make_picture(small.graph).boxes
        if "blocks.1 … 8" in box.detail or ("like blocks.0" in box.detail and "rms" in box.detail)
    }
    first, last = map(format_number, (rest.gradients[0], rest.gradients[-1]))
    assert re.search(rf"checkpointed · rms {first} [▁-█]+ {last}$", detail)


def test_noise_of_a_bias_does_not_set_the_scale() -> None:
    build = GraphBuilder()
    known = Statistics(4, 1.0, -1.0, 1.0, 0, 0, 0)
    nodes = [
        build.node("op", "backward", f"MulBackward{n}", order=n, statistics=known) for n in range(3)
    ]
    bias = build.node("parameter", "backward", "bias.grad")

    def flows(source: int, target: int, size: float) -> None:
        stats = Statistics(4, size, -size, size, 0, 0, 0)
        build.edge("gradient", source, target, statistics=stats)

    flows(nodes[0], nodes[1], 1.0)
    flows(nodes[1], nodes[2], 1e-3)
    flows(nodes[2], bias, 1e-10)
    scale = scale_of(build.graph(), True)
    assert scale is not None
    assert (scale.low, scale.high) == (-3, 0)
    assert (scale.step(1e-3), scale.step(1e-10)) == (1, 0)


def test_a_long_lstm_shows_its_first_steps_and_its_last() -> None:
    picture = picture_of(graph_of(sample_programs.lstm, traced=False))
    titles = [box.title for box in picture.boxes if box.title.startswith("t = ")]
    assert titles.count("t = 2 … 498") == titles.count("t = 1") == titles.count("t = 499") == 2
    chips = {chip.name: chip.right for box in picture.boxes for chip in box.chips}
    assert chips["model.weight_hh"] == "[64, 16] · used 500 times"
    assert "2 × [4, 16]" in [line.label for line in picture.lines]
    assert "shown as" in picture.captions[0]


def test_an_irregular_graph_is_drawn_in_bands() -> None:
    graph = graph_of(sample_programs.irregular, traced=True)
    for view in ("forward", "both"):
        drawing = gradstep.render(graph, view=view, format="txt")
        assert len(drawing.text.splitlines()) < 70
        assert drawing.notes == ()
        assert re.search(r"round \d+ … \d+ .*\d+ ops", drawing.text)


def test_saved_values_between_the_same_boxes_are_one_line() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.nn.functional.layer_norm(x * x, (2,), torch.ones(2, requires_grad=True))
    picture = make_picture(capture(y.sum(), names=Names({"x": x})), leaves=True)
    saved = [line for line in picture.lines if line.kind == "saved"]
    ends = [(line.source, line.target) for line in saved]
    assert len(ends) == len(set(ends))
    labels = [line.label for line in saved]
    assert "x · 8 B" in labels  # one tensor, saved twice
    assert any(re.fullmatch(r"result1, result2 · \d+ B", label) for label in labels)


def test_many_saved_values_between_the_same_boxes_are_counted() -> None:
    graph = sample_graphs.residual(40)
    labels = [line.label for line in picture_of(graph).lines if line.kind == "saved"]
    assert any(re.fullmatch(r"[\d,]+ values · [\d.]+ [KM]?B", label) for label in labels)


def test_what_was_asked_for_whole_says_how_large_it_is() -> None:
    graph = graph_of(sample_programs.irregular, traced=True)
    drawing = gradstep.render(graph, full=True)
    boxes = len(make_picture(graph).boxes)
    size = rf"{boxes:,} boxes, [\d,]+ x [\d,]+ pixels, [\d.]+ [KM]B"
    assert re.fullmatch(size, drawing.notes[-1])
    assert "boxes, " in gradstep.render(graph, max_boxes=90).notes[-1]
    assert gradstep.render(sample_graphs.mlp()).notes == ()


@pytest.mark.parametrize("format", ["svg", "dot", "html", "mermaid", "txt", "json"])
def test_every_format_shows_the_card(format: str) -> None:
    graph = sample_graphs.residual(40)
    text = gradstep.render(graph, format=format, max_boxes=40).text
    assert "blocks.1 … 39" in text.replace("\\u2026", "…")
    if format == "html":  # whose hidden pictures are of groups that were opened
        text = text.partition("<section hidden>")[0]
    assert "blocks.17" not in text


def test_json_has_the_whole_graph_unless_folding_was_asked_for() -> None:
    graph = sample_graphs.residual(40)
    assert "blocks.17" in gradstep.render(graph, format="json").text
    assert "blocks.17" not in gradstep.render(graph, format="json", depth=1).text


@given(twins(), st.data())
def test_the_caption_of_a_part_counts_what_is_drawn(graph: Graph, data: st.DataObject) -> None:
    center = data.draw(st.integers(0, len(graph) - 1))
    part = neighbourhood(graph, [center], data.draw(st.integers(0, 3)), "here")
    picture = make_picture(part)
    boxes = [(box.half, box.role, box.ops) for box in picture.boxes]
    kinds = Counter((node.half, node.kind) for node in part.nodes())
    for half, caption in zip(picture.halves, picture.captions, strict=True):
        one, role = ("op", "fwd") if half == "forward" else ("node", "bwd")
        ops = sum(number for at, as_, number in boxes if (at, as_) == (half, role))
        whole = sum(node.half == half and node.kind == "op" for node in graph.nodes())
        assert f"{ops} of {plural(whole, one)}" in caption
        leaves = kinds[half, "leaf"] + kinds[half, "parameter"]
        assert leaves == _counted(caption, r"(\d+) lea[fv]")
    saved = {value.name: value for values in part.saved.values() for value in values}
    assert ("saved" in picture.captions[-1]) == any(v.nbytes for v in saved.values())
    assert sum("here" in caption for caption in picture.captions) == 1


def _counted(caption: str, pattern: str) -> int:
    found = re.search(pattern, caption)
    return 0 if found is None else int(found[1])


def test_the_saved_bytes_of_a_part_are_those_of_its_nodes() -> None:
    graph = graph_of(sample_programs.gpt)
    part = neighbourhood(graph, find_nodes(graph, "layers.1.attn/softmax:1"), 2)
    caption = make_picture(part).captions[1]
    kept = {v.storage: v.nbytes for values in part.saved.values() for v in values}
    assert f"saved {format_bytes(sum(kept.values()))}" in caption
    assert saved_bytes(graph)[""] > 20 * sum(kept.values())


def test_options_combine() -> None:
    graph = sample_graphs.residual(40)
    near = gradstep.render(
        graph, format="txt", around="blocks.7/relu:1", hops=1, view="forward"
    ).text
    assert "3 of 161 ops · around blocks.7/relu:1" in near
    way = "loss..blocks.30.0.weight"
    path = gradstep.render(graph, format="txt", path=way, view="forward", max_boxes=20).text
    assert "blocks.32 … 39" in path
    assert "41 of 161 ops shown as 10, 1 leaf, 256 parameters · from loss" in path
    both = gradstep.render(graph, format="txt", path=way, around="loss", view="forward").text
    assert "2 of 161 ops · from loss to blocks.30.0.weight, around loss" in both
    opened = gradstep.render(graph, format="txt", expand="blocks.5", view="forward").text
    assert "blocks.0 … 4" in opened
    assert "blocks.6 … 39" in opened


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"full": True, "depth": 2}, "full folds nothing"),
        ({"hops": 2}, "hops needs around"),
        ({"max_boxes": 0}, "must be at least 1"),
        ({"path": "loss"}, "'loss' is not a path; write two nodes"),
        ({"path": "loss..blocks.3.w"}, r"called 'blocks\.3\.w'; did you mean blocks\.3"),
        ({"path": "blocks.1.0.weight..blocks.2.0.weight"}, "there is no path from"),
        ({"around": "nowhere"}, "called 'nowhere'; write # and a number, an address such as"),
        ({"around": "#999"}, "no node #999; they run as #1 to #"),
        ({"expand": "blocks.40"}, r"called 'blocks\.40'; did you mean blocks\.4"),
        ({"expand": "t=3"}, r"called 't=3'; what can be opened is blocks\.0, blocks\.1, "),
    ],
)
def test_what_does_not_exist_or_fit_is_said(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(gradstep_viz.VizError, match=complaint):
        gradstep.render(sample_graphs.residual(40), format="txt", **options)  # type: ignore[arg-type]


def test_a_graph_without_anything_to_open_says_so() -> None:
    with pytest.raises(
        gradstep_viz.VizError, match="no scope, repeat or loop of this graph can be"
    ):
        gradstep.render(sample_graphs.quadratic(), format="txt", expand="layer")


def test_a_text_has_the_same_name_for_a_card_in_both_halves() -> None:
    text = gradstep.render(graph_of(sample_programs.transformer), format="txt", depth=2).text
    assert len(re.findall(r"^  encoder\.layers\.0 … 47  +× 48 ", text, re.MULTILINE)) == 2
    assert "← NativeLayerNormBackward0  ⋯ encoder.layers.0 … 47, add" in text


def test_a_graph_of_nothing_but_a_leaf_is_left_alone() -> None:
    build = GraphBuilder("only")
    build.node("leaf", "forward", "a", variable="a")
    assert len(picture_of(build.graph(), "forward").boxes) == 1


@pytest.mark.parametrize("view", ["forward", "both"])
def test_what_is_open_of_several_things_alike_has_a_frame_with_its_name(view: str) -> None:
    text = gradstep.render(sample_graphs.residual(40), view=view, max_boxes=20).text  # type: ignore[arg-type]
    frames = re.findall(
        r'<g class="frame"><rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"'
        r".*?>([^<]*)</text>",
        text,
    )
    assert [name for *_, name in frames] == ["blocks.0"] * (1 if view == "forward" else 2)
    boxes = re.findall(
        r'<g id="[^"]*" class="node.*?<title>(.*?)</title>.*?<rect x="(\S+)" y="(\S+)"', text, re.S
    )
    inside = [
        title
        for left, top, width, height, _ in (map(float, (*f[:4], 0)) for f in frames)
        for title, x, y in boxes
        if left < float(x) < left + width and top < float(y) < top + height
    ]
    assert inside
    ops = [title.split()[0].rpartition("/")[2] for title in inside]
    expected = ["mm:1", "relu:1", "mm:2", "add:1"]
    assert ops[:4] == expected
    assert len(ops) == 4 * len(frames)


@pytest.mark.parametrize(
    "graph", [lambda: sample_graphs.residual(40), lambda: graph_of(sample_programs.transformer)]
)
def test_the_outline_of_a_frame_is_left_out_behind_labels(graph: Callable[[], Graph]) -> None:
    text = gradstep.render(graph(), max_boxes=40).text
    rectangle = r'<rect{} x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"'
    frames = re.findall(r'<g class="frame">' + rectangle.format(""), text)
    labels = re.findall(r'<text x="(\S+)" y="(\S+)" class="label ([^"]*)">([^<]*)<', text)
    grounds = {
        (float(x) + 2, float(y)) for x, y, *_ in re.findall(rectangle.format(' class="bg"'), text)
    }
    assert frames
    crossing = 0
    for x, y, width, height in (map(float, frame) for frame in frames):
        for left, base, classes, said in labels:
            reach = text_width(said, theme.MUTED_SIZE)
            start = float(left) - reach * ("e" in classes.split())
            low, high = float(base) - theme.MUTED_SIZE, float(base) + 3
            across = start < x + width and start + reach > x and low < y + height and high > y
            within = x < start and start + reach < x + width and y < low and high < y + height
            if across and not within:
                crossing += 1
                assert any(abs(gx - start) < 0.2 and abs(gy - low) < 0.2 for gx, gy in grounds), (
                    said
                )
    assert crossing


def test_a_picture_without_anything_open_of_several_has_no_frame() -> None:
    assert 'class="frame"' not in gradstep.render(sample_graphs.mlp()).text


@pytest.mark.sampled(6)
@pytest.mark.parametrize("engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("program", picture_programs.EACH)
def test_a_group_stands_for_three_ops_at_least_and_lists_every_leaf_it_uses(
    program: str, engine: str
) -> None:
    graph = picture_programs.graph_of(program, engine)
    for most in (60, 24, 8):
        for view in ("both", "forward", "backward"):
            options = RenderOptions(view=view, max_boxes=most)
            (small, _), _ = folded(folding_of(graph, view), options)
            picture = make_picture(small, view)
            hosts = host_leaves(small, view, None)
            for box in picture.boxes:
                group = small.groups.get(box.node)
                if group is None or group.kind == "chain":
                    continue
                assert group.instances > 1 or group.ops > 2, box.title
                used = sum(box.node in users for users in hosts.values())
                rest = r"… and (\d+) more|(\d+) leaves"
                more = re.fullmatch(rest, box.chips[-1].name) if used else None
                listed = len(box.chips) + (int(more[1] or more[2]) - 1 if more else 0)
                assert listed == used, box.title
