"""A gradient of 0 is never drawn like one that is not: in every view, format and frame."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import gradstep
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.folding import fold
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json, to_json
from gradstep_tui.cli import main
from gradstep_viz import theme
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.magnitude import ZERO
from tests.engines.architecture_programs import on_the_core
from tests.viz.picture_programs import graph_of_code
from tests.viz.sample_graphs import scalar

HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nx = torch.randn(16, 4)\n"
DEAD = (
    HEAD
    + "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(),"
    + " nn.Linear(8, 1))\n"
    + "with torch.no_grad():\n    net[2].bias.fill_(-50)\n"
    + "loss = ((net(x) - 1) ** 2).mean()\nloss.backward()\n"
)
LORA = (
    HEAD
    + "base = torch.randn(4, 4)\nA = nn.Parameter(torch.randn(4, 2))\n"
    + "B = nn.Parameter(torch.zeros(2, 4))\n"
    + "loss = ((x @ base + x @ A @ B) ** 2).mean()\nloss.backward()\n"
)
GAMMA = (
    HEAD
    + "fc = nn.Linear(4, 4)\ngamma = nn.Parameter(torch.zeros(1))\n"
    + "loss = ((x + gamma * torch.tanh(fc(x))) ** 2).mean()\nloss.backward()\n"
)
BLOCKS = (
    HEAD
    + "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    + "        self.fc, self.gamma = nn.Linear(4, 4), nn.Parameter(torch.zeros(1))\n"
    + "    def forward(self, x):\n        return x + self.gamma * torch.tanh(self.fc(x))\n"
    + "net = nn.Sequential(*[Block() for _ in range(4)])\n"
    + "loss = (net(x) ** 2).mean()\nloss.backward()\n"
)
ALL_ZERO = HEAD + "w = nn.Parameter(torch.ones(4))\nloss = (torch.relu(-w * 2) * 3).sum()\n"
NONE_SPREAD = ALL_ZERO + "loss.backward(torch.tensor(0.0))\n"
ENGINES = pytest.mark.parametrize(
    "engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)]
)


def zeros_in(graph: Graph) -> tuple[int, int]:
    """The gradients of 0, and all gradients, along edges, counted one by one."""
    known = [
        edge.statistics for edge in graph.edges() if edge.kind == "gradient" and edge.statistics
    ]
    return sum(one.zeros == one.size > 0 for one in known), len(known)


@ENGINES
def test_a_folded_box_tells_of_zeros_inside(engine: str) -> None:
    graph = graph_of_code(BLOCKS, engine)
    folded = fold(graph, max_boxes=8)
    zeros = [
        edge.target
        for edge in graph.edges()
        if edge.kind == "gradient" and edge.statistics and edge.statistics.is_zero
    ]
    boxes = {box.node: box for box in make_picture(folded, "both").boxes}
    told = 0
    for id, group in folded.groups.items():
        if folded.kinds[id] == "group" and folded.halves[id] == "backward":
            assert group.zero_gradients == sum(target in group.members for target in zeros)
            assert f"○ {group.zero_gradients} gradients are 0" in boxes[id].detail
            told += group.zero_gradients
    assert told > 3
    assert from_json(to_json(folded)).groups == folded.groups


@ENGINES
@pytest.mark.parametrize(
    ("code", "leaves"),
    [
        (DEAD, "6 leaf gradients, 5 of them 0"),
        (LORA, "2 leaf gradients, 1 of them 0"),
        (GAMMA, "3 leaf gradients, 2 of them 0"),
        (NONE_SPREAD, "1 leaf gradient, which is 0"),
    ],
    ids=["dead", "LoRA", "a scale of 0 at the start", "all"],
)
def test_zeros_are_counted_in_words_and_nothing_is_alarmed(
    code: str, leaves: str, engine: str
) -> None:
    graph = graph_of_code(code, engine)
    zeros, whole = zeros_in(graph)
    assert zeros
    some = f"all {whole}" if zeros == whole else f"{zeros} of {whole}"
    for one in (graph, fold(graph, max_boxes=4)):
        for view in ("both", "backward"):
            picture = make_picture(one, view)  # type: ignore[arg-type]
            assert f"○ {some} gradients are 0" in picture.captions[-1]
            assert leaves in picture.captions[-1]
            assert not any(picture.boxes.column("alert"))
            assert not any(picture.lines.column("alert"))
    assert make_picture(graph, "forward").zeros == ""


@ENGINES
def test_each_line_box_and_row_of_zero_is_told_from_the_others(engine: str) -> None:
    graph = graph_of_code(DEAD, engine)
    for view in ("both", "backward"):
        picture = make_picture(graph, view)  # type: ignore[arg-type]
        for line in picture.lines:
            stats = graph.edge_statistics.get(line.edge)
            is_zero = line.kind == "gradient" and stats is not None and stats.is_zero
            assert (line.step == ZERO) == is_zero
            assert line.label.endswith("rms 0 ○") == is_zero
        for box in picture.boxes:
            stats = graph.statistics.get(box.node)
            assert (box.step == ZERO) == bool(
                box.half == "backward" and stats is not None and stats.is_zero
            )
            for chip in box.chips:
                stats = graph.statistics.get(chip.node)
                is_zero = box.half == "backward" and stats is not None and stats.is_zero
                assert (chip.step == ZERO) == is_zero == chip.right.endswith("○")


@pytest.mark.parametrize("magnitude", [None, True, False])
def test_zeros_are_dashed_and_hollow_with_a_scale_and_without(magnitude: bool | None) -> None:
    graph = graph_of_code(DEAD, "core")
    picture = make_picture(graph)
    svg = gradstep.render(graph, magnitude=magnitude, full=True).text
    root = ElementTree.fromstring(svg)
    classes = [(g.get("class") or "").split() for g in root.iter("{http://www.w3.org/2000/svg}g")]
    lines = sum(line.step == ZERO for line in picture.lines)
    assert sum({"edge", "g0"} <= {*names} for names in classes) == lines > 0
    rows = sum(chip.step == ZERO for box in picture.boxes for chip in box.chips)
    assert sum({"chip", "g0"} <= {*names} for names in classes) == rows > 0
    for part in (".edge.g0 path", ".node.g0>rect", ".chip.g0 rect"):
        assert re.search(rf"{re.escape(part)}{{[^}}]*stroke-dasharray", svg)
    assert re.search(r"\.edge\.g0 \.tip{fill:" + theme.LIGHT["bg"], svg)


def test_dot_and_mermaid_and_text_tell_zeros_apart() -> None:
    graph = graph_of_code(DEAD, "core")
    zeros, whole = zeros_in(graph)
    said = f"○ {zeros} of {whole} gradients are 0"
    dot = gradstep.render(graph, format="dot", full=True).text
    assert dot.count("arrowhead=empty") == sum(
        line.step == ZERO for line in make_picture(graph).lines
    )
    assert 'style="rounded,filled,dashed"' in dot
    for view in ("both", "backward"):
        assert said in " ".join(gradstep.render(graph, format="dot", view=view).text.split())
        mermaid = gradstep.render(graph, format="mermaid", view=view).text  # type: ignore[arg-type]
        assert said in mermaid
        assert "stroke-dasharray:5 3" in mermaid
        assert " zero\n" in mermaid
        text = gradstep.render(graph, format="txt", view=view).text  # type: ignore[arg-type]
        assert said in text
        assert "[4.weight.grad rms 0 ○]" in text
        assert re.search(r"← ReluBackward0:1 \(.*rms 0 ○\)", text)
        svg = gradstep.render(graph, view=view).text  # type: ignore[arg-type]
        assert f"; {said.removeprefix('○ ')}." in svg  # in its title, for screen readers


@pytest.mark.parametrize("format", ["svg", "dot", "mermaid", "txt"])
def test_the_legend_explains_zero_where_it_occurs(format: str) -> None:
    def legend(code: str) -> str:
        graph = graph_of_code(code, "core")
        return gradstep.render(graph, format=format, legend=True).text

    assert "a gradient of 0" in legend(DEAD)
    alive = HEAD + "w = nn.Parameter(torch.ones(4))\nloss = (x * w).sum()\nloss.backward()\n"
    assert "a gradient of 0" not in legend(alive)
    assert "○" not in legend(alive)


def test_without_numbers_a_zero_is_still_no_flow() -> None:
    graph = graph_of_code(DEAD, "core")
    picture = make_picture(graph, facts=("shapes",))
    assert sum(line.step == ZERO for line in picture.lines)
    assert not any("rms 0.0" in line.label for line in picture.lines)
    assert not any(box.right == "not yet" for box in picture.boxes)


def test_zero_and_not_yet_and_undefined_are_three_looks() -> None:
    build = GraphBuilder("three")
    seed = build.node("seed", "backward", "seed", statistics=scalar(1))
    node = build.node("op", "backward", "FBackward", order=0, statistics=scalar(1))
    build.edge("gradient", seed, node, statistics=scalar(1))
    later = build.node("op", "backward", "LaterBackward0", order=1)
    build.edge(
        "gradient", later, build.node("leaf", "backward", "AccumulateGrad", variable="l", order=4)
    )
    zero, none = (
        build.node(
            "leaf", "backward", "AccumulateGrad", variable=name, order=order, statistics=stats,
            undefined=stats is None,
        )
        for name, order, stats in (("z", 2, scalar(0)), ("u", 3, None))
    )  # fmt: skip
    build.edge("gradient", node, zero, statistics=scalar(0))
    build.edge("gradient", node, none, output_nr=1, undefined=True)
    picture = make_picture(build.graph(), "backward", leaves=True)
    rights = {box.title: (box.right, box.step) for box in picture.boxes}
    assert rights["z.grad"] == ("0 ○", ZERO)
    assert rights["u.grad"] == ("undefined", 0)
    assert rights["l.grad"] == ("not yet", 0)
    looks = {
        picture.boxes[line.target].title: (line.step, line.waits, line.undefined)
        for line in picture.lines
    }
    assert looks == {
        "FBackward": (0, False, False), "l.grad": (0, True, False), "z.grad": (ZERO, False, False),
        "u.grad": (0, False, True),
    }  # fmt: skip
    svg = gradstep.render(build.graph(), view="backward", leaves=True, legend=True).text
    drawn = re.findall(r'class="edge gradient( [^"]*)?"', svg)
    assert sorted(drawn) == ["", "", " g0", " g0", " none", " none", " waits", " waits"]
    dot = gradstep.render(build.graph(), format="dot", view="backward", leaves=True).text
    assert (dot.count("penwidth=0.6"), dot.count("arrowhead=empty")) == (1, 1)
    assert "○ 1 of 2 known gradients is 0" in picture.captions[0]


def test_uses_that_cancel_have_a_sum_of_zero() -> None:
    code = HEAD + (
        "w = nn.Parameter(torch.ones(4))\nh = w\n"
        "for sign in (1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0):\n"
        "    h = torch.cat([h, (w * sign)])\n"
        "loss = (h[4:] * 1.0).sum()\nloss.backward()\n"
    )
    graph = graph_of_code(code, "core")
    picture = make_picture(graph, "backward", leaves=False)
    rows = [chip for box in picture.boxes for chip in box.chips if chip.name == "w.grad"]
    used = [chip for chip in rows if "rms 1" in chip.right]
    assert used
    assert all("rms 1, sum rms 0 ○" in chip.right and chip.step == ZERO for chip in used)


def test_totals_of_zeros_are_kept_in_json() -> None:
    small = fold(graph_of_code(DEAD, "core"), max_boxes=4)
    assert from_json(to_json(small)).unfolded == small.unfolded


@ENGINES
def test_in_a_film_a_gradient_is_hollow_once_it_has_come(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(DEAD if engine == "pytorch" else on_the_core(DEAD), "utf-8")
    assert main(["film", "-o", "frames/", "train.py"]) == 0
    frames = [path.read_text("utf-8") for path in sorted(Path("frames").glob("*.svg"))]
    counts = [frame.count('class="edge gradient g0"') for frame in frames]
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert re.search(r'class="node bwd g0"', frames[-1])
    assert re.search(r'class="chip leaf g0"', frames[-1])
    assert "rms 0 ○" in frames[-1]


@ENGINES
def test_in_a_film_a_row_comes_and_goes_with_its_box(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tied = HEAD + (
        "class Tied(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.emb = nn.Embedding(10, 4)\n"
        "        self.fc = nn.Linear(4, 4)\n"
        "        self.fc2 = nn.Linear(4, 4)\n"
        "    def forward(self, ids):\n"
        "        h = torch.tanh(self.fc2(torch.tanh(self.fc(self.emb(ids)))))\n"
        "        return h @ self.emb.weight.t()\n"
        "ids = torch.tensor([1, 2, 3])\n"
        "loss = nn.functional.cross_entropy(Tied()(ids), ids)\nloss.backward()\n"
    )
    Path("train.py").write_text(tied if engine == "pytorch" else on_the_core(tied), "utf-8")
    assert main(["film", "-o", "frames/", "train.py"]) == 0
    numbers = r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    shared = 0
    for path in sorted(Path("frames").glob("*.svg")):
        frame = path.read_text("utf-8")
        boxes = [
            [*map(float, found)]
            for found in re.findall(
                rf'<g class="node \w+(?: g0)?"><title>[^<]*</title><rect {numbers}', frame
            )
        ]
        rows = re.findall(rf'<g class="chip \w+(?: g0)?"><rect {numbers}', frame)
        shared += frame.count(">emb.weight<")
        for x, y, width, height in (map(float, row) for row in rows):
            assert any(
                left <= x and x + width <= left + wide and top <= y and y + height <= top + high
                for left, top, wide, high in boxes
            ), path.name
    assert shared > 2
