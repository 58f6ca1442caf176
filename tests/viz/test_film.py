"""Films: what happens in which frame, and the three ways of writing them down."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import autograd_core as torch
import gradstep
import gradstep_viz
from gradstep import trace
from gradstep.console.session import Session
from gradstep_tui.cli import main
from gradstep_viz.errors import CannotWrite, NothingToDraw, RendererUnavailable, UnknownNode
from gradstep_viz.films.camera import HEIGHT, WIDTH, follow
from gradstep_viz.films.recording import record
from gradstep_viz.films.shots import LONGEST_TEXT, MOST_SHOTS, make_shots
from gradstep_viz.picture.geometry import text_width
from tests.engines.architecture_programs import on_the_core
from tests.viz.test_wording import NET

SVG = "{http://www.w3.org/2000/svg}"


def log_product():
    with trace(values=True):
        x = torch.tensor(2.0, requires_grad=True)
        y = torch.tensor(5.0, requires_grad=True)
        return x, y, torch.log(x * y) + x


@pytest.fixture
def film():
    x, y, z = log_product()
    return gradstep.film(z, title=f"z of {x.item():g} and {y.item():g}")


def texts_of(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def headlines(film):
    return [shot.headline for shot in film.shots]


def test_the_graph_grows_op_by_op_and_then_runs_back(film):
    assert headlines(film) == [
        "The inputs",
        "mul runs",
        "log runs",
        "add runs",
        "z is computed",
        "#1 of 5 · AddBackward0",
        "#2 of 5 · LogBackward0",
        "#3 of 5 · MulBackward0",
        "#4 of 5 · x.grad",
        "#5 of 5 · y.grad",
    ]


def test_each_frame_shows_what_has_happened_by_then(film):
    frames = [texts_of(film.frame(number)) for number in range(len(film))]
    first_seen = {
        text: next(number for number, texts in enumerate(frames) if text in texts)
        for text in ("x", "mul", "MulBackward0", "log", "LogBackward0", "∂z/∂z", "0.5")
    }
    assert first_seen == {
        "x": 0, "mul": 1, "MulBackward0": 1, "log": 2, "LogBackward0": 2,
        "∂z/∂z": 4, "0.5": 7,
    }  # fmt: skip


def test_a_sum_that_waits_for_more_says_how_much_is_in(film):
    said = [
        [text for text in texts_of(film.frame(number)) if " of 2 in" in text]
        for number in range(4, 9)
    ]
    assert said == [[], ["1 of 2 in: 1"], ["1 of 2 in: 1"], ["2 of 2 in: 1.5"], []]
    assert "#4 · 0 + 1.5" in texts_of(film.frame(8))


def test_nothing_says_a_gradient_before_it_is_there(film):
    for number in range(1, 5):
        assert "#4 · AccumulateGrad" in texts_of(film.frame(number))
    assert "#4 · AccumulateGrad" not in texts_of(film.frame(-1))


def test_filming_leaves_gradients_and_graph_as_they_were(torch):
    x, y = (torch.tensor(value, requires_grad=True) for value in (2.0, 5.0))
    z = torch.log(x * y) + x
    x.grad = torch.tensor(7.0)
    gradstep.film(z)
    assert (x.grad.item(), y.grad) == (7.0, None)
    z.backward()
    assert x.grad.item() == pytest.approx(8.5)


def test_the_playing_svg_is_one_document_without_a_script(film):
    svg = film.svg()
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert "<script" not in svg
    assert "prefers-reduced-motion" in svg
    for shot in film.shots:
        assert shot.headline in root.find(f"{SVG}desc").text


def test_without_animation_the_last_frame_is_what_is_seen(film):
    """What the style sheet hides outside the motion query is what the last frame lacks."""
    svg = film.svg()
    style = re.sub(r"@media screen and \(prefers-reduced-motion.*", "", svg)
    hidden = set(re.findall(r"\.(f[\d-]+)\{opacity:0\}", style))
    seen = [
        "".join(group.itertext())
        for group in ElementTree.fromstring(svg).iter(f"{SVG}g")
        if (group.get("class") or "").startswith("f") and group.get("class") not in hidden
    ]
    last = "".join(ElementTree.fromstring(film.frame(-1)).itertext())
    assert seen
    assert all(text in last for text in seen)


def test_names_in_two_films_on_one_page_do_not_meet(film):
    other = gradstep.film(log_product()[2], seconds=0.5)
    names = [set(re.findall(r"@keyframes (\S+?)\{", each.svg())) for each in (film, other)]
    assert names[0]
    assert not names[0] & names[1]


def test_the_same_program_gives_the_same_bytes():
    first, second = (gradstep.film(log_product()[2]) for _ in range(2))
    assert (first.svg(), first.html()) == (second.svg(), second.html())


def test_the_page_carries_its_frames_in_words_and_nothing_from_elsewhere(film, tmp_path):
    page = film.save(tmp_path / "film.html").read_text()
    assert not re.search(r"(?:src|href)=", page)
    assert '<nav aria-label="film" hidden>' in page  # without a script the film plays by itself
    assert "#3 of 5" in page
    for name in re.findall(r'"([a-z]+)"', page.partition("[first, back")[2].partition("]\n")[0]):
        assert f'id="{name}"' in page


def test_a_directory_gets_one_still_per_frame(film, tmp_path):
    film.save(tmp_path / "frames")
    assert sorted(path.name for path in (tmp_path / "frames").iterdir()) == [
        f"{number:02}.svg" for number in range(10)
    ]


@pytest.mark.parametrize("option", ["view", "theme", "layout"])
def test_an_option_that_there_is_not_is_refused_before_the_pass_runs(option):
    calls = []
    x = torch.tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: calls.append(g))
    with pytest.raises(gradstep_viz.VizError, match=f"there is no {option} 'drak'; choose one of"):
        gradstep.film(x * x, **{option: "drak"})
    assert calls == []


def test_a_film_is_no_png(film, tmp_path):
    with pytest.raises(gradstep_viz.VizError, match="or a directory"):
        film.save(tmp_path / "film.png")


@pytest.mark.parametrize(
    ("view", "first"), [("backward", "The graph, before"), ("forward", "The inputs")]
)
def test_a_film_of_one_half(view, first):
    film = gradstep.film(log_product()[2], view=view)
    assert headlines(film)[0].startswith(first)
    assert any("of 5" in headline for headline in headlines(film)) == (view == "backward")


def test_a_long_pass_shares_frames():
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(600):
        y = y * 0.5
    before, after, _ = record(y.sum(), "both")
    shots = make_shots(before, after, after, "both")
    assert len(shots) <= MOST_SHOTS + 4
    assert any(shot.headline.startswith("#1 to #") for shot in shots)


@pytest.mark.parametrize("engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)])
def test_a_film_has_the_words_of_pictures(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = NET if engine == "pytorch" else on_the_core(NET)
    (tmp_path / "train.py").write_text(code, "utf-8")
    assert main(["film", "--label", "fc1.weight=W₁", "-o", "film.svg", "train.py"]) == 0
    svg = (tmp_path / "film.svg").read_text("utf-8")
    said = ElementTree.fromstring(svg).find(f"{SVG}desc").text
    assert "fc1: addmm runs" in said
    assert "h: tanh runs" in said
    assert re.search(r"which saves h and fc2\.weight|which saves fc2\.weight and h", said)
    assert "W₁.grad: 0 + " in said
    for words in (said, " ".join(filter(None, texts_of(svg)))):
        assert not re.search(r"\b(self|mat[12]|fc1\.weight)\b", words)


def test_a_film_shows_the_facts_that_are_asked_for():
    z = log_product()[2]
    texts = texts_of(gradstep.film(z, show="rms", captions=False).frame(-1))
    assert not any(text and ("forward ↓" in text or "g / " in text) for text in texts)
    assert "g / input" in texts_of(gradstep.film(z).frame(-1))


def test_a_film_fills_a_shape():
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(12):
        y = torch.tanh(y)
    film = gradstep.film(y.sum(), shape="16:9")
    for svg in (film.svg(), film.frame(3)):
        *_, width, height = map(int, re.search(r'viewBox="([-\d ]+)"', svg)[1].split())
        assert width / height == pytest.approx(16 / 9, rel=0.01)
    assert film.size[1] < gradstep.film(y.sum()).size[1] / 2


def test_a_label_of_nothing_is_refused():
    with pytest.raises(UnknownNode, match="nothing here is called"):
        gradstep.film(log_product()[2], label="tanh=σ")


def test_names_that_look_like_markup_stay_text():
    x = torch.tensor(2.0, requires_grad=True)
    module = torch.nn.Module()
    module.register_parameter("turned\u202e\x1b[31m" + 3000 * "n", torch.nn.Parameter(x * x))
    film = gradstep.film(sum(module.parameters()) * x, title="</script><b>&")
    assert all(len(headline) <= LONGEST_TEXT for headline in headlines(film))
    for written in (film.svg(), film.html()):
        assert "turned" in written
        assert not [text for text in ("</script><b>", "\u202e", "\x1b") if text in written]


def test_a_film_begins_with_its_last_frame():
    made = gradstep.film(torch.tensor(2.0, requires_grad=True) ** 2, seconds=2)
    assert f"animation-delay:-{len(made) * 2}s" in made.svg()


def test_a_film_of_many_ops_is_folded():
    x = torch.ones(3, requires_grad=True)
    h = x
    for _ in range(100):
        h = torch.tanh(h * x)
    made = gradstep.film(h.sum())
    assert len(made) < 60
    assert made.svg().count('class="node') <= 60
    assert any(shot.headline.startswith("from #") for shot in made.shots)
    assert made.shots[-1].headline.endswith("of 202 · x.grad")


def test_a_film_of_many_ops_that_have_not_all_run_is_refused():
    h = torch.ones(3, requires_grad=True)
    for _ in range(300):
        h = torch.tanh(h)
    session = Session(h.sum())
    session.do("next 3")
    with pytest.raises(NothingToDraw, match="not all of its pass has run"):
        gradstep.film(session)


def chain(ops: int) -> gradstep_viz.films.Film:
    """Return a film that is far higher than a window."""
    with trace():
        x = torch.tensor([2.0], requires_grad=True)
        y = x
        for place in range(ops):
            y = (torch.sin, torch.exp, torch.tanh, torch.sqrt)[place % 4](y)
        return gradstep.film(y)


def test_a_camera_shows_what_runs_in_every_frame_of_a_large_film() -> None:
    film = chain(20)
    camera = follow(film.focuses, film.size)
    assert camera is not None
    assert (camera.width, camera.height) <= (WIDTH, HEIGHT)
    assert len(camera.corners) == len(film)
    for (x, y), place in zip(camera.corners, film.focuses, strict=True):
        assert x <= place.x
        assert place.right <= x + camera.width
        assert y <= place.y
        assert place.bottom <= y + camera.height
    assert len(set(camera.corners)) > 2
    root = ElementTree.fromstring(film.svg())
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    assert width <= WIDTH  # so that no text is under 10 px at the width of a README
    assert height < film.size[1]
    (moves,) = re.findall(r"@keyframes gs-\w+-camera{(.*)}", film.svg())
    assert (
        moves.count("translate")
        == 2 * len([1 for before, now in itertools.pairwise(camera.corners) if before != now]) + 1
    )


def test_a_small_film_is_seen_as_a_whole(film):
    assert follow(film.focuses, film.size) is None
    assert "camera" not in film.svg()


def test_long_subtitles_are_cut_where_the_film_ends(film):
    shots = [shot._replace(headline="word " * 80, detail="number " * 90) for shot in film.shots]
    long = dataclasses.replace(film, shots=tuple(shots))
    assert float(ElementTree.fromstring(long.svg()).attrib["width"]) == WIDTH
    assert all(text_width(text, 10.5) <= WIDTH for text in texts_of(long.svg()) if text)


@pytest.mark.extra("png")
def test_a_gif_has_every_frame_and_is_only_written_over_one_of_ours(tmp_path):
    film = chain(2)
    path = film.save(tmp_path / "film.gif")
    with importlib.import_module("PIL.Image").open(path) as gif:
        assert gif.n_frames == len(film)
        durations = []
        for number in range(gif.n_frames):
            gif.seek(number)
            durations.append(gif.info["duration"])
            assert len(gif.convert("RGB").getcolors(1 << 24)) > 10  # something is drawn
    assert durations == [1500] * (len(film) - 1) + [3500]
    film.save(path)
    path.write_bytes(b"GIF89a of somebody else")
    with pytest.raises(CannotWrite):
        film.save(path)


def test_a_gif_says_what_it_needs(monkeypatch, tmp_path, film):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(RendererUnavailable, match="PIL"):
        film.save(tmp_path / "film.gif")
