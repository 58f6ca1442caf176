"""The built pages: nothing is loaded from the network, no id occurs twice, no picture is mute.

They are built here, which takes a minute, unless GRADSTEP_SITE says where they were built before.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = os.environ.get("GRADSTEP_SITE")
pytestmark = pytest.mark.documents

# what makes a browser load something, by element; a link that is followed does not
LOADING = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("image", "href"),
    ("image", "xlink:href"), ("img", "src"), ("img", "srcset"), ("input", "src"),
    ("link", "href"), ("object", "data"), ("script", "src"), ("source", "src"),
    ("source", "srcset"), ("track", "src"), ("use", "href"), ("use", "xlink:href"),
    ("video", "poster"), ("video", "src"),
}  # fmt: skip
FROM_STYLE = re.compile(r"""url\(\s*['"]?([^'")]*)|@import\s+['"]([^'"]*)""")


class Page(HTMLParser):
    """What a page says about itself: ids, what it loads, and its pictures."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self._in_style = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        for name, value in attrs:
            if (tag, name) in LOADING and values.get("rel") not in ("author", "canonical"):
                self.loads += [part.split()[0] for part in (value or "").split(",") if part.strip()]
            if name == "style":
                self.loads += styled(value or "")
        if tag == "img" or ("role" in values and values["role"] == "img"):
            self.pictures.append(values)
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.loads += styled(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False


def styled(css: str) -> list[str]:
    return [one or other for one, other in FROM_STYLE.findall(css)]


def is_elsewhere(address: str) -> bool:
    return re.match(r"([a-z][a-z0-9+.-]*:)?//", address, re.IGNORECASE) is not None


def sources() -> dict[Path, bytes]:
    """What the commands in documents run on, and might change."""
    folders = (ROOT / "samples", ROOT / "docs")
    files = (path for folder in folders for path in folder.rglob("*"))
    return {p: p.read_bytes() for p in files if p.is_file() and p.suffix != ".pyc"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as HTML; every command in it runs, and any warning is an error."""
    if BUILT:
        return Path(BUILT)
    pytest.importorskip("sphinx", reason="Sphinx is not installed (the extra 'docs' has it)")
    pytest.importorskip("furo", reason="Furo is not installed (the extra 'docs' has it)")
    out, before = tmp_path_factory.mktemp("site"), sources()
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
         str(ROOT / "docs"), str(out)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sources() == before
    return out


def pages(site: Path) -> dict[str, Page]:
    return {str(path.relative_to(site)): Page(path) for path in sorted(site.rglob("*.html"))}


def test_no_id_occurs_twice_on_a_page(site: Path) -> None:
    twice = {
        name: [each for each, count in Counter(page.ids).items() if count > 1]
        for name, page in pages(site).items()
    }
    assert {name: ids for name, ids in twice.items() if ids} == {}


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    loaded = {name: page.loads for name, page in pages(site).items()}
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        loaded[str(path)] = styled(path.read_text(encoding="utf-8"))
    assert loaded["index.html"]  # its own style sheets, or the test sees nothing
    foreign = {name: [a for a in all_ if is_elsewhere(a)] for name, all_ in loaded.items()}
    assert {name: each for name, each in foreign.items() if each} == {}


def test_what_a_page_loads_is_there(site: Path) -> None:
    for name, page in pages(site).items():
        for address in page.loads:
            file = address.partition("?")[0].partition("#")[0]
            if file and not file.startswith("data:"):
                assert (site / name).parent.joinpath(file).is_file(), f"{name}: {address}"


def test_no_page_shows_an_error(site: Path) -> None:
    """Some themes put one into the page, and say nothing to the builder."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "system-message" not in text, path
        assert not re.search(r"ERROR:|autograd-(?:graph|film): ", text), path


def test_every_picture_has_words(site: Path) -> None:
    count = 0
    for name, page in pages(site).items():
        for picture in page.pictures:
            count += 1
            said = picture.get("alt") or picture.get("aria-label") or picture.get("aria-labelledby")
            assert said, f"{name}: {picture}"
    assert count > 50


@pytest.mark.parametrize(
    ("package", "page"),
    [("gradstep.debugger", "debugger"), ("gradstep.graph", "graph"), ("gradstep_viz", "pictures")],
)
def test_the_reference_has_every_name_that_a_package_exports(
    site: Path, package: str, page: str
) -> None:
    ids = Page(site / "reference" / "api" / f"{page}.html").ids
    exported = importlib.import_module(package).__all__
    described = [
        name for name in exported if callable(getattr(importlib.import_module(package), name))
    ]
    assert described
    # users find it under gradstep, where that has it
    assert [n for n in described if not {f"{package}.{n}", f"gradstep.{n}"} & set(ids)] == []


def test_every_page_can_be_reached_from_the_first(site: Path) -> None:
    reached, new = set(), {"index.html"}
    while new:
        reached |= new
        found = set()
        for name in new:
            text = (site / name).read_text(encoding="utf-8")
            for target in re.findall(r'<a [^>]*href="([^"#:]+\.html)', text):
                found.add(os.path.normpath(os.path.join(os.path.dirname(name), target)))
        new = {name for name in found if (site / name).is_file()} - reached
    assert {str(path.relative_to(site)) for path in site.rglob("*.html")} <= reached | {
        "search.html"
    }
