"""What `gradstep.render` takes: tensors, modules, functions with inputs, graphs, sessions."""

from __future__ import annotations

import re

import pytest

import autograd_core as torch
import gradstep
from autograd_core import nn
from gradstep_viz.errors import NothingToDraw, UnknownFormat


def draw(drawn, **options):
    return gradstep.render(drawn, format="txt", **options).text


def test_a_module_is_called_with_its_inputs():
    module = nn.Linear(3, 2)
    for inputs in (torch.ones(4, 3), (torch.ones(4, 3),), {"input": torch.ones(4, 3)}):
        text = draw(module, inputs=inputs)
        assert text.startswith("Linear\n")
        assert re.search(r"addmm +with t  ← drawn.weight, drawn.bias, .*input", text)


def test_boxes_lead_to_the_line_that_called():
    svg = gradstep.render(nn.Linear(3, 2), inputs=torch.ones(4, 3)).text
    assert re.search(r"<title>addmm:1[^<]*test_subjects.py:\d+</title>", svg)


def test_parameters_of_a_module_without_a_variable_have_names_too():
    assert "0.weight" in draw(nn.Sequential(nn.Linear(3, 2)), inputs=torch.ones(4, 3))


def test_a_module_without_inputs_uses_its_sample_inputs():
    module = nn.Linear(3, 2)
    with pytest.raises(NothingToDraw, match=r"Linear needs arguments \(input\); pass them"):
        draw(module)
    module.sample_inputs = (torch.ones(4, 3),)
    assert "addmm" in draw(module)


def test_all_outputs_with_a_graph_are_roots():
    lstm = nn.LSTM(2, 3)
    text = draw(lstm, inputs=torch.ones(4, 1, 2), view="backward")
    assert [f"∂output {number}/" in text for number in range(4)] == [True, True, True, False]


def test_several_tensors_are_drawn_together():
    x = torch.tensor(2.0, requires_grad=True)
    y, z = torch.sin(x), torch.cos(x)
    text = draw([y, z])
    assert "SinBackward0" in text
    assert "CosBackward0" in text


def test_a_function_is_called():
    def loss():
        x = torch.tensor(2.0, requires_grad=True)
        return torch.sin(x)

    assert "SinBackward0" in draw(loss)


def test_what_cannot_be_drawn_is_refused_with_what_can():
    with pytest.raises(NothingToDraw, match="cannot draw int; pass a tensor"):
        draw(3)
    with pytest.raises(NothingToDraw, match="nothing that <lambda> returns has a graph"):
        draw(lambda: torch.ones(2))


def test_a_tensor_without_a_graph_is_refused_with_what_it_lacks():
    with pytest.raises(NothingToDraw, match=r"nothing it was computed from .*requires_grad=True"):
        draw(torch.ones(2))
    with pytest.raises(NothingToDraw, match="str is not a tensor; pass the tensor that"):
        draw(["loss"])


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_a_node_is_drawn_as_the_edge_that_begins_there_and_not_called(library):
    lib = pytest.importorskip(library)
    x = lib.tensor(2.0, requires_grad=True)
    y = lib.sin(x) * 3
    edge = lib.autograd.graph.get_gradient_edge(y)
    drawn = [draw(each) for each in (y.grad_fn, [y.grad_fn], edge, [edge])]
    assert drawn == drawn[:1] * 4
    assert "SinBackward0" in drawn[0]
    assert "nan" not in drawn[0]  # a node has no value
    assert x.grad is None
    leaf = draw(lib.autograd.graph.get_gradient_edge(x).node)
    assert "AccumulateGrad" in leaf


def test_a_film_of_what_is_no_tensor_is_refused():
    with pytest.raises(NothingToDraw, match="int is not a tensor"):
        gradstep.film(3)


def test_graphviz_refuses_options_that_do_not_exist():
    y = torch.sin(torch.tensor(2.0, requires_grad=True))
    with pytest.raises(
        UnknownFormat, match="there is no view 'backwards'; choose one of auto, forward"
    ):
        gradstep.to_graphviz(y, view="backwards")
    with pytest.raises(TypeError, match="depht"):
        gradstep.to_graphviz(y, depht=2)


def test_graphviz_takes_what_render_does():
    module, x = nn.Linear(3, 2), torch.ones(4, 3)
    text = gradstep.to_graphviz(module, inputs=x).source
    assert "AddmmBackward0" in text
    drawn = gradstep.render(module, inputs=x, format="dot").text
    assert re.sub(r"py:\d+", "", text) == re.sub(r"py:\d+", "", drawn)
