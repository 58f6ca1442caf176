"""The laws of reasons: records first, sentences last, and an order that is written with them."""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import random
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gradstep
from gradstep.findings.explanations import MEANINGS
from gradstep.findings.facts import Facts, Forward, Graphs, Objects
from gradstep.findings.facts.learning import Learning, Uses
from gradstep.findings.finding import Reason, Rule
from gradstep.findings.rules import rules_in
from gradstep.findings.rules.graph.saved import FREED  # a message of PyTorch's
from gradstep.findings.whole_run.conclusions import kinds_of
from gradstep.findings.whole_run.watch import NEEDED
from gradstep.recording.facts import Header
from gradstep.recording.run import MemoryRun
from gradstep_tui.cli import main
from tests.check_corpus.running import FOLDER, as_before, healthy_programs, text
from tests.check_corpus.table import BUGS, TORCH_ONLY

KINDS = [kind for kind in kinds_of(Reason) if kind.__module__.startswith("gradstep.")]
CODES = {kind.code for kind in KINDS if kind.code}
PARTS = {kind.as_part for kind in KINDS if kind.as_part}
MODULES = [
    module
    for name, module in sorted(sys.modules.items())
    if name.startswith(("gradstep.findings.rules.", "gradstep.findings.facts"))
    or name in {kind.__module__ for kind in KINDS}
]


def test_each_code_is_explained_and_each_explanation_is_of_a_finding() -> None:
    assert len(CODES) > 30
    assert {*MEANINGS} == CODES


def test_each_warning_says_when_to_ignore_it() -> None:
    warnings = [each for each in MEANINGS.values() if each.severity == "warning"]
    assert not [each.code for each in warnings if not each.ignore]


def test_an_order_names_codes_that_there_are_and_has_no_circle() -> None:
    for kind in KINDS:
        assert {*kind.after, *kind.explained_by} <= CODES, kind
        assert {*kind.explained_here_by} <= CODES | PARTS, kind
    for order in ("after", "explained_by", "explained_here_by"):
        named = {kind.code: getattr(kind, order) for kind in KINDS if kind.code}
        TopologicalSorter(
            {code: [*others] for code, others in named.items() if order != "after" or code in named}
        ).prepare()


def test_kinds_of_one_code_stand_at_one_place() -> None:
    places = {(kind.code, kind.after) for kind in KINDS if kind.code}
    assert len(places) == len(CODES)


def test_each_kind_is_a_frozen_record_whose_amounts_make_no_other_mistake_of_it() -> None:
    for kind in KINDS:
        assert kind.__dataclass_params__.frozen, kind  # type: ignore[attr-defined]
        assert kind.__eq__ is not object.__eq__, kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_kind_with_a_fix_says_whether_the_first_loss_stays_the_same(kind: type[Reason]) -> None:
    own = [each for each in kind.__mro__ if issubclass(each, Reason) and each is not Reason]
    if any("fix" in vars(each) for each in own):
        assert any("keeps_loss" in vars(each) for each in own)


def test_a_rule_reads_only_the_facts_that_it_needs() -> None:
    facts = Facts(MemoryRun(Header()))
    assert {Learning, Uses} <= {*NEEDED}
    rule: Rule[Facts] = Rule(lambda facts: (), uses=(Uses,))
    assert facts.only(rule)[Uses] is facts[Uses]
    with pytest.raises(KeyError, match="Learning, which it does not say it needs"):
        facts.only(rule)[Learning]
    with pytest.raises(KeyError, match="Objects, which it does not say it needs"):
        facts.only(rule).names  # noqa: B018


def test_what_a_rule_lacks_follows_from_the_facts_that_it_needs() -> None:
    rule: Rule[Facts] = Rule(lambda facts: (), needs=(Learning, Uses, Forward), uses=(Objects,))
    assert Facts(MemoryRun(Header())).lacks(rule) == frozenset()
    facts = Facts(MemoryRun(Header()), given=frozenset({Objects}))
    assert facts.lacks(rule) == {Graphs, Forward}


def prose(module: ModuleType) -> Iterator[str]:
    """The texts of six words and more in a module that stand outside of kinds of reasons; what is
    shorter names something."""
    tree = ast.parse(inspect.getsource(module))
    own = {kind.__name__ for kind in KINDS if kind.__module__ == module.__name__}
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        match node:
            case ast.ClassDef(name=name) if name in own:
                continue
            case ast.Expr(value=ast.Constant()) | ast.Raise():
                continue
            case ast.Call(func=ast.Name(id="Meaning" | "within_fence" | "fenced")):
                continue
            case ast.Constant(value=str(text)) if text.strip().count(" ") > 4 and text != FREED:
                yield text
        left += ast.iter_child_nodes(node)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_only_reasons_write_sentences(module: ModuleType) -> None:
    assert [*prose(module)] == []


def test_only_rules_name_the_codes_of_findings() -> None:
    root, wrong = Path(gradstep.__file__).parents[1], []
    own = {Path(inspect.getfile(kind)) for kind in KINDS}
    own |= {*(root / "gradstep" / "findings" / "rules").rglob("*.py")}
    for folder in ("gradstep", "tui"):
        for path in {*(root / folder).rglob("*.py")} - own:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and node.value in CODES and "-" in node.value:
                    wrong.append((str(path), node.value))
    assert wrong == []


def test_a_rule_is_found_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_rules").mkdir()
    (tmp_path / "own_rules" / "__init__.py").touch()
    (tmp_path / "own_rules" / "helper.py").write_text("WORD = 'none'\n", "utf-8")
    (tmp_path / "own_rules" / "one.py").write_text(
        "from gradstep.findings.finding import Rule\nRULES = (Rule(lambda facts: ()),)\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert len(rules_in("own_rules", [str(tmp_path / "own_rules")])) == 1


# --- with other words ---------------------------------------------------------------------------


def test_what_is_explained_as_a_note_is_one() -> None:
    notes = [
        kind for kind in kinds_of(Reason) if kind.code and MEANINGS[kind.code].severity == "info"
    ]
    assert notes
    assert {kind.code: kind.severity for kind in notes if kind.severity != "info"} == {}


WORDS = random.Random(0)
NAMES = [*(bug.name for bug in BUGS if "autograd_core" in bug.engines)]
NAMES += [program.stem for program in healthy_programs() if program.stem not in TORCH_ONLY]
SAID = ("what", "remedy", "details", "next")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_no_word_of_a_reason_changes_what_is_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kind = "buggy" if any(bug.name == name for bug in BUGS) else "healthy"
    Path("train.py").write_text(text(FOLDER / kind / f"{name}.py", "autograd_core"), "utf-8")

    def found() -> list[dict[str, Any]]:
        linecache.clearcache()
        with as_before("autograd_core"):
            # which calls are looked at must not depend on how busy the machine is
            main(["check", "--call", "all", "--format", "json", "train.py"])
        printed = capfd.readouterr().out  # the program's own lines come first
        findings = json.loads(printed[printed.index('{\n  "version"') :])["findings"]
        return [{key: each[key] for key in each if key not in SAID} for each in findings]

    before = found()
    for kind_of_reason in KINDS:
        for method in ("text", "remedy", "details", "clause", "advice"):
            if method in vars(kind_of_reason) and callable(vars(kind_of_reason)[method]):
                monkeypatch.setattr(kind_of_reason, method, lambda _: WORDS.choice("abcdefgh") * 9)
    assert found() == before
