"""Pictures of rows say what the graph knows, and can be read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from gradstep.comparing.align import align
from gradstep.comparing.merging import merged
from gradstep.graph.folding.totals import totals
from gradstep.graph.model import PARAMETER_KINDS, Graph
from gradstep.graph.serialize import from_json
from gradstep_tui.cli import main
from gradstep_viz import RenderOptions
from gradstep_viz.errors import UnknownNode
from gradstep_viz.flow.compose import make_flow_picture
from gradstep_viz.flow.facts import Size
from gradstep_viz.flow.lanes import lanes_of, port_numbers
from gradstep_viz.flow.layout import FlowPicture, Words, lay_out_rows
from gradstep_viz.flow.parts import Ops
from gradstep_viz.flow.rows import MOST_ROWS, Row, Table
from gradstep_viz.options import View
from gradstep_viz.picture.formatting import count
from gradstep_viz.rendering import render_graph
from tests.engines.architecture_programs import PROGRAMS, on_the_core
from tests.viz.browser import Browser
from tests.viz.random_nets import net_program

OWN_PROGRAMS = {
    "dead": """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
with torch.no_grad():
    model[0].bias.fill_(-1000.0)
loss = model(torch.ones(3, 4)).pow(2).mean()
loss.backward()
""",
    "broken": """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 2)
outputs = model(torch.ones(3, 4))
spread = (outputs - outputs).pow(2).sum().sqrt()
loss = spread + outputs.mean()
loss.backward()
""",
    "unrolled": """
import torch
from torch import nn
torch.manual_seed(0)
cell, head = nn.Linear(6, 4), nn.Linear(4, 1)
series, h = torch.randn(3, 20, 2), torch.zeros(3, 4)
for t in range(20):
    h = torch.tanh(cell(torch.cat([series[:, t], h], 1)))
loss = head(h).pow(2).mean()
loss.backward()
""",
    "two_inputs": """
import torch
from torch import nn
torch.manual_seed(0)
left, right = nn.Linear(4, 8), nn.Linear(6, 8)
one, two, labels = torch.ones(3, 4), torch.ones(3, 6), torch.tensor([0, 1, 2])
joint = torch.tanh(left(one)) * torch.tanh(right(two))
logits = joint @ joint.T
loss_match = nn.functional.cross_entropy(logits, labels)
loss_size = joint.pow(2).mean()
loss = loss_match + 0.1 * loss_size
loss.backward()
""",
    "by_hand": """
import torch
from torch import nn
torch.manual_seed(0)

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.bias = nn.Linear(4, 6), nn.Embedding(6, 1)
        self.register_buffer("places", torch.arange(6).reshape(2, 3))

    def forward(self, x):
        kept = [self.score(x) + self.bias(self.places.flatten()).flatten()]
        kept.append(kept[-1].exp())
        kept.append(kept[-1].sum(1, keepdim=True))
        kept.append(kept[-1] + 1e-16)
        return kept[1] / kept[3]

attention, head = Attention(), nn.Linear(6, 2)
x, labels = torch.randn(5, 4), torch.tensor([0, 1, 0, 1, 1])
loss = nn.functional.cross_entropy(head(attention(x)), labels)
loss.backward()
""",
    "dense": """
import torch
from torch import nn
torch.manual_seed(0)
layers = nn.ModuleList(nn.Linear(3 + 2 * number, 2) for number in range(12))
maps = [torch.randn(4, 3)]
for layer in layers:
    maps.append(torch.tanh(layer(torch.cat(maps, 1))))
loss = torch.cat(maps, 1).pow(2).mean()
loss.backward()
""",
    "ladder": """
import torch
torch.manual_seed(0)
x, kept = torch.randn(4, 3, requires_grad=True), []
for step in range(10):
    x = torch.tanh(x * 1.5)
    kept.append(x)
for step in range(10):
    x = torch.tanh(x) * kept.pop()
loss = x.pow(2).mean()
loss.backward()
""",
    "skips": """
import torch
torch.manual_seed(0)
x, kept = torch.randn(4, 3, requires_grad=True), []
first = torch.tanh(x)
second = torch.sin(first)
third = torch.exp(second * 0.1)
fourth = torch.sigmoid(third)
fifth = torch.cos(fourth)
sixth = torch.relu(fifth)
seventh = torch.sqrt(sixth + 1)
eighth = torch.log(seventh + 1)
ninth = torch.abs(eighth)
tenth = torch.square(ninth)
a = tenth * first
b = torch.sin(a) + ninth
c = torch.tanh(b) * second
d = torch.exp(c) * third
e = torch.cos(d) + fourth
f = torch.relu(e) * fifth
g = torch.sqrt(f + 2) * sixth
h = torch.log(g + 2) + seventh
i = torch.abs(h) * eighth
loss = i.pow(2).mean()
loss.backward()
""",
    "derivatives": """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

def derivative(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

x, t = (torch.rand(6, 1).requires_grad_() for _ in range(2))
u = net(torch.cat([x, t], 1))
u_t = derivative(u, t)
u_x = derivative(u, x)
u_xx = derivative(u_x, x)
residual = u_t + u * u_x - u_xx
loss = residual.pow(2).mean()
loss.backward()
""",
    "two_stacks": """
import torch
from torch import nn
torch.manual_seed(0)

class Across(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.value = nn.Linear(4, 4), nn.Linear(4, 4)
    def forward(self, x):
        return torch.tanh(self.query(x)) * self.value(x)

class Block(nn.Module):
    def __init__(self, across):
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)
        self.across = Across() if across else None
    def forward(self, x):
        x = x + self.down(torch.relu(self.up(x)))
        return x if self.across is None else x + self.across(x)

class Stack(nn.Module):
    def __init__(self, across):
        super().__init__()
        self.blocks = nn.ModuleList([Block(across) for _ in range(3)])
        self.norm = nn.LayerNorm(4)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

first, second, x = Stack(False), Stack(True), torch.randn(5, 4)
loss = second(first(x)).pow(2).mean()
loss.backward()
""",
    "turned": """
import torch
from torch import nn
torch.manual_seed(0)
query, key = nn.Linear(4, 4), nn.Linear(4, 4)
inputs = torch.randn(3, 4)
cos, sin = torch.rand(4), torch.rand(4)

def turned(x):
    front = x[:, :2]
    back = x[:, 2:]
    return torch.cat([-back, front], 1)

def placed(x):
    return (x * cos) + (turned(x) * sin)

def cost(x):
    far = x - 1
    return far.pow(2).mean()

q = placed(query(inputs))
k = placed(key(inputs))
total = q.sum()
total = total + cost(q)
for each in range(2):
    total = total + cost(each * k)
loss = total * 1
loss.backward()
""",
    "in_words": """
import torch
from torch import nn
torch.manual_seed(0)

class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.down = nn.Parameter(torch.ones(4)), nn.Linear(6, 4)
        self.gate, self.up, self.act = nn.Linear(4, 6), nn.Linear(4, 6), Act()
    def forward(self, x):
        made = self.down(self.act(self.gate(x)) * self.up(x))
        return x + self.scale * made

class Act(nn.Module):
    def forward(self, x):
        return torch.tanh(x)

first, mixed, x = nn.Linear(4, 4), Mixed(), torch.randn(3, 4)
hidden = first(x)
z = mixed(hidden) * 2; y = z.sin()
loss = y.pow(2).mean()
loss.backward()
""",
    "side_by_side": """
import torch
from torch import nn
torch.manual_seed(0)
class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)
    def forward(self, x):
        return self.down(torch.relu(self.up(x)))
maker, critic = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh())
experts = nn.ModuleList(Expert() for _ in range(3))
made = maker(torch.ones(6, 2))
judged = critic(made.detach())
total = judged.sum() * 0
for number, expert in enumerate(experts):
    total = total + expert(judged[number:]).sum()
loss = total.pow(2).mean()
loss.backward()
""",
    "two_streams": """
import torch
from torch import nn
torch.manual_seed(0)
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.across = nn.Linear(3, 4), nn.Linear(4, 4)
    def forward(self, targets, memory):
        own = torch.tanh(self.embed(targets))
        read = own * memory
        mixed = own + self.across(read)
        return torch.sin(mixed)
encoder = nn.Sequential(*[nn.Linear(4, 4) for _ in range(8)])
decoder = Decoder()
sources, targets = torch.randn(5, 4), torch.randn(5, 3)
loss = decoder(targets, encoder(sources)).pow(2).mean()
loss.backward()
""",
    "recurrent": """
import torch
from torch import nn
torch.manual_seed(0)
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)
    def forward(self, x, h):
        joined = torch.cat([x, h], 1)
        return torch.tanh(self.layer(joined))
cell = Cell()
series, h = torch.randn(3, 20, 2), torch.zeros(3, 4)
for t in range(20):
    h = cell(series[:, t], h)
loss = h.pow(2).mean()
loss.backward()
""",
    "plain": """
import torch
x = torch.ones(3, requires_grad=True)
y = x
for number in range(70):
    y = y.sin() if number % 3 else y.exp() * x
loss = y.sum()
loss.backward()
""",
}
RANDOM = {f"net{seed}": net_program(seed) for seed in range(40)}
OWN_PROGRAMS["by_hand_named"] = OWN_PROGRAMS["by_hand"].replace(
    "kept.append(kept[-1].exp())", "sizes = kept[-1].exp()\n        kept.append(sizes)"
)
EVERY = {**PROGRAMS, **OWN_PROGRAMS, **RANDOM}


class Drawn(NamedTuple):
    graph: Graph
    picture: FlowPicture

    @property
    def rows(self) -> list[Row]:
        return self.picture.table.rows

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if name in (row.name, row.kind_text))


@lru_cache(maxsize=64)
def graph_of(program: str, folder: Path) -> Graph:
    file, graph = folder / f"{program}.py", folder / f"{program}.json"
    file.write_text(on_the_core(EVERY[program]), "utf-8")
    assert main(["render", "-o", str(graph), str(file)]) == 0
    return from_json(graph.read_text("utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flow")


@pytest.fixture(params=sorted(EVERY))
def drawn(request: pytest.FixtureRequest, folder: Path) -> Drawn:
    return draw(request.param, folder)


def draw(program: str, folder: Path, **options: object) -> Drawn:
    graph = graph_of(program, folder)
    chosen = RenderOptions(view="flow", **options)  # type: ignore[arg-type]
    return Drawn(graph, make_flow_picture(graph, chosen))


@pytest.mark.sampled(6)
def test_columns_add_up_to_the_totals_of_the_graph(drawn: Drawn) -> None:
    total, rows = totals(drawn.graph), [row for row in drawn.rows if row.kind == "row"]
    assert sum(row.own for row in rows) == total.parameters
    assert sum(row.saved for row in rows) == total.saved_bytes
    assert sum(row.ops for row in rows) == total.ops
    for row in drawn.rows:
        if row.kind == "header":
            inside = [one for one in rows if is_inside(one, row, drawn.rows)]
            assert row.parameters == sum(one.own for one in inside)
            assert row.saved == sum(one.saved for one in inside)


@pytest.mark.sampled(6)
def test_the_smallest_gradient_and_the_largest_layer_are_those_of_the_graph(drawn: Drawn) -> None:
    graph, rows = drawn.graph, drawn.rows
    extremes = {one.kind: one for one in drawn.picture.table.extremes}
    if not extremes:
        assert len(rows) < 8
        return
    of_ops = [
        stats.rms
        for id, stats in graph.statistics.items()
        if graph.halves[id] == "backward" and graph.kinds[id] == "op" and stats.size > 1
        and not stats.trouble and stats.rms > 0
    ]  # fmt: skip
    if "smallest" not in extremes:
        assert len({f"{rms:.2g}" for row in rows for rms in known(row)}) < 8
        return
    smallest, largest = extremes["smallest"], extremes["largest"]
    assert smallest.size is not None
    assert largest.size is not None
    overall = extremes.get("inside", smallest).size
    assert overall is not None
    # those of the weights that are turned are no gradients of results
    assert overall.rms == pytest.approx(min(of_ops), rel=0.01) or "t" in op_names(graph)
    assert overall.rms <= smallest.size.rms
    least = min(min(known(row)) for row in rows if known(row))
    assert smallest.size.rms == pytest.approx(least, rel=0.01)
    most = max(max(known(row)) for row in rows if known(row))
    assert largest.size.rms == pytest.approx(most, rel=0.01)
    shown = [row for row in rows if "smallest" in row.extremes]
    assert shown == [rows[smallest.row]]
    if "smallest" not in shown[0].hidden:
        assert smallest.size.rms == pytest.approx(min(known(shown[0])), rel=0.01)
    if layer := extremes.get("layer"):
        layers: dict[str, int] = {}
        for id, kind in enumerate(graph.kinds):
            if kind in PARAMETER_KINDS and graph.halves[id] == "forward":
                name = graph.variables[id].rpartition(".")[0] or graph.variables[id]
                layers[name] = layers.get(name, 0) + math.prod(graph.shapes[id] or ())
        assert layer.parameters == max(layers.values())


def op_names(graph: Graph) -> set[str]:
    return {name for name, kind in zip(graph.names, graph.kinds, strict=True) if kind == "op"}


def known(row: Row) -> list[float]:
    if row.kind != "row" or row.is_scalar:
        return []
    return [one.rms for one in row.gradients if one is not None and not one.state]


@pytest.mark.sampled(6)
def test_parameters_of_rounds_are_told_for_each(drawn: Drawn) -> None:
    for row in drawn.rows:
        if row.each:
            assert row.each * len(row.rounds) == row.parameters


def test_a_shared_weight_says_with_what(folder: Path) -> None:
    unrolled = draw("unrolled", folder)
    (header,) = [row for row in unrolled.rows if row.badge]
    assert header.note == "same weights in each round"
    assert (unrolled.row("cell").uses, unrolled.row("cell").note) == (20, "shared")
    gpt = draw("gpt", folder)
    assert any(row.shared_with for row in gpt.rows)


def test_what_is_shared_is_told_where_its_rows_have_no_room_for_it(folder: Path) -> None:
    narrow = draw("gan", folder, width="420").picture
    of_rows = " ".join(words.text for row in narrow.rows for words in row.words)
    foot = " ".join(words.text for words in narrow.words)
    assert "shared" not in of_rows
    assert "Shared weights: discriminator.0, discriminator.2 (2 uses each)." in foot


def test_one_of_each_kind_is_open_and_of_one_class_where_it_has_others_inside(folder: Path) -> None:
    rows = draw("two_stacks", folder).rows
    opened = [row.name for row in rows if row.kind == "header"]
    assert opened == ["first", "blocks.0 … 2", "second", "blocks.0 … 2", "across"]


def test_what_goes_to_the_next_round_is_a_state(folder: Path) -> None:
    rows = draw("unrolled", folder).rows
    assert [row.kind_text for row in rows if row.is_state] == ["tanh"]
    assert not any(row.is_state for row in draw("gpt", folder).rows)


def test_a_loop_has_its_input_above_it(folder: Path) -> None:
    rows = draw("unrolled", folder).rows
    (header,) = [at for at, row in enumerate(rows) if row.badge]
    assert rows[header - 1].kind == "input"


def is_inside(row: Row, header: Row, rows: list[Row]) -> bool:
    while row.header >= 0:
        row = rows[row.header]
        if row is header:
            return True
    return False


@pytest.mark.sampled(6)
def test_shapes_and_gradients_are_those_of_the_ops(drawn: Drawn) -> None:
    graph = drawn.graph
    shapes, sizes = set(graph.shapes), {one.rms for one in graph.statistics.values()}
    for row in drawn.rows:
        assert {*row.shapes_in, *row.shapes_out} <= {*shapes, *graph.edge_shapes}
        for size in row.gradients:
            assert size is None or size.state or size.rms in sizes


@pytest.mark.sampled(6)
def test_rows_are_linked_as_their_ops_are(drawn: Drawn) -> None:
    graph, rows = drawn.graph, drawn.rows
    row_of = {}
    for at, row in enumerate(rows):
        for unit in row.units if row.kind == "row" else ():
            row_of[unit] = at
    forward = [id for id, kind in enumerate(graph.kinds) if is_op(graph, id, kind)]
    assert len(row_of) >= len(forward)
    links = {(link.source, link.target) for link in drawn.picture.table.links}
    for source, target in links:
        assert source < target
        assert rows[source].has_dot
        assert rows[target].has_dot
    units, rounds = Ops(graph).units, Counter[tuple[int, int]]()
    for unit, sources in enumerate(units.inputs if units else ()):
        rounds.update({(row_of[source], row_of[unit]) for source in sources})
    for (source, target), times in rounds.items():
        whole = max(len(rows[source].rounds), len(rows[target].rounds))
        inside = rows[source].panel == rows[target].panel != 0
        if source < target and (not inside or times >= whole):
            assert (source, target) in links
    linked = {at for link in links for at in link}
    assert linked == {at for at, row in enumerate(rows) if row.has_dot} or len(rows) == 1


def is_op(graph: Graph, id: int, kind: str) -> bool:
    return kind == "op" and graph.halves[id] == "forward"


def texts_of(picture: FlowPicture) -> Iterator[Words]:
    yield from picture.words
    for row in picture.rows:
        yield from row.words


@pytest.mark.sampled(8)
@pytest.mark.parametrize("width", ["830", "640", "500"])
def test_texts_can_be_read_and_none_is_on_another(drawn: Drawn, width: str) -> None:
    check_texts(make_flow_picture(drawn.graph, RenderOptions(view="flow", width=width)), int(width))


def check_texts(picture: FlowPicture, width: int) -> None:
    assert picture.width <= width
    texts = list(texts_of(picture))
    for text in texts:
        assert text.size >= 10
        assert text.left >= 0
        assert text.left + text.width <= picture.width, text.text
    lines: dict[float, list[Words]] = {}
    for text in texts:
        lines.setdefault(text.y, []).append(text)
    for line in lines.values():
        for one, other in pairwise(sorted(line, key=lambda text: text.left)):
            assert one.left + one.width <= other.left, (one.text, other.text)
    assert all(abs(one - other) >= 10 or one == other for one, other in pairwise(sorted(lines))
               if not near(one, other))  # fmt: skip


def near(one: float, other: float) -> bool:
    """Tell whether two base lines are those of one row: that of a badge is a little higher."""
    return abs(one - other) < 1


@pytest.mark.sampled(6)
def test_no_line_runs_through_the_dot_of_another_row(drawn: Drawn) -> None:
    picture = drawn.picture
    for stroke in picture.strokes:
        for row in picture.rows:
            if row.dot is not None and stroke.source < row.number < stroke.target:
                assert row.dot.x != stroke.lane_x
    ends = {(one.source, one.target) for one in picture.strokes}
    for link in picture.table.links:
        lane = picture.lanes.links[link.source, link.target]
        assert ((link.source, link.target) in ends) == (lane >= 0)
    upright: dict[float, list[tuple[int, int, int]]] = {}
    for link in picture.table.links:
        if (link.source, link.target) in picture.lanes.collected:
            continue
        lane = picture.lanes.links[link.source, link.target]
        upright.setdefault(lane, []).append((link.source, link.target, link.source))
    for lane, spans in upright.items():
        for (first, last, _), (start, stop, _) in combinations(spans, 2):
            apart = last <= start or stop <= first
            assert lane < 0 or apart or first == start or last == stop


@pytest.mark.sampled(6)
def test_there_are_not_too_many_rows(drawn: Drawn) -> None:
    assert len(drawn.rows) <= MOST_ROWS


def test_the_same_graph_gives_the_same_bytes(folder: Path) -> None:
    graph = graph_of("gpt", folder)
    for format in ("svg", "txt", "html"):
        one, other = (render_graph(graph, format, RenderOptions(view="flow")) for _ in range(2))
        assert one.data == other.data


def test_a_row_says_where_gradients_end(folder: Path) -> None:
    drawn = draw("dead", folder)
    assert [row.name for row in drawn.rows if row.note == "gradient ends here"] == ["1"]
    assert "gradient ends here" in render_graph(drawn.graph, "svg", RenderOptions(view="flow")).text
    assert any(one.tone == "hollow" for row in drawn.picture.rows for one in row.blocks)


def test_a_row_says_where_nan_starts(folder: Path) -> None:
    drawn = draw("broken", folder)
    (row,) = [row for row in drawn.rows if row.tone == "alert"]
    assert row.name == "spread"
    assert row.note == "NaN starts here, in sqrt"


def test_rounds_of_a_loop_share_rows_with_a_bar_for_each(folder: Path) -> None:
    drawn = draw("unrolled", folder)
    (header,) = [row for row in drawn.rows if row.badge]
    assert header.badge == "× 20"
    inside = [row for row in drawn.rows if row.panel == header.panel and row.kind == "row"]
    assert [len(row.gradients) for row in inside] == [20] * len(inside)
    assert drawn.row("cell").parameters == 28


def test_losses_and_named_results_have_rows(folder: Path) -> None:
    drawn = draw("two_inputs", folder)
    names = [row.name for row in drawn.rows]
    for name in ("one", "two", "left", "right", "joint", "logits", "loss_match", "loss_size"):
        assert name in names
    assert drawn.row("loss").value
    assert drawn.row("loss_match").operands == ["labels"]


def test_results_of_functions_and_modules_are_told_by_their_variables(folder: Path) -> None:
    drawn = draw("derivatives", folder)
    names = [row.name for row in drawn.rows]
    assert [name for name in names if name in ("u_t", "u_x", "u_xx")] == ["u_t", "u_x", "u_xx"]
    assert drawn.row("2").result == "u"


def test_rows_of_two_runs_have_both_gradients(folder: Path) -> None:
    one = graph_of("two_inputs", folder)
    file = folder / "other.py"
    code = OWN_PROGRAMS["two_inputs"].replace("0.1 * loss_size", "10 * loss_size")
    file.write_text(on_the_core(code.replace("torch.tanh(left(one))", "left(one)")), "utf-8")
    assert main(["render", "-o", str(folder / "other.json"), str(file)]) == 0
    other = from_json((folder / "other.json").read_text("utf-8"))
    both = merged(align(one, other))
    picture = make_flow_picture(both, RenderOptions(view="flow"))
    rows = {row.name: row for row in picture.table.rows}
    (theirs,) = rows["right"].others
    assert theirs is not None
    place = next(id for id, scope in enumerate(other.scopes) if scope == "right"
                 and other.names[id].startswith("Addmm"))  # fmt: skip
    assert theirs.rms == other.statistics[place].rms
    assert {row.kind_text: row.note for row in rows.values()}["tanh"] == "− removed"
    changed = next(row for row in rows.values() if row.kind_text == "tanh")
    assert changed.tone == "warn"
    assert rows["loss"].value != rows["loss"].other_value != ""
    assert any(block.tone == "second" for row in picture.rows for block in row.blocks)
    assert " | " in render_graph(both, "txt", RenderOptions(view="flow")).text
    check_texts(picture, 830)


def test_links_that_need_too_many_lanes_end_in_ports(folder: Path) -> None:
    drawn = draw("ladder", folder, full=True)
    assert drawn.picture.lanes.number <= 9
    assert drawn.picture.lanes.ports
    text = render_graph(drawn.graph, "txt", RenderOptions(view="flow", full=True)).text
    for row, known in port_numbers(drawn.picture.lanes).items():
        assert f"{','.join(map(str, known))} " in text.splitlines()[4 + row]


def test_a_line_that_would_cross_many_lanes_ends_in_ports() -> None:
    spine = list(pairwise(range(14)))
    even, odd = ([(at, to) for to in range(at + 2, 14, 2)] for at in (0, 1))
    lanes = lanes_of(range(14), [*spine, *even, *odd])
    assert lanes.ports == {1: 1}
    assert {pair for pair, lane in lanes.links.items() if lane < 0} == {*odd}
    assert port_numbers(lanes) == {row: [1] for row in range(1, 14, 2)}
    assert not lanes_of(range(14), [*spine, *even]).ports


def test_lanes_are_in_the_order_that_crosses_least() -> None:
    spine = list(pairwise(range(13)))
    far = [(0, at) for at in range(2, 13, 2)]
    lanes = lanes_of(range(13), [*spine, *far, (1, 11)])
    assert not lanes.ports
    assert lanes.links[0, 2] < lanes.links[1, 11]


def test_rows_that_read_all_that_came_before_take_it_from_one_lane(folder: Path) -> None:
    drawn = draw("dense", folder)
    lanes = drawn.picture.lanes
    assert lanes.number == 2
    assert {lanes.links[link] for link in lanes.collected} == {1}
    read = Counter(target for _, target in lanes.links)
    said = {words.text for words in drawn.picture.words if words.text.endswith(" in")}
    assert said == {f"{read[target]} in" for _, target in lanes.collected}
    assert "13 in" in said


def test_a_softmax_that_is_written_out_is_one_row_unless_its_parts_have_names(
    folder: Path,
) -> None:
    assert draw("by_hand", folder).row("softmax").ops == 4
    rows = draw("by_hand_named", folder).rows
    assert "sizes" in [row.name for row in rows]
    assert "softmax" not in [row.kind_text for row in rows]


def test_what_a_module_made_and_nobody_named_has_no_row(folder: Path) -> None:
    assert [row.name for row in draw("by_hand", folder).rows if row.kind == "input"] == ["x"]


def test_columns_go_in_turn_where_it_is_narrow(folder: Path) -> None:
    pictures = [draw("resnet18", folder, width=width).picture for width in ("830", "710", "500")]
    assert ["saved" in {text.text for text in one.words} for one in pictures] == [True, True, False]
    tones = [{block.tone for row in one.rows for block in row.blocks} for one in pictures]
    assert ["memory" in one for one in tones] == [True, False, False]


def test_a_function_that_a_statement_calls_is_part_of_it(folder: Path) -> None:
    drawn = draw("turned", folder)
    names = [row.name for row in drawn.rows]
    assert names.count("q") == names.count("k") == 1
    assert not {"front", "back"} & {*names}
    assert sum(row.ops for row in drawn.rows if row.name in ("q", "k")) == 14
    # a line that comes again adds to what it made: that is no function in the middle of it
    assert sum(row.name == "far" for row in drawn.rows) == 3


def test_a_mark_takes_no_room_from_what_is_told_of_the_graph() -> None:
    size = Size(0.001)
    # fmt: off
    row = Row(
        "row", 0, name="conv.0", kind_text="Conv2d", attributes="3×3, stride 2",
        uses=2, shapes_in=[(8, 1, 28, 28)], shapes_out=[(8, 8, 26, 26)],
        parameters=80, own=80, gradients=[size], parameter_gradient=size, saved=9000,
    )
    marked = replace(row, extremes=("smallest",))
    texts = {
        width: [words.text for words in lay_out_rows(Table([row, marked], []), "", (), (), width)
                .rows[1].words]
        for width in (780, 830)
    }
    # fmt: on
    assert any(text.endswith("shared, 2 uses") for text in texts[780])
    assert "▼" in texts[780]
    assert "▼ smallest" in texts[830]


def test_a_table_of_short_names_is_less_wide(folder: Path) -> None:
    assert draw("dead", folder).picture.width < draw("resnet18", folder).picture.width == 830


def test_what_is_asked_for_is_open(folder: Path) -> None:
    whole, named = draw("resnet18", folder, full=True), draw("resnet18", folder, expand="layer4.1")
    assert len(whole.rows) > len(named.rows)
    assert [row.name for row in named.rows if row.kind == "header"].count("layer4.1") == 1
    assert len(draw("resnet18", folder, max_boxes=12).rows) <= 13


@pytest.mark.parametrize("view", ["flow", "both"])
def test_what_is_to_be_folded_stays_so(view: View, folder: Path) -> None:
    graph = graph_of("resnet18", folder)
    for name in ("BasicBlock", "layer1.0"):
        open_one, shut = (
            render_graph(graph, "svg", RenderOptions(view=view, fold=fold)).text
            for fold in ((), name)
        )
        assert "layer1.0.conv1" in open_one
        assert "layer1.0.conv1" not in shut
    with pytest.raises(UnknownNode, match="nothing that can be folded is called 'BasicBlok'"):
        render_graph(graph, "svg", RenderOptions(view=view, fold="BasicBlok"))


def test_a_module_is_told_by_its_attributes(folder: Path) -> None:
    row = draw("resnet18", folder).row("conv1")
    assert (row.kind_text, row.attributes) == ("Conv2d", "7×7, 8, stride 2")


def test_both_halves_are_drawn_where_they_can_be_read_else_rows(folder: Path) -> None:
    small, large = graph_of("dead", folder), graph_of("resnet18", folder)
    assert "forward ↓" in render_graph(small, "svg").text
    assert "flow · " in render_graph(large, "svg").text
    assert "forward ↓" in render_graph(large, "svg", RenderOptions(view="both")).text
    # what is about boxes asks for boxes
    assert "forward ↓" in render_graph(large, "svg", RenderOptions(max_boxes=20)).text
    # where there is no room even for a small one
    assert "flow · " in render_graph(small, "svg", RenderOptions(width="430")).text


@pytest.mark.parametrize("format", ["dot", "mermaid", "json"])
def test_text_for_other_programs_is_always_the_graph(format: str, folder: Path) -> None:
    graph = graph_of("resnet18", folder)
    texts = [
        render_graph(graph, format, RenderOptions(view=view)).text  # type: ignore[arg-type]
        for view in ("auto", "both", "flow")
    ]
    assert texts[0] == texts[1] == texts[2]


def test_rows_of_a_page_open_and_close(browser: Browser, folder: Path) -> None:
    page = folder / "page.html"
    rendering = render_graph(graph_of("resnet18", folder), "html", RenderOptions(view="flow"))
    page.write_text(rendering.text, "utf-8")
    script = """
    const rows = () => shown.filter(row => !row.hasAttribute("hidden"));
    const named = name => rows().find(row => row.textContent.includes(name));
    const counts = [rows().length];
    named("layer2").dispatchEvent(new MouseEvent("click"));
    counts.push(rows().length);
    named("layer2").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
    counts.push(rows().length);
    document.getElementById("close").click();
    counts.push(rows().length, rows().filter(row => row.querySelector(".dot")).length);
    document.getElementById("open").click();
    counts.push(rows().length);
    return counts;
    """
    first, closed, again, least, dots, most = browser.say(page, script)
    assert closed < first == again < most
    assert least == dots < closed


def test_ports_of_a_page_lead_to_where_their_lines_go_on(browser: Browser, folder: Path) -> None:
    graph, page = graph_of("skips", folder), folder / "ports.html"
    page.write_text(render_graph(graph, "html", RenderOptions(view="flow")).text, "utf-8")
    script = """
    const ports = () => [...document.querySelectorAll(".port")];
    const visited = () => [...document.querySelectorAll(".visited")].map(row => row.dataset.row);
    const numbers = ports().map(port => port.textContent);
    const [first] = ports();
    const [source, target] = data.ports.find(port => String(port[2]) === first.textContent);
    first.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
    return [numbers, [String(target)], visited(), document.querySelectorAll("a.port").length];
    """
    numbers, wanted, visited, links = browser.say(page, script)
    assert len(numbers) == links > 3
    assert wanted == visited


LOOK = """
const box = one => { const {left, right, top, bottom} = one.getBoundingClientRect();
                     return {left, right, top: top + 3, bottom: bottom - 3}; };
const meet = (one, other) => one.left < other.right && other.left < one.right
                          && one.top < other.bottom && other.top < one.bottom;
const texts = [...document.querySelectorAll("text")].map(one => ({...box(one),
  text: one.textContent, size: parseFloat(getComputedStyle(one).fontSize)}));
const pills = [...document.querySelectorAll("rect.mark, rect.badge")].map(box);
const whole = document.documentElement.getBoundingClientRect();
const lines = [...document.querySelectorAll("path.lane, path.zero, path.none")].map(box);
return [
  ...texts.flatMap((one, at) => texts.slice(at + 1).filter(other => meet(one, other))
    .map(other => `${one.text} | ${other.text}`)),
  ...pills.flatMap(pill => texts.filter(one => meet(pill, one)
    && !(pill.left <= one.left && one.right <= pill.right)).map(one => `mark on ${one.text}`)),
  ...lines.flatMap(line => texts.filter(one => meet(line, one)).map(one => `line in ${one.text}`)),
  ...texts.filter(one => one.size < 10 || one.left < whole.left || one.right > whole.right)
    .map(one => `${one.text} at ${one.size}`),
];
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", ["830", "560"])
def test_all_can_be_read_in_a_browser(width: str, browser: Browser, folder: Path) -> None:
    for program in sorted({*EVERY} - {*RANDOM} | {*list(RANDOM)[::4]}):
        picture = folder / f"{program}.svg"
        options = RenderOptions(view="flow", width=width)
        picture.write_text(render_graph(graph_of(program, folder), "svg", options).text, "utf-8")
        assert browser.say(picture, LOOK) == [], program


def test_a_row_says_which_parameters_it_reads_and_that_it_is_residual(folder: Path) -> None:
    whole, closed = draw("in_words", folder), draw("in_words", folder, fold="mixed")
    (scaled,) = [row for row in whole.rows if row.operands == ["scale"]]
    assert scaled.parameters == 4
    assert closed.row("mixed").is_residual
    assert not any(row.is_residual for row in whole.rows)


def test_a_name_is_that_of_the_last_op_of_the_one_statement_of_its_lines(folder: Path) -> None:
    rows = draw("in_words", folder).rows
    assert [row.name for row in rows if "made" in (row.name, row.result)] == ["down"]
    graph = graph_of("in_words", folder)
    assert {graph.names[id]: name for id, name in graph.results.items()}["sin"] == "y"


def test_parameters_that_are_counted_above_stand_in_parentheses(folder: Path) -> None:
    gan = draw("gan", folder)
    texts = {words.text for row in gan.picture.rows for words in row.words}
    again = [row for row in gan.rows if row.parameters and not row.own and row.kind == "row"]
    assert again
    assert {f"({count(row.parameters)})" for row in again} <= texts


def test_an_input_without_a_variable_is_called_as_the_program_writes_it(folder: Path) -> None:
    inputs = [row.name for row in draw("side_by_side", folder).rows if row.kind == "input"]
    assert inputs == ["made (detached)"]


def test_rounds_side_by_side_are_told_from_those_in_series(folder: Path) -> None:
    drawn = draw("side_by_side", folder)
    assert [row.badge for row in drawn.rows if row.badge] == ["3 side by side"]
    assert drawn.row("up").shapes_in == [(6, 4), (5, 4), (4, 4)]
    assert "4…6×4" in {words.text for row in drawn.picture.rows for words in row.words}
    assert not any(row.is_state for row in drawn.rows)
    series = draw("unrolled", folder).rows
    assert [row.badge for row in series if row.badge] == ["× 20"]


def test_lines_into_a_loop_are_as_wide_as_in_its_first_round_and_out_as_in_its_last(
    folder: Path,
) -> None:
    drawn = draw("unrolled", folder)
    rows, sizes = drawn.rows, {}
    for link in drawn.picture.table.links:
        sizes[rows[link.source].kind_text, rows[link.target].kind_text] = link.size
    (gradients,) = [row.gradients for row in rows if row.kind_text == "tanh"]
    assert sizes["tanh", "Linear"] == gradients[-1]


def test_the_spine_goes_on_inside_the_module_that_reads_from_another(folder: Path) -> None:
    drawn = draw("two_streams", folder)
    spine = {row.name for at, row in enumerate(drawn.rows) if drawn.picture.lanes.of.get(at) == 0}
    assert {"targets", "embed", "mixed"} <= spine
    assert "sources" not in spine


def test_a_loop_around_calls_of_one_module_is_one_fold_with_all_that_most_rounds_do(
    folder: Path,
) -> None:
    rows = draw("recurrent", folder).rows
    assert [(row.name, row.badge) for row in rows if row.badge] == [("t = 0 … 19", "× 20")]
    assert [row.name or row.kind_text for row in rows if row.panel and row.kind == "row"] == [
        "select", "joined", "layer", "tanh",
    ]  # fmt: skip
