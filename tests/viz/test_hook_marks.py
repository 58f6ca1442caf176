"""A gradient that a hook changed is marked, in every format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_core as torch
import gradstep
from autograd_core.autograd.call import make_call
from gradstep import Graph, trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.folding import fold
from gradstep.graph.folding.parts import neighbourhood
from gradstep.graph.model import HookChange
from gradstep.graph.serialize import from_json, to_json
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.legend import legend_of
from gradstep_viz.picture.model import Line, Picture


def tenfold(g: Any) -> Any:
    return g * 10


def doubled_in_place(g: Any) -> None:
    g.mul_(2)


def looking(g: Any) -> None:
    pass


def graph_with(register: Callable[[Any, Any], object]) -> Graph:
    """The pass through (3x)², with hooks on it: 12 arrives at the multiplication, 36 at x."""
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        y = x * 3
        z = y**2
    register(x, y)
    with ObservedPass(make_call(z, None, None, False), Names({"x": x, "y": y, "z": z})) as seen:
        seen.run()
        return seen.graph("both")


def marked(picture: Picture) -> dict[str, Line]:
    """The lines with a mark, by the titles of the boxes that they lead to."""
    return {picture.boxes[one.target].title: one for one in picture.lines if one.hooked}


def halves(grad_inputs: Any, grad_outputs: Any) -> Any:
    return tuple(None if g is None else g / 2 for g in grad_inputs)


@pytest.mark.parametrize(
    ("register", "target", "label", "names"),
    [
        (lambda x, y: y.register_hook(tenfold), "MulBackward0", "12 → 120 hook",
         ("tensor hook tenfold",)),
        (lambda x, y: y.register_hook(doubled_in_place), "MulBackward0", "12 → 24 hook",
         ("tensor hook doubled_in_place",)),
        (lambda x, y: y.grad_fn.register_prehook(lambda gs: (gs[0] + 1,)), "MulBackward0",
         "12 → 13 hook", None),
        (lambda x, y: y.grad_fn.register_hook(halves), "x.grad", "36 → 18 hook",
         ("post hook halves",)),
        (lambda x, y: x.register_hook(tenfold), "x.grad", "36 → 360 hook",
         ("tensor hook tenfold",)),
        (lambda x, y: (y.grad_fn.register_hook(halves), x.register_hook(tenfold)), "x.grad",
         "36 → 180 hook", ("post hook halves", "tensor hook tenfold")),
        (lambda x, y: (y.register_hook(tenfold), y.register_hook(doubled_in_place)),
         "MulBackward0", "12 → 240 hook", ("tensor hook tenfold", "tensor hook doubled_in_place")),
    ],
)  # fmt: skip
def test_a_changed_gradient_is_marked_on_its_edge(
    register: Callable[[Any, Any], object], target: str, label: str, names: tuple[str, ...] | None
) -> None:
    graph = graph_with(register)
    found = marked(make_picture(graph))
    assert list(found) == [target]
    assert found[target].label == label
    change = graph.edge_hooks[found[target].edge]
    assert names is None or change.hooks == names
    assert f"changed by {', '.join(change.hooks)}: from" in found[target].tooltip


def test_a_hook_that_only_looks_leaves_no_mark() -> None:
    graph = graph_with(lambda x, y: y.register_hook(looking))
    assert not graph.edge_hooks
    assert not graph.hooks
    assert not any("hook" in entry.words for entry in legend_of(make_picture(graph)))


def test_a_change_of_a_sum_is_told_in_its_box() -> None:
    with trace():
        x = torch.tensor(2.0, requires_grad=True)
        y = x * 3
        z = y * y
    y.register_hook(tenfold)
    x.register_post_accumulate_grad_hook(doubled_grad)
    with ObservedPass(make_call(z, None, None, False), Names({"x": x, "y": y, "z": z})) as seen:
        seen.run()
        picture = make_picture(seen.graph("both"))
    details = {box.title: box.detail for box in picture.boxes if box.hooked}
    assert details == {
        "MulBackward0": "12 → 120 hook · g · 3",
        "x.grad": "360 → 720 hook · #3 · 0 + 360",
    }
    assert not marked(picture)


def doubled_grad(leaf: Any) -> None:
    leaf.grad.mul_(2)


def test_a_leaf_inside_a_box_tells_what_became_of_its_gradient() -> None:
    with trace():
        x, w = torch.ones(2, 3), torch.ones(3, requires_grad=True)
        loss = (x * w).sum()
    w.register_hook(tenfold)
    with ObservedPass(make_call(loss, None, None, False), Names({"w": w, "loss": loss})) as seen:
        seen.run()
        picture = make_picture(seen.graph("both"), leaves=False)
    chips = {chip.name: chip.right for box in picture.boxes for chip in box.chips}
    assert chips["w.grad"] == "rms 2 → rms 20 hook"


def test_every_format_has_the_mark_and_the_legend_explains_it() -> None:
    graph = graph_with(lambda x, y: y.register_hook(tenfold))
    texts = {
        name: gradstep.render(graph, format=name, legend=True).text
        for name in ("svg", "html", "dot", "txt", "mermaid")
    }
    for name, text in texts.items():
        assert "12 → 120 hook" in text, name
    for name in ("svg", "html", "dot", "txt"):
        assert "changed" in texts[name], name
        assert "before → after" in texts[name], name
    assert 'class="hook"' in texts["svg"]
    assert "arrowhead=normalodot" in texts["dot"]
    assert "tensor hook tenfold" in texts["html"]


def test_the_file_of_a_graph_keeps_what_hooks_changed() -> None:
    graph = graph_with(lambda x, y: (y.register_hook(tenfold), x.register_hook(tenfold)))
    assert len(graph.edge_hooks) == 2
    assert from_json(to_json(graph)).edge_hooks == graph.edge_hooks
    with_sum = graph_with(lambda x, y: x.register_post_accumulate_grad_hook(doubled_grad))
    assert with_sum.hooks
    assert from_json(to_json(with_sum)).hooks == with_sum.hooks


def test_a_part_of_a_graph_keeps_its_marks() -> None:
    graph = graph_with(lambda x, y: y.register_hook(tenfold))
    part = neighbourhood(graph, [graph.edge_targets[next(iter(graph.edge_hooks))]], 1)
    assert [part.address(part.edge_targets[id]) for id in part.edge_hooks] == ["mul:1"]


def test_a_fold_tells_how_many_changes_are_inside() -> None:
    with trace():
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(12):
            y = (y * 2).sin()
            y.register_hook(tenfold)
    with ObservedPass(make_call(y, None, None, False), Names({"x": x, "y": y})) as seen:
        seen.run()
        small = fold(seen.graph("backward"), ("backward",), max_boxes=5)
    told = [len(changes) for changes in small.hooks.values()]
    assert sum(told) + len(small.edge_hooks) == 12
    picture = make_picture(small, "backward")
    assert any(f"{max(told)} hooks" in box.detail for box in picture.boxes)


def test_the_debugger_marks_a_gradient_once_its_hook_has_run() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    y.register_hook(tenfold)
    session = Session(y**2, names={"x": x, "y": y})
    session.do("next")
    assert "hook" not in gradstep.render(session, format="txt").text
    session.do("next")
    assert "12 → 120 hook" in gradstep.render(session, format="txt").text
    session.do("back")
    assert "hook" not in gradstep.render(session, format="txt").text


def test_several_changes_on_one_line_are_told_by_name_only() -> None:
    change = HookChange(("tensor hook a", "tensor hook b"), None, None)
    graph = graph_with(lambda x, y: y.register_hook(tenfold))
    edge = next(iter(graph.edge_hooks))
    assert isinstance(graph.edge_hooks, dict)
    graph.edge_hooks[edge] = change
    line = marked(make_picture(graph))["MulBackward0"]
    assert line.label == "12 hook"
    assert line.tooltip.endswith("changed by tensor hook a, tensor hook b")
