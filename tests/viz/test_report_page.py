"""The page of a report: what it says, that it is safe, and how it is in a real browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

import autograd_core as torch
import gradstep
from autograd_core import nn
from gradstep.findings.report import Report
from gradstep_viz.errors import CannotWrite, VizError

SICK = """\
import autograd_core as torch
from autograd_core import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.rand(16, 4), torch.rand(16, 1)
for step in range(6):
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def report(folder) -> Report:
    """A loop that never clears gradients, in a file of its own."""
    path = folder / "train.py"
    path.write_text(SICK)

    def train() -> None:
        exec(compile(SICK, str(path), "exec"), {"__name__": "train"})

    return gradstep.check(train)


@pytest.fixture(scope="module")
def page(report, folder) -> str:
    return report.html(folder)


@pytest.fixture
def browse(browser, tmp_path):
    """Open a page, carry out a script in it, and return what that says."""

    def run(page: str, script: str, width: int = 1000, scheme: str = "light"):
        path = tmp_path / "report.html"
        path.write_text(page)
        browser.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=800, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        try:
            return browser.say(path, script)
        finally:
            browser.ask("Emulation.clearDeviceMetricsOverride")
            browser.ask("Emulation.setEmulatedMedia", features=[])

    return run


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_a_page_says_what_the_text_says(report, page, folder):
    said = " ".join(Elements(page).text.split())
    assert report.bad
    for finding in report.bad:
        assert finding.what in said
        assert finding.remedy in said
        assert finding.code in said
    assert report.verdict() in said.lower()
    assert report.looked_at in said
    for left_out in report.not_looked_at:
        assert str(left_out) in said


def test_the_line_of_a_finding_is_marked_among_those_around_it(report, page):
    (finding, *_) = [finding for finding in report.bad if finding.source is not None]
    own = re.findall(r'<span class="own">(.*?)</span></?(?:span|pre)', page)
    line = SICK.split("\n")[finding.source.line - 1].strip()
    assert any(line in Elements(each).text for each in own)
    assert f"train.py:{finding.source.line}" in page


def test_a_fix_is_a_patch(report, page):
    assert any(finding.fix for finding in report.bad)
    assert re.search(r'class="plus"><span class="sr">added: </span>\+', page)


def test_the_losses_and_the_modules_are_there(page):
    said = Elements(page).text
    assert "The loss goes from" in said
    for name in ("weight", "bias", "Linear", "32", "8"):
        assert name in said


def test_a_page_needs_nothing_from_elsewhere_and_has_no_script(page):
    elements = Elements(page).all
    assert not any(tag in ("script", "link", "img", "iframe", "object") for tag, _ in elements)
    assert not re.search(r"""url\(|@import|https?://(?!www\.w3\.org)""", page)
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in elements)
    assert len(page.encode()) < 300_000


def test_headings_are_in_order_and_ids_are_unique(page):
    elements = Elements(page).all
    levels = [int(tag[1]) for tag, _ in elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [attributes["href"][1:] for tag, attributes in elements if tag == "a"]
    assert targets
    assert set(targets) <= set(ids)


def test_pictures_and_tables_have_names_and_headers(page):
    elements = Elements(page).all
    for tag, attributes in elements:
        if tag == "svg":
            named = {"aria-label", "aria-labelledby"} & attributes.keys()
            assert named or attributes.get("aria-hidden") == "true"
        elif tag == "th":
            assert attributes["scope"] in ("col", "row")
        elif attributes.get("role") == "region":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
    tags = {tag for tag, _ in elements}
    assert {"main", "header", "nav", "footer", "table", "th"} <= tags


HOSTILE = '</pre><script>document.title="broken"</script><img src=x onerror=alert(1)>"&\''


def test_whatever_a_program_has_in_it_is_shown_as_it_is(folder, browse):
    path = folder / "<b>&.py"
    text = f"x = {HOSTILE!r}\nloss.backward(); raise ValueError(x)\n"
    path.write_text(text)
    w = torch.tensor([1.0, -1.0], requires_grad=True)

    def train() -> None:
        known = {HOSTILE: w}
        names = {"loss": (known[HOSTILE].sqrt()).sum(), "known": known}
        exec(compile(text, str(path), "exec"), names)

    page = gradstep.check(train).html(folder)
    assert "<script" not in page
    assert not re.search(r"<img|<b>&", page)
    assert HOSTILE in Elements(page).text
    assert browse(page, "return document.title") != "broken"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 830, 1400])
def test_a_page_is_never_wider_than_its_window(browse, page, width, scheme):
    script = """
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    const wide = [...document.querySelectorAll("main *, header *")].filter(each =>
        !each.closest(".scroll, svg, .sr") && each.getBoundingClientRect().right > innerWidth);
    return [document.documentElement.scrollWidth <= innerWidth, wide.map(each => each.outerHTML)];
    """
    assert browse(page, script, width, scheme) == [True, []]


CONTRAST = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgba = text => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = text => {
    const [r, g, b] = rgba(text).map(part => part / 255).map(
        part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
};
const ground = element => {
    for (let each = element; each; each = each.parentElement) {
        const colour = getComputedStyle(each).backgroundColor;
        if (rgba(colour)[3] === 255) return colour;
    }
    return "white";
};
const low = [];
for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some(each => each.nodeType === 3 && each.data.trim());
    if (!text || element.closest("svg, style")) continue;
    const one = light(getComputedStyle(element).color), other = light(ground(element));
    const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
    if (ratio < 4.5) low.push([element.outerHTML.slice(0, 90), ratio]);
}
return low;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(browse, page, scheme):
    assert browse(page, CONTRAST, scheme=scheme) == []


def test_the_accessibility_tree_has_sections_tables_and_pictures(browser, browse, page):
    browse(page, "")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    seen = [
        (n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n["ignored"]
    ]
    roles = {role for role, _ in seen}
    assert {"main", "banner", "navigation", "contentinfo", "article", "table", "rowheader",
            "columnheader", "DisclosureTriangle", "region"} <= roles  # fmt: skip
    pictures = [name for role, name in seen if role in ("image", "img")]
    assert any(name.startswith("Flow of") for name in pictures)
    assert any(name.startswith("Plot of Loss") for name in pictures)
    assert all(pictures)
    regions = [name for role, name in seen if role == "region"]
    assert {"Findings", "The net", "The run"} <= set(regions)


def test_folds_open_by_keyboard_and_what_has_the_focus_is_seen(browser, browse, page):
    script = """
    const summary = document.querySelector("summary");
    summary.focus({focusVisible: true});
    return [getComputedStyle(summary).outlineStyle, summary.parentElement.open];
    """
    assert browse(page, script) == ["solid", False]
    for kind in ("keyDown", "keyUp"):
        browser.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                    windowsVirtualKeyCode=13)  # fmt: skip
    told = browser.ask(
        "Runtime.evaluate", expression="document.querySelector('summary').parentElement.open"
    )
    assert told["result"]["value"] is True


def test_on_paper_the_page_is_light_and_nothing_is_folded(browser, browse, page):
    browse(page, "")
    browser.ask(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    script = """
    const inside = document.querySelector("details > :not(summary)");
    [getComputedStyle(document.documentElement).backgroundColor,
     inside.getBoundingClientRect().height > 0,
     getComputedStyle(document.querySelector("nav")).display]
    """
    try:
        told = browser.ask("Runtime.evaluate", expression=script, returnByValue=True)
    finally:
        browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    assert told["result"]["value"] == ["rgb(255, 255, 255)", True, "none"]


def test_a_live_page_says_so_and_only_that_one_is_loaded_again(report, page, folder):
    live = report.html(folder, is_live=True)
    assert 'http-equiv="refresh"' in live
    assert "The run continues" in live
    assert 'http-equiv="refresh"' not in page
    assert "The run continues" not in page


def test_a_live_page_is_loaded_again_until_it_is_the_last(
    report, folder, browser, tmp_path, monkeypatch
):
    monkeypatch.setattr("gradstep_viz.report.REFRESH", 0)
    path = tmp_path / "report.html"
    path.write_text(report.html(folder, is_live=True))
    browser.ask("Page.navigate", url=path.as_uri())  # a script would not outlive the page
    browser._wait(lambda message: message.get("method") == "Page.loadEventFired")
    report.save(path)
    last = f"{report.target}: {report.verdict()}"  # a live page has another title
    while browser.ask("Target.getTargetInfo")["targetInfo"]["title"] != last:
        browser._wait(lambda message: message.get("method") == "Page.loadEventFired")


def test_the_same_report_gives_the_same_bytes_without_names_of_this_machine(report, page, folder):
    assert report.html(folder) == page
    assert str(folder) not in page


def test_the_name_of_a_file_says_how_a_report_is_written(report, tmp_path):
    assert report.save(tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads(report.save(tmp_path / "a.json").read_text())["findings"]
    assert report.save(tmp_path / "a.txt").read_text() == report.text(everything=True) + "\n"
    with pytest.raises(VizError, match=r"cannot be written as pdf; name it \.html, \.json or"):
        report.save(tmp_path / "a.pdf")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.html", "a.json", "a.txt"]


def test_a_page_takes_the_place_of_a_page_only(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("<html>somebody else's</html>")
    with pytest.raises(CannotWrite, match="which gradstep has not written"):
        report.save(path)
    assert path.read_text() == "<html>somebody else's</html>"
    path.unlink()
    report.save(path)
    report.save(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_notebook_shows_the_same_parts(report):
    part = report._repr_html_()
    assert report.bad[0].what in Elements(part).text
    assert "<html" not in part
    assert "The loss goes from" in part


def test_links_in_one_notebook_lead_to_their_own_report(report):
    parts = [report._repr_html_(), replace(report, next="gradstep why x")._repr_html_()]
    # fmt: off
    ids = [attributes["id"] for part in parts for _, attributes in Elements(part).all
           if "finding-" in attributes.get("id", "")]
    links = [attributes["href"][1:] for part in parts for tag, attributes in Elements(part).all
             if tag == "a"]
    # fmt: on
    assert len(set(ids)) == 2
    assert links == ids


def test_a_recording_that_is_gone_leaves_what_was_read(folder, tmp_path):
    weight = torch.tensor([1.0], requires_grad=True)
    with gradstep.record(tmp_path / "run.gsr"):
        for _ in range(3):
            (weight * 2).sum().backward()
    report = gradstep.check(tmp_path / "run.gsr")
    assert "The loss" in report.html(folder)
    (tmp_path / "run.gsr").unlink()
    page = report.html(folder)
    assert report.verdict() in Elements(page).text
    assert "The loss" not in page


def test_a_loss_is_drawn_with_what_was_found_and_the_way_to_it(folder):
    with gradstep.trace(values=True):
        first, last = nn.Linear(3, 3), nn.Linear(3, 1)
        root = (first(torch.ones(4, 3)) - 1).sqrt()
        loss = last(root).mean()
    report = gradstep.check(loss, names={"first": first, "last": last})
    page = report.html(folder)
    (finding, *_) = [each for each in report.bad if each.address]
    assert f"1 {finding.code}" in page
    assert 'class="way"' in page
    assert "The thin line in the lanes is the path from there to the loss." in page


def test_calls_of_two_lines_are_two_lines_of_a_plot(folder):
    """As in a GAN, where they alternate: of each, there is a number in every second call."""

    def train() -> None:
        one, other = nn.Linear(2, 1), nn.Linear(2, 1)
        for step in range(8):
            one(torch.ones(4, 2) * step).mean().backward()
            other(torch.ones(4, 2)).pow(2).mean().backward()

    page = gradstep.check(train).html(folder)
    plots = re.findall(r'<div class="plot">.*?</svg>', page, re.DOTALL)
    assert len(plots) == 2
    for plot in plots:
        lines = re.findall(r'class="line s([01])" d="M([^"]*)"', plot)
        assert [(kind, points.count("L")) for kind, points in lines] == [("0", 7), ("1", 7)]
    assert page.count('<ul class="legend">') == 2


def test_a_line_ends_where_something_is_not_finite_and_says_when(folder):
    def train() -> None:
        weight = torch.tensor([1.0], requires_grad=True)
        for step in range(12):
            loss = (weight * (float("nan") if step == 6 else 1.0)).sum()
            loss.backward()
            weight.grad = None

    with gradstep.watch() as run:
        train()
    page = run.report().html(folder)
    assert "NaN first in call 7: weight." in page
    assert 'class="event"' in page
    assert "NaN from call 7" in page


def test_a_large_module_is_a_tree_of_folds(folder):
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.out = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            return x + self.out(self.fc(x).tanh())

    net = nn.Sequential(nn.Linear(4, 4), *[Block() for _ in range(12)])

    def train() -> None:
        net(torch.ones(3, 4)).pow(2).mean().backward()

    page = gradstep.check(train).html(folder)
    tree = page[page.index('id="modules"') : page.index('id="scope"')]
    assert tree.count("<details>") == 12
    assert tree.count('<th scope="row"') == 2 * 25 + 1 + 2 * 12
    assert len(page.encode()) < 300_000
