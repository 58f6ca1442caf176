"""The files of the program that ran, whose text rules read."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from linecache import getlines
from pathlib import Path
from typing import NamedTuple

from gradstep.capturing.statement import tree_of
from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Fact, Forward
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of
from gradstep.guest.own_files import is_of_library, is_user_file
from gradstep.recording.look import Look

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Defined(NamedTuple):
    """A function of a file, and the name of the class that it is a method of, "" of none."""

    node: Function
    owner: str

    @property
    def parameters(self) -> list[str]:
        """The names of its positional parameters, without the object of a method."""
        names = [each.arg for each in (*self.node.args.posonlyargs, *self.node.args.args)]
        is_bound = self.owner and not any(
            isinstance(each, ast.Name) and each.id == "staticmethod"
            for each in self.node.decorator_list
        )
        return names[1:] if is_bound else names


class Files(Fact):
    """The files with the lines that ran in the forward pass, or called it, but for libraries."""

    needs = (Forward,)

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def before(self, look: Look) -> None:
        self._add(look.line)

    def closely(self, look: Look) -> None:
        for record in look.records if look.is_traced and look.looks <= 2 else ():
            if isinstance(record, OpRecord):
                self._add(record.source)

    def _add(self, line: Source | None) -> None:
        if line is not None and line.file not in self.names and not is_of_library(line.file):
            self.names[line.file] = None

    def trees(self) -> Iterator[tuple[str, ast.Module]]:
        """Yield each file, and its syntax tree."""
        for file in self.names:
            yield file, tree_of(file)

    def read_elsewhere(self, file: str) -> frozenset[str]:
        """Return the names, attributes and texts that files read which import ``file``."""
        stem = Path(file).stem
        modules = [
            (name, str(attribute_of(module, "__file__"))) for name, module in [*sys.modules.items()]
        ]
        if not any(place == file and name != "__main__" for name, place in modules):
            return frozenset()  # as of a script
        others = {*(place for _, place in modules), *self.names} - {file}
        trees = [
            tree_of(other)
            for other in others
            if other.endswith(".py") and is_user_file(other) and not is_of_library(other)
            if any(
                stem in line for line in getlines(other)
            )  # parsing takes a hundred times as long
        ]
        importing = [tree for tree in trees if _imports(stem, tree)]
        return frozenset(name for tree in importing for name in names_read(tree))

    def in_methods(self) -> Iterator[tuple[str, ast.AST]]:
        """Yield what is in the methods of classes, each with its file."""
        for file, tree in self.trees():
            for defined in functions_of(tree):
                for node in walked(defined.node) if defined.owner else ():
                    yield file, node


def functions_of(tree: ast.Module) -> Iterator[Defined]:
    """Yield the functions of a file, and the methods of its classes."""
    owners = {
        id(part): node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
    }
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield Defined(node, owners.get(id(node), ""))


def _imports(name: str, tree: ast.Module) -> bool:
    imported = [
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for part in (getattr(node, "module", None), *(alias.name for alias in node.names))
    ]
    return any(part and part.rpartition(".")[2] == name for part in imported)


def names_read(tree: ast.AST, *, variables: bool = True) -> Iterator[str]:
    """Yield the ``variables``, attributes and imports that a tree reads, and its texts, which may
    be names of any."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if variables:
                yield name
            case ast.Attribute(attr=name, ctx=ast.Load()):
                yield name
            case ast.Constant(value=str(name)) | ast.alias(name=name):
                yield name


def name_of(node: ast.expr | None) -> str:
    """Return the name, or the attribute, that an expression is, "" of others."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def walked(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, but not in those inside of it."""
    stack = list(ast.iter_child_nodes(node))
    while stack:
        at = stack.pop()
        yield at
        if not isinstance(at, Function | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(at))
