"""Pages in a real browser: what a reader sees, clicks and types."""

from __future__ import annotations

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import pytest

import autograd_core as torch
import gradstep
from gradstep import Session, scope, trace
from gradstep_viz.films.recording import record
from gradstep_viz.picture.model import VIEWS
from tests.viz import sample_graphs, test_common_module
from tests.viz.test_comparison import drawn, graph


@pytest.fixture
def browse(browser, tmp_path):
    """Open a page, carry out a script in it, and return what that says."""

    def run(page: str, script: str):
        path = tmp_path / "page.html"
        path.write_text(page)
        return browser.say(path, script)

    return run


@pytest.fixture(scope="module")
def loss():
    with trace(values=True):
        x = torch.tensor(2.0, requires_grad=True)
        w = torch.tensor(5.0, requires_grad=True)
        return torch.log(x * w) + x


@pytest.fixture(scope="module")
def page(loss):
    return gradstep.render(loss, format="html").text


def press(key, target="document"):
    return f'{target}.dispatchEvent(new KeyboardEvent("keydown", {{key: "{key}", bubbles: true}}));'


SHOWN = 'return [detail.hidden, detail.querySelector("h2")?.textContent]'


def test_the_page_needs_nothing_from_elsewhere(page):
    assert not re.search(r"""(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org)""", page)


def test_a_click_shows_what_is_known_and_leads_to_neighbours(browse, page):
    script = """
    const node = nodes[boxes.findIndex(({ title }) => title === "LogBackward0")];
    node.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}));
    const before = detail.textContent;
    const links = [...detail.querySelectorAll("li button")].map(link => link.textContent);
    detail.querySelectorAll("li button")[links.indexOf("MulBackward0")].click();
    return [before, links, detail.querySelector("h2").textContent,
            svg.querySelectorAll(".selected").length];
    """
    before, links, after, selected = browse(page, script)
    assert "runs as #2" in before
    assert links == ["AddBackward0", "mul", "MulBackward0"]
    assert (after, selected) == ("MulBackward0", 1)


def test_escape_closes_the_details(browse, page):
    assert browse(page, f"select(0); {press('Escape')} {SHOWN}")[0] is True


def test_search_finds_counts_and_goes_from_match_to_match(browse, page):
    script = f"""
    {press("/")}
    search.value = "backward"; search.dispatchEvent(new Event("input"));
    const all = found.textContent;
    {press("Enter", "search")}{press("Enter", "search")}
    return [document.activeElement.id, all, found.textContent,
            svg.querySelectorAll(".match").length, isSeen(nodes[selected])];
    """
    focus, all_found, where, matches, seen = browse(page, script)
    assert (focus, all_found, where, matches, seen) == ("search", "3 found", "2 of 3", 3, True)


def test_arrow_keys_follow_the_lines(browse, page):
    script = f"""
    const title = () => document.activeElement.getAttribute("aria-label");
    select(boxes.findIndex(box => box.title === "LogBackward0"));
    const titles = [title()];
    {press("ArrowDown", "document.activeElement")} titles.push(title());
    {press("ArrowUp", "document.activeElement")} titles.push(title());
    return titles;
    """
    assert browse(page, script) == ["LogBackward0", "MulBackward0", "LogBackward0"]


def test_zoom_keeps_the_middle_and_fit_shows_all(browse, page):
    script = f"""
    const middle = () => [view.x + main.clientWidth / view.scale / 2,
                          view.y + main.clientHeight / view.scale / 2];
    const before = middle(), scale = view.scale;
    {press("+")}
    const after = middle(), larger = view.scale / scale;
    {press("0")}
    return [before, after, larger, nodes.every(isSeen)];
    """
    before, after, larger, whole = browse(page, script)
    assert after == pytest.approx(before)
    assert larger == pytest.approx(1.25)
    assert whole


def test_every_node_is_reached_by_keyboard_and_has_a_name(browse, page):
    script = """
    return nodes.map(node => [node.tabIndex, node.getAttribute("role"),
                              node.getAttribute("aria-label")]);
    """
    found = browse(page, script)
    assert len(found) > 3
    for index, role, name in found:
        assert (index, role) == (0, "button")
        assert name


def test_names_that_look_like_markup_are_shown_as_they_are(browse):
    x = torch.tensor(2.0, requires_grad=True)
    names = {"</script><img src=x onerror=alert(1)>": x}
    from gradstep.capturing import capture

    page = gradstep.render(capture(x * x, names=names), format="html").text
    script = """
    select(boxes.findIndex(({ title }) => title.includes("img")));
    return [document.images.length, detail.querySelector("h2").textContent.slice(0, 9)];
    """
    assert browse(page, script) == [0, "</script>"]


def test_the_film_stops_where_the_slider_is_put(browse, loss):
    script = """
    slider.value = 2;
    slider.dispatchEvent(new Event("input"));
    const seen = text => [...document.querySelectorAll("main text")].some(element =>
      element.textContent === text
      && Number(getComputedStyle(element.closest("g[class^=f]") ?? element).opacity) > 0);
    return [said.textContent, play.textContent, seen("log"), seen("add")];
    """
    said, button, log, add = browse(gradstep.film(loss).html(), script)
    assert said.startswith("3 / 10  log runs")
    assert (button, log, add) == ("Play", True, False)


@pytest.fixture
def no_motion(browser):
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.ask("Emulation.setEmulatedMedia", features=features)
    yield
    browser.ask("Emulation.setEmulatedMedia", features=[])


@pytest.mark.usefixtures("no_motion")
def test_the_keys_step_through_a_film_for_who_wants_no_motion(browse, loss):
    script = """
    const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const before = [document.querySelector("nav").hidden, frame, timer];
    press("ArrowRight");
    press("ArrowRight");
    return [...before, said.textContent.slice(0, 16)];
    """
    shown = browse(gradstep.film(loss).html(), script)
    assert shown == [False, 0, None, "3 / 10  log runs"]


@pytest.mark.usefixtures("no_motion")  # so that it does not have to be waited for
def test_the_page_of_a_large_film_follows_what_runs(browse, layers):
    script = """
    const places = [];
    for (let number = 0; number < shots.length; number += 5) {
      go(number);
      const ring = [...document.querySelectorAll("main .ring")].find(one =>
        getComputedStyle(one.parentElement).opacity > 0);
      const { left, right, top, bottom } = (ring ?? svg).getBoundingClientRect();
      if (ring) places.push([left >= 0, right <= innerWidth, top >= 0, bottom <= innerHeight]);
    }
    return [scale(), places];
    """
    factor, places = browse(gradstep.film(layers).html(), script)
    assert factor >= 10 / 10.5
    assert len(places) >= 3
    assert all(all(place) for place in places)


@pytest.fixture(scope="module")
def layers():
    with trace():
        h = torch.ones(3, requires_grad=True)
        for number in range(40):
            with scope(f"layers.{number}"):
                with scope("inner"):
                    for _ in range(4):
                        h = torch.tanh(h)
                h = h * 2
        return h.sum()


@pytest.fixture(scope="module")
def folded_page(layers):
    return gradstep.render(layers, format="html", view="forward", max_boxes=20).text


CARD = "boxes.findIndex(box => box.name && box.title.includes(' … '))"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "how",
    [
        "nodes[card].dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));",
        f"nodes[card].focus(); {press('Enter', 'document.activeElement')}",
        "select(card); detail.querySelector('[title^=open]').click();",
    ],
    ids=["click", "Enter", "button"],
)
def test_a_group_opens_and_closes_again(browse, folded_page, how):
    script = f"""
    const titles = () => boxes.map(box => box.title).join();
    const seen = () => sections.filter(section => !section.hidden).length;
    const card = {CARD}, name = boxes[card].title, before = titles();
    {how}
    const opened = titles(), steps = [...trail.children].map(step => step.textContent);
    const focused = nodes.includes(document.activeElement);
    {press("Backspace")}
    return [name, before === opened, steps, focused, titles() === before,
            boxes[selected].title, trail.children.length, seen()];
    """
    name, same, steps, focused, back, selected, left, seen = browse(folded_page, script)
    assert " … " in name
    assert not same
    assert steps[1:] == [name.partition(" … ")[0], "×"]
    assert focused
    assert (back, selected, left, seen) == (True, name, 0, 1)


def test_the_trail_shows_the_ends_of_long_names(browse):
    page = gradstep.render(test_common_module.wrapped(), format="html").text
    script = f"""
    activate({CARD});
    const isCut = step => step.scrollWidth > step.clientWidth + 2;
    return [...trail.children].map(step => [step.textContent, step.title, isCut(step)]);
    """
    _, (shown, whole, is_cut), _ = browse(page, script)
    assert whole.startswith("base_model.model.layers.")
    assert shown == "…" + whole[-19:]
    assert not is_cut


def test_opened_groups_can_be_searched_and_clicked(browse, folded_page):
    script = f"""
    activate({CARD});
    search.value = "tanh"; search.dispatchEvent(new Event("input"));
    const found = svg.querySelectorAll(".match").length;
    select(boxes.findIndex(box => box.title === "tanh"));
    return [found, detail.querySelector("h2").textContent, isSeen(nodes[selected])];
    """
    found, heading, seen = browse(folded_page, script)
    assert found >= 4
    assert (heading, seen) == ("tanh", True)


def test_what_has_no_picture_says_how_it_is_opened(browse, layers, monkeypatch):
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_PICTURES", 1)
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_INSIDES", 0)
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_KINDS_INSIDE", 0)
    page = gradstep.render(layers, format="html", view="forward", max_boxes=20).text
    script = f"""
    const card = {CARD};
    activate(card);
    return [detail.textContent, boxes[card].name, pictures.length];
    """
    said, name, pictures = browse(page, script)
    assert f"open it with --expand '{name}'" in said
    assert pictures == 1


def test_without_a_script_only_the_whole_picture_is_there(folded_page):
    assert folded_page.count("<section>") == folded_page.count("<svg") == 1
    assert 1 < folded_page.count("<section hidden>") < 120
    assert len(folded_page) < 6_000_000


def test_a_page_of_a_huge_graph_opens_less_so_that_it_is_soon_there(layers, monkeypatch):
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_NODES", 1)
    page = gradstep.render(layers, format="html", view="forward", max_boxes=20).text
    assert sum("inside" not in picture["svg"] for picture in pictures_of(page)[1:]) == 1


def test_a_line_of_the_program_is_a_link_in_the_details(browse, loss):
    page = gradstep.render(loss, format="html", link="https://host/{path}#L{line}").text
    script = """
    select(boxes.findIndex(({ title }) => title === "log"));
    const link = detail.querySelector("a");
    return [link.getAttribute("href"), link.textContent];
    """
    href, said = browse(page, script)
    assert re.fullmatch(r"https://host/tests/viz/test_pages.py#L\d+", href)
    assert re.fullmatch(r"test_pages.py:\d+", said)


@pytest.fixture(scope="module")
def blocks_page():
    return gradstep.render(sample_graphs.residual(24), format="html").text


def test_ops_of_folds_are_listed_in_runs_and_found_by_their_numbers(browse, monkeypatch):
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_PICTURES", 1)
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_INSIDES", 1)
    x = torch.ones(2, requires_grad=True)
    with trace():
        for _ in range(200):
            x = torch.tanh(torch.sin(x))
        with scope("head"):
            x = torch.relu(x).sum()
    page = gradstep.render(x, format="html", view="forward", max_boxes=5).text
    script = f"""
    {type_in("sin:168")} const one = found.textContent;
    {type_in("tanh:201")} const none = found.textContent;
    {type_in("head/relu:1")}
    return [one, none, found.textContent];
    """
    runs = [run for box in pictures_of(page)[0]["boxes"] for run in box.get("ops", ())]
    assert len(runs) < 20
    assert browse(page, script) == ["1 found", "0 found", "1 found"]
    monkeypatch.setattr("gradstep_viz.output.pages.contents.MOST_RUNS", 1)
    page = gradstep.render(x, format="html", view="forward", max_boxes=5).text
    left_out = " (too many ops to search in groups: open one)"
    assert browse(page, script) == [f"{n} found{left_out}" for n in (0, 0, 1)]


def type_in(text):
    return f'search.value = "{text}"; search.dispatchEvent(new Event("input"));'


def test_search_finds_parameters_and_what_is_folded_and_offers_to_open_it(browse, blocks_page):
    script = f"""
    {type_in("blocks.17")}
    const said = found.textContent;
    select(matches[0]);
    const inside = [...detail.querySelectorAll("li")].map(item => item.textContent);
    const title = detail.querySelector("h2").textContent;
    {type_in("blocks.0")}
    return [said, title, inside, [...detail.querySelectorAll("button")].map(b => b.textContent),
            matches.length];
    """
    said, title, inside, buttons, others = browse(blocks_page, script)
    assert said == "1 found"
    assert "…" in title
    assert any(name.startswith("blocks.17") for name in inside)
    assert "Open" in buttons
    assert others > 0


def pictures_of(page):
    """Return what the page knows of its pictures."""
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    if isinstance(data, str):
        texts, data = json.loads(zlib.decompress(base64.b64decode(data), -15))
        for picture in data:
            picture["boxes"] = [json.loads(texts[place]) for place in picture["boxes"]]
            picture["svg"] = "\n".join(texts[place] for place in picture["svg"])
        data[0].pop("svg")
    return data


def test_every_group_opens_at_every_level(monkeypatch):
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_PICTURES", 2)
    page = gradstep.render(sample_graphs.residual(24), format="html").text
    pictures = pictures_of(page)
    whole = [picture for picture in pictures[1:] if picture["parent"] >= 0]
    groups = [box for picture in [pictures[0], *whole] for box in picture["boxes"] if "name" in box]
    assert all(box["opens"] for box in groups)
    titles = {box["title"] for picture in whole for box in picture["boxes"]}
    insides = [picture["svg"] for picture in whole if "inside blocks." in picture["svg"]]
    assert {f"blocks.{number}" for number in range(3, 24)} <= titles
    assert any(">inside blocks.20" in svg or "inside blocks.20<" in svg for svg in insides)
    assert len(page) < 2_000_000


def test_what_there_is_no_room_for_opens_the_inside_of_one_that_is_alike(
    browse, layers, monkeypatch
):
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_PICTURES", 1)
    monkeypatch.setattr("gradstep_viz.output.pages.expansion.MOST_INSIDES", 2)
    page = gradstep.render(layers, format="html", view="forward", max_boxes=20).text
    script = """
    const all = pictures.flatMap(({ boxes }) => boxes);
    const number = pictures.findIndex(({ boxes }) => boxes.some(box => box.alike));
    open(number, "");
    const box = boxes.findIndex(box => box.alike);
    select(box);
    const said = detail.textContent, name = boxes[box].title, other = boxes[box].alike;
    activate(box);
    const opened = shown;
    close();
    return [all.filter(box => box.name && box.opens == null).length, said, name, other,
            opened !== number, shown === number, boxes[selected].alike];
    """
    without, said, name, other, opened, back, _ = browse(page, script)
    assert without == 0
    assert name != other
    assert f"shows {other}, which is built alike" in said
    assert (opened, back) == (True, True)


def test_a_name_that_is_found_inside_leads_to_the_picture_that_shows_it(browse, blocks_page):
    script = f"""
    {type_in("blocks.20/relu:1")}
    const said = found.textContent;
    select(matches[0]);
    const group = boxes[selected].title;
    [...detail.querySelectorAll("button")].find(one => one.textContent === search.value).click();
    return [said, group, shown > 0, addressOf(boxes[selected]), isSeen(nodes[selected])];
    """
    said, group, *rest = browse(blocks_page, script)
    assert said == "1 found"
    assert "…" in group
    assert rest == [True, "blocks.20/relu:1", True]


def test_a_search_without_a_match_here_goes_on_in_the_whole_picture(browse, blocks_page):
    script = f"""
    open(boxes.find(box => box.opens != null).opens, "");
    const opened = shown;
    {type_in("output")} const here = found.textContent;
    return [opened, here];
    """
    opened, here = browse(blocks_page, script)
    assert opened > 0
    assert re.search(r"\d found|0 here, \d+ in the whole picture", here)


def test_every_node_has_a_link(browse, page):
    assert browse(page, "select(1); return location.hash").startswith("#")
    script = """
    const wanted = boxes.findIndex(({ title }) => title === "LogBackward0");
    location.hash = encodeURIComponent(addressOf(boxes[wanted])); follow();
    return [selected === wanted, detail.querySelector("h2").textContent];
    """
    assert browse(page, script) == [True, "LogBackward0"]


def test_a_link_to_what_is_folded_leads_to_the_picture_that_shows_it(browse, blocks_page):
    script = """
    location.hash = "blocks.17/relu:1"; follow();
    return [shown > 0, addressOf(boxes[selected])];
    """
    assert browse(blocks_page, script) == [True, "blocks.17/relu:1"]


def test_the_numbered_end_of_a_line_leads_to_where_it_goes_on(browse):
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(40):
        y = y.sin().exp()
    page = gradstep.render(y.sum(), format="html", view="both", max_boxes=200).text
    script = """
    const ports = [...svg.querySelectorAll(".port")];
    const other = port => document.getElementById(port.getAttribute("href").slice(1));
    const led = ports.map(port => {
      port.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
      return isSeen(other(port)) && document.activeElement === other(port)
        && other(port).textContent === port.textContent;
    });
    views.querySelector("[value=forward]").click();
    const shown = ports.filter(port => getComputedStyle(port).display !== "none");
    return [led, shown.map(port => port.getAttribute("class")), location.hash];
    """
    led, shown, fragment = browse(page, script)
    assert led
    assert all(led)
    assert set(shown) == {"port value"}
    assert len(shown) < len(led)
    assert fragment == ""


def test_the_page_switches_between_the_halves(browse, page):
    script = f"""
    const said = () => [...views.children].find(b => b.ariaPressed === "true")?.value;
    const count = selector => [...svg.querySelectorAll(selector)].filter(isThere).length;
    const isThere = part => getComputedStyle(part).display !== "none";
    const captions = () => [...svg.querySelectorAll(":scope > text.m:not(.label)")]
      .filter(isThere).flatMap(text => text.textContent.match(/^\\w+(?= [↑↓])/) ?? []).join();
    const seen = [];
    const look = () => seen.push([said(), captions(),
      ...[".node", ".edge", ":scope > .label"].map(count), area.width,
      nodes.filter(isThere).every(isSeen)]);
    look();
    {press("b")} look();
    const saved = save();
    views.querySelector("[value=forward]").click(); look();
    {press("B")} look();
    return [seen, saved];
    """
    (both, backward, forward, again), saved = browse(page, script)
    assert both == again
    assert [one[0] for one in (both, backward, forward)] == ["both", "backward", "forward"]
    assert [one[1] for one in (both, backward, forward)] == ["forward,backward", *VIEWS[1::-1]]
    assert backward[2] + forward[2] == both[2]
    saved_lines = page.count('class="edge saved"')
    assert saved_lines > 0
    assert backward[3] + forward[3] + saved_lines == both[3]
    assert 0 < backward[4] + forward[4] <= both[4] - saved_lines
    assert backward[5] + forward[5] < both[5]
    assert backward[6]
    assert forward[6]
    assert "LogBackward0" in saved
    assert ">mul<" not in saved


def test_groups_open_in_one_half_and_stay_open_when_the_other_one_is_shown(browse, blocks_page):
    script = f"""
    {press("b")}
    const groups = boxes.flatMap((box, number) => box.name && !isAway(number) ? [number] : []);
    const openable = groups.every(number => boxes[number].opens != null);
    activate(groups[0]);
    const opened = shown, halves = () => new Set(nodes.flatMap((node, number) =>
      node.getBoundingClientRect().width ? [pictures[shown].halves[number]] : [])).size;
    const seen = [halves()];
    {press("B")} seen.push(halves());
    return [groups.length > 0, openable, opened > 0, seen, shown === opened];
    """
    assert browse(blocks_page, script) == [True, True, True, [1, 2], True]


def test_what_is_only_in_the_half_that_is_away_is_found_and_shown(browse, page):
    script = f"""
    {press("f")}
    {type_in("LogBackward0")}
    const said = found.textContent;
    {press("Enter", "search")}
    return [said, half, boxes[selected].title];
    """
    assert browse(page, script) == ["0 here, 1 in the other half", "both", "LogBackward0"]


def test_a_page_of_one_half_has_no_switch(browse, loss):
    page = gradstep.render(loss, format="html", view="backward").text
    assert browse(page, "return views.hidden") is True


def test_a_question_mark_shows_the_keys(browse, page):
    script = f"""
    {press("?")} const shown = help.open, text = help.textContent;
    {press("?")} return [shown, text, help.open];
    """
    shown, text, still = browse(page, script)
    assert shown
    assert not still
    assert "search names" in text


def test_what_is_on_the_screen_can_be_saved(browse, page):
    script = """
    zoom(2);
    const [width, height] = [main.clientWidth, main.clientHeight].map(size => size / view.scale);
    return [save(), [view.x, view.y, width, height]];
    """
    text, window = browse(page, script)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [float(number) for number in root.get("viewBox").split()] == pytest.approx(window)
    assert root.get("width").isdigit()


def test_boxes_are_coloured_by_what_is_known_of_them(browse, page):
    script = f"""
    const fills = () => nodes.map(node => node.querySelector("rect").style.fill);
    const shown = [...colour.options].filter(option => !option.hidden).map(({{ value }}) => value);
    {press("c")}
    const chosen = colour.value, said = get("scale").textContent, painted = fills();
    const rows = boxes.map((box, index) => [box.title, box.measures?.[2] ?? 0, painted[index]]);
    while (colour.value) nextColour();
    return [shown, chosen, said, rows, fills().some(Boolean), save().includes("color-mix")];
    """
    shown, chosen, said, rows, left, saved = browse(page, script)
    # no gradients, no profile, no parameters, and single numbers
    assert (shown, chosen) == (["", "2", "5", "file"], "2")
    assert said == "4 B … 8 B"
    by_size = {size: fill for _, size, fill in rows}
    assert "55%" in by_size[8]
    assert "5%" in by_size[4]
    assert by_size[0] == "var(--gs-bg)"
    assert (left, saved) == (False, False)


def test_boxes_are_coloured_by_a_file_of_the_readers_own(browse, page):
    script = """
    colourBy("mine.json", { "log:1": 3, "mul:1": 1, "nothing": 9 });
    const isDark = node => node.querySelector("rect").style.fill.includes("55%");
    const title = boxes[nodes.findIndex(isDark)]?.title;
    const said = get("scale").textContent, option = colour.selectedOptions[0].textContent;
    colourBy("other.json", { "nothing": 1 });
    return [said, option, title, found.textContent];
    """
    said, option, title, complaint = browse(page, script)
    assert (said, option) == ("1 … 3", "Colour: mine.json")
    assert title in ("log", "LogBackward0")
    assert complaint.startswith("'other.json' has no numbers of nodes")


def test_every_module_opens_in_one_step_from_the_tree(browse, blocks_page):
    script = f"""
    {press("m")}
    const rows = () => [...tree.querySelectorAll("button")];
    const first = rows().map(row => row.textContent);
    const fold = tree.querySelector("details");
    fold.open = true;
    return new Promise(done => fold.addEventListener("toggle", () => {{
      const blocks = rows().map(row => row.title);
      rows().find(row => row.title === "blocks.17").click();
      done([first, blocks.length, shown, addressOf(boxes[selected])]);
    }}));
    """
    first, count, picture, address = browse(blocks_page, script)
    assert first == ["blocks"]
    assert count > 20
    assert picture > 0
    assert address.startswith("blocks.17/")


def test_every_module_can_be_opened(browse, blocks_page):
    script = """
    return [...modules].filter(name => !openModule(name));
    """
    assert browse(blocks_page, script) == []


def test_search_understands_numbers_ops_and_lines(browse, page, blocks_page):
    def titles(page, text):
        return browse(page, f"{type_in(text)} return matches.map(one => boxes[one].title)")

    assert set(titles(page, "op:log")) == {"log", "LogBackward0"}
    assert set(titles(page, "bytes>4 op:mul")) == {"mul", "MulBackward0"}
    assert titles(page, "bytes>1e6") == []
    assert set(titles(page, "order=1")) == {"add", "AddBackward0"}
    assert titles(page, "test_pages.py") != []
    assert len(titles(blocks_page, "params>100")) > 0
    assert titles(blocks_page, "params>1e9") == []
    assert len(titles(blocks_page, "op:relu")) > 0


def test_the_path_to_the_loss_and_to_a_leaf_are_buttons(browse, page):
    script = """
    const shows = number => {
      select(number);
      const button = [...detail.querySelectorAll("button")]
        .find(one => one.textContent.startsWith("Path"));
      button.click();
      const on = boxes.filter((_, at) => nodes[at].classList.contains("on-path"));
      return [button.textContent, on.map(one => one.title)];
    };
    const leaf = (_, at) => nodes[at].classList.contains("leaf") && lineEnds[at].from.length > 0;
    const told = [shows(boxes.findIndex(box => box.title === "log")), shows(boxes.findIndex(leaf))];
    select(null);
    return [...told, svg.querySelectorAll(".on-path").length];
    """
    forward, leaf, left = browse(page, script)
    assert forward[0] == "Path from here to the loss"
    assert {"log", "add"} <= set(forward[1])
    assert "mul" not in forward[1]
    assert leaf[0] == "Path from the loss to this leaf"
    assert {"MulBackward0", "LogBackward0", "AddBackward0"} <= set(leaf[1])
    assert left == 0


def test_a_link_to_what_is_not_there_says_so(browse, page):
    script = 'location.hash = "nonsense"; follow(); return [found.textContent, selected];'
    assert browse(page, script) == ["nothing here is called 'nonsense'", None]


def test_a_policy_lets_no_other_script_run(browse, page):
    assert "default-src 'none'" in page
    script = """
    const other = document.createElement("script");
    other.textContent = "window.other = true";
    document.body.append(other);
    return [window.other === true, typeof select];
    """
    assert browse(page, script) == [False, "function"]


def test_a_picture_in_motion_is_moved_and_painted_when_it_rests(browse, page):
    moved, painted, rested = browse(
        page,
        """const before = svg.getAttribute("viewBox"), sheet = sections[shown].style;
        pan(30, 0);
        const moved = sheet.transform, painted = svg.getAttribute("viewBox") === before;
        apply();
        return [moved, painted, sheet.transform === ""
          && svg.getAttribute("viewBox") !== before];""",
    )
    assert moved == "translate(-30px, 0px) scale(1)"
    assert painted
    assert rested


def test_what_is_saved_in_motion_is_what_is_on_the_screen(browse, page):
    script = "pan(30, 0); return [save(), view.x];"
    text, left = browse(page, script)
    assert float(ElementTree.fromstring(text).get("viewBox").split()[0]) == pytest.approx(left)


def test_whatever_the_motion_all_of_the_picture_in_the_window_is_painted(browse, blocks_page):
    script = """
    const gaps = [], paintings = new Set(), turns = [[90, 0], [40, 250], [-130, -60], [0, -190]];
    const look = () => {
      const sheet = svg.getBoundingClientRect(), room = main.getBoundingClientRect();
      const left = room.left + (area.x - view.x) * view.scale;
      const top = room.top + (area.y - view.y) * view.scale;
      const right = left + area.width * view.scale, bottom = top + area.height * view.scale;
      gaps.push(
        sheet.left - Math.max(room.left, left), Math.min(room.right, right) - sheet.right,
        sheet.top - Math.max(room.top, top), Math.min(room.bottom, bottom) - sheet.bottom,
        Math.log2(view.scale / painted.scale) - 1);
      paintings.add(svg.getAttribute("viewBox"));
    };
    zoom(3);
    for (let step = 0; step < 60; step++) {
      pan(...turns[step % 4]); look();
      zoom(step % 20 < 10 ? 0.8 : 1.25, 200, 300, glide); look();
    }
    return [Math.max(...gaps), paintings.size];
    """
    gap, paintings = browse(blocks_page, script)
    assert gap < 0.1
    assert 2 < paintings < 60  # of 120 moves


def test_the_pointer_is_not_searched_for_among_the_boxes_in_motion(browse, page):
    script = """
    const { x, y, width, height } = nodes[0].getBoundingClientRect();
    const under = () => document.elementFromPoint(x + width / 2, y + height / 2);
    const isBox = () => Boolean(under().closest(".node"));
    const seen = [isBox()];
    pan(1, 0); seen.push(under() === main);
    main.dispatchEvent(new PointerEvent("pointerdown")); seen.push(isBox());
    pan(1, 0); apply(); seen.push(isBox());
    return seen;
    """
    assert browse(page, script) == [True] * 4


def test_a_box_that_the_keyboard_reaches_comes_into_view(browse, page):
    script = """
    zoom(3); view.x = -5000; apply();
    nodes.at(-1).focus();
    return [isSeen(nodes.at(-1)), main.scrollLeft, main.scrollTop];
    """
    assert browse(page, script) == [True, 0, 0]


def test_among_very_many_boxes_text_is_shown_where_it_can_be_read(browse, loss, monkeypatch):
    monkeypatch.setattr("gradstep_viz.output.pages.graph.MANY", 1)
    script = f"""
    const shown = () => [...svg.querySelectorAll(".node text, :scope > .label")]
      .filter(text => getComputedStyle(text).display !== "none").length;
    const all = svg.querySelectorAll(".node text, :scope > .label").length;
    const seen = [shown() === all];
    zoom(0.3 / view.scale); seen.push(shown() === 0, save().includes(">mul<"));
    {press("b")} seen.push(area.width > 100 && area.x > 0); {press("B")}
    zoom(1 / view.scale); fit(); seen.push(shown() === all);
    pan(1, 0); seen.push(shown() === all);
    zoom(1.1, 0, 0, glide); seen.push(shown() === 0);
    apply(); read(Infinity); seen.push(shown() === all);
    view.x -= 5000; apply(); seen.push(shown() === 0);
    return seen;
    """
    assert browse(gradstep.render(loss, format="html").text, script) == [True] * 9


@pytest.fixture(params=[360, 768, 1280, 1920])
def width(request, browser):
    """Make the window as wide as that of a phone, a tablet and two screens."""
    size = {"width": request.param, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    browser.ask("Emulation.setDeviceMetricsOverride", **size)
    yield request.param
    browser.ask("Emulation.clearDeviceMetricsOverride")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sample", ["page", "blocks_page"])
def test_a_window_of_any_width_has_room_for_picture_and_details(browse, request, sample, width):
    script = """
    const size = element => element.getBoundingClientRect();
    const header = size(document.querySelector("header"));
    select(0);
    const [picture, details] = [size(main), size(detail)];
    return [innerWidth, document.documentElement.scrollWidth, header.height,
            [picture.width, picture.height], [details.width, details.right, details.bottom]];
    """
    found = browse(request.getfixturevalue(sample), script)
    inner, scrolled, header, picture, (details, right, bottom) = found
    assert inner == scrolled == width
    assert header < (50 if width > 600 else 80)
    assert picture[0] > 0.5 * width
    assert picture[1] > 300
    assert details > 250
    assert right <= width
    assert bottom <= 740


@pytest.mark.sampled(2)
def test_a_film_fills_a_narrow_window_without_gaps(browse, loss, width):
    script = """
    const { width, height } = document.querySelector("main svg").getBoundingClientRect();
    const { width: w, height: h } = document.querySelector("main svg").viewBox.baseVal;
    return [width, height, w, h, document.documentElement.scrollWidth];
    """
    shown, high, w, h, scrolled = browse(gradstep.film(loss).html(), script)
    assert scrolled <= width
    if shown < w:
        assert high == pytest.approx(h * shown / w, abs=1)


def test_the_whole_picture_is_printed_wherever_it_was_moved(browse, browser, blocks_page):
    script = """
    zoom(3); pan(300, 200);
    dispatchEvent(new Event("beforeprint"));
    const { top, left, width, height } = svg.getBoundingClientRect();
    const sees = nodes.every(node => {
      const box = node.getBoundingClientRect();
      return box.left >= left && box.right <= left + width
        && box.top >= top && box.bottom <= top + height;
    });
    return [getComputedStyle(document.querySelector("header")).display, left, top, width, height,
            sees, sections[0].style.transform];
    """
    browser.ask("Emulation.setEmulatedMedia", media="print")
    try:
        header, left, top, width, height, sees, moved = browse(blocks_page, script)
    finally:
        browser.ask("Emulation.setEmulatedMedia", media="")
    assert (header, left, top, moved) == ("none", 0, 0, "")
    assert width > 900
    assert 0 < height < 700
    assert sees


def test_a_page_of_two_graphs_selects_the_same_in_both(browse):
    told = browse(
        drawn(graph("sin", "tanh", "exp"), graph("sin", "relu", "exp"), "html"),
        """
        const [one, other] = frames.map(frame => frame.contentDocument);
        const told = [];
        let asked = 0;
        const note = async () => {
          // each selection is told to the page around both, and by that to the other one
          for (const page of [window, ...frames.map(frame => frame.contentWindow)]) {
            const number = ++asked;
            await new Promise(done => {
              page.addEventListener("message", ({ data }) => data === number && done());
              page.postMessage(number, "*");
            });
          }
          told.push([one, other].map(page => page.querySelector(".selected text")?.textContent));
        };
        const named = (page, name) => [...page.querySelectorAll(".node")]
          .find(node => node.textContent.includes(name));
        const press = (node, key) =>
          node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        return (async () => {
          press(named(one, "TanhBackward0"), " ");
          await note();
          press(named(other, "SinBackward0"), " ");
          await note();
          press(other.body, "Escape");
          await note();
          press(document.body, "n");
          await note();
          return [...told, get("where").textContent];
        })();
        """,
    )
    assert told == [
        ["TanhBackward0", "ReluBackward0"], ["SinBackward0", "SinBackward0"], [None, None],
        ["tanh", "relu"], "1 of 1: changed tanh:1 relu:1: op tanh → relu",
    ]  # fmt: skip


ASKED = """
const ask = text => { search.value = text; search.dispatchEvent(new Event("input")); };
"""


def test_enter_opens_the_group_that_contains_what_was_found(browse, folded_page):
    script = f"""{ASKED}
    ask("layers.17.inner");
    const before = found.textContent;
    {press("Enter", "search")}
    return [before, pictures[shown].name, boxes.map(box => box.title + box.tooltip).join(" ")];
    """
    before, name, texts = browse(folded_page, script)
    assert before == "1 found"
    assert name.startswith("layers.")
    assert "tanh" in texts


def test_words_all_have_to_hold_and_quotation_marks_join_them(browse, page):
    script = f"""{ASKED}
    const counts = [];
    for (const text of ["logbackward0 #2", "#2 logbackward0", "logbackward0 nothing", '"as #2"',
                        '"#2 as"']) {{
      ask(text);
      counts.push(matches.length);
    }}
    return counts;
    """
    one, turned, none, joined, wrong = browse(page, script)
    assert (one, turned, none, joined, wrong) == (1, 1, 0, 1, 0)


def test_a_number_matches_the_row_of_a_parameter(browse):
    with trace():
        weight, x = torch.full((4, 4), 3.0, requires_grad=True), torch.ones(4, 4)
        loss = (x @ weight).sum() * 0.001
    session = Session(loss, names={"weight": weight})
    session.do("continue")
    page = gradstep.render(record(session, "both").after, format="html", leaves=False).text
    script = f"""{ASKED}
    ask("rms<0.005 weight.grad");
    const rowsOf = ({{ chips, rows }}) => [chips ?? [], rows ?? []];
    return [matches.map(number => boxes[number].chips ?? []), boxes.map(rowsOf)];
    """
    chips, rows = browse(page, script)
    assert ["weight.grad"] in chips
    assert any(row[0] for _, box in rows for row in box)


def test_lines_and_labels_fade_with_their_boxes(browse, page):
    script = f"""{ASKED}
    const faded = () => [svg.querySelectorAll(".edge.faded").length,
                         svg.querySelectorAll(".label.faded").length];
    const counts = [faded()];
    ask("mulbackward0");
    counts.push(faded());
    const seen = getComputedStyle(svg.querySelector(".edge.faded")).opacity;
    ask("");
    counts.push(faded());
    return [...counts, seen, svg.querySelectorAll(".edge").length];
    """
    none, faded, after, opacity, edges = browse(page, script)
    assert none == after == [0, 0]
    assert faded[0] == edges
    assert faded[1] > 0
    assert float(opacity) < 0.5


def test_the_tree_has_the_order_of_the_program(browse):
    with trace():
        x = torch.ones(3, requires_grad=True)
        for name in ("stem", "blocks.2", "blocks.10", "a_head"):
            with scope(name):
                x = torch.tanh(x * 2)
        loss = x.sum()
    for view in ("forward", "backward", "both"):
        page = gradstep.render(loss, format="html", view=view, max_boxes=40).text
        modules = browse(page, "return [...modules];")
        assert modules == ["stem", "blocks", "blocks.2", "blocks.10", "a_head"], view


def test_a_round_of_a_loop_is_gone_to_by_its_name(browse):
    with trace():
        h = torch.ones(3, requires_grad=True)
        for _ in range(60):
            h = torch.tanh(h * 2)
        loss = h.sum()
    page = gradstep.render(loss, format="html", view="backward").text
    script = f"""{ASKED}
    const label = boxes.find(({{ title }}) => title.includes(" … ")).title.replace(/\\d.*/, "");
    ask(`${{label}}37`);
    const before = found.textContent;
    {press("Enter", "search")}
    const texts = [before, found.textContent, pictures[shown].name];
    open(0, "");
    location.hash = `#${{label}}41`;
    follow();
    return [...texts, found.textContent, roundOf(`${{label}}4000`), label];
    """
    before, said, name, linked, none, label = browse(page, script)
    assert "(Enter opens it)" in before
    assert said.endswith(f"which {label}37 is built like")
    assert name.startswith(label)
    assert linked.endswith(f"which {label}41 is built like")
    assert none is None


def test_data_of_some_size_are_packed_and_read_again(browse, blocks_page, monkeypatch):
    assert 'id="data">"' in blocks_page
    monkeypatch.setattr("gradstep_viz.output.pages.frame.PACKED", 1 << 40)
    plain = gradstep.render(sample_graphs.residual(24), format="html").text
    assert len(plain) > 4 * len(blocks_page)
    assert pictures_of(plain) == pictures_of(blocks_page)
    script = (
        "return JSON.stringify(pictures.map(({ name, boxes, lines }) => [name, boxes, lines]));"
    )
    assert browse(plain, script) == browse(blocks_page, script)


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("fixed", [False, True])
def test_what_was_deflated_is_inflated(browse, page, level, fixed):
    text = "".join(f"{place * place} ä {'=' * (place % 300)}\n" for place in range(700))
    strategy = zlib.Z_FIXED if fixed else zlib.Z_DEFAULT_STRATEGY
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    data = base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()
    script = f"""
    const bytes = Uint8Array.from(atob("{data}"), letter => letter.charCodeAt(0));
    return new TextDecoder().decode(inflate(bytes));
    """
    assert browse(page, script) == text
