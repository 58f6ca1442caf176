"""The JSON of a report: it keeps to its schema, and its ids stay the same."""

from __future__ import annotations

import json
import linecache
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

import gradstep
from gradstep.findings.as_data import as_json, evidence
from gradstep.findings.explanations import MEANINGS, require_codes
from gradstep.findings.finding import Reason
from gradstep.findings.whole_run.conclusions import kinds_of
from gradstep.graph.model import Source
from gradstep_tui.cli import main
from tests.check_corpus.running import FOLDER, as_before, text
from tests.check_corpus.table import ALL, BUGS
from tests.tui.conftest import Gradstep

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (extra 'test')")

SAMPLES = Path(__file__).parents[2] / "samples" / "bugs"
PROGRAMS = sorted(SAMPLES.glob("*.py"))
PROGRAMS += [FOLDER / "buggy" / f"{bug.name}.py" for bug in BUGS if bug.engines == ALL]
ENGINES = [pytest.param(each, marks=[pytest.mark.torch] * (each == "torch")) for each in ALL]


@pytest.fixture(scope="session")
def schema() -> Any:
    path = Path(gradstep.__file__).parent / "findings" / "report.schema.json"
    known = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(known)
    return jsonschema.Draft202012Validator(known)


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.filterwarnings("default")  # PyTorch warns while our frames are the innermost ones
@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_report_keeps_to_the_schema(
    program: Path,
    engine: str,
    schema: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(text(program, engine), "utf-8")
    linecache.clearcache()
    with as_before(engine):
        code = main(["check", "--format", "json", "train.py"])
    document = json.loads(capfd.readouterr().out, parse_constant=no_constant)
    schema.validate(document)
    findings, symptoms = document["findings"], document["symptoms"]
    ids = [each["id"] for each in (*findings, *symptoms)]
    assert len({*ids}) == len(ids)
    assert {each["symptom_of"] for each in symptoms} <= {each["id"] for each in findings}
    assert (code == 5) == any(each["severity"] != "info" for each in findings)


@pytest.mark.parametrize("kind", sorted({*kinds_of(Reason)}, key=lambda kind: kind.__name__))
def test_evidence_holds_no_object_of_the_program(kind: type[Reason]) -> None:
    told = {str(each.type) for each in fields(kind)}
    assert not {word for word in told if "Tensor" in word or "object" in word}


PROGRAM = """\
import LIBRARY as torch
w, v, unused = (torch.ones(3, requires_grad=True) for _ in range(3))
for step in range(3):
    w.grad = None
    gain = (v * 0.5).sum().item()
    loss = (w * gain).sum()
    loss.backward()
"""


def test_an_id_stays_where_lines_move_and_leaves_a_finding_out(gradstep: Gradstep) -> None:
    def findings(program: str, *options: str) -> list[Any]:
        done = gradstep(program, "check", "--format", "json", *options, "train.py")
        return [each for each in json.loads(done.out)["findings"] if each["severity"] != "info"]

    first = findings(PROGRAM)
    ids = [each["id"] for each in first]
    assert ids
    moved = PROGRAM.replace("for step in range(3)", "\n\n\nfor step in range(4)")
    after = findings(moved)
    assert [each["id"] for each in after] == ids
    assert after[0]["at"]["line"] == first[0]["at"]["line"] + 3
    assert [each["id"] for each in findings(moved, "--ignore", ids[0])] == ids[1:]
    line = first[0]["at"]["text"].strip()
    quiet = moved.replace(line, f"{line}  # gradstep: ignore[{ids[0]}]")
    assert [each["id"] for each in findings(quiet)] == ids[1:]


def test_no_code_reads_as_an_id() -> None:
    for code in MEANINGS:
        require_codes([code, f"{code}-0a1b2c"])
        assert not all(letter in "0123456789abcdef" for letter in code.rpartition("-")[2][-6:])
    with pytest.raises(ValueError, match="there is no finding 'cut-0a1b2'"):
        require_codes(["cut-0a1b2"])


FAILS = """\
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
CALL
def broken():
    return {}["key"]
broken()
"""


@pytest.mark.parametrize("call", ["", "w.sum().backward()"])
def test_the_exception_of_the_program_is_told(gradstep: Gradstep, schema: Any, call: str) -> None:
    done = gradstep(FAILS.replace("CALL", call), "check", "--format", "json", "train.py")
    assert done.code == 1
    assert "KeyError" in done.err
    document = json.loads(done.out)
    schema.validate(document)
    program = document["program"]
    assert program["exit_code"] == 1
    assert (program["error"]["type"], program["error"]["message"]) == ("KeyError", "'key'")
    assert program["error"]["at"] == {"file": "train.py", "line": 5, "text": 'return {}["key"]'}


def test_a_symptom_names_its_cause(gradstep: Gradstep) -> None:
    stays = """
        import LIBRARY as torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        x = torch.ones(4, 2)
        for step in range(6):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
    """
    document = json.loads(gradstep(stays, "check", "--format", "json", "train.py").out)
    (finding,) = (each for each in document["findings"] if each["severity"] != "info")
    (symptom,) = document["symptoms"]
    assert (finding["code"], finding["role"], finding["symptom_of"]) == ("unchanged", "cause", None)
    assert (symptom["code"], symptom["role"]) == ("constant-loss", "symptom")
    assert symptom["symptom_of"] == finding["id"]


def test_a_recording_and_a_job_keep_to_the_schema(gradstep: Gradstep, schema: Any) -> None:
    gradstep(PROGRAM, "record", "-o", "run.gsr", "train.py")
    one = json.loads(gradstep(PROGRAM, "check", "--format", "json", "run.gsr").out)
    schema.validate(one)
    assert one["rules"]["not_run"]
    schema.validate({"ranks": 1, "findings": [], "report": one})


def test_losses_are_all_told_where_they_are_few(gradstep: Gradstep) -> None:
    program = (
        "import LIBRARY as torch\nw = torch.ones(1, requires_grad=True)\n"
        "for step in range({}):\n    loss = (w * 2).sum() * (step + 1)\n    loss.backward()\n"
    )
    for count, told in ((5, 5), (50, 20)):
        done = gradstep(program.format(count), "check", "--format", "json", "train.py")
        (losses,) = json.loads(done.out)["losses"]
        assert (losses["calls"], losses["first"], losses["last"]) == (count, 2.0, 2.0 * count)
        assert len(losses["values"]) == told
        assert losses["values"][0] == [1, 2.0]
        assert losses["values"][-1] == [count, 2.0 * count]


def test_numbers_that_json_has_not_are_named(tmp_path: Path) -> None:
    document = {"a": [float("nan")]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json(document)
    known = evidence(Known(float("inf"), Source("train.py", 1)), tmp_path)
    assert known["fields"] == {"size": "inf", "made": {"file": "train.py", "line": 1, "text": ""}}


@dataclass(frozen=True)
class Known(Reason):
    """A reason of this test."""

    size: float
    made: Source
