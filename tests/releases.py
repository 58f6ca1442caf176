"""What another release of PyTorch shows otherwise than the reference.

``python -m tests.releases FILE`` runs all of samples/bugs, twenty programs of the tests and a
sample of the laws on the PyTorch of this environment, and writes to FILE what it sees.  With
``--reference FILE``, which it wrote so on the reference, it fails where docs/releases.json has not
the same differences; with ``--write`` it writes them there, a row of docs/support.rst each.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gradstep.graph.serialize import from_json
from tests.forking import ROOT, run_gradstep, run_python
from tests.laws.law import Case, watched
from tests.laws.walks import KINDS
from tests.test_bug_samples import BUGS, NAMES, answers, expected

FILE = ROOT / "docs" / "releases.json"
PROGRAMS = 20
SEEDS = 20  # of each kind of walk
PROGRAM = """\
import pathlib
import torch
from tests.engines import torch_programs
torch.manual_seed(0)
torch.set_printoptions(precision=17, threshold=10**6)
pathlib.Path("result.txt").write_text(repr(torch_programs.{name}()))
"""

CAUSE = re.compile("(at|because|line|path|layers) ")
Facts = dict[str, str]


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def observed() -> Facts:
    """Run all of it, and return what was seen: a short text for each thing that was done."""
    return {**_names(), **_bugs(), **_programs(), **_laws()}


def _names() -> Facts:
    from gradstep.engines.pytorch.private import missing

    lost = dict.fromkeys(name.lost for name in missing())
    return {"what gradstep reads of PyTorch": "; ".join(lost) or "all"}


def _bugs() -> Facts:
    facts = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for bug in NAMES:
            file = f"{bug}.py"
            (folder / file).write_bytes((BUGS / file).read_bytes())
            facts[f"check {file}"] = _findings(folder, file)
            facts[f"debug {file}"] = _answers(folder, bug)
            facts[f"render {file}"], leaf = _picture(folder, file)
            facts[f"why {file}"] = _cause(folder, file, leaf)
            facts[f"film {file}"] = _frames(folder, file)
            facts[f"record {file}"] = _recorded(folder, file)
            _tell(facts, 6)
    return facts


def _tell(facts: Facts, count: int) -> None:
    for of in list(facts)[-count:]:
        print(f"{of}: {facts[of]}", flush=True)


def _findings(folder: Path, file: str) -> str:
    done = run_gradstep(["check", "--format", "json", file], folder)
    try:
        report = json.loads(done.stdout[f"\n{done.stdout}".index("\n{\n") :])
    except ValueError:
        return f"exit code {done.returncode}, no report"
    places = [(each["code"], each["at"]) for each in report["findings"]]
    lines = [code if at is None else f"{code} at line {at['line']}" for code, at in places]
    return _with_defects(", ".join(lines) or "nothing", done.stderr)


def _answers(folder: Path, bug: str) -> str:
    commands = BUGS / f"{bug}.commands"
    done = run_gradstep(["debug", "--batch", "-x", str(commands), f"{bug}.py"], folder)
    wanted, given = expected(commands), answers(done.stdout)
    if [command for command, _ in given] != [command for command, _ in wanted]:
        return f"exit code {done.returncode}, not all commands were answered"
    lacking = [
        f"{command!r} does not say {text!r}"
        for (command, texts), (_, answer) in zip(wanted, given, strict=True)
        for text in texts
        if text not in answer
    ]
    return _with_defects("; ".join(lacking) or "the cause is named", done.stderr)


def _cause(folder: Path, file: str, leaf: str) -> str:
    """Return what `why` says of a leaf, without its numbers."""
    done = run_gradstep(["why", file, leaf], folder)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    told = [re.sub(r"\d+\.\d\S*", "…", line) for line in lines if CAUSE.match(line)]
    return _with_defects("; ".join([f"exit code {done.returncode}", leaf, *told]), done.stderr)


def _frames(folder: Path, file: str) -> str:
    done = run_gradstep(["film", "-o", "film", file], folder)
    frames = [_taken(frame).count('class="node') for frame in sorted(folder.glob("film/*.svg"))]
    if not frames:
        return f"exit code {done.returncode}, no film"
    boxes = f"{frames[0]} to {frames[-1]} boxes, {sum(frames)} in all"
    return _with_defects(f"{len(frames)} frames of {boxes}", done.stderr)


def _recorded(folder: Path, file: str) -> str:
    done = run_gradstep(["record", "-o", "run.gsr", file], folder)
    findings = _findings(folder, "run.gsr")
    (folder / "run.gsr").unlink(missing_ok=True)
    return _with_defects(f"check run.gsr: {findings}", done.stderr)


def _picture(folder: Path, file: str) -> tuple[str, str]:
    """Return what is drawn, and the name of the last leaf that has one."""
    environment = {"PYTHONPATH": str(ROOT)}
    done = run_gradstep(["render", "-o", "picture.json", file], folder, environment)
    picture = _taken(folder / "picture.json")
    if not picture:
        return f"exit code {done.returncode}, no picture", ""
    graph = from_json(picture)
    states = Counter(value.state for values in graph.saved.values() for value in values)
    saved = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    leaves = [id for id, kind in enumerate(graph.kinds) if kind in ("parameter", "leaf")]
    names = [graph.variables[id] for id in leaves if graph.variables[id]]
    lines = sum(1 for source in graph.sources if source is not None)
    text = f"{len(graph.names)} nodes, {lines} with a line, {len(leaves)} leaves"
    told = _with_defects(f"{text}; saved: {saved or '-'}", done.stderr)
    return told, names[-1] if names else "#1"


def _with_defects(text: str, said: str) -> str:
    return f"{text}; a bug in gradstep" if "a bug in gradstep" in said else text


def _programs() -> Facts:
    from tests.engines.torch_programs import ALL, FAILING

    facts = {}
    programs = [program.__name__ for program in (*ALL, *FAILING)]
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in sorted(random.Random(0).sample(programs, PROGRAMS)):
            (folder / "program.py").write_text(PROGRAM.format(name=program), "utf-8")
            run_python(["program.py"], folder, environment)
            plain = _taken(folder / "result.txt")
            commands = (
                ["record", "-o", "run.gsr"], ["check", "--format", "json"], ["film", "-o", "film"],
                ["debug", "--batch", "--ex", "next 5", "--ex", "back 2", "--ex", "continue"],
            )  # fmt: skip
            for command in commands:
                done = run_gradstep([*command, "program.py"], folder, environment)
                same = plain != "" and _taken(folder / "result.txt") == plain
                text = "as plainly" if same else "another result than plainly"
                facts[f"{command[0]} {program}"] = _with_defects(text, done.stderr)
            facts[f"render {program}"], _ = _picture(folder, "program.py")
            _tell(facts, len(commands) + 1)
    return facts


def _taken(file: Path) -> str:
    """Return what stands in a file, "" where there is none, and remove it."""
    text = file.read_text("utf-8") if file.exists() else ""
    file.unlink(missing_ok=True)
    return text


def _laws() -> Facts:
    facts = {}
    for name, kind in KINDS.items():
        if kind.library == "torch":
            wrong = [str(n) for n in range(SEEDS) if watched(Case.of(n, name)).wrong]
            text = f"not as plainly with the seeds {', '.join(wrong)}" if wrong else "as plainly"
            facts[f"{SEEDS} random programs, walked through ({name})"] = text
            _tell(facts, 1)
    return facts


def main() -> int:
    """Run it on the PyTorch of this environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="where to write what is seen")
    parser.add_argument("--reference", type=Path, help="what was seen on the reference")
    parser.add_argument("--write", action="store_true", help=f"write differences to {FILE.name}")
    options = parser.parse_args()
    import torch

    facts = observed()
    if options.file:
        options.file.write_text(json.dumps(facts), "utf-8")
    if not options.reference:
        return 0
    release = ".".join(torch.__version__.split(".")[:2])
    reference: Facts = json.loads(options.reference.read_text("utf-8"))
    differences = {
        of: {"here": here, "reference": there}
        for of, here in facts.items()
        if here != (there := reference.get(of, "nothing"))
    }
    known: dict[str, dict[str, Facts]] = json.loads(FILE.read_text("utf-8"))
    if options.write:
        known = {**known, release: differences}
        ordered = {each: known[each] for each in sorted(known, key=_number)}
        FILE.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return 0
    listed = known.get(release, {})
    for of in {**listed, **differences}:
        if listed.get(of) != differences.get(of):
            print(f"{of}: {differences.get(of)}, and {FILE.name} has {listed.get(of)}")
    return listed != differences


if __name__ == "__main__":
    sys.exit(main())
