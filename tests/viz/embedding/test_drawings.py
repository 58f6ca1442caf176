"""From a request to a drawing: steps, options, and what is remembered."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import autograd_core as torch
import gradstep
from gradstep.capturing import Names
from gradstep_viz.embedding import (
    Request,
    Store,
    draw,
    drawing_options,
    inline_svg,
    is_wide,
    snippet_of,
    steps,
    store,
)
from gradstep_viz.embedding.drawing import graph_at
from gradstep_viz.errors import CodeFailed, VizError

CODE = """\
import autograd_core as torch
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
z = torch.log(x * y)
"""


def request(folder: Path, code: str = CODE, **fields: object) -> Request:
    return Request((snippet_of(code, folder),), fields.pop("options", {}), **fields)  # type: ignore[arg-type]


def test_a_drawing_has_every_form_a_document_needs(tmp_path: Path) -> None:
    drawing = draw(request(tmp_path))
    assert drawing.svg == drawing.still
    assert drawing.svg.startswith("<svg")
    assert drawing.text.startswith("z\n")
    assert drawing.dot.startswith("digraph")
    assert drawing.alt.startswith("Forward and backward graph of z: 2 operations from the leaves x")
    assert f">{drawing.alt}</title>" in drawing.svg


def test_a_step_shows_the_gradients_that_have_flowed_by_then(tmp_path: Path) -> None:
    def text(step: int | None) -> str:
        return draw(request(tmp_path, step=step, options={"view": "backward"})).text

    ended = text(-1)
    assert re.search(r"x\.grad +0\.5", ended)
    assert re.search(r"y\.grad +0\.2", ended)
    assert text(4) == ended
    assert re.search(r"x\.grad +0\.5", text(3))
    assert not re.search(r"y\.grad +0\.2", text(3))
    assert "0.5" not in text(0)
    with pytest.raises(CodeFailed, match="no step 5; this pass has 4 steps"):
        text(5)


def test_stepping_leaves_gradients_and_graph_as_they_were() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    for step in (0, 1, -1):
        graph_at(y, Names({"x": x}), step)
    assert x.grad == 6.0
    y.backward()
    assert x.grad == 12.0


def test_values_are_traced_on_request(tmp_path: Path) -> None:
    code = "import autograd_core as t\nx = t.ones(3, requires_grad=True)\n(x * 2).sum()"
    assert "rms" not in draw(request(tmp_path, code)).svg
    assert "rms" in draw(request(tmp_path, code, values=True)).svg


def test_a_film_says_its_frames_in_words(tmp_path: Path) -> None:
    drawing = draw(request(tmp_path, film=True))
    assert "@keyframes" in drawing.svg
    assert "@keyframes" not in drawing.still
    assert re.match(r"1\. The inputs: x and y\n2\. mul runs", drawing.text)
    assert (
        drawing.alt == f"Film of the backward pass of z, in {drawing.text.count(chr(10))} frames."
    )


def test_every_option_of_a_picture_can_be_said_in_a_document() -> None:
    for function, film in ((gradstep.render, False), (gradstep.film, True)):
        said = {"obj", "out", "format", "inputs", "profile", "folder"}  # or not at all
        names = set(inspect.signature(function).parameters) - said
        assert {name.replace("_", "-") for name in names} == set(drawing_options(film))
    assert {"view", "theme", "leaves", "title"} <= set(drawing_options())


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("view", "backward", "backward"),
        ("leaves", "", True),
        ("leaves", "no", False),
        ("max-boxes", " 20 ", 20),
        ("expand", "encoder.0, encoder.1", ("encoder.0", "encoder.1")),
        ("path", "x", "x"),
    ],
)
def test_text_becomes_what_the_option_takes(name: str, text: str, value: object) -> None:
    assert drawing_options()[name](text) == value


def test_a_value_that_an_option_cannot_have_is_refused_with_those_it_can(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="'sideways' is not one of auto, forward, backward, both, flow"
    ):
        drawing_options()["view"]("sideways")
    with pytest.raises(ValueError, match=r"'3\.5' is not an integer"):
        steps("3.5")
    with pytest.raises(VizError, match="there is no theme 'pink'"):
        draw(request(tmp_path, options={"theme": "pink"}))


# --- what is remembered ---


COUNTED = "open('runs', 'a').write('x')\n" + CODE


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text())


def test_code_runs_once_for_the_same_picture(tmp_path: Path) -> None:
    kept = Store(tmp_path / "kept")
    first = draw(request(tmp_path, COUNTED), kept)
    assert draw(request(tmp_path, COUNTED), kept) == first
    lower = Request((snippet_of(COUNTED, tmp_path, line=99),), {})
    assert draw(lower, kept) == first
    assert runs(tmp_path) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"code": COUNTED + "z * 2"},
        {"options": {"view": "forward"}},
        {"step": 1},
        {"values": True},
        {"film": True},
    ],
)
def test_another_request_runs_the_code_again(tmp_path: Path, change: dict[str, object]) -> None:
    kept = Store(tmp_path / "kept")
    draw(request(tmp_path, COUNTED), kept)
    draw(request(tmp_path, **{"code": COUNTED, **change}), kept)  # type: ignore[arg-type]
    assert runs(tmp_path) == 2


def test_a_changed_file_is_run_again_and_so_is_what_imports_it(tmp_path: Path) -> None:
    kept = Store(tmp_path / "kept")
    helper = tmp_path / "helper_that_changes.py"
    helper.write_text("power = 2\n")
    (tmp_path / "model.py").write_text(
        f"{COUNTED}from helper_that_changes import power\nq = z * power\n"
    )
    target = request(tmp_path, "model.py:q", options={"view": "forward"})
    files = draw(target, kept).files
    assert {str(helper), str(tmp_path / "model.py")} <= set(files)
    assert "4.61" in draw(target, kept).text
    assert runs(tmp_path) == 1
    helper.write_text("power = 2 + 1  # Python tells by time and size whether a file has changed\n")
    assert "6.91" in draw(target, kept).text
    assert runs(tmp_path) == 2
    helper.unlink()
    with pytest.raises(CodeFailed, match="No module named 'helper_that_changes'"):
        draw(target, kept)


def test_another_version_draws_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store(tmp_path / "kept")
    draw(request(tmp_path, COUNTED), kept)
    monkeypatch.setattr(store, "gradstep_version", lambda: "99")
    draw(request(tmp_path, COUNTED), kept)
    assert runs(tmp_path) == 2


def test_a_damaged_or_unwritable_store_does_no_harm(tmp_path: Path) -> None:
    kept = Store(tmp_path / "kept")
    first = draw(request(tmp_path, COUNTED), kept)
    for entry in (tmp_path / "kept").glob("*.json"):
        entry.write_text('{"files": 3')
    assert draw(request(tmp_path, COUNTED), kept) == first
    (tmp_path / "file").write_text("")
    assert draw(request(tmp_path, COUNTED), Store(tmp_path / "file")) == first
    assert runs(tmp_path) == 3


# --- in a page ---


def test_the_same_picture_twice_on_a_page_has_different_ids(tmp_path: Path) -> None:
    svg = draw(request(tmp_path)).svg
    taken: set[str] = set()
    page = "".join(inline_svg(svg, taken=taken) for _ in range(3))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 9
    for labelled in re.findall(r'aria-labelledby="([^"]+)"', page):
        assert set(labelled.split()) <= set(ids)
    assert len(re.findall(r"\.gs-\w+(?:-\d)?\{", page)) >= 3


def test_a_picture_in_a_page_is_named_sized_and_escaped(tmp_path: Path) -> None:
    svg = draw(request(tmp_path)).svg
    page = inline_svg(
        svg, taken=set(), title='a "b" & \\1 <c>', width="50%", align="right", classes=["one", '"']
    )
    assert "<title id=" in page
    assert ">a &quot;b&quot; &amp; \\1 &lt;c&gt;</title>" in page
    assert 'class="one &quot;"' in page
    assert "width:50%;margin-left:auto" in page
    assert "max-width" in inline_svg(svg, taken=set())


@pytest.mark.parametrize(
    ("width", "by_keyboard", "wide"), [(400, False, False), (700, True, False), (1200, True, True)]
)
def test_a_picture_that_may_scroll_can_be_reached_by_keyboard(
    width: int, by_keyboard: bool, wide: bool
) -> None:
    svg = f'<svg viewBox="0 0 {width} 9" width="{width}" height="9"></svg>'
    assert ('tabindex="0"' in inline_svg(svg, taken=set())) is by_keyboard
    assert "tabindex" not in inline_svg(svg, taken=set(), width="100%")
    assert is_wide(svg) is wide


def test_a_link_to_the_picture_by_itself_stands_below_it() -> None:
    page = inline_svg("<svg></svg>", taken=set(), link='a"b.svg')
    assert page.endswith('<a href="a&quot;b.svg">Full size</a></p>\n')
    assert "<a " not in inline_svg("<svg></svg>", taken=set())
