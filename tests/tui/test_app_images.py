"""Pictures: the screenshots of the README, of the screen and of the graph."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import autograd_core as torch
from gradstep.console.session import Session
from gradstep_tui.app.plan.picture import tidied
from tests.tui.screen_driver import on_screen

ROOT = Path(__file__).parents[2]


def test_the_screenshots_of_the_readme_can_be_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("make_images", ROOT / "docs" / "make_images.py")
    assert spec is not None
    assert spec.loader is not None
    make_images = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_images)
    monkeypatch.setattr(make_images, "IMAGES", tmp_path)
    still = make_images.PHOTOGRAPHS[0]
    moving = still._replace(name="moving", keys=("n", "n", "N"), moves=True)
    monkeypatch.setattr(make_images, "PHOTOGRAPHS", (still, moving))
    monkeypatch.setattr(make_images, "THEMES", {"": "gradstep-dark"})
    monkeypatch.setattr(make_images, "find_spec", lambda _: None)  # a graph of PyTorch's: no screen
    monkeypatch.chdir(ROOT)
    make_images.main()
    picture = tmp_path / "debug-shared-weight.svg"
    text = "".join(ElementTree.parse(picture).getroot().itertext()).replace("\xa0", " ")
    assert "6/9 run" in text
    assert "+= weight" in text
    assert "[1 gradient]" in text
    film = (tmp_path / "moving.svg").read_text("utf-8")
    texts = "".join(ElementTree.fromstring(film).itertext()).replace("\xa0", " ")
    assert [texts.count(f"{done}/9 run") for done in range(4)] == [1, 1, 1, 0]
    assert texts.count("[1 gradient]") == 1  # what all screens share
    # before the first step, after it and the second, and back
    (group,) = re.findall(r'<g class="(in-\d+)">[^\n]*1/9', film)
    (steps,) = re.findall(rf"@keyframes {group}{{(.*)}}", film)
    assert re.findall(r"opacity:(\d)", steps) == ["0", "1", "0", "1"]


def cube() -> Session:
    x = torch.tensor(2.0, requires_grad=True)
    return Session((x * x * x).tanh(), names={"x": x})


async def test_p_writes_the_graph_with_gradients_and_the_position_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_screen(cube()) as screen:
        await screen.press("n", "n", "p")
        await screen.wait_for("wrote ")
    text = (tmp_path / "backward-1-at-2.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    frames = [each for each in root.iter() if each.get("class") == "here"]
    assert len(frames) == 1
    (box,) = [
        group
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class", "").startswith("node") and frames[0] in list(group)
    ]
    title = box.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert (title.text or "").startswith("mul:1 ")
    assert "▶" in "".join(box.itertext())
    assert "4.5e−7" in text or "e−" in text, "the gradient on an edge"


async def test_capital_p_writes_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_screen(cube()) as screen:
        assert "wrote " in await screen.press("n", "P")
    text = (tmp_path / "screen-1-at-1.svg").read_text(encoding="utf-8")
    assert "tanh" in text
    assert "@font-face" not in text, "it would load something"
    ElementTree.fromstring(text)


async def test_a_folder_that_cannot_be_written_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "screen-1-at-0.svg").mkdir()
    (tmp_path / "backward-1-at-0.svg").mkdir()
    async with on_screen(cube()) as screen:
        assert "error: cannot write" in await screen.press("P")
        await screen.press("p")
        await screen.wait_for("error: IsADirectoryError|error: PermissionError")
        assert "1/4 run" in await screen.press("n")


async def test_y_copies_every_digit_that_matters() -> None:
    x = torch.tensor([1 / 3, 1e-7, 123456.789], requires_grad=True)
    async with on_screen(Session((x * x * x).sum(), names={"x": x})) as screen:
        await screen.press("c", "G", "y")
        copied = np.array(ast.literal_eval(screen.app.clipboard), np.float32)
        assert x.grad is not None
        assert copied.tobytes() == np.asarray(x.grad).tobytes()


async def test_y_copies_the_gradient_and_capital_y_the_address() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    async with on_screen(Session((x * x).sum(), names={"x": x})) as screen:
        await screen.press("G")
        assert "no gradient has arrived" in await screen.press("y")
        await screen.press("c", "G")
        assert "copied the value" in await screen.press("y")
        assert screen.app.clipboard == "[2., 4.]"
        await screen.press("k", "Y")
        assert screen.app.clipboard == "mul:1"


def test_runs_of_a_saved_screen_begin_at_their_first_letter() -> None:
    head = '<text class="terminal-r1" x="12.2" y="20" textLength="{}" clip-path="url(#a)">{}</text>'
    written = tidied(head.format(73.2, "&#160;&#160;a&#160;b&#160;"))
    assert written.strip() == head.format(36.6, "a&#160;b").replace('"12.2"', '"36.6"')
    assert tidied(head.format(24.4, "&#160;&#160;")).strip() == ""
