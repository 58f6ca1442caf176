"""The sentence that stands for a picture where it cannot be seen."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_core as torch
from gradstep import capture, trace
from gradstep.capturing import Names
from gradstep_viz.output.text import alternative_text
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.model import View
from tests.viz import sample_graphs


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        ("forward", "Forward graph of Q = 3a³ − b²: 4 operations from the leaves a and b."),
        (
            "backward",
            "Backward graph of Q = 3a³ − b²: 4 nodes from SubBackward0 back to the leaves b and a.",
        ),
        (
            "both",
            (
                "Forward and backward graph of Q = 3a³ − b²: 4 operations from the leaves a and b, "
                "and 4 nodes from SubBackward0 back to them."
            ),
        ),
    ],
)
def test_a_picture_says_in_a_sentence_what_it_shows(view: View, sentence: str) -> None:
    picture = make_picture(sample_graphs.quadratic(), view)
    assert alternative_text(picture) == sentence


def test_leaves_count_the_same_in_boxes_of_their_own() -> None:
    graph = sample_graphs.mlp()
    inside, outside = (
        alternative_text(make_picture(graph, "backward", leaves=leaves)) for leaves in (False, True)
    )
    names = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}
    assert all(name in sentence for name in names for sentence in (inside, outside))


def test_many_leaves_are_counted() -> None:
    leaves = {f"w{i}": torch.tensor(1.0, requires_grad=True) for i in range(9)}
    graph = capture(sum(leaves.values()), "forward", names=Names(leaves), title="total")
    assert "the leaves w0, w1, w2 and 6 more" in alternative_text(make_picture(graph, "forward"))


def test_trouble_is_named() -> None:
    zero = torch.tensor([0.0], requires_grad=True)
    with trace(values=True), np.errstate(all="ignore"):
        out = torch.log(zero).sum()
    graph = capture(out, "forward", names={"zero": zero}, title="loss")
    assert alternative_text(make_picture(graph, "forward")).endswith("; in trouble: log and sum.")
