"""The lanes are right: each edge runs from its producer's row to its target's row, alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph
from gradstep_tui.app.plan.lanes import (
    CHECKPOINT_EVERY,
    MAX_LANES,
    Lanes,
    PlanEdges,
)
from gradstep_viz.flow.lane_rows import LaneRow, draw_row

LINES = set("│┤├┼╮╭┬─")


def graph_of(length: int, edges: Sequence[tuple[int, int]]) -> Graph:
    build = GraphBuilder()
    for _ in range(length):
        build.node("op", "backward", "MulBackward0")
    for source, target in edges:
        build.edge("gradient", source, target)
    return build.graph()


def lanes_of(length: int, edges: Sequence[tuple[int, int]]) -> Lanes:
    return Lanes(PlanEdges(graph_of(length, edges), length), length)


def picture(length: int, edges: Sequence[tuple[int, int]], cap: int = MAX_LANES) -> list[str]:
    lanes = lanes_of(length, edges)
    rows = lanes.rows(0, length)
    shown = min(cap, lanes.width)
    return ["".join(c.text for c in draw_row(row, shown, "●")).rstrip() for row in rows]


@st.composite
def plans(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    length = draw(st.integers(1, 40))
    pairs = st.tuples(st.integers(0, length - 1), st.integers(0, length - 1))
    edges = draw(st.lists(pairs, max_size=80))
    return length, [(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]]


def test_a_chain_is_one_straight_line() -> None:
    assert picture(3, [(0, 1), (1, 2)]) == ["●", "●", "●"]


def test_a_skip_connection_gets_a_lane_and_is_joined() -> None:
    # 0 sends to 1 and past it to 2; 1 joins what waits for 2
    assert picture(3, [(0, 1), (0, 2), (1, 2)]) == ["●─╮", "●─┤", "  ●"]


def test_a_line_that_only_crosses_a_lane_leaves_it_whole() -> None:
    # 0 opens lanes for 1, 4 and 2, in this order; 1 sends to 2, past the lane of 4
    drawn = picture(6, [(0, 1), (0, 4), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5)])
    assert drawn[1] == "●─│─┤"


def test_a_leaf_steps_aside_for_what_goes_on() -> None:
    # node 0 sends first to the leaf 1, then to 2, which goes on to 3
    assert picture(4, [(0, 1), (0, 2), (2, 3)]) == ["●─╮", "│ ●", "●", "●"]


def test_several_edges_between_two_nodes_are_one_line() -> None:
    assert picture(2, [(0, 1), (0, 1), (0, 1)]) == ["●", "●"]


def test_past_the_cap_lanes_are_counted() -> None:
    edges = [(0, target) for target in range(1, 8)]
    drawn = picture(8, edges, cap=3)
    assert drawn[0] == "●─┬─┬─→#5+3", "the edges that are not drawn lead to #5 and three others"
    assert drawn[1].endswith("⋯+4")
    assert drawn[-1].endswith("●")
    assert sum("⋯" in line or "+" in line for line in drawn) >= 4


@given(plans())
def test_lanes_never_collide(plan: tuple[int, list[tuple[int, int]]]) -> None:
    """Between a node's first producer and its own row nobody else is in its lane."""
    length, edges = plan
    rows = lanes_of(length, edges).rows(0, length)
    first_producer: dict[int, int] = {}
    for source, target in edges:
        first_producer[target] = min(source, first_producer.get(target, source))
    for target, opened in first_producer.items():
        lane = rows[target].column
        if lane < MAX_LANES:
            for row in rows[opened:target]:
                assert row.after[lane] == target
            for row in rows[opened + 1 : target + 1]:
                assert row.before[lane] == target


@given(plans())
def test_every_edge_is_drawn_from_its_producer_to_its_target(
    plan: tuple[int, list[tuple[int, int]]],
) -> None:
    length, edges = plan
    lanes = lanes_of(length, edges)
    rows = lanes.rows(0, length)
    for source, target in edges:
        assert rows[target].column in rows[source].joins
    for row in rows:
        expected = {rows[target].column for source, target in edges if source == row.node}
        assert set(row.joins) == expected
        assert_drawn(row, lanes.width)


def assert_drawn(row: LaneRow, width: int) -> None:
    """The characters connect the node with each lane that it joins."""
    cap = min(width, MAX_LANES)
    cells = draw_row(row, cap, "●")
    for lane in row.joins:
        left, right = sorted((row.column, lane))
        for place in range(2 * left + 1, min(2 * right, 2 * cap)):
            assert cells[place].text in LINES
    if row.column < cap:
        assert cells[2 * row.column].text == "●"
    for lane, owner in enumerate(row.before[:cap]):
        if owner is not None and lane != row.column:
            assert cells[2 * lane].text in "│┤├┼"


@given(plans())
def test_hidden_lanes_are_counted_right(plan: tuple[int, list[tuple[int, int]]]) -> None:
    length, edges = plan
    for row in lanes_of(length, edges).rows(0, length):
        waiting = {t for s, t in edges if s <= row.node < t}
        visible = sum(owner is not None for owner in row.after)
        assert row.hidden == len(waiting) - visible


@pytest.mark.parametrize("start", [0, 1, 255, 256, 257, 700, 1023])
def test_rows_from_a_checkpoint_equal_rows_from_the_start(start: int) -> None:
    length = 4 * CHECKPOINT_EVERY
    edges = [(i, i + 1) for i in range(length - 1)]
    edges += [(i, i + 300) for i in range(0, length - 300, 7)]
    everything = lanes_of(length, edges).rows(0, length)
    assert lanes_of(length, edges).rows(start, start + 40) == everything[start : start + 40]


def test_only_what_was_asked_for_is_computed() -> None:
    lanes = lanes_of(10_000, [(i, i + 1) for i in range(9_999)])
    lanes.rows(0, 50)
    assert lanes.computed == 50
    assert not lanes.complete


def test_a_seed_edge_from_outside_the_plan_has_no_lane() -> None:
    build = GraphBuilder()
    for name in ("MulBackward0", "AccumulateGrad", "seed"):
        build.node("op", "backward", name)
    build.edge("gradient", 2, 0)
    build.edge("gradient", 0, 1)
    edges = PlanEdges(build.graph(), 2)
    assert edges.targets_of(0) == [1]
    assert edges.producers_of(0) == []
    assert edges.producers_of(1) == [1]
