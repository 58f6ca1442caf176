"""Which options a program takes, as far as its source tells without running it.

Nothing is concluded from what cannot be read: a program that hands its arguments on, or has a
library make options of names, may take any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Final

from gradstep.guest.own_files import is_own_file

_MOST: Final = 100
"""Files of a program that are read."""
_LONGEST: Final = 1 << 20
"""Bytes of each."""
_ENGINES: Final = ("torch", "autograd_core")
_PARSERS: Final = ("argparse", "optparse")
"""What takes the options that a program spells out, and --help."""
_ANY: Final = {
    "absl", "argh", "arguably", "asyncclick", "cappa", "chz", "cleo", "click", "clize",
    "configargparse", "cyclopts", "defopt", "docopt", "draccus", "fire", "getopt", "gin", "hydra",
    "importlib", "invoke", "jsonargparse", "ml_collections", "omegaconf", "plac",
    "pydantic_argparse", "pydantic_settings", "pyrallis", "pytest", "rich_click", "runpy", "sacred",
    "simple_parsing", "tap", "traitlets", "typed_settings", "typer", "tyro", "unittest",
}  # fmt: skip
"""What may take any option, or run what does."""
_HANDS_ON: Final = re.compile(
    r"(?i)cli$|^cli|from_cli|^run_tests$|^flags$|^exec$|__import__|orig_argv|known_args|intermixed|remainder"
    r"|arg.*parse|^(get|parse|read|make|load|build|add)_?(args?|opts?|options|flags|config|cfg)"
)
"""Names of what may do so."""
_SPELT_OUT: Final = {
    "argparse", "ArgumentParser", "parse_args", "add_argument", "add_argument_group", "add_option",
    "add_options",
}  # fmt: skip
"""Names that are none of them where one of the parsers is imported."""


@dataclass
class _Seen:
    """What stands in the source of a program: texts, names, and which of these are of functions of
    its own; and whether it ``hands_on`` all its arguments."""

    texts: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    hands_on: bool = False

    @property
    def parses(self) -> bool:
        """Whether it has a parser of the options that it spells out."""
        return not self.imports.isdisjoint(_PARSERS)

    @property
    def may_take_any(self) -> bool:
        """Whether it may take options that do not stand in its source."""
        harmless = self.functions | (_SPELT_OUT if self.parses else set())
        is_named = any(_HANDS_ON.search(name) for name in self.names - harmless)
        return self.hands_on or is_named or not self.imports.isdisjoint(_ANY)


def takes_no(files: Sequence[Path], options: Sequence[str]) -> list[str]:
    """Return those of ``options`` that a program in ``files`` certainly does not take: neither it
    nor what it imports of the user's own has them in a text, and nothing in it may take any.

    >>> takes_no([], ["-o"])
    []
    """
    seen = _seen(files)
    if seen is None or seen.may_take_any or seen.imports.isdisjoint(_ENGINES):
        return []
    helps = seen.parses or "argv" in seen.names
    return [
        option
        for option in options
        if not (helps and option in ("-h", "--help")) and not _stands_in(option, seen.texts)
    ]


def _stands_in(option: str, texts: set[str]) -> bool:
    """Return whether one of ``texts`` has an option in it, or a long one that begins so, for which
    it is short."""
    end = "" if option.startswith("--") else r"(?![\w-])"
    found = re.compile(rf"(?<![\w-]){re.escape(option)}{end}")
    return any(found.search(text) for text in texts)


def _seen(files: Sequence[Path]) -> _Seen | None:
    """Read a program, with the user's own modules that it imports; None if that is not possible."""
    if not files or any(_is_of_others(str(file)) for file in files):
        return None
    folder = files[0].resolve().parent
    seen, waiting, known = _Seen(), [*files], set()
    while waiting:
        file = waiting.pop().resolve()
        if file in known:
            continue
        known.add(file)
        try:
            if len(known) > _MOST or file.stat().st_size > _LONGEST:
                return None
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        _look(tree, seen)
        for level, name in _imported(tree):
            imported = _files_of(level, name, file.parent, folder)
            if imported is None:
                return None
            waiting += imported
    return seen


def _look(tree: ast.Module, seen: _Seen) -> None:
    """Take note of the texts and names in a file, and of what is done with ``sys.argv``."""
    harmless: set[ast.AST] = set()  # a single argument, their count, a comparison with a text
    nodes = list(ast.walk(tree))
    for node in nodes:
        match node:
            case ast.Subscript(value=argv, slice=ast.Constant(value=int())):
                harmless.add(argv)
            case ast.Call(func=ast.Name(id="len"), args=[argv]):
                harmless.add(argv)
            case ast.Compare(
                left=ast.Constant(),
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.Subscript(value=argv)] | [argv],
            ):
                harmless.add(argv)
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                seen.texts.add(text)
                seen.hands_on |= text == "argv"
            case ast.Name(id=name) | ast.Attribute(attr=name):
                seen.names.add(name)
                seen.hands_on |= name == "argv" and node not in harmless
            case ast.FunctionDef(name=name):
                seen.functions.add(name)
            case ast.alias(name=name):
                seen.names.update(name.split("."))
            case ast.Call(func=ast.Attribute(attr="add_argument" | "add_option"), args=given):
                # made of other names, or all that is left
                fixed = all(isinstance(each, ast.Constant) for each in given)
                rest = any(
                    isinstance(word.value, ast.Constant) and word.value.value == "..."
                    for word in node.keywords
                )
                seen.hands_on |= not given or not fixed or rest
    seen.imports.update(name.partition(".")[0] for level, name in _imported(tree) if not level)


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the modules that a file imports, and what may be one, each after the number of dots
    before its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if base:
                yield node.level, base
            yield from ((node.level, f"{base}.{each.name}".lstrip(".")) for each in node.names)


def _files_of(level: int, name: str, here: Path, folder: Path) -> list[Path] | None:
    """Return the user's own files that are run where a file in the folder ``here`` imports a
    module, in a program that was started in ``folder``; None where nobody knows."""
    if not level and name.partition(".")[0] in (*_ENGINES, *sys.stdlib_module_names):
        return []
    near = [str(folder), "", *sys.path]
    places = [str([here, *here.parents][level - 1])] if level else near
    files: list[Path] = []
    for part in name.split("."):
        spec = _spec_of(part, places, is_top=places is near)
        if spec is None:
            return files if files or level or places is not near else None
        places = list(spec.submodule_search_locations or ())
        if any(map(_is_of_others, filter(None, [spec.origin, *places]))):
            break
        files += [Path(file) for file in [spec.origin or ""] if file.endswith(".py")]
        if not places:
            break  # what follows is a name in a module
    return files


def _spec_of(name: str, places: list[str], *, is_top: bool) -> ModuleSpec | None:
    """Find a module in one of the folders, without importing anything; one that is in no package
    may be found by other means, too."""
    found = PathFinder.find_spec(name, places)
    for finder in sys.meta_path if found is None and is_top else ():
        found = found or finder.find_spec(name, None)
    return found


def _is_of_others(file: str) -> bool:
    """Return whether a file is none of the user's own: it is installed, or this program's."""
    parts = Path(file).parts
    return "site-packages" in parts or "dist-packages" in parts or is_own_file(file)
