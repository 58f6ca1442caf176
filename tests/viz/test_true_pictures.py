"""A picture never lies: every line stands for edges of the graph, and the leaves of the forward
half are those of the backward half."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.autograd.call import make_call
from gradstep import Graph, capture, trace
from gradstep.capturing import Names
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.folding import fold
from gradstep_viz.embedding import snippet_of
from gradstep_viz.embedding.drawing import graph_at
from gradstep_viz.embedding.running import run
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.model import VIEWS, Line, Picture, View
from gradstep_viz.picture.records import Records
from tests.autograd_core.programs import Program, leaves_of, programs, run_program
from tests.viz import sample_graphs, sample_programs
from tests.viz.sample_programs import graph_of
from tests.viz.truth import check_folded, check_leaves, check_lines, check_mirror, check_saved

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
EXHIBITS = sorted(
    {
        name
        for page in GALLERY.glob("*.rst")
        for name in re.findall(
            r"^\.\. (?:exhibit|autograd-graph):: (\S+)$", page.read_text("utf-8"), re.M
        )
    }
)


def check_all(graph: Graph) -> None:
    """The graph is true, whole and folded, and so are its pictures."""
    check_leaves(graph)
    check_mirror(graph)
    small = fold(graph, max_boxes=8)
    check_folded(graph, small)
    for view in VIEWS:
        for leaves in (None, True, False):
            for one in (graph, small):
                check_lines(one, picture_of(one, view, leaves=leaves), leaves)


def check_folded_to(most: int, graph: Graph) -> None:
    """A large graph is true, and so is its picture in so many boxes."""
    check_leaves(graph)
    check_mirror(graph)
    small = fold(graph, max_boxes=most)
    check_folded(graph, small)
    check_lines(small, picture_of(small))


def picture_of(graph: Graph, view: View = "both", leaves: bool | None = None) -> Picture:
    """The picture, which other tests are given only after the same checks."""
    picture: Picture = inspect.unwrap(make_picture)(graph, view, leaves=leaves)
    return picture


def remade(leaves: Sequence[Any], how: str) -> list[Any]:
    """The leaves as results of ops: ``requires_grad_()`` on what was computed, or on a view."""
    if how == "computed":
        return [(x.detach() * 0.5).requires_grad_(x.requires_grad) for x in leaves]
    if how == "view":
        return [x.detach().reshape(4).view(2, 2).requires_grad_(x.requires_grad) for x in leaves]
    return list(leaves)


@settings(max_examples=8 * settings().max_examples // 5)
@given(
    programs(),
    st.booleans(),
    st.sampled_from(["plain", "computed", "view"]),
    st.sampled_from(["backward", "create_graph", "penalty"]),
)
def test_random_programs_have_true_pictures(
    program: Program, traced: bool, made: str, kind: str
) -> None:
    with trace() if traced else nullcontext():
        leaves = remade(leaves_of(program, torch), made)
        total = run_program(program, torch, leaves)
        wanted = [x for x in leaves if x.requires_grad]
        if kind != "backward":
            found = torch.autograd.grad(total, wanted, create_graph=True, allow_unused=True)
            norm = sum(((g * g).sum() for g in found if g is not None), torch.tensor(0.0))
            total = norm + total if kind == "penalty" else norm
    if total.requires_grad:
        graph = capture(total, names=Names({"leaves": leaves, "total": total}))
        check_all(graph)
        check_saved(graph)


@given(programs(), st.booleans(), st.booleans(), st.data())
def test_a_pass_to_some_inputs_has_a_true_picture(
    program: Program, traced: bool, is_grad: bool, data: st.DataObject
) -> None:
    inner: list[Any] = []
    with trace() if traced else nullcontext():
        leaves = leaves_of(program, torch)
        total = run_program(program, torch, leaves, inner)
    places = [x for x in (*leaves, *inner) if x.requires_grad]
    inputs = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique_by=id))
    call = make_call(total, None, None, False)._replace(inputs=tuple(inputs), is_grad=is_grad)
    with ObservedPass(call, Names({"leaves": leaves, "total": total})) as seen:
        check_all(seen.graph("both"))
        seen.run()
        graph = seen.graph("both")
    check_all(graph)
    wanted = {id(x) for x in inputs if x.is_leaf}
    assert sum(kind == "leaf" for kind in graph.kinds) <= 2 * len(wanted)


@pytest.mark.sampled(5)
@pytest.mark.torch
@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_the_gallery_has_true_pictures(exhibit: str) -> None:
    with trace():
        found = run([snippet_of(exhibit, GALLERY)])
    for step in (None, -1):
        check_folded_to(40, graph_at(found.value, Names(found.variables), step))


def test_a_line_that_is_lost_is_noticed() -> None:
    graph = sample_graphs.shared()
    picture = make_picture(graph)
    lines = Records.of(Line, picture.lines[1:])
    with pytest.raises(AssertionError, match="an edge lost"):
        check_lines(graph, picture._replace(lines=lines))


def test_a_line_between_other_boxes_is_noticed() -> None:
    graph = sample_graphs.shared()
    picture = make_picture(graph)
    first, *others = picture.lines
    for astray in (first._replace(source=first.target), first._replace(target=first.source)):
        with pytest.raises(AssertionError):
            check_lines(graph, picture._replace(lines=Records.of(Line, [astray, *others])))


def test_a_leaf_without_its_gradient_is_noticed() -> None:
    graph = sample_graphs.shared()
    leaf = next(
        id
        for id, half in enumerate(graph.halves)
        if graph.kinds[id] == "leaf" and half == "backward"
    )
    kinds = ["op" if id == leaf else kind for id, kind in enumerate(graph.kinds)]
    with pytest.raises(AssertionError, match="unequal leaves"):
        check_leaves(replace(graph, kinds=kinds))


def test_an_edge_that_stands_for_too_few_is_noticed() -> None:
    graph = graph_of(sample_programs.transformer)
    small = fold(graph, max_boxes=8)
    several = next(id for id, count in small.edge_counts.items() if count > 1)
    counts = {**small.edge_counts, several: small.edge_counts[several] - 1}
    with pytest.raises(AssertionError):
        check_folded(graph, replace(small, edge_counts=counts))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("program", sample_programs.ALL, ids=lambda program: program.__name__)
def test_folded_programs_have_true_pictures(
    program: Callable[[], sample_programs.Program], traced: bool
) -> None:
    graph = graph_of(program, traced)
    for most in (8, 40):
        check_folded_to(most, graph)
