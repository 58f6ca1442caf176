"""Default pictures of well-known architectures can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.graph.serialize import from_json
from gradstep_tui.cli import main
from gradstep_viz.layout import lay_out
from gradstep_viz.level_of_detail import (
    LEAST_SCALE,
    SCREEN_HEIGHT,
    SCREEN_WIDTH,
    Composer,
    folding_of,
)
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.model import VIEWS
from tests.engines.architecture_programs import PROGRAMS, on_the_core
from tests.viz.laws import cut_labels, labels_of_others, stacked_labels


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_view_fits_two_screens_and_its_labels_are_clear(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(on_the_core(PROGRAMS[program]), "utf-8")
    assert main(["render", "-o", "graph.json", "train.py"]) == 0
    graph = from_json(Path("graph.json").read_text("utf-8"))
    for view in VIEWS:
        composed = Composer(folding_of(graph, view)).compose_for_a_screen(RenderOptions(view=view))
        picture, layout = composed.picture, composed.layout or lay_out(composed.picture)
        scale = min(SCREEN_WIDTH / layout.width, 2 * SCREEN_HEIGHT / layout.height)
        # the U-Net stands on two pages side by side: its modules are too few to fold further
        assert scale >= (0.7 if program == "unet" else LEAST_SCALE), view
        assert cut_labels(picture, layout) == []
        assert labels_of_others(picture, layout) == []
        assert stacked_labels(picture, layout) == []
