"""What was found: each finding with the lines around it, and its fix as a patch."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getlines
from pathlib import Path
from textwrap import dedent
from typing import Final

from gradstep.capturing.statement import Operation
from gradstep.findings.as_data import meant_part
from gradstep.findings.explanations import MEANINGS
from gradstep.findings.finding import Finding
from gradstep.findings.patches import patch_of
from gradstep.findings.report import Report, place_text
from gradstep.graph.model import Source
from gradstep.text import plural
from gradstep_viz.report.html import command, scrolling, text

_AROUND: Final = 3
"""Lines before and behind the one that is meant."""
_SIGNS: Final = {"error": "✖", "warning": "▲", "info": "ℹ"}
_LONGEST: Final = 400
"""Characters of a line that are shown."""


def findings_section(report: Report, here: Path) -> str:
    """Write all findings, notes folded."""
    bad = report.bad
    notes = [finding for finding in report.findings if not finding.is_bad]
    parts = [_finding(report, finding, here, at) for at, finding in enumerate(bad, 1)]
    if not bad:
        verdict = report.verdict()
        parts.append(f"<p>{text(verdict[:1].upper() + verdict[1:])}.</p>")
    if report.raised is not None and report.raised.at is not None:
        parts.append("<h3>Where the program ended</h3>")
        parts.append(_excerpt(report.raised.at, here))
    if notes:
        inside = "\n".join(_finding(report, finding, here) for finding in notes)
        title = f"{plural(len(notes), 'note')}, good to know"
        parts.append(f"<details><summary>{title}</summary>\n{inside}\n</details>")
    return "\n".join(parts)


def _finding(report: Report, finding: Finding, here: Path, number: int = 0) -> str:
    named = f' id="finding-{number}" tabindex="-1"' if number else ""
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    rows = [
        f'<article class="finding {finding.severity}">',
        _kind(finding, number),
        f"<h3{named}>{text(finding.what)}{times}</h3>",
        *_where(report, finding, here),
    ]
    if finding.remedy:
        rows.append(f"<p><strong>Remedy:</strong> {text(finding.remedy)}</p>")
    rows += _fix(report, finding, here)
    if finding.details:
        rows.append(f'<p class="mute"><strong>Details:</strong> {text(finding.details)}</p>')
    rows += [*_meaning(finding.code), "</article>"]
    return "\n".join(rows)


def _kind(finding: Finding, number: int) -> str:
    counted = f'<span class="number">{number}</span> ' if number else ""
    sign = f'<span aria-hidden="true">{_SIGNS[finding.severity]}</span>'
    return f'<p class="kind">{counted}{sign} {finding.severity} <code>{finding.code}</code></p>'


def _where(report: Report, finding: Finding, here: Path) -> Iterator[str]:
    facts = [f"in {text(report.call_text(finding, here))}"] if finding.call else []
    facts += [f"node <code>{text(finding.address)}</code>"] if finding.address else []
    if facts:
        yield f'<p class="mute">{", ".join(facts)}</p>'
    if finding.source is not None:
        yield _excerpt(finding.source, here, meant_part(finding))
    if finding.other is not None:
        yield f'<p class="mute">{text(finding.reason.other_is)}</p>'
        yield _excerpt(finding.other, here)


def _excerpt(source: Source, here: Path, part: Operation | None = None) -> str:
    """Write a line of the program, marked, with those around it."""
    place, lines = place_text(source, here), getlines(source.file)
    if not 0 < source.line <= len(lines):
        return f'<p class="mute"><code>{text(place)}</code></p>'
    first = max(source.line - _AROUND, 1)
    shown = [line.rstrip().expandtabs(4) for line in lines[first - 1 : source.line + _AROUND]]
    cut = dedent("\n".join(shown)).split("\n")
    own = lines[source.line - 1].rstrip()
    indent = len(shown[source.line - first]) - len(cut[source.line - first])
    wide = len(str(source.line + _AROUND))
    rows = []
    for number, line in enumerate(cut, first):
        is_own = number == source.line
        written = text(line[:_LONGEST])
        if is_own and part is not None and "\t" not in own:
            before, meant, behind = (
                line[: part.at - indent],
                line[part.at - indent : part.end - indent],
                line[part.end - indent :],
            )
            written = f"{text(before)}<mark>{text(meant)}</mark>{text(behind)}"
        sign = '<span class="sr">this line: </span>' if is_own else ""
        kind = ' class="own"' if is_own else ""
        arrow = '<b aria-hidden="true">▶</b>' if is_own else " "
        rows.append(f"<span{kind}>{sign}<i>{arrow}{number:>{wide}}</i>{written}</span>")
    code = scrolling(f"<pre>{''.join(rows)}</pre>", f"lines around {place}", "code")
    return f'<p class="file"><code>{text(place)}</code></p>{code}'


def _fix(report: Report, finding: Finding, here: Path) -> Iterator[str]:
    known = report.of_fix(finding)
    if not known:
        return
    rows = []
    for line in patch_of(finding.fix, here).splitlines():
        kind, said = _KINDS.get(line[:1], ("", ""))
        if line[:3] in ("---", "+++"):
            kind, said = "mute", ""
        heard = f'<span class="sr">{said}</span>' if said else ""
        shown = text(line.expandtabs(4)[:_LONGEST]) or " "
        rows.append(f'<span class="{kind}">{heard}{shown}</span>')
    yield f"<p><strong>Fix:</strong> {text(known)}</p>"
    yield scrolling(f"<pre>{''.join(rows)}</pre>", "the fix as a patch", "code diff")


_KINDS: Final = {"+": ("plus", "added: "), "-": ("minus", "removed: "), "@": ("mute", "")}
"""The class of a line of a patch, and what a screen reader says before it."""


def _meaning(code: str) -> Iterator[str]:
    meaning = MEANINGS.get(code)
    if meaning is None:
        return
    yield f"<details><summary>What <code>{code}</code> means</summary>"
    if meaning.means:
        yield f"<p>{text(meaning.means)}</p>"
    for title, program in (("Wrong", meaning.wrong), ("Right", meaning.right)):
        lines = "".join(f"<span>{text(line) or ' '}</span>" for line in program.split("\n"))
        name = f"{title.lower()}: an example of {code}"
        yield f"<p>{title}:</p>{scrolling(f'<pre>{lines}</pre>', name, 'code')}"
    if meaning.ignore:
        yield f"<p>Ignore it: {text(meaning.ignore)}</p>"
    yield f"<p>{command(f'gradstep explain {code}')}</p></details>"
