"""Programs that people draw, written for PyTorch, as graphs of either engine."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

import pytest

from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json
from gradstep_tui.cli import main
from tests.engines.architecture_programs import PROGRAMS as ARCHITECTURES
from tests.engines.architecture_programs import on_the_core

FOLDER = Path(__file__).parent / "programs_for_pictures"
PROGRAMS = {each.stem: each.read_text("utf-8") for each in sorted(FOLDER.glob("*.py"))}
ALL = {**ARCHITECTURES, **PROGRAMS}
BY_SCIPY = {"many_results"}  # on the core: the rule of qr
EACH = [
    *[name for name in PROGRAMS if name not in BY_SCIPY],
    *[pytest.param(name, marks=pytest.mark.extra("scipy")) for name in BY_SCIPY],
    *[pytest.param(name, marks=pytest.mark.slow) for name in ARCHITECTURES],  # 2 s each, and more
]


@functools.cache
def graph_of(program: str, engine: str) -> Graph:
    """The graph of the last ``backward()`` of a program, as the command captures it."""
    return graph_of_code(ALL[program], engine)


def graph_of_code(code: str, engine: str, *options: str) -> Graph:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("train.py").write_text(code if engine == "pytorch" else on_the_core(code), "utf-8")
            assert main(["render", *options, "-o", "graph.json", "train.py"]) == 0
            return from_json(Path("graph.json").read_text("utf-8"))
        finally:
            os.chdir(here)
