"""The net as rows, with what was found there, and the way from there to the loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from gradstep.capturing.sources import with_portable_sources
from gradstep.findings.finding import Finding
from gradstep.findings.report import Report
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.model import Graph
from gradstep.recording.run import Run
from gradstep.text import listed
from gradstep_viz.errors import VizError
from gradstep_viz.flow.compose import make_flow_picture
from gradstep_viz.flow.rows import Mark, Tone
from gradstep_viz.flow.svg import write_flow_svg
from gradstep_viz.options import RenderOptions
from gradstep_viz.report.html import scrolling, text

_MOST: Final = 3
"""Pictures."""
_NARROW: Final = 420
_MOST_MARKED: Final = 6
"""Nodes that one finding may mark; what is in more places is everywhere."""


def picture_section(report: Report, run: Run | None, here: Path) -> str:
    """Write a picture for each line that made calls; of these, the call where most was found."""
    best: dict[object, _Drawn] = {}
    for index, graph in report.graphs.items():
        call = None if run is None else run.call(index)
        title = graph.title if call is None else call.title
        marks, of_call = _marks(report.bad, graph, title)
        drawn = _Drawn(graph, title, marks, of_call)
        line = None if call is None else (call.line, call.kind)
        if line not in best or drawn.rank > best[line].rank:
            best[line] = drawn
    chosen = sorted(best.values(), key=lambda drawn: drawn.rank, reverse=True)[:_MOST]
    return "\n".join(
        part for drawn in best.values() if drawn in chosen for part in _figure(drawn, here)
    )


class _Drawn(NamedTuple):
    """A graph with its marks, and the numbers of the findings that these are of: with the call
    that they were found in, where that is another one."""

    graph: Graph
    title: str
    marks: Mapping[int, Mark]
    findings: Mapping[int, str]

    @property
    def rank(self) -> tuple[int, int]:
        """How much it has to show."""
        return sum(not call for call in self.findings.values()), len(self.findings)


def _figure(drawn: _Drawn, here: Path) -> Iterator[str]:
    graph, options = with_portable_sources(drawn.graph, here), RenderOptions(view="flow")
    try:
        wide = make_flow_picture(graph, options, drawn.marks)
        narrow = make_flow_picture(graph, replace(options, width=str(_NARROW)), drawn.marks)
    except (VizError, UnknownAddress):
        return
    said = [f"The graph of {drawn.title}."]
    for call in dict.fromkeys(drawn.findings.values()):
        numbers = [f"{number}" for number, other in drawn.findings.items() if other == call]
        several = len(numbers) > 1
        which = f"Finding{'s' * several} {listed(numbers, len(numbers))}"
        where = f", found in {call}, " if call else " "
        said.append(f"{which}{where}{'stand' if several else 'stands'} in the rows that say so.")
    said.append(
        "The thin line in the lanes is the path from there to the loss." if wide.way
        else "" if drawn.findings else "No finding refers to one of its rows."
    )  # fmt: skip
    yield "<figure>"
    for kind, picture in (("wide", wide), ("narrow", narrow)):
        yield scrolling(write_flow_svg(picture).decode(), f"picture of {drawn.title}", kind)
    yield f"<figcaption>{text(' '.join(filter(None, said)))}</figcaption></figure>"


def _marks(
    findings: Sequence[Finding], graph: Graph, title: str
) -> tuple[Mapping[int, Mark], Mapping[int, str]]:
    """Return what nodes are to say, and the findings that this is of."""
    marks: dict[int, Mark] = {}
    marked = {}
    for number, finding in enumerate(findings, 1):
        nodes = _nodes(finding, graph)
        if 0 < len(nodes) <= _MOST_MARKED:
            marked[number] = "" if finding.call in ("", title) else finding.call
            tone: Tone = "alert" if finding.severity == "error" else "warn"
            for node in nodes:
                marks.setdefault(node, Mark(f"{number} {finding.code}", tone))
    return marks, marked


def _nodes(finding: Finding, graph: Graph) -> list[int]:
    """Return the ops that a finding is about: its node, those that read its leaves, or those of its
    line."""
    if finding.address:
        nodes = [id for id in range(len(graph)) if graph.address(id) == finding.address]
        if nodes:
            return [nodes[0]]
    leaves = {id for id, name in graph.variables.items() if name in finding.leaves}
    if leaves:
        ends = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
        readers = [target for kind, source, target in ends
                   if kind != "gradient" and kind != "saved" and source in leaves]  # fmt: skip
        if readers:
            return list(dict.fromkeys(readers))
    if finding.source is not None:
        ops = [id for id, at in graph.sources.items() if at == finding.source]
        forward = [id for id in ops if graph.halves[id] == "forward"]
        return forward or ops
    return []
