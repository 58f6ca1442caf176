"""What a plot shows are facts of the run, whoever draws it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.recording.facts import Flow, LeafFacts, Values
from gradstep.recording.run import MemoryRun, structure_of
from gradstep_viz.errors import NothingToDraw, UnknownNode
from gradstep_viz.plots.columns import MOST_COLUMNS, columns_of
from gradstep_viz.plots.contents import contents_of
from gradstep_viz.plots.maps import Cell, Map, map_of, severity
from gradstep_viz.plots.rows import MOST_ROWS, rows_of
from gradstep_viz.plots.shading import SHADES, shading_of
from gradstep_viz.plots.sizes import Sizes, State, size_of, sizes_of
from tests.viz.runs import run_of

NAN, INF = math.nan, math.inf


def sizes(run: MemoryRun) -> Sizes:
    return sizes_of(run, ["rms"], [*run.calls()], range(len(run.leaves)))["rms"]


def whole(run: MemoryRun) -> Map:
    found = contents_of(run).map
    assert found is not None
    return found


def test_every_cell_of_a_small_run_is_the_fact_of_one_leaf_in_one_call() -> None:
    run = run_of(["b", "a"], 20, lambda leaf, index: [(leaf + 1.0) * index, 0.5])
    shown = whole(run)
    assert [row.name for row in shown.rows] == ["b", "a"]
    for leaf, index in product(range(2), range(1, 21)):
        facts = run.of_leaves(index)[leaf]
        assert facts.after is not None
        cell = shown[leaf, index - 1]
        assert cell == Cell(State.SIZE, facts.after.rms, cell.jumps, leaf, index, 1)


STATES = {
    "finite": ([1.0, -2.0], State.SIZE), "zero": ([0.0, 0.0], State.ZERO),
    "inf": ([INF, 1.0], State.INF), "nan": ([NAN, INF], State.NAN), "nothing": ([], State.NONE),
}  # fmt: skip


@pytest.mark.parametrize("kind", STATES)
def test_a_cell_says_what_is_known(kind: str) -> None:
    elements, state = STATES[kind]
    run = run_of(["w"], 3, lambda leaf, index: elements if index == 2 else [1.0])
    assert [State(each) for each in whole(run).states[0]] == [State.SIZE, state, State.SIZE]


def test_what_was_not_recorded_is_not_what_a_call_did_not_come_to() -> None:
    run = run_of(
        ["w", "v"], 8, lambda leaf, index: None if leaf and index < 5 else [1.0],
        level=lambda index: "call" if index in (3, 7) else "leaves",
    )  # fmt: skip
    shown = whole(run)
    assert shown[0, 2].state is State.UNRECORDED is shown[1, 2].state is shown[1, 6].state
    assert shown[1, 1].state is State.ABSENT
    assert shown[1, 1].call == shown[1, 2].call == -1


@given(
    st.lists(st.sampled_from([1e-9, 1e-3, 0.5, 0.9, 1.0, 30.0, 0.0, NAN, INF]), min_size=1),
    st.integers(1, 7),
)
def test_a_cell_of_several_calls_shows_the_worst(values: list[float], most: int) -> None:
    """NaN, then Inf, then a jump, then what is farthest from the median; the first of equals."""
    run = run_of(["w"], len(values), lambda leaf, index: [values[index - 1]])
    table = sizes(run)
    columns = columns_of(range(1, len(values) + 1), most=most)
    shown = map_of(rows_of(run.leaves, [0]), columns, table)
    assert len(columns) <= most
    finite = sorted(math.log10(each) if each else -INF for each in values if math.isfinite(each))
    median = finite[(len(finite) - 1) // 2] if finite else 0.0

    def badness(place: int) -> tuple[int, float]:
        value = values[place]
        if not math.isfinite(value):
            return (4 if math.isnan(value) else 3), 0.0
        power = math.log10(value) if value else -INF
        rank = 2 if table.jumps[place] else 1
        return rank, 0.0 if power == median else abs(power - median)

    assert severity(table).tolist() == [badness(place)[0] for place in range(len(values))]
    for column in range(len(columns)):
        places = range(int(columns.starts[column]) - 1, min(columns.ends[column], len(values)))
        first = max(places, key=lambda place: (*badness(place), -place))
        cell = shown[0, column]
        assert (cell.call, cell.among) == (first + 1, len(places))
        assert cell.state is size_of(run.of_leaves(first + 1)[0], "rms").state


def test_zero_is_the_worst_only_where_it_is_not_usual() -> None:
    """With gradient accumulation three updates of four are 0."""
    run = run_of(
        ["w"], 40, lambda leaf, index: [1.0], update=lambda leaf, index: 0.01 * (index % 4 == 0)
    )
    read = sizes_of(run, ["update"], [*run.calls()], [0])["update"]
    shown = map_of(rows_of(run.leaves, [0]), columns_of(range(1, 41), most=10), read)
    assert {cell.state for cell in (shown[0, at] for at in range(10))} == {State.SIZE}


def test_a_jump_is_measured_by_calls_of_the_same_line() -> None:
    """The two passes of a GAN come to the same leaves with gradients of different sizes."""

    def elements(leaf: int, index: int) -> list[float]:
        return [1000.0 if index == 41 else 1.0 if index % 2 else 50.0]

    alternating = run_of(["w"], 60, elements, line=lambda index: index % 2)
    assert np.flatnonzero(sizes(alternating).jumps).tolist() == [40]
    early = run_of(["w"], 12, lambda leaf, index: [1.0 if index < 5 else 1000.0])
    assert not sizes(early).jumps.any()  # too few came before it


def test_leaves_stand_in_forward_order_as_the_graphs_of_calls_have_it() -> None:
    """The program made them in another order, and each call comes to some of them."""
    names = ["head", "b.2", "b.1", "stem", "unseen"]
    run = run_of(names, 3, lambda leaf, index: [1.0])
    for index, order in ((1, ["head", "b.1", "stem"]), (2, ["head", "b.2", "stem"])):
        build = GraphBuilder()
        for done, name in enumerate(order):
            build.node("leaf", "backward", "AccumulateGrad", variable=name, order=done)
        structure = structure_of(build.graph())
        run.add_structure(structure)
        call = run.call(index)._replace(structure=structure.key, level="stats")
        run.add_ended(call, run.of_leaves(index), Flow(Values(StatisticsTable(0), [], []), {}, {}))
    rows = whole(run).rows
    assert [row.name for row in rows] == ["stem", "unseen", "b.2", "b.1", "head"]


@pytest.mark.parametrize(("leaves", "calls"), [(450, 12), (2, 1300)])
def test_a_large_map_is_bounded_and_loses_nothing_bad(leaves: int, calls: int) -> None:
    worst = {(1, 3): NAN, (leaves - 1, calls): INF, (0, calls // 2): 0.0}
    names = [f"layer.{number}" for number in range(leaves)]
    run = run_of(names, calls, lambda leaf, index: [worst.get((leaf, index), 1.0)])
    shown = whole(run)
    rows, columns = shown.states.shape
    assert rows <= MOST_ROWS
    assert columns <= MOST_COLUMNS
    assert shown.among.sum() == leaves * calls
    cells = [shown[row, column] for row in range(rows) for column in range(columns)]
    assert {*worst} <= {(cell.leaf, cell.call) for cell in cells}


def test_where_leaves_were_recorded_of_some_calls_a_column_stands_for_as_many() -> None:
    run = run_of(["w"], 300, lambda leaf, index: [1.0],
                 level=lambda index: "leaves" if index % 10 == 0 else "call")  # fmt: skip
    shown = whole(run)
    assert shown.columns.width == 10
    assert State.UNRECORDED not in shown.states[0, 1:-1]


def test_few_calls_far_from_each_other_stand_side_by_side() -> None:
    chosen = columns_of([1, 100, 500])  # --call 1,100,500
    assert [chosen.title(column) for column in range(3)] == ["call 1", "call 100", "call 500"]
    columns = columns_of([1, 2, 3, 4, 1000, 100_000])
    assert not columns.is_even
    assert columns.places(np.array([1, 1000, 100_000])).tolist() == [0.5, 4.5, 5.5]
    assert columns.said == "recorded calls, side by side"
    even = columns_of(range(1318, 1338))  # of a flight recorder
    assert (even.is_even, len(even), int(even.starts[0])) == (True, 20, 1318)


def test_two_sick_layers_are_named() -> None:
    """The first one vanishes, one is never updated: both are to be seen at once."""
    names = ["first", "mid", "frozen", "out"]
    run = run_of(
        names,
        50,
        lambda leaf, index: [10.0 ** (3 * leaf - 9), 10.0 ** (3 * leaf - 10)],
        update=lambda leaf, index: None if index == 1 else 0.0 if leaf == 2 else 10.0 ** (leaf - 5),
    )
    found = contents_of(run)
    assert [remark.text for remark in found.remarks] == ["frozen never changes"]
    by_row = dict(zip((row.name for row in whole(run).rows), found.spreads, strict=True))
    assert by_row["frozen"].is_zero
    assert not by_row["first"].is_zero
    assert by_row["first"].median == pytest.approx(1e-5)
    assert found.shading is not None
    assert found.map is not None
    shades = found.shading.of(found.map.values)
    assert shades[0].max() < shades[1].min() < shades[2].min() < shades[3].min()


def test_a_leaf_that_no_optimizer_holds_is_said_so() -> None:
    run = run_of(["w"], 5, lambda leaf, index: [1.0], update=lambda leaf, index: 0.0)
    last = run.of_leaves(5)[0]._replace(optimizer="")
    run.add_ended(run.call(5), [last], None)
    (remark,) = contents_of(run).remarks
    assert remark.text == "w never changes; no optimizer holds it"


def test_an_unknown_update_is_not_0() -> None:
    assert size_of(LeafFacts(0, None, None), "update").state is State.NONE
    run = run_of(["w"], 5, lambda leaf, index: [1.0], update=lambda leaf, index: None)
    found = contents_of(run)
    assert found.remarks == []
    assert found.spreads[0].known == 0


def test_trouble_is_named_where_it_came_first() -> None:
    run = run_of(["w", "v"], 9, lambda leaf, index: [NAN if index > 4 + leaf else 1.0])
    assert contents_of(run, "nan").remarks[0].text == "NaN first in call 5: w"
    fine = contents_of(run_of(["w"], 9, lambda leaf, index: [1.0]), "nan")
    assert [remark.is_alert for remark in fine.remarks] == [False]


def test_gradient_flow_has_the_extremes_that_facts_know() -> None:
    run = run_of(["a", "b"], 9, lambda leaf, index: [-1.0, 2.0] if leaf else [3.0, 4.0])
    lines = contents_of(run, "rms").flow
    assert [line.call.index for line in lines] == [1, 5, 9]
    a, b = lines[0].points
    assert (a.least, a.greatest, a.size.value) == (3.0, 4.0, pytest.approx(math.sqrt(12.5)))
    assert (b.least, b.greatest) == (None, 2.0)


@pytest.mark.parametrize(("what", "values"), [
    ("loss", [1 / index for index in range(1, 31)]),
    ("memory", [1000.0 * index for index in range(1, 31)]),
    ("time", [0.01 * index for index in range(1, 31)]),
])  # fmt: skip
def test_a_series_has_the_number_of_each_call(what: str, values: list[float]) -> None:
    run = run_of(["w"], 30, lambda leaf, index: [1.0])
    (panel,) = contents_of(run, what).panels  # type: ignore[arg-type]
    (series,) = panel.series
    for each in (series.least, series.mean, series.greatest):
        assert each.tolist() == values


def test_a_series_keeps_lines_apart_and_counts_what_is_not_finite() -> None:
    run = run_of(["w"], 2000, lambda leaf, index: [1.0], line=lambda index: index % 2,
                 level=lambda index: "stats" if index == 6 else "leaves",
                 loss=lambda index: NAN if index == 1999 else float(index))  # fmt: skip
    (panel,) = contents_of(run, "loss").panels
    assert [each.name for each in panel.series] == ["train.py:1", "train.py:0"]
    odd, even = panel.series
    assert odd.troubled.sum() == 1
    assert even.count == 1000
    assert (even.least[0], even.greatest[0], even.mean[0]) == (2.0, 4.0, 3.0)
    (panel,) = contents_of(run, "time").panels
    assert [each.name for each in panel.series] == [
        "train.py:1", "train.py:0", "train.py:0, watched node by node"
    ]  # fmt: skip


def test_some_leaves_and_some_calls() -> None:
    run = run_of(["net.fc1.weight", "net.fc1.bias", "net.fc2.weight"], 30, lambda *_: [1.0])
    found = contents_of(run, of=["net.fc1", "*2.w*"], wanted=lambda call: call.index > 20)
    assert found.map is not None
    assert [row.name for row in found.map.rows] == [
        "net.fc1.weight",
        "net.fc1.bias",
        "net.fc2.weight",
    ]
    assert found.map.states.shape == (3, 10)
    with pytest.raises(UnknownNode, match=r"no leaf matches 'net.fc3'; did you mean net.fc"):
        contents_of(run, of=["net.fc3"])


def test_nothing_to_draw_is_an_error_that_says_so() -> None:
    bare = run_of(["w"], 3, lambda *_: [1.0], level=lambda index: "call", loss=lambda index: None)
    for what, said in (("rms", "the leaves of no call"), ("loss", "no loss of any call")):
        with pytest.raises(NothingToDraw, match=said):
            contents_of(bare, what)  # type: ignore[arg-type]
    with pytest.raises(NothingToDraw, match="no such call was recorded"):
        contents_of(bare, wanted=lambda call: False)


@given(st.lists(st.floats(min_value=1e-300, max_value=1e300), min_size=1))
def test_every_size_has_a_shade_and_larger_ones_no_lighter_one(values: list[float]) -> None:
    found = shading_of(np.array(values))
    assert found is not None
    assert found.count <= SHADES
    ordered = found.of(np.sort(np.array(values)))
    assert (np.diff(ordered) >= 0).all()
    assert ordered.min() >= 0
    assert ordered.max() < found.count


def test_what_becomes_0_and_stays_so_is_told() -> None:
    run = run_of(["a", "b", "c"], 30, lambda leaf, call: [float(leaf == 2 or call < 20)])
    assert [remark.text for remark in contents_of(run, "rms").remarks] == [
        "a and b are 0 from call 20 on"
    ]


def test_a_zero_at_the_end_alone_is_not_told() -> None:
    run = run_of(["a"], 30, lambda leaf, call: [float(call < 30)])
    assert contents_of(run, "rms").remarks == []


def test_jumps_are_told() -> None:
    run = run_of(["a", "b"], 30, lambda leaf, call: [1e3 if leaf and call in (20, 25) else 1.0])
    assert [remark.text for remark in contents_of(run, "rms").remarks] == ["jump in call 20: b"]
