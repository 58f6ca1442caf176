"""The report of ``gradstep check``: what a run shows, as text for people and as JSON.

``report.schema.json`` beside this module describes the JSON.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from gradstep.capturing import capture
from gradstep.capturing.names import Names
from gradstep.capturing.roots import tensors_in
from gradstep.capturing.sources import portable
from gradstep.contract.registry import PAGES, load
from gradstep.findings.as_data import (
    IGNORED,
    Raised,
    as_json,
    evidence,
    identified,
    line_of,
    meant_part,
    place,
    plain,
    ranges,
)
from gradstep.findings.checking import NodeCheck, check_derivatives
from gradstep.findings.explanations import MEANINGS
from gradstep.findings.facts import (
    LARGEST_DRAWN,
    MOST_DRAWN,
    Facts,
    Forward,
    Graphs,
    Happenings,
    Numbers,
    Objects,
)
from gradstep.findings.facts.data import SeenData
from gradstep.findings.finding import (
    SEVERITIES,
    Finding,
    Fix,
    Level,
    Program,
    Severity,
    severities_from,
)
from gradstep.findings.linting import findings_of
from gradstep.findings.listing import Listing
from gradstep.findings.not_finite import NotFinite
from gradstep.findings.overview import Overview, overview
from gradstep.findings.patches import patch_of
from gradstep.findings.rules.run.derivatives import Checks, wrong_among
from gradstep.findings.rules.run.not_finite import InCall
from gradstep.findings.thresholds import Thresholds
from gradstep.findings.whole_run.conclusions import Conclusion, conclusions
from gradstep.findings.whole_run.recorded import facts_of
from gradstep.findings.whole_run.watch import RULES
from gradstep.graph.model import Graph, Source
from gradstep.guest.cells import is_cell, place_in
from gradstep.guest.own_files import is_of_library
from gradstep.guest.versions import versions
from gradstep.recording.facts import UNNAMED, CallFacts
from gradstep.recording.reading import FileRun
from gradstep.recording.run import graph_of
from gradstep.text import listed, plural

if TYPE_CHECKING:
    from gradstep.recording.run import Run

VERSION: Final = 2
"""Of the JSON document; it grows when something in it changes that is there already."""
Confidence = Literal["verified", "observed", "concluded", "possible"]
"""How sure a finding is: its fix was tried, and it was gone then; the calls that were looked at
show it, whatever comes; all of them together do, and more of them may refute it; it is a note."""


class CheckFailed(AssertionError):
    """A check has findings; ``report`` is what it says."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.text())
        self.report = report


class Symptom(NamedTuple):
    """A finding that goes when another one does: that with the id ``of``."""

    finding: Finding
    of: str


class NotSeen(NamedTuple):
    """Something that was not looked at: of a kind, in words, and how many, None where that is no
    number."""

    kind: Literal[
        "defect", "dry_run", "end_of_run", "other_calls", "derivatives", "not_checkable", "graphs",
        "leaves", "recording", "codes",
    ]  # fmt: skip
    words: str
    number: int | None = None

    def __str__(self) -> str:
        return self.words


class Ended(NamedTuple):
    """What ended a run before the program did: of a kind, and in words."""

    kind: Literal["not_finite", "calls", "time", "interrupt"]
    words: str


@dataclass(frozen=True)
class Report:
    """What ``gradstep check`` says of a target, and :func:`gradstep.check` of an object.

    Attributes:
        target: as the command was given it.
        findings: what was found, worst first, notes included.
        calls: how many calls of ``backward()`` and ``autograd.grad()`` there were.
        looked_at: in words.
        not_looked_at: what was not, and why.
        next: the command that shows more, "" where there is none.
        raised: the exception that ended the program, None where none did.
        loss: the first loss, None where there is none.
        learning: the names of the leaves that got a gradient which is not 0.
        run: the codes of the rules that ran.
        not_run: the rules that need more than what is known.
        overview: what a person would look at who knows nothing of it.
        symptoms: what goes when a finding does, and is told in JSON only.
        closely: the calls whose graphs were looked at, by their places among all.
        named: the calls that findings name, by their titles.
        arguments: those of the program.
        exit_code: that of the program, None where it is not known, or did not come to its end.
        ended: what ended the run before the program did.
        versions: of gradstep, Python and the libraries of the run.
        is_recorded: whether it is a recording that was looked at.
        verdicts: what became of the fix of a finding that was tried: "" where it is verified, else
            why not.
        derivatives: of a loss, what finite differences say of each op, in the order of the
            backward pass.
        error: what ended the function, or the block, that was looked at.
        in_python: whether it was asked for in Python, and not by a command.
        graphs: by the indices of their calls, graphs to be drawn.
        opened: gives the facts of the calls while somebody reads them, None where there are none.
    """

    target: str
    findings: tuple[Finding, ...]
    calls: int
    looked_at: str
    not_looked_at: tuple[NotSeen, ...]
    next: str
    raised: Raised | None = None
    loss: float | None = None
    learning: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    overview: Overview | None = None
    symptoms: tuple[Symptom, ...] = ()
    closely: tuple[int, ...] = ()
    named: Mapping[str, CallFacts] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    exit_code: int | None = None
    ended: Ended | None = None
    versions: Mapping[str, str] = field(default_factory=versions)
    is_recorded: bool = False
    verdicts: Mapping[Finding, str] = field(default_factory=dict)
    derivatives: Listing[NodeCheck] = field(default_factory=Listing)
    error: BaseException | None = None
    in_python: bool = False
    graphs: Mapping[int, Graph] = field(default_factory=dict)
    opened: Callable[[], AbstractContextManager[Run]] | None = None

    @property
    def failure(self) -> str:
        """What ended the program, in words, "" where nothing did."""
        return "" if self.raised is None else f"its {self.raised.type}"

    @property
    def bad(self) -> list[Finding]:
        """The errors and warnings."""
        return [finding for finding in self.findings if finding.is_bad]

    def raise_for(self, severity: Severity = "warning") -> None:
        """See that nothing was found that is so bad, or worse, and that nothing was raised.

        Raises:
            CheckFailed: something was found. The message is the report.
            BaseException: :attr:`error`, where that is all.
        """
        worst = severities_from(severity)
        if any(finding.severity in worst for finding in self.findings):
            raise CheckFailed(self) from self.error
        if self.error is not None:
            raise self.error

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return _page_writer().part(self, Path.cwd())

    def html(self, here: Path | None = None, *, is_live: bool = False) -> str:
        """Return the report as a page, with pictures: one file that needs nothing else. One that
        ``is_live`` is loaded again and again, as it will be written anew."""
        return _page_writer().page(self, here or Path.cwd(), is_live=is_live)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to a file: a page (``.html``), data (``.json``) or text.

        Raises:
            VizError: reports are not written in such a format, a file is there that gradstep has
                not written, or none can be written.
        """
        return _page_writer().save(self, Path(path))

    def text(self, here: Path | None = None, *, everything: bool = False) -> str:
        """Return the report for a person, with the notes if ``everything``; files are named as seen
        from ``here``, by default the current directory."""
        here = here or Path.cwd()
        bad, notes = self.bad, len(self.findings) - len(self.bad)
        blocks = [f"{self.target}: {self.verdict()}"]
        blocks += [
            "\n".join(
                [
                    finding_text(finding, here, marked(finding), self._fix_rows(finding)),
                    *([f"  in {self.call_text(finding, here)}"] if finding.call else []),
                ]
            )
            for finding in (self.findings if everything else bad)
        ]
        last = [f"looked at: {self.looked_at}"]
        if not bad and self.overview is not None:
            last += [f"  {row}" for row in self.overview.rows()]
        if self.not_looked_at:
            last.append(f"not looked at: {'; '.join(map(str, self.not_looked_at))}")
        if not bad and not everything:
            last += [f"worth a look: {each}" for each in self._hints(here)]
        if notes and not everything:
            how = "text(everything=True)" if self.in_python else "--all"
            last.append(f"{plural(notes, 'note')}: {how} lists {'it' if notes == 1 else 'them'}")
        if bad:
            last.append(f"what it means: gradstep explain {bad[0].code}")
        last += [f"next: {self.next}"] if self.next else []
        return "\n\n".join([*blocks, "\n".join(last)])

    def _hints(self, here: Path) -> Iterator[str]:
        """Yield the first notes that may be why a training fails, one for each line."""
        lines: dict[tuple[str, int] | None, Finding] = {}
        for finding in self.findings:
            if finding.reason.is_hint:
                lines.setdefault(finding.source, finding)
        for finding in [*lines.values()][:_HINTS]:
            yield f"{place_text(finding.source, here)}: {finding.what} [{finding.code}]"

    def verdict(self) -> str:
        """Say how much was found; or that nothing was, and no more than that."""
        counts = Counter(finding.severity for finding in self.bad)
        kinds: tuple[Severity, ...] = ("error", "warning")
        if counts:
            return ", ".join(plural(counts[kind], kind) for kind in kinds if counts[kind])
        until = f" before {self.failure}" if self.failure else ""
        if not self.is_recorded:
            return f"nothing suspicious was found{until}"
        needs = Counter(rule.words for rule in self.not_run)
        lacking = [
            f"{plural(count, 'rule')} need{'s' * (count == 1)} {words}"
            for words, count in needs.most_common()
        ]
        return "; ".join([f"nothing found in what the recording holds{until}", *lacking])

    def call_text(self, finding: Finding, here: Path) -> str:
        """Name the call of a finding; of one in a library, also the program's line that led to
        it."""
        own = [line.file for line in (finding.source, finding.other) if line is not None]
        call = self.named.get(finding.call)
        line = None if call is None or not own else call.line
        if line is None or is_of_library(line.file) or not all(map(is_of_library, own)):
            return finding.call
        return f"{finding.call}, {place_text(line, here)}"

    def level(self, finding: Finding) -> Level | None:
        """Return the level of the fix of a finding, None where it has none."""
        if not finding.fix:
            return None
        if finding in self.verdicts:
            return "display" if self.verdicts[finding] else "safe"
        is_example = any(fix.is_example for fix in finding.fix)
        return "display" if is_example or not finding.is_bad else "unsafe"

    def fixable(self) -> list[Finding]:
        """Return the errors and warnings whose fixes may be made."""
        return [finding for finding in self.bad if self.level(finding) in ("safe", "unsafe")]

    def of_fix(self, finding: Finding) -> str:
        """Say what is known of the fix of a finding, "" where it has none."""
        match self.level(finding), self.verdicts.get(finding):
            case None, _:
                return ""
            case "safe", _:
                return "safe, verified"
            case "unsafe", _:
                return "unsafe, not tried"
            case _, str(verdict):
                return f"only shown, not verified: {verdict}"
        return "only shown"

    def _fix_rows(self, finding: Finding) -> list[str]:
        known = self.of_fix(finding)
        return [f"  fix: {known}"] if known else []

    def lines(self, here: Path) -> str:
        """Return one line for each error and warning, as compilers print them."""
        return "\n".join(one_line(finding, here) for finding in self.bad)

    def confidence(self, finding: Finding) -> Confidence:
        """Return how sure a finding is."""
        if not finding.is_bad:
            return "possible"
        if self.verdicts.get(finding) == "":
            return "verified"
        reason = finding.reason
        if isinstance(reason, NotFinite):
            return "observed" if reason.began == "at" else "concluded"
        is_open = reason.is_open and finding.severity != "error"
        return "concluded" if is_open else "observed"

    def json(self, here: Path | None = None) -> str:
        """Return a JSON document, notes included; its schema is in the documentation. Files are
        named as seen from ``here``, by default the current directory."""
        here = here or Path.cwd()
        document = {
            "version": VERSION, "target": self.target, "versions": dict(self.versions),
            "program": {
                "arguments": list(self.arguments), "exit_code": self.exit_code,
                "error": plain(self.raised, here),
                "ended_early_by": None if self.ended is None else self.ended.kind,
            },
            "findings": [self._as_data(finding, here) for finding in self.findings],
            "symptoms": [self._as_data(one.finding, here, one.of) for one in self.symptoms],
            "calls": {"count": self.calls, "closely": ranges(self.closely)},
            "not_looked_at": [
                {"kind": one.kind, "count": one.number, "what": one.words}
                for one in self.not_looked_at
            ],
            "losses": [] if self.overview is None else plain(self.overview.losses, here),
            "first_loss": self.loss, "learning": list(self.learning),
            "rules": {
                "run": list(self.run),
                "not_run": [{"code": rule.code, "needs": [*rule.needs]} for rule in self.not_run],
            },
            "overview": None if self.overview is None else plain(self.overview.json(), here),
            "next": self.next,
        }  # fmt: skip
        return as_json(document)

    def _as_data(self, finding: Finding, here: Path, symptom_of: str = "") -> dict[str, Any]:
        """Return a finding as the JSON document has it."""
        reason, (module, _, op) = finding.reason, finding.address.rpartition("/")
        is_cause = reason.is_cause and not symptom_of
        call = self.named.get(finding.call)
        return {
            "id": finding.id, "code": finding.code, "severity": finding.severity,
            "role": "cause" if is_cause else "symptom", "symptom_of": symptom_of or None,
            "confidence": self.confidence(finding),
            "what": finding.what, "remedy": finding.remedy, "details": finding.details,
            "evidence": evidence(reason, here),
            "at": place(finding.source, here, meant_part(finding)),
            "other": place(finding.other, here),
            "node": finding.address, "op": op.partition(":")[0], "module": module,
            "functions": list(dict.fromkeys(reason.calls())),
            "call": call and call.option, "count": finding.count,
            "leaves": list(finding.leaves),
            "fix": self._fix_as_data(finding, here),
            "began": reason.began if isinstance(reason, NotFinite) else None,
            "finds": reason.finds if isinstance(reason, NotFinite) else "",
        }  # fmt: skip

    def _fix_as_data(self, finding: Finding, here: Path) -> dict[str, Any] | None:
        level, verdict = self.level(finding), self.verdicts.get(finding)
        if level is None:
            return None
        return {
            "level": level,
            "tried": None if verdict is None else "rejected" if verdict else "verified",
            "why_rejected": verdict or "",
            "is_example": any(fix.is_example for fix in finding.fix),
            "patch": patch_of(finding.fix, here),
            "lines": [{**place(fix.source, here), "new": fix.text} for fix in finding.fix],
        }


class PageWriter(Protocol):
    """Writes reports with pictures."""

    def page(self, report: Report, here: Path, *, is_live: bool) -> str:
        """Return a page."""
        ...

    def part(self, report: Report, here: Path) -> str:
        """Return the same as a part of another page."""
        ...

    def save(self, report: Report, path: Path) -> Path:
        """Write a file in the format that its name says."""
        ...


def _page_writer() -> PageWriter:
    writer: PageWriter = load(PAGES["report"])
    return writer


class NotRun(NamedTuple):
    """A rule that did not run: the code that it yields, and what it needs, by name and in words."""

    code: str
    needs: tuple[str, ...]
    words: str


def _rules(facts: Facts) -> tuple[tuple[str, ...], tuple[NotRun, ...]]:
    """Return the codes of the rules that ran, and the rules that did not."""
    lacks = [(rule, sorted(facts.lacks(rule), key=_ORDER.index)) for rule in RULES]
    return (
        tuple(dict.fromkeys(code for rule, lacking in lacks if not lacking for code in rule.codes)),
        tuple(
            NotRun(
                rule.codes[0], tuple(kind.__name__.lower() for kind in lacking), lacking[0].words
            )
            for rule, lacking in lacks
            if lacking
        ),
    )  # fmt: skip


_ORDER: Final = (Objects, Forward, Numbers, Graphs, Happenings)
"""Whoever has the first of them has all."""


class Scope(NamedTuple):
    """What was looked at, and how it ended.

    Attributes:
        program: the program, as the report is to call it.
        ignored: the codes of findings to leave out.
        is_whole: whether all calls were to be looked at.
        is_own_pass: whether the pass is ours, from a tensor for which the program ran none.
        ended: what ended the run before the program did.
        raised: what ended the program; ``findings`` say why.
        exit_code: that of the program, None where it is not known.
        has_failed: whether a defect of ours was told already.
        error: what ended the program, where whoever asks has to get it.
        in_python: whether it was asked for in Python, and no command could run the program again.
    """

    program: Program
    ignored: Collection[str] = ()
    is_whole: bool = True
    is_own_pass: bool = False
    ended: Ended | None = None
    raised: Raised | None = None
    exit_code: int | None = None
    findings: Sequence[Finding] = ()
    has_failed: bool = False
    error: BaseException | None = None
    in_python: bool = False


def report_on_run(facts: Facts, scope: Scope) -> Report:
    """Return what is said of a run that was watched."""
    concluded = conclusions(facts)
    codes = {each.finding.code for each in concluded}
    concluded[:0] = [Conclusion(each) for each in scope.findings if each.code not in codes]
    findings, symptoms = _parted(concluded, scope.ignored, scope.program)
    calls = list(facts.run.calls())
    closely = len(facts.looked_at)
    some = "" if closely == len(calls) else f", {closely:,} of them with their graphs"
    lines = plural(len({call.line for call in calls}), "line")
    looked_at = f"{plural(len(calls), 'call')} on {lines}{some}" if calls else "no backward() ran"
    if scope.is_own_pass:
        looked_at = f"{scope.program.target}.backward()"
    return Report(
        scope.program.target, tuple(findings), len(calls),
        f"{looked_at}{_derivatives(facts[Checks].nodes)}",
        tuple(_not_looked_at(facts, scope, len(calls) - closely)),
        "" if scope.in_python else _next(scope.program, findings, calls), scope.raised,
        _first_loss(calls),
        _learning(facts.run, calls), *_rules(facts), _overview(facts), symptoms,
        tuple(facts.looked_at), _named(calls, findings, symptoms), scope.program.arguments,
        scope.exit_code, scope.ended, error=scope.error, in_python=scope.in_python,
        graphs=facts.graphs, opened=_opening(facts.run),
    )  # fmt: skip


def _overview(facts: Facts) -> Overview:
    return overview(facts.run, facts[SeenData].by_name.values())


def _opening(run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """Return what gives a run in memory; it holds nothing else, such as the tensors in facts."""
    return lambda: nullcontext(run)


def report_on_graph(roots: Any, names: Names, ignored: Collection[str]) -> Report:
    """Return what the graph of ``roots`` tells before its pass, without findings of the
    ``ignored`` codes.

    Raises:
        NotInGraph: a root requires no gradient.
    """
    tensors, _ = tensors_in(roots)
    name = ", ".join(names.of(tensor) or "loss" for tensor in tensors)
    nodes = check_derivatives(tensors, names=names)
    reasons = [reason.seen_by(names) for reason in wrong_among(nodes)]
    findings = [*map(Finding, reasons), *findings_of(tensors, names)]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    kept = left(identified(findings), ignored, Program(name))
    why_not = sorted({node.why_not for node in nodes if node.verdict == "not checkable"})
    leaf = next((leaf for each in kept if each.is_bad for leaf in each.leaves), "")
    return Report(
        name, tuple(kept), 0, f"the graph of {name}{_derivatives(nodes)}",
        (
            *(NotSeen("not_checkable", words) for words in why_not[:_REASONS]),
            NotSeen("other_calls", "what only a run shows (gradstep.watch)"),
        ),
        f"gradstep.why({name}, {leaf!r})" if leaf else f"gradstep.Session({name})",
        derivatives=nodes, in_python=True, graphs={1: capture(tensors, "both", names=names)},
    )  # fmt: skip


def report_on_recording(
    run: FileRun, target: str, ignored: Collection[str], thresholds: Thresholds | None = None
) -> Report:
    """Return what the facts in a recording tell, without findings of the ``ignored`` codes."""
    calls, facts = list(run.calls()), facts_of(run)
    facts.thresholds = thresholds or facts.thresholds
    program = Program(target)
    findings, symptoms = _parted(conclusions(facts), ignored, program)
    leaves = plural(len(run.leaves), "leaf", "leaves")
    graphs = f"; the graphs of {len(facts.looked_at):,} of them" if facts.looked_at else ""
    able, unable = _rules(facts)
    left_out = [*_incomplete(facts), *(NotSeen("recording", note) for note in run.notes)]
    codes = {rule.code for rule in unable}.difference(able)
    bad = [code for code in sorted(codes) if MEANINGS[code].severity != "info"]
    left_out += [NotSeen("codes", f"what is {listed(bad, 8)}", len(bad))] if bad else []
    raised = next((_raised_in(call) for call in reversed(calls) if call.error), None)
    return Report(
        target, tuple(findings), len(calls),
        f"the losses of {plural(len(calls), 'call')}, and {leaves} in them{graphs}",
        tuple(left_out), _after_recording(run, program, findings, calls),
        raised, _first_loss(calls), _learning(run, calls),
        able, unable, _overview(facts), symptoms, tuple(facts.looked_at),
        _named(calls, findings, symptoms), tuple(run.header.command[1:]),
        versions={**run.header.versions, **run.header.engines}, is_recorded=True,
        graphs=_graphs(run, findings, facts.looked_at), opened=partial(FileRun, run.path),
    )  # fmt: skip


def _graphs(run: Run, findings: Sequence[Finding], indices: Sequence[int]) -> dict[int, Graph]:
    """Return the graphs of a recording that are to be drawn: of calls in which something was found,
    and of some others."""
    titles = {finding.call for finding in findings if finding.is_bad}
    first = [index for index in run.full if run.call(index).title in titles]
    chosen = [index for index in dict.fromkeys([*first, *indices])
              if (run.call(index).nodes or 0) <= LARGEST_DRAWN]  # fmt: skip
    return {index: graph_of(run, index) for index in chosen[:MOST_DRAWN]}


def _raised_in(call: CallFacts) -> Raised:
    """Return what a call of a recording raised."""
    kind, _, message = call.error.partition(": ")
    return Raised(kind, message, call.line)


def _parted(
    concluded: Sequence[Conclusion], ignored: Collection[str], program: Program
) -> tuple[list[Finding], tuple[Symptom, ...]]:
    """Return what stands alone, and the symptoms of that, without what is ``ignored``."""
    every = identified(each.finding for each in concluded)
    ids = {id(each.finding): named.id for each, named in zip(concluded, every, strict=True)}
    # by their own ids: whose symptoms they are
    causes = {
        named.id: "" if each.symptom_of is None else ids[id(each.symptom_of)]
        for each, named in zip(concluded, every, strict=True)
    }
    kept = left(every, ignored, program)
    findings = [finding for finding in kept if not causes[finding.id]]
    known = {finding.id for finding in findings}
    symptoms = [Symptom(each, of) for each in kept if (of := causes[each.id]) in known]
    return findings, tuple(symptoms)


def _named(
    calls: Sequence[CallFacts], findings: Sequence[Finding], symptoms: Sequence[Symptom]
) -> dict[str, CallFacts]:
    """Return the calls that findings name, by their titles."""
    named = {finding.call for finding in (*findings, *(each.finding for each in symptoms))}
    return {call.title: call for call in calls if named and call.title in named}


def _after_recording(
    run: FileRun,
    program: Program,
    findings: Sequence[Finding],
    calls: Sequence[CallFacts],
) -> str:
    """Return the command that shows more: where nothing was found, the one that runs the program
    that was recorded, if it has one."""
    if run.header.command and not any(finding.is_bad for finding in findings):
        return Program.of(run.header.command).command("check")
    return _next(program, findings, calls)


def _first_loss(calls: Sequence[CallFacts]) -> float | None:
    """Return the loss of the first call that has one, None where it is not finite, too."""
    loss = next((call.loss for call in calls if call.loss is not None), None)
    return loss if loss is not None and isfinite(loss) else None


def _learning(run: Run, calls: Sequence[CallFacts]) -> tuple[str, ...]:
    """Name the leaves that got a gradient which is not 0, as far as they have names."""
    numbers = {
        leaf.leaf
        for call in calls
        for leaf in run.of_leaves(call.index)
        if leaf.after is not None and leaf.after.rms != 0
    }
    return tuple(
        leaf.name
        for leaf in run.leaves
        if leaf.number in numbers and leaf.name.partition(" ")[0] != UNNAMED
    )


def _derivatives(nodes: Sequence[NodeCheck]) -> str:
    """Say how many derivatives were compared with finite differences."""
    own = {(check.op, check.rule) for check in nodes if check.rule is not None}
    others = [check for check in nodes if check.rule is None]
    right = sum(other.verdict == "right" for other in others)
    compared = [plural(len(own), "custom Function")] if own else []
    if others:
        compared.append(f"{plural(len(others), 'node')}, {right:,} of them right")
    return f"; the derivatives of {' and '.join(compared)}" if compared else ""


def _not_looked_at(facts: Facts, scope: Scope, rest: int) -> Iterator[NotSeen]:
    if scope.has_failed:
        yield NotSeen("defect", "what gradstep failed at (not shown, as said above)")
    yield from _incomplete(facts)
    if facts.dry_runs:
        calls = plural(facts.dry_runs, "call")
        words = f"{calls} on memory that nobody has written (a dry run)"
        yield NotSeen("dry_run", words, facts.dry_runs)
    if scope.ended is not None:
        yield NotSeen("end_of_run", f"what comes after {scope.ended.words}")
    if not scope.is_whole:
        yield NotSeen("other_calls", "calls that --call leaves out")
    if not any(check.rule is None for check in facts[Checks].nodes):
        how = "gradstep.check(loss)" if scope.in_python else "--derivatives"
        yield NotSeen("derivatives", f"derivatives of built-in ops ({how})")
    reasons = {check.why_not for check in facts[Checks].nodes if check.verdict == "not checkable"}
    for reason in sorted(reasons)[:_REASONS]:
        yield NotSeen("not_checkable", reason)
    if rest:
        described = len(facts.run.described)
        if described < len(facts.run.indices):
            words = f"the leaves of {plural(len(facts.run.indices) - described, 'call')}"
            yield NotSeen("leaves", words, len(facts.run.indices) - described)
        yield NotSeen("graphs", f"the graphs of {plural(rest, 'call')}", rest)


def _incomplete(facts: Facts) -> Iterator[NotSeen]:
    """Say what a defect of ours leaves open."""
    if not facts.is_complete:
        words = "what all calls have in common, as gradstep failed at some of them"
        yield NotSeen("defect", words)


_REASONS: Final = 3
_HINTS: Final = 3


def _next(program: Program, findings: Sequence[Finding], calls: Sequence[CallFacts]) -> str:
    """Return the command that shows more, with the names of this program."""
    for finding in findings:
        if finding.is_bad and isinstance(finding.reason, InCall):
            return finding.reason.shows
        is_open = isinstance(finding.reason, NotFinite) and finding.reason.finds
        if finding.is_bad and is_open:
            return str(is_open)
        if finding.is_bad and isinstance(finding.reason, NotFinite) and not finding.leaves:
            return program.command("debug --fail-on nan,inf")
        name = next((leaf for leaf in finding.leaves if " " not in leaf), "")
        if finding.is_bad and name:
            named = _named(calls, [finding], ()).get(finding.call)
            call = f" --call {named.option}" if named and named.option != "1" else ""
            return program.command(f"why{call}", name)
    if is_cell(program.target):
        return ""  # the debugger needs a terminal
    is_grad = bool(calls) and all(call.kind == "grad" for call in calls)
    return program.command("debug --call grad:1" if is_grad else "debug")


def one_line(found: Finding, here: Path) -> str:
    """Return a finding as compilers print them: ``train.py:14: warning: ... [cut]``."""
    place = place_text(found.source, here, found.address)
    return f"{place}: {found.severity}: {found.what} [{found.code}]".removeprefix(": ")


def left(findings: Sequence[Finding], ignored: Collection[str], program: Program) -> list[Finding]:
    """Leave out findings whose codes or ids are ``ignored``, or are in a comment on one of their
    lines: ``# gradstep: ignore[cut]``; the commands of the others name ``program``."""
    named = [each if each.id else identified([each])[0] for each in findings]
    return [
        finding.for_program(program)
        for finding in named
        if {finding.code, finding.id}.isdisjoint({*ignored, *_ignored_at(finding)})
    ]


def _ignored_at(finding: Finding) -> Iterator[str]:
    for source in (finding.source, finding.other):
        comment = IGNORED.search(line_of(source))
        if comment is not None:
            yield from (code.strip() for code in comment[1].split(","))


def marked(found: Finding) -> list[str]:
    """Return the line that a finding is about, and a line with a mark below the part that is meant,
    where that is known: the one call of what it is about."""
    line = dedent(line_of(found.source))
    if not line or found.source is None:
        return []
    front = f"{found.source.line} | "
    shown = [f"    {front}{line}"]
    part = meant_part(found)
    if part is not None:
        indent = len(line_of(found.source)) - len(line)
        spaces, marks = " " * (part.at - indent), "^" * (part.end - part.at)
        shown.append(f"    {' ' * (len(front) - 2)}| {spaces}{marks}")
    return shown


def finding_text(
    found: Finding, here: Path, lines: Sequence[str] = (), last: Sequence[str] = ()
) -> str:
    """Return a finding for a person, with ``lines`` of the program, and those that come ``last`` of
    its fix; files are named as seen from ``here``."""
    where = " ".join(filter(None, [found.address, place_text(found.source, here)]))
    if found.other is not None:
        where = f"{where}, {found.reason.other_is} {place_text(found.other, here)}"
    head = f"{found.severity} [{found.code}]{'  ' if where else ''}{where}"
    times = f" ({found.count} times)" if found.count > 1 else ""
    rows = [
        head,
        f"  {found.what}{times}",
        *lines,
        f"  remedy: {found.remedy}",
        *map(_fix_text, found.fix),
        *last,
    ]
    return "\n".join([*rows, f"  details: {found.details}"] if found.details else rows)


def _fix_text(fix: Fix) -> str:
    r"""Return the lines of a fix, with the number of the first one.

    >>> text = _fix_text(Fix(Source("train.py", 12), "a = 1\nb = 2"))
    >>> [line.index("|") for line in text.split("\n")]
    [7, 7]
    """
    first, *others = (fix.text or "# delete this line").split("\n")
    number = f"    {fix.source.line} |"
    blank = " " * (len(number) - 1) + "|"
    return "\n".join([f"{number} {first}", *(f"{blank} {line}" for line in others)])


def place_text(source: Source | None, here: Path, otherwise: str = "") -> str:
    """Return ``file:line`` as seen from ``here``, ``otherwise`` where there is none."""
    return otherwise if source is None else place_in(portable(source.file, here), source.line)
