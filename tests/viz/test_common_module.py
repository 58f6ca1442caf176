"""A module that all others are in is named once, in the caption, and in no box."""

from __future__ import annotations

import json

import pytest

import autograd_core as torch
import gradstep
from autograd_core import nn
from autograd_core.tensor import Tensor
from gradstep import Graph, capture, trace
from gradstep.capturing import Names
from gradstep_viz.errors import UnknownNode


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(self.up(x).relu())


class Wrapper(nn.Module):
    """Keeps a model, as libraries do that adapt one."""

    def __init__(self, name: str, model: nn.Module) -> None:
        super().__init__()
        self.name = name
        setattr(self, name, model)

    def forward(self, x: Tensor) -> Tensor:
        return getattr(self, self.name)(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer() for _ in range(30)))
        self.head = nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x))


def graph_of(model: nn.Module) -> Graph:
    torch.manual_seed(0)
    with trace():
        loss = model(torch.randn(2, 4)).sum()
    return capture(loss, names=Names({"loss": loss, "model": model}))


def wrapped() -> Graph:
    return graph_of(Wrapper("base_model", Wrapper("model", Model())))


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_it_is_named_in_the_caption_alone(view: str) -> None:
    text = gradstep.render(wrapped(), format="txt", view=view).text  # type: ignore[arg-type]
    _, caption = text.split("\n\n")[:2]
    assert "names within base_model.model" in caption.splitlines()[0]
    assert text.count("base_model") == 1
    assert "layers.0.up.weight" in text
    assert "layers.1 … 29" in text
    assert "like layers.0" in text


def test_tooltips_and_json_have_whole_names() -> None:
    graph = wrapped()
    svg = gradstep.render(graph, view="both").text
    assert "base_model.model.layers.0.up/addmm:1" in svg
    assert "base_model.model.layers.0.up\n" in gradstep.render(graph, view="flow").text
    document = json.loads(gradstep.render(graph, format="json").text)
    assert "base_model.model.layers.0.up.weight" in json.dumps(document)


def test_what_is_opened_goes_by_both_names() -> None:
    graph = wrapped()
    short, whole = (
        gradstep.render(graph, format="txt", expand=(name,)).text
        for name in ("layers.2", "base_model.model.layers.2")
    )
    assert short == whole
    assert "layers.2.up.weight" in short
    assert "layers.2.up.weight" in gradstep.render(graph, format="txt", around="layers.2.up").text
    with pytest.raises(UnknownNode, match=r"called 'layers\.70'"):
        gradstep.render(graph, expand=("layers.70",))
    with pytest.raises(UnknownNode, match=r"called 'layers\.70'"):
        gradstep.render(graph, around="layers.70")


@pytest.mark.parametrize(
    "model", [Model(), Wrapper("net", Model()), Wrapper("a_long_name", Layer())]
)
def test_a_short_name_and_that_of_one_module_stay(model: nn.Module) -> None:
    text = gradstep.render(graph_of(model), format="txt").text
    assert "names within" not in text
