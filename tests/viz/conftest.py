"""What every test of pictures shares: the law that a picture is true."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from gradstep.graph.model import Graph
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.model import Picture, View
from gradstep_viz.picture.wording import DEFAULT_FACTS
from tests.viz.truth import check_leaves, check_lines


@pytest.fixture(autouse=True, scope="session")
def every_picture_is_true() -> Iterator[None]:
    """Hold every picture that is made in a test to the truth."""
    make = make_picture

    @functools.wraps(make_picture)
    def checked(graph: Graph, view: View = "both", **options: Any) -> Picture:
        picture = make(graph, view, **options)
        shows_saved = "saved" in options.get("facts", DEFAULT_FACTS)
        check_lines(graph, picture, options.get("leaves"), shows_saved=shows_saved)
        check_leaves(graph)
        return picture

    made = [
        module
        for module in list(sys.modules.values())
        if getattr(module, "make_picture", None) is make
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module in made:
            patch.setattr(module, "make_picture", checked)
        yield
