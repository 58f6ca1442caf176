"""A picture never lies: every line stands for edges of the graph, and the leaves of the forward
half are those of the backward half."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.autograd.call import make_call
from autograd_core.dag import Graph, Names, capture, trace
from autograd_core.dag.folding import fold
from autograd_core.debug.history.observed_pass import ObservedPass
from tests.autograd_core.programs import Program, leaves_of, programs, run_program
from tests.viz import sample_programs
from tests.viz.truth import check_folded, check_leaves, check_lines, check_mirror
from viz.picture.compose import make_picture
from viz.picture.model import VIEWS


def check_all(graph: Graph) -> None:
    """The graph is true, whole and folded, and so are its pictures."""
    check_leaves(graph)
    check_mirror(graph)
    small = fold(graph, max_boxes=8)
    check_folded(graph, small)
    for view in VIEWS:
        for leaves in (None, True, False):
            check_lines(graph, make_picture(graph, view, leaves=leaves), leaves)
            check_lines(small, make_picture(small, view, leaves=leaves), leaves)


def remade(leaves: Sequence[Any], how: str) -> list[Any]:
    """The leaves as results of ops: ``requires_grad_()`` on what was computed, or on a view."""
    if how == "computed":
        return [(x.detach() * 0.5).requires_grad_(x.requires_grad) for x in leaves]
    if how == "view":
        return [x.detach().reshape(4).view(2, 2).requires_grad_(x.requires_grad) for x in leaves]
    return list(leaves)


@settings(max_examples=200)
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
        check_all(capture(total, names=Names({"leaves": leaves, "total": total})))


@settings(max_examples=100)
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


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("program", sample_programs.ALL, ids=lambda program: program.__name__)
def test_folded_programs_have_true_pictures(
    program: Callable[[], sample_programs.Program], traced: bool
) -> None:
    graph = sample_programs.graph_of(program, traced)
    check_leaves(graph)
    check_mirror(graph)
    for most in (8, 40):
        small = fold(graph, max_boxes=most)
        check_folded(graph, small)
        check_lines(small, make_picture(small))
