"""Names in pictures: of modules, their parameters, and what the forward pass was given."""

from __future__ import annotations

import pytest

from tests.viz import picture_programs
from tests.viz.truth import check_saved

ENGINES = ["core", pytest.param("pytorch", marks=pytest.mark.torch)]


@pytest.mark.parametrize("engine", ENGINES)
def test_boxes_of_several_models_bear_the_names_of_their_variables(engine: str) -> None:
    for program, known in (("two_roots", ("enc", "head")), ("two_judgements", ("D",))):
        graph = picture_programs.graph_of(program, engine)
        scopes = {scope for scope in graph.scopes if scope}
        parameters = [graph.variables[id] for id, kind in enumerate(graph.kinds)
                      if kind == "parameter"]  # fmt: skip
        for name in (*scopes, *parameters, *(path for path in graph.modules if path != "G")):
            assert name.startswith((*known, "G.")), name
        assert scopes >= ({"enc.0", "head"} if program == "two_roots" else {"D.0", "D.2"})


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_of_the_forward_pass_are_drawn_with_their_names(engine: str) -> None:
    graph = picture_programs.graph_of_code(NET, engine)
    constants = {graph.names[id] for id, kind in enumerate(graph.kinds) if kind == "constant"}
    assert {"image", "target"} <= constants
    check_saved(graph)


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, image):
        return self.layer(image)

target = torch.zeros(2, 3)
nn.functional.mse_loss(Net()(torch.ones(2, 3)), target).backward()
"""
