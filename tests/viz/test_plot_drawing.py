"""Plots on paper: the same bytes every time, in the colours of the page, and nothing of the user's
text but text."""

from __future__ import annotations

import json
import math
import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from gradstep.graph.statistics import format_number
from gradstep.recording.run import MemoryRun
from gradstep_viz.errors import RendererUnavailable, UnknownFormat
from gradstep_viz.plots import PLOT_FORMATS, WHATS, plot, plot_format
from gradstep_viz.plots.contents import What, contents_of
from gradstep_viz.plots.drawing import palette
from tests.viz.runs import run_of
from tests.viz.test_theme_contrast import contrast

drawn_by_matplotlib = pytest.mark.extra("plot")
EVIL = "a<b>&\"'$x_1$\x1b[31m\u202e</script>"


def sick_run(name: str = "w") -> MemoryRun:
    """A run with every state that a cell can have."""

    def elements(leaf: int, index: int) -> list[float] | None:
        odd: dict[int, list[float] | None] = {
            20: [0.0], 25: [math.inf], 30: [math.nan], 33: [], 35: None, 38: [1e6]
        }  # fmt: skip
        return [1.0] if leaf else odd.get(index, [1.0, 2.0 * index])

    return run_of([name, f"{name}.bias"], 40, elements,
                  level=lambda index: "call" if 10 < index < 15 else "leaves",
                  command=(f"/somewhere/{name}.py",))  # fmt: skip


def cells_of(svg: str) -> dict[tuple[int, int], str]:
    """The colour of each cell of the map in an SVG."""
    found = {}
    (group,) = (each for each in ElementTree.fromstring(svg).iter() if each.get("shape-rendering"))
    for path in group:
        token = re.search(r"--gs-(\w+)", path.attrib["style"])
        assert token is not None
        for start, row, width in re.findall(r"M(\d+) (\d+)h(\d+)v1H\d+z", path.attrib["d"]):
            for column in range(int(start), int(start) + int(width)):
                found[int(row), column] = token[1]
    return found


@pytest.mark.sampled(1)
@drawn_by_matplotlib
@pytest.mark.parametrize("what", [None, *WHATS])
def test_a_plot_has_the_same_bytes_every_time(what: What | None) -> None:
    for format in ["svg"] if what else PLOT_FORMATS:
        one, other = (plot(sick_run(), format=format, what=what).data for _ in range(2))
        assert one == other
        assert b"somewhere" not in one


@drawn_by_matplotlib
def test_the_colours_of_cells_are_those_of_the_facts() -> None:
    run = sick_run()
    shown = contents_of(run).map
    assert shown is not None
    drawn = cells_of(plot(run).text)
    expected = {"NAN": "alert", "INF": "saved", "ZERO": "leafbg"}
    for place in np.ndindex(shown.states.shape):
        token = drawn.get(place)  # type: ignore[call-overload]
        name = shown[place].state.name  # type: ignore[index]
        if name == "UNRECORDED":  # calls 11 to 14
            assert token == drawn[place[0], 9]
            continue
        if name == "SIZE":
            assert token is not None
            assert re.fullmatch(r"s\d+", token)
        else:
            assert token == expected.get(name)


@drawn_by_matplotlib
def test_an_svg_follows_the_page_and_can_stand_beside_others() -> None:
    one, other = (plot(sick_run(name)).text for name in ("one", "two"))
    assert "light-dark(" in one
    assert "<metadata" not in one
    assert 'role="img"' in one
    ids = [set(re.findall(r'id="([^"]*)"', text)) for text in (one, other)]
    assert ids[0].isdisjoint(ids[1])
    for text, known in zip((one, other), ids, strict=True):
        used = set(re.findall(r'(?:url\(|href=")#([^")]*)', text))
        assert used <= known
        assert all(each.startswith("gs-") for each in known)
    rules = re.search(r"<style>(.*?)</style>", one, re.S)
    assert rules is not None
    assert all(
        line.startswith((".gs", ":is", "@supports")) for line in rules[1].split("\n") if line
    )


@drawn_by_matplotlib
def test_every_colour_follows_the_theme() -> None:
    light, dark = (plot(sick_run(), theme=theme).text for theme in ("light", "dark"))
    body = light.partition("</style>")[2]
    painted = re.findall(r"(?:fill|stroke): ?#[0-9a-f]{6}(?![^;]*;(?:fill|stroke):var)", body)
    assert painted == []
    assert palette.DARK["alert"] in dark.partition("</style>")[2]


@drawn_by_matplotlib
@pytest.mark.parametrize("format", PLOT_FORMATS)
def test_text_of_the_user_is_only_text(format: str) -> None:
    data = plot(sick_run(EVIL), format=format).data
    if format in ("png", "pdf"):
        return
    text = data.decode()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert format == "txt" or "<b>" not in text
    if format == "txt":
        return
    svg = text[text.index("<svg") : text.index("</svg>") + 6]
    said = [
        each.text or "" for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")
    ]
    assert "a<b>&\"'$x_1$�[31m�</script>" in said


@drawn_by_matplotlib
def test_the_page_names_every_cell_and_loads_nothing() -> None:
    run = sick_run("net")
    page = plot(run, format="html").text
    data: dict[str, Any] = json.loads(
        re.search(r'id="data">(.*?)</script>', page, re.S)[1]  # type: ignore[index]
    )
    assert "<title>net.py: 40 calls</title>" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert data["rows"] == ["net", "net.bias"]
    assert [len(row) for row in data["cells"]] == [40, 40]
    assert data["cells"][0][29] == [30, 0, "NaN"]
    assert data["cells"][0][12] == "not recorded"
    assert data["cells"][0][37][2].endswith(", a jump")
    assert data["calls"]["30"] == "call 30: backward() call 30 at train.py:7, loss 0.0333"
    assert data["cells"][0][34] == "the call did not reach it"


def test_without_matplotlib_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        RendererUnavailable, match=r'matplotlib is not installed; pip install "gradstep\[plot\]"'
    ):
        plot(sick_run())


@drawn_by_matplotlib
def test_settings_of_the_user_stay_and_have_no_effect() -> None:
    import matplotlib

    plain = plot(sick_run()).data
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        before = dict(matplotlib.rcParams)
        assert plot(sick_run()).data == plain
        assert dict(matplotlib.rcParams) == before


def test_a_plot_has_its_formats() -> None:
    assert [plot_format(f"flow.{each}") for each in PLOT_FORMATS] == list(PLOT_FORMATS)
    with pytest.raises(UnknownFormat, match="use svg, png, pdf, html, txt"):
        plot_format("flow.dot")


@pytest.mark.parametrize("colours", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_shades_get_stronger_and_differ_from_marks(colours: dict[str, str]) -> None:
    ratios = [contrast(colours[shade], colours["bg"]) for shade in palette.SHADE_TOKENS]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 10 * ratios[0]
    assert len({*colours.values()}) == len(colours)  # or an SVG could not tell them apart


@drawn_by_matplotlib
def test_a_legend_explains_what_is_there_and_calls_it_by_its_name() -> None:
    gradients, updates = (plot(sick_run(), what=what).text for what in ("rms", "update"))
    for said in ("NaN", "Inf", "pale: not recorded", "no gradient arrived", "jump: ten times"):
        assert f">{said}" in gradients
    assert ">NaN<" not in updates
    unknown = run_of(
        ["w"], 9, lambda *_: [1.0], update=lambda leaf, index: 0.1 if index > 1 else None
    )
    told = plot(unknown, what="update").text
    assert ">the update is unknown<" in told
    assert "no gradient arrived" not in told


@drawn_by_matplotlib
def test_memory_is_in_round_numbers_of_bytes() -> None:
    run = run_of(["w"], 9, lambda *_: [1.0])
    for index in range(1, 10):
        run.add_ended(run.call(index)._replace(memory=300 << 20), run.of_leaves(index), None)
    told = plot(run, what="memory").text
    sizes = re.findall(r">([\d.]+ M?B)<", told)
    assert sizes == ["0 B", "64.0 MB", "128.0 MB", "192.0 MB", "256.0 MB"]


@drawn_by_matplotlib
def test_the_ticks_of_a_loss_that_hardly_moves_differ() -> None:
    run = run_of(["w"], 9, lambda *_: [1.0], loss=lambda index: 1.1014 + index * 1e-5)
    ticks = re.findall(r">(1\.1[\d.]*)<", plot(run, what="loss").text)
    assert len(ticks) == len(set(ticks)) >= 3


def test_a_plot_is_drawn_in_characters_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    lines = plot(sick_run(), format="txt", width=80).text.splitlines()
    assert lines[0] == "w.py: 40 calls"
    assert "! NaN first in call 30: w" in lines
    assert max(map(len, lines)) <= 80
    bars = next(line for line in lines if line.lstrip().startswith("w │")).partition("│")[2]
    assert [bars[call - 1] for call in (12, 20, 25, 30, 33, 35, 38)] == list("░0IN· ^")
    assert bars[40:] == f" {format_number(math.sqrt((1 + 80**2) / 2))}"
    other = next(line for line in lines if "w.bias │" in line)
    assert set(other.partition("│")[2][:40]) == {other[-3], "░"}
    assert ["1", "call", "40"] in [line.split() for line in lines]
    assert any("N NaN" in line for line in lines)


@pytest.mark.parametrize("width", [44, 60, 200])
def test_a_plot_in_characters_fits_its_width(width: int) -> None:
    run = run_of([f"layer.{n}.weight" for n in range(99)], 250, lambda leaf, call: [leaf + call])
    lines = plot(run, format="txt", width=width).text.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 80
