"""Draws mutants, small changes to the program, by lot, and runs the tests nearest to each.

    nox -s mutants -- --seed 1 --count 20
    nox -s mutants -- --seed 1 --count 20 --workers 2 gradstep/debugger viz/gradstep_viz/layout

A mutant that lives shows that a test is missing, or that nobody needs the line.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import parso
from cosmic_ray.ast import ast_nodes, is_number
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]

# For each folder, the tests nearest to it, the nearest ones first. Before them come doctests of the
# file, and the tests that import it.
NEAREST = {
    "gradstep/engines/native": "debugger/test_session.py engines/test_ran.py "
    "engines/test_kept_inputs.py capturing findings/test_lint.py debugger "
    "findings/test_node_checks.py engines laws",
    "gradstep/engines/pytorch": "debugger/test_session.py engines/test_ran.py "
    "engines/test_torch_graphs.py engines/test_torch_sessions.py debugger capturing "
    "findings/test_lint.py engines laws",
    "gradstep/engines/recorded": "recording console tui/test_cli_debug.py",
    "gradstep/debugger": "debugger console tui/test_cli_debug.py engines laws",
    "gradstep/console": "console tui/test_cli_debug.py debugger",
    "gradstep/recording": "recording tui/test_cli_plot.py tui/test_cli_check_runs.py tui",
    "gradstep/findings": "findings tui/test_cli_why.py tui/test_cli_check.py tui check_corpus",
    "gradstep/program": "program test_gradstep.py tui/test_cli_render.py recording tui",
    "gradstep/graph/folding": "graph viz/test_frames.py viz/test_loops.py "
    "viz/test_common_module.py viz",
    "viz/gradstep_viz/layout": "viz/test_layout_laws.py viz/test_layout_shapes.py "
    "viz/test_readable_pictures.py viz",
}

# One change of each kind: every other operator in place of + would die of a TypeError.
CHANGES = re.compile(
    "Eq_NotEq|NotEq_Eq|Lt_LtE|Lt_GtE|LtE_Lt|LtE_Gt|Gt_GtE|Gt_LtE|GtE_Gt|GtE_Lt|Is_IsNot|IsNot_Is|"
    "Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Div|Mod_Add|Pow_Mul|BitOr_BitAnd|BitAnd_BitOr|"
    "USub_UAdd|Delete_Not|AddNot|.*With.*|NumberReplacer|RemoveDecorator|ZeroIterationForLoop"
)


class Mutant(NamedTuple):
    """A file of the program, as it is and with one change."""

    path: str
    plain: str
    changed: str

    @property
    def diff(self) -> str:
        plain, changed = self.plain.splitlines(), self.changed.splitlines()
        lines = difflib.unified_diff(plain, changed, self.path, self.path, n=2, lineterm="")
        return "\n".join(lines)


class DropStatement(Operator):
    """Replaces a call, or what is assigned to a part of something, by ``pass``."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if node.type == "simple_stmt":
            statement = node.children[0]
            first = statement.children[0] if statement.type == "expr_stmt" else statement
            if first.type == "atom_expr":  # without a variable, much would die of a NameError
                yield statement.start_pos, statement.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        prefix = node.get_first_leaf().prefix
        node.children[0] = parso.parse(f"{prefix}pass")
        return node

    @classmethod
    def examples(cls) -> tuple[Any, ...]:
        return ()


def _operators() -> list[Operator]:
    names = [
        name for name in operator_names() if CHANGES.fullmatch(re.split("/|Operator_", name)[-1])
    ]
    return [DropStatement(), *(get_operator(name)() for name in names)]


def _is_left_out(node: Any) -> bool:
    """Whether no test can tell: of a number in a constant, a matter of taste; of ``strict=``, which
    holds; of an annotation, which nothing evaluates."""
    if is_number(node) and node.search_ancestor("funcdef") is None:
        return True
    if (before := node.get_previous_sibling()) == "=" and before.get_previous_leaf() == "strict":
        return True
    while (parent := node.parent) is not None:
        before = parent.children[parent.children.index(node) - 1]
        if parent.type in ("tfpdef", "annassign", "funcdef") and before in (":", "->"):
            return node.type != "suite"
        node = parent
    return False


def _places(source: str, operators: list[Operator]) -> list[list[tuple[Operator, int]]]:
    """Return the places of a file that can be changed; each is a list of operators, with the number
    of the place among those that the operator can change."""
    counts: Counter[Operator] = Counter()
    places: dict[int, list[tuple[Operator, int]]] = {}
    for node in (nodes := list(ast_nodes(parso.parse(source)))):
        for operator in operators:
            for _ in operator.mutation_positions(node):
                places.setdefault(id(node), []).append((operator, counts[operator]))
                counts[operator] += 1
    return [places[id(node)] for node in nodes if id(node) in places and not _is_left_out(node)]


def draw(folders: list[str], seed: int, count: int) -> Iterator[Mutant]:
    """Yield ``count`` mutants of the files in ``folders``: each place is as likely as any other."""
    operators, lot = _operators(), random.Random(seed)
    sources = {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    places = [(path, place) for path in sources for place in _places(sources[path], operators)]
    for path, place in lot.sample(places, count):
        changed = mutate_code(sources[path], *lot.choice(place))
        assert changed is not None
        yield Mutant(path, sources[path], changed)


def _stages(path: str, most: int) -> list[list[str]]:
    """Return what pytest is given to run the tests nearest to a file, one after the other."""
    module = path.removesuffix(".py").removeprefix("viz/").removesuffix("/__init__")
    imported = re.compile(rf"\b{module.replace('/', '.')} import\b")
    named = [
        str(each.relative_to(ROOT))
        for each in sorted((ROOT / "tests").rglob("test_*.py"))
        if imported.search(each.read_text("utf-8"))
    ]
    folder = next(folder for folder in NEAREST if path.startswith(f"{folder}/"))
    own = [] if folder.endswith("pytorch") else [path]  # its doctests; tests/engines runs those
    stages = [own + named, *([f"tests/{each}"] for each in NEAREST[folder].split())]
    return [
        [*stage, *(f"--ignore={done}" for before in stages[:at] for done in before)]
        for at, stage in enumerate(stages[:most])
        if stage and stage not in stages[:at]
    ]


def _run(python: str, copy: Path, arguments: list[str], limit: float) -> tuple[int | None, str]:
    """Return the exit code of pytest, None if it hung, and the test that failed."""
    command = [python, "-m", "pytest", "-q", "-x", "-n", "0", "--tb=no", "-m"]
    command += ["not slow and not documents", *arguments]
    try:
        done = subprocess.run(
            command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True,
            encoding="utf-8", check=False, timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    return done.returncode, failed[1] if failed else ""


def verdict(mutant: Mutant, python: str, copy: Path, most: int, limit: float) -> str:
    """Say whether the tests nearest to a mutant kill it, in a copy of the repository."""
    broken: list[str] = []  # what fails without the change, too
    try:
        for stage in _stages(mutant.path, most):
            while True:
                (copy / mutant.path).write_text(mutant.changed, "utf-8")
                code, failed = _run(python, copy, [*stage, *broken], limit)
                if code in (0, 5):  # all passed, none was there
                    break
                (copy / mutant.path).write_text(mutant.plain, "utf-8")
                if code is None:
                    return f"hung in {stage[0]}"
                if _run(python, copy, [*stage, *broken, "--last-failed"], limit)[0] == 0:
                    return f"killed by {failed}"
                if not failed:
                    return f"unknown: pytest ended with {code} in {stage[0]}"
                broken += ["--deselect", failed]
        return "ALIVE" + f", without {broken[1::2]}" * bool(broken)
    finally:
        (copy / mutant.path).write_text(mutant.plain, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", default=list(NEAREST), metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--workers", type=int, choices=[1, 2], default=1)
    parser.add_argument("--stages", type=int, default=99, help="of the tests nearest to a file")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for a stage")
    parser.add_argument("--python", default=sys.executable, help="where the tests can run")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, encoding="utf-8")
        for worker in range(args.workers):
            copies.put(copy := Path(folder, str(worker)))
            for name in filter(None, names.split("\0")):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
            for package in ("viz/gradstep_viz", "tui/gradstep_tui"):  # not those that are installed
                (copy / Path(package).name).symlink_to(package)

        def judge(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                said = verdict(mutant, args.python, copy, args.stages, args.limit)
            finally:
                copies.put(copy)
            print(f"{said}\n{mutant.diff}\n", flush=True)
            return said.split()[0].strip(",:")

        drawn = list(draw(args.folders, args.seed, args.count))
        print(*(f"{count} {said}" for said, count in Counter(pool.map(judge, drawn)).items()))


if __name__ == "__main__":
    main()
