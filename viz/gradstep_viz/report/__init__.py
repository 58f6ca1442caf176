"""A report as a page: what was found, the picture of the net, the losses and gradients of the run,
its modules, and what was looked at. It has no script, and needs nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib.resources import files
from pathlib import Path
from typing import Final

from gradstep.findings.explanations import MEANINGS
from gradstep.findings.report import Report
from gradstep.recording.errors import RecordingError
from gradstep.recording.run import Run
from gradstep.text import plural
from gradstep_viz import theme
from gradstep_viz.errors import NothingToDraw, UnknownFormat
from gradstep_viz.output.files import require_replaceable, write_atomically
from gradstep_viz.output.pages.frame import write_still_page
from gradstep_viz.output.svg.style import page_rules
from gradstep_viz.plots.contents import Contents, contents_of
from gradstep_viz.report.findings import findings_section
from gradstep_viz.report.html import command, items, text
from gradstep_viz.report.modules import modules_section
from gradstep_viz.report.picture import picture_section
from gradstep_viz.report.training import training_section

REFRESH: Final = 5
"""Seconds after which a page is loaded anew, while its run goes on."""
_FOOT: Final = (
    "<footer><p>Written by <code>gradstep check</code>. This file needs no other files and no "
    "network.</p></footer>"
)
_MOST_LINKS: Final = 6
_FOLDED: Final = ("modules", "scope")
"""Sections that are folded in another page."""
MARK: Final = rb'<html lang="en" class="gs-report">'
FORMATS: Final = {".html": "html", ".htm": "html", ".json": "json", "": "text", ".txt": "text",
                  ".text": "text", ".log": "text"}  # fmt: skip
"""How reports are written, by what the names of files end with."""


def report_format(path: Path, format: str | None = None) -> str:
    """Return the format of a report: the one that was asked for, or that the name of its file
    tells.

    Raises:
        UnknownFormat: reports are not written so, or the name tells another one.
    """
    told = FORMATS.get(path.suffix.lower())
    if (told or format) is None:
        raise UnknownFormat(
            f"a report cannot be written as {path.suffix.lower().lstrip('.')}",
            where=str(path),
            remedy="name it .html, .json or .txt",
        )
    if format is not None and told is not None and format != told and "html" in (format, told):
        raise UnknownFormat(
            f"the name {path.name!r} says {told}, but {format} was asked for",
            remedy=f"name it {path.stem}.{'txt' if format == 'text' else format}",
        )
    return format or told or "text"


class _Writer:
    """Writes reports with pictures; see :class:`gradstep.findings.report.PageWriter`."""

    def page(self, report: Report, here: Path, *, is_live: bool = False) -> str:
        head = f'<meta http-equiv="refresh" content="{REFRESH}">\n' if is_live else ""
        sections = _sections(report, here)
        body = "\n".join(
            [
                '<a class="skip" href="#findings">Skip to the findings</a>',
                *_header(report, [(name, title) for name, title, _ in sections], is_live=is_live),
                "<main>",
                *(_section(*section) for section in sections),
                "</main>",
                _FOOT,
            ]
        )
        title = f"{'still running: ' if is_live else ''}{report.target}: {report.verdict()}"
        return write_still_page(_style(), body, title, head)

    def part(self, report: Report, here: Path) -> str:
        sections = _sections(report, here)
        body = "\n".join(
            f"<details><summary>{title}</summary>\n{content}\n</details>"
            if name in _FOLDED
            else f"<section><h2>{title}</h2>\n{content}\n</section>"
            for name, title, content in sections
        )
        body = f"{_verdict(report)}\n{body}"
        name = f"gs-{hashlib.sha256(body.encode('utf-8', 'replace')).hexdigest()[:8]}"
        for link in (' id="', ' href="#'):  # of a program, no quotes are left
            body = body.replace(f"{link}finding-", f"{link}{name}-finding-")
        return f'<div class="gs-report gs-part"><style>{_style()}</style>\n{body}</div>'

    def save(self, report: Report, path: Path) -> Path:
        format = report_format(path)
        if format != "html":
            told = report.json() if format == "json" else report.text(everything=True)
            return write_atomically(path, f"{told}\n".encode("utf-8", "replace"))
        require_replaceable(path, MARK)
        return write_atomically(path, self.page(report, Path.cwd()).encode("utf-8", "replace"))


PAGES: Final = _Writer()


def _style() -> str:
    scope = ".gs-report"
    base = ";".join(f"--gs-{name}:{value}" for name, value in theme.LIGHT.items())
    sheet = files("gradstep_viz.report").joinpath("report.css").read_text("utf-8")
    return "\n".join([f"{scope}{{{base}}}", *page_rules(scope, theme.LIGHT, theme.DARK), sheet])


def _sections(report: Report, here: Path) -> list[tuple[str, str, str]]:
    """Return the name, the title and the content of each section."""
    with ExitStack() as stack:
        run: Run | None = None
        contents: Contents | None = None
        with suppress(RecordingError, NothingToDraw):  # the file may be gone
            run = None if report.opened is None else stack.enter_context(report.opened())
            contents = None if run is None else contents_of(run)
        sections = [
            ("findings", "Findings", findings_section(report, here)),
            ("picture", "The net", picture_section(report, run, here)),
            ("training", "The run", training_section(report, contents)),
            ("modules", "Modules and their gradients", modules_section(run, contents)),
            ("scope", "What was looked at", "\n".join(_scope(report))),
        ]
    return [section for section in sections if section[2]]


def _section(name: str, title: str, content: str) -> str:
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}" tabindex="-1">{title}</h2>\n{content}\n'
        "</section>"
    )


def _header(report: Report, sections: list[tuple[str, str]], *, is_live: bool) -> Iterator[str]:
    yield "<header>"
    yield '<p class="what">gradstep check</p>'
    yield f"<h1>{text(report.target)}</h1>"
    yield _verdict(report, is_live=is_live)
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in sections)
    yield f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
    yield "</header>"


def _verdict(report: Report, *, is_live: bool = False) -> str:
    bad = report.bad
    is_error = any(finding.severity == "error" for finding in bad)
    kind = "error" if is_error else "warning" if bad else "error" if report.raised else "fine"
    sign = {"error": "✖", "warning": "▲", "fine": "○"}[kind]
    verdict = report.verdict()
    shown = text(verdict[:1].upper() + verdict[1:])
    said = [f'<p class="is"><span aria-hidden="true">{sign}</span> <strong>{shown}</strong></p>']
    links = "".join(
        f'<li><a href="#finding-{number}">{text(finding.what)}</a></li>'
        for number, finding in enumerate(bad[:_MOST_LINKS], 1)
    )
    said.append(f"<ol>{links}</ol>" if links else "")
    if len(bad) > _MOST_LINKS:
        said.append(f"<p>and {len(bad) - _MOST_LINKS:,} more, below</p>")
    if is_live:
        said.append(
            f'<p class="live"><span aria-hidden="true">↻</span> The run continues: this is what '
            f"{plural(report.calls, 'call')} showed. The page is updated from time to time, and "
            f"loads itself every {REFRESH} seconds.</p>"
        )
    if (raised := report.raised) is not None:
        words = f"{raised.type}: {raised.message}" if raised.message else raised.type
        said.append(f"<p>The program was ended by <strong>{text(words)}</strong></p>")
    elif report.exit_code:
        said.append(f"<p>The program ended with exit code {report.exit_code}.</p>")
    if report.next:
        said.append(f"<p>To see more: {command(report.next)}</p>")
    return f'<div class="verdict {kind}">{"".join(said)}</div>'


def _scope(report: Report) -> Iterator[str]:
    yield f"<p><strong>Looked at:</strong> {text(report.looked_at)}.</p>"
    if report.not_looked_at:
        yield "<p><strong>Not looked at:</strong></p>"
        yield items(map(str, report.not_looked_at))
    if report.overview is not None and (rows := [*report.overview.rows()]):
        yield "<p><strong>In numbers:</strong></p>"
        yield items(rows)
    needs = [f"{rule.code}: needs {rule.words}" for rule in report.not_run]
    ran = [f"{code}: {MEANINGS[code].title}" for code in report.run if code in MEANINGS]
    for title, rows in (
        (f"{plural(len(needs), 'rule')} did not run", needs),
        (f"{plural(len(ran), 'kind')} of findings were looked for", ran),
    ):
        if rows:
            yield f'<details class="long"><summary>{title}</summary>{items(rows)}</details>'
