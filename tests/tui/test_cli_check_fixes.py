"""``gradstep check --diff``, ``--verify`` and ``--fix``: a fix is tried before it is made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gradstep.findings.finding import Finding, Fix, Reason
from gradstep.graph.model import Source
from gradstep.program.target import Target
from gradstep_tui.cli import main
from gradstep_tui.commands import check_fixes
from tests.check_corpus.running import FOLDER, text
from tests.forking import fork_commands

PROGRAM = """\
import LIBRARY as torch
from LIBRARY import nn

torch.manual_seed(0)
model, target = nn.Linear(4, 1), torch.randn(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    loss = (model(torch.randn(6, 4)) - target).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("step", step)
"""
CARRIED = """\
import LIBRARY as torch
from LIBRARY import nn

torch.manual_seed(0)
cell, head = nn.RNNCell(3, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
memory = None
for step in range(3):
    loss = 0.0
    for x in torch.randn(2, 4, 3):
        memory = cell(x, memory)
        loss = loss + (head(memory).squeeze(1) - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LISTED = """\
import LIBRARY as torch
from LIBRARY import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(4, 4) for _ in range(2)]
        self.last = nn.Linear(4, 1)

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.last(x)


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).pow(2).mean().backward()
    optimizer.step()
"""
TIED = text(FOLDER / "buggy/decoder_tied_by_a_copy.py", "autograd_core").replace(
    "autograd_core", "LIBRARY"
)
Write = Callable[[str], Path]


@pytest.fixture
def write(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    fork_commands(monkeypatch, check_fixes)

    def write(program: str) -> Path:
        path = tmp_path / "train.py"
        path.write_text(program.replace("LIBRARY", torch.__name__))
        return path

    return write


def test_a_patch_is_all_that_stdout_has(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(PROGRAM)
    assert main(["check", "--diff", "train.py"]) == 5
    out, err = capfd.readouterr()
    assert out.startswith("--- a/train.py\n+++ b/train.py\n@@ ")
    assert "+    loss = (model(torch.randn(6, 4)).squeeze(1) - target).pow(2).mean()\n" in out
    assert "step 5" in err
    subprocess.run(["git", "apply", "-"], input=out, text=True, cwd=tmp_path, check=True)
    assert ".squeeze(1)" in path.read_text()


def test_a_verified_fix_is_made_in_the_file(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(PROGRAM)
    before = path.read_text()
    assert main(["check", "--verify", "--format", "json", "train.py"]) == 5
    (finding,) = json.loads(capfd.readouterr().out)["findings"]
    fix = finding["fix"]
    assert (finding["confidence"], fix["level"], fix["tried"]) == ("verified", "safe", "verified")
    assert fix["patch"].startswith("--- a/train.py\n+++ b/train.py\n@@ ")
    assert path.read_text() == before
    path.chmod(0o640)
    assert main(["check", "--fix", "train.py"]) == 5
    out, err = capfd.readouterr()
    assert "\n  fix: safe, verified\n" in out
    assert "in a copy of" in err
    assert err.endswith("gradstep: made 1 fix in train.py\n")
    assert path.read_text() == before.replace("(6, 4))", "(6, 4)).squeeze(1)")
    assert path.stat().st_mode & 0o777 == 0o640
    assert main(["check", "train.py"]) == 0


@pytest.mark.sampled(torch=0)
def test_a_state_that_is_carried_over_is_detached_where_a_step_begins(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(CARRIED)
    assert main(["check", "--fix", "train.py"]) == 5
    assert "\n  fix: safe, verified\n" in capfd.readouterr().out
    lines = path.read_text().splitlines()
    at = lines.index("for step in range(3):")
    assert lines[at + 1 : at + 3] == [
        "    if memory is not None:",
        "        memory = memory.detach()",
    ]
    assert main(["check", "train.py"]) == 0


ALIASED = """\
import LIBRARY as torch
from LIBRARY import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
target_net = net
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(6, 4)
    with torch.no_grad():
        wanted = 1 + 0.9 * target_net(x)
    optimizer.zero_grad()
    (net(x) - wanted).pow(2).mean().backward()
    optimizer.step()
    target_net.load_state_dict(net.state_dict())
"""


@pytest.mark.sampled(1, torch=0)
@pytest.mark.parametrize(
    ("program", "fixed"),
    [
        (LISTED, "self.blocks = nn.ModuleList(["),
        (ALIASED, "target_net = copy.deepcopy(net)"),
        (TIED, "self.decoder.weight = self.encoder.weight"),
    ],
    ids=["in a list", "of a copy", "tied"],
)
def test_a_leaf_that_has_another_name_then_has_lost_nothing(
    write: Write, program: str, fixed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(program)
    assert main(["check", "--fix", "train.py"]) == 5
    assert "not verified" not in capfd.readouterr().out
    assert fixed in path.read_text()
    assert main(["check", "train.py"]) == 0


@pytest.mark.sampled(torch=0)
def test_a_program_that_failed_before_its_first_loss_has_one_after_a_fix(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    model = "model, target = nn.Linear(4, 1), torch.randn(6, 1)"
    moved = "bias = torch.zeros(1, requires_grad=True).to(torch.float64)"
    path = write(
        PROGRAM.replace("model, target = nn.Linear(4, 1), torch.randn(6)", f"{model}\n{moved}")
        .replace("(model.parameters(),", "([bias, *model.parameters()],")
        .replace("torch.randn(6, 4)) - target", "torch.randn(6, 4)) + bias - target")
    )
    assert main(["check", "--fix", "train.py"]) == 5
    assert "\n  fix: safe, verified\n" in capfd.readouterr().out
    assert "bias = torch.zeros(1).to(torch.float64).requires_grad_()" in path.read_text()


SQUEEZED = "(model(torch.randn(6, 4)).squeeze(1).detach() - target).pow(2).mean()"
WRONG = [
    (SQUEEZED, "the program failed: RuntimeError: element 0 of tensors does not require grad"),
    ("(model(torch.randn(6, 4)) - target).pow(2).mean() * 1.0", "broadcast is found again"),
    ("model(torch.randn(6, 4)).mean() * float('nan')", "not-finite is found then: "),
    ("(model.bias - target).pow(2).mean()", "model.weight gets no gradient then"),
    ("this is no Python", "the program failed: "),
]


@pytest.mark.sampled(2, torch=0)
@pytest.mark.parametrize(("line", "verdict"), WRONG, ids=[verdict for _, verdict in WRONG])
def test_a_fix_that_harms_is_not_verified_and_not_made(
    write: Write,
    line: str,
    verdict: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = write(PROGRAM)
    before = path.read_text()
    number = before[: before.index("randn(6, 4)")].count("\n") + 1
    wrong = (Fix(Source(str(path), number), f"loss = {line}"),)
    monkeypatch.setattr(Finding, "fix", property(lambda finding: wrong))
    assert main(["check", "--fix", "train.py"]) == 5
    out, err = capfd.readouterr()
    assert f"\n  fix: only shown, not verified: {verdict}" in out
    assert "made" not in err
    assert path.read_text() == before


DECAYING = """\
import LIBRARY as torch
from LIBRARY import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1.0)
for step in range(40):
    optimizer.zero_grad()
    (model(torch.randn(6, 4)) - torch.randn(6, 1)).pow(2).mean().mul(1e-3).backward()
    optimizer.step()
"""


@pytest.mark.sampled(torch=0)
def test_a_fix_with_a_number_that_its_author_chooses_is_only_shown(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(DECAYING)
    before = path.read_text()
    assert main(["check", "--fix", "train.py"]) == 5
    out, err = capfd.readouterr()
    assert "weight_decay=1e-4)\n  fix: only shown\n" in out
    assert "runs the program again" not in err
    assert path.read_text() == before
    assert main(["check", "--diff", "train.py"]) == 5
    assert capfd.readouterr().out == ""
    assert main(["check", "--format", "json", "train.py"]) == 5
    (finding,) = (
        each
        for each in json.loads(capfd.readouterr().out)["findings"]
        if each["severity"] != "info"
    )
    fix = finding["fix"]
    assert (fix["level"], fix["tried"], fix["is_example"]) == ("display", None, True)


def test_a_fix_that_was_not_tried_is_unsafe(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    write(PROGRAM)
    assert main(["check", "train.py"]) == 5
    assert "\n  fix: unsafe, not tried\n" in capfd.readouterr().out


def test_a_patch_of_tried_fixes_has_those_only_that_are_safe(
    write: Write, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(PROGRAM)
    number = path.read_text()[: path.read_text().index("randn(6, 4)")].count("\n") + 1
    wrong = (Fix(Source(str(path), number), f"loss = {SQUEEZED}"),)
    monkeypatch.setattr(Finding, "fix", property(lambda finding: wrong))
    assert main(["check", "--diff", "--verify", "train.py"]) == 5
    assert capfd.readouterr().out == ""


TWICE = """\
import LIBRARY as torch
from LIBRARY import nn

torch.manual_seed(0)
model, target = nn.Linear(4, 1), torch.randn(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for step in range(6):
    optimizer.zero_grad()
    loss = (model(torch.randn(6, 4)) - target).pow(2).mean()
    loss = loss + (model(torch.randn(6, 4)) - target).abs().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.sampled(torch=0)
def test_each_of_two_equal_mistakes_is_fixed(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(TWICE)
    assert main(["check", "--fix", "train.py"]) == 5
    assert capfd.readouterr().out.count("fix: safe, verified") == 2
    assert path.read_text().count(".squeeze(1)") == 2


@pytest.mark.sampled(torch=0)
@pytest.mark.parametrize(
    ("options", "looking"),
    [
        (["--derivatives"], ["--derivatives"]),
        (["--call", "1,3"], ["--call", "1,3"]),
        (["--ignore", "cut,changed"], ["--ignore", "cut,changed"]),
    ],
    ids=["derivatives", "call", "ignore"],
)
def test_the_program_is_looked_at_again_as_it_was(
    write: Write,
    options: list[str],
    looking: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    write(PROGRAM)
    commands: list[list[str]] = []
    run = subprocess.run

    def noted(command: list[str], **how: Any) -> Any:
        commands.append(command)
        return run(command, **how)

    monkeypatch.setattr(check_fixes.subprocess, "run", noted)
    assert main(["check", "--verify", *options, "train.py"]) == 5
    assert "fix: safe, verified" in capfd.readouterr().out
    (command,) = commands
    assert {*looking} <= {*command}


def test_a_file_that_has_changed_since_it_ran_is_left_alone(
    write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(PROGRAM + "open('train.py', 'a').write('# changed')\n")
    assert main(["check", "--fix", "train.py"]) == 5
    assert "not verified: train.py has changed since it ran" in capfd.readouterr().out
    assert path.read_text().endswith("# changed")


def test_a_large_folder_is_not_copied(
    write: Write, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(PROGRAM)
    monkeypatch.setattr(check_fixes, "_LARGEST", 100)
    assert main(["check", "--verify", "train.py"]) == 2
    assert "run it in a folder that has the program and little else" in capfd.readouterr().err


def test_a_report_goes_to_a_file(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    write(PROGRAM)
    assert main(["check", "--format", "json", "-o", "report.json", "train.py"]) == 5
    report = json.loads(Path("report.json").read_text())
    assert report["learning"] == ["model.weight", "model.bias"]
    assert report["first_loss"] > 0
    assert capfd.readouterr().out == "".join(f"step {step}\n" for step in range(6))


def test_a_reason_promises_nothing_unless_it_says_so() -> None:
    assert not Reason.keeps_loss


def test_a_process_of_a_job_tries_no_fix(
    write: Write, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(PROGRAM)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["check", "--fix", "train.py"]) == 2
    out, err = capfd.readouterr()
    assert "step 0" not in out
    assert "check it in one process" in err


@pytest.mark.sampled(torch=0)
def test_a_fix_that_harms_is_taken_back_before_the_next_is_tried(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("import helper\n" + PROGRAM)
    (tmp_path / "helper.py").write_text("x = 1\n")
    wrong = Fix(Source(str(tmp_path / "helper.py"), 1), "raise SystemExit(3)")
    right = "loss = (model(torch.randn(6, 4)).squeeze(1) - target).pow(2).mean()"
    number = path.read_text()[: path.read_text().index("randn(6, 4)")].count("\n") + 1
    report = check_fixes.Report("train.py", (), 6, "", (), "")
    first, second = (
        Finding(Wrong((wrong,))),
        Finding(Wrong((Fix(Source(str(path), number), right),))),
    )
    report = replace(report, findings=(first, second))
    verdicts = check_fixes.tried(report, Target("train.py"), [], 1.0).verdicts
    assert verdicts[first] != ""
    assert verdicts[second] == ""


@dataclass(frozen=True)
class Wrong(Reason):
    lines: tuple[Fix, ...]

    def text(self) -> str:
        return ""

    def fix(self) -> tuple[Fix, ...]:
        return self.lines
