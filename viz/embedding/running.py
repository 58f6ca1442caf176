"""Running an author's code, and finding what it wants drawn.

Only documents of the author's own project bring code here, as with doctests.
"""

from __future__ import annotations

import ast
import io
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from autograd_core.dag import Graph
from autograd_core.dag.roots import computed, is_tensor, last_scalars
from viz.embedding.project import is_of_project, own_imports
from viz.embedding.snippet import Snippet
from viz.errors import CodeFailed, VizError

INLINE = "code"
"""The file that lines of a document's own code are said to be in; they count from its start, so
that text above it may grow."""


class Found(NamedTuple):
    """What is to be drawn, what it is called ("" if it has no name), the variables around it,
    and the files of the author's that all this depends on."""

    value: Any
    name: str
    variables: Mapping[str, Any]
    files: tuple[str, ...] = ()


def run(snippets: Sequence[Snippet]) -> Found:
    """Run ``snippets`` one after the other in the same variables, and find what the last one
    wants drawn: what it names; else its last expression, else the variable ``out``, else the
    one scalar with a graph.

    Raises:
        CodeFailed: one of them raised, or there is nothing to draw.
    """
    last = snippets[-1]
    main = ModuleType(Path(last.file).stem if last.name else "__main__")
    expression = None
    with own_imports() as files, _process(last, main):
        for snippet in snippets:
            main.__file__ = snippet.file or None
            with code_of(snippet):
                expression = _execute(snippet, vars(main))
        with code_of(last):
            found = _choose(last.name, expression, vars(main))
    files.update(snippet.file for snippet in snippets if snippet.file)
    return found._replace(files=tuple(sorted(files)))


@contextmanager
def _process(snippet: Snippet, main: ModuleType) -> Iterator[None]:
    """The process as the code expects it; nothing of this outlives the code."""
    argv, search, before = sys.argv, sys.path[:], sys.modules.get(main.__name__)
    sys.argv = [snippet.file or INLINE]
    sys.path.insert(0, str(Path(snippet.folder).absolute()))
    sys.modules[main.__name__] = main  # dataclasses and pickle look it up
    try:
        with (
            chdir(snippet.folder),
            redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            np.errstate(),
        ):
            yield
    finally:
        sys.argv, sys.path[:] = argv, search
        del sys.modules[main.__name__]
        if before is not None:
            sys.modules[main.__name__] = before


@contextmanager
def code_of(snippet: Snippet) -> Iterator[None]:
    """What is raised inside is told as the author's error, with the line it happened in.

    Raises:
        CodeFailed: something was raised; ending itself in good order is none.
    """
    try:
        yield
    except VizError:
        raise
    except SystemExit as ending:
        if ending.code not in (None, 0):
            raise CodeFailed(f"the code ended itself with {ending.code!r}") from None
    except Exception as error:
        file, line = _place(error)
        said = "".join(traceback.format_exception_only(error)[-1:]).strip()
        if file == (snippet.file or INLINE):
            raise CodeFailed(said, where=snippet.file, line=line + snippet.line - 1) from None
        raise CodeFailed(said, where=f"{file}:{line}" if file else "") from None


def _place(error: Exception) -> tuple[str, int]:
    """The innermost line that is the author's own."""
    if isinstance(error, SyntaxError):
        return error.filename or "", error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if f.filename == INLINE or is_of_project(f.filename)]
    return (theirs[-1].filename, theirs[-1].lineno or 1) if theirs else ("", 0)


def _execute(snippet: Snippet, variables: dict[str, Any]) -> Any:
    """Run it; the value of the expression that it ends in, if it does."""
    file = snippet.file or INLINE
    tree = ast.parse(snippet.code, file)
    ending = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec", dont_inherit=True), variables)
    if not isinstance(ending, ast.Expr):
        return None
    return eval(compile(ast.Expression(ending.value), file, "eval", dont_inherit=True), variables)


def _choose(name: str, expression: Any, variables: Mapping[str, Any]) -> Found:
    if name:
        value = computed(_attribute(name, variables))
        if not _is_drawable(value):
            raise CodeFailed(
                f"{name} is a {type(value).__name__}",
                remedy="name a tensor, a function that returns one, or a module with sample_inputs",
            )
        return Found(value, name, {**variables, name: value})
    if _is_drawable(expression):
        return Found(expression, "", variables)
    if _is_drawable(variables.get("out")):
        return Found(variables["out"], "out", variables)
    scalars = last_scalars(variables)
    if len(scalars) != 1:
        raise CodeFailed(
            f"the code leaves several scalars with a graph ({', '.join(scalars)})"
            if scalars
            else "the code leaves no tensor with a graph",
            remedy="end it in the tensor to draw, or call that out",
        )
    ((found, value),) = scalars.items()
    return Found(value, found, variables)


def _attribute(name: str, variables: Mapping[str, Any]) -> Any:
    first, *rest = name.split(".")
    if first not in variables:
        raise CodeFailed(f"the code defines no {first}")
    value = variables[first]
    for part in rest:
        value = getattr(value, part)
    return value


def _is_drawable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(is_tensor, value))
    return is_tensor(value) or isinstance(value, Graph)
