"""Names in pictures: of modules, their parameters, and what the forward pass was given."""

from __future__ import annotations

import random
import re

import pytest

import gradstep
from gradstep.graph.folding import fold
from tests.viz import picture_programs
from tests.viz.truth import check_saved

ENGINES = ["core", pytest.param("pytorch", marks=pytest.mark.torch)]


@pytest.mark.parametrize("engine", ENGINES)
def test_boxes_of_several_models_bear_the_names_of_their_variables(engine: str) -> None:
    for program, known in (("two_roots", ("enc", "head")), ("two_judgements", ("D",))):
        graph = picture_programs.graph_of(program, engine)
        scopes = {scope for scope in graph.scopes if scope}
        parameters = [
            graph.variables[id] for id, kind in enumerate(graph.kinds) if kind == "parameter"
        ]
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


@pytest.mark.torch  # on the core, the graph outlives the parameters
def test_parameters_of_a_model_without_a_name_have_their_names_in_it() -> None:
    graph = picture_programs.graph_of_code(NET, "pytorch")
    assert {"layer.weight", "layer.bias"} <= set(graph.variables.values())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [60, 300, pytest.param(1600, marks=pytest.mark.slow)])
def test_a_long_script_folds_into_boxes_named_by_their_variables(engine: str, count: int) -> None:
    graph = picture_programs.graph_of_code(straight(count), engine, "--full")
    small = fold(graph, max_boxes=60)
    groups = {id: group for id, group in small.groups.items() if group.kind == "band"}
    assert len([kind for kind in small.kinds if kind in ("op", "group")]) <= 60
    assert groups
    for group in groups.values():
        ids = sorted(
            id if graph.halves[id] == "forward" else graph.pairs[id] for id in group.members
        )
        names = [graph.results[id] for id in ids if id in graph.results]
        assert group.title == " … ".join(dict.fromkeys((names[0], names[-1])))


def straight(count: int) -> str:
    """A script of so many statements without modules, each of a few ops on what it has by then."""
    rng, known = random.Random(count), ["a0", "b0"]
    lines = [
        "import torch",
        "x = torch.ones(3, requires_grad=True)",
        "a0 = x.sin()",
        "b0 = x.cos()",
    ]
    for number in range(1, count):
        one, other = rng.choice(known[-6:]), rng.choice(known[-6:])
        forms = (f"({one} * {other}).tanh()", f"{one}.exp().neg() + {other}", f"{one} - {other}")
        lines.append(f"a{number} = {rng.choice(forms)}")
        known.append(f"a{number}")
    return "\n".join([*lines, f"(a{count - 1} + b0).sum().backward()"])


@pytest.mark.parametrize("engine", ENGINES)
def test_little_room_folds_by_lines_of_the_program(engine: str) -> None:
    graph = picture_programs.graph_of("gradient_penalty", engine)
    done = gradstep.render(graph, width="830", format="txt")
    assert not re.search(r"\w:\d+ … \w+:\d", done.text), "a range of unlike ops"
    assert done.notes == ()
