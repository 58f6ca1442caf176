"""Running an author's code, and finding what it wants drawn.

Only documents of the author's own project bring code here, as with doctests.
"""

from __future__ import annotations

import ast
import io
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gradstep.contract.lookup import is_tensor
from gradstep.graph import Graph
from gradstep.program.errors import ProgramError, ScriptExited, ScriptFailed
from gradstep.program.process import (
    import_module,
    load_main,
    process_state,
    registered,
    user_code,
)
from gradstep.program.roots import attribute, evaluate, last_scalars
from gradstep.program.target import Target
from gradstep_viz.embedding.project import is_of_project, own_imports
from gradstep_viz.embedding.snippet import Snippet
from gradstep_viz.errors import CodeFailed, VizError

INLINE = "code"
"""The file that lines of a document's own code are said to be in; they count from its start, so
that text above it may grow."""


class Found(NamedTuple):
    """The value to draw, what it is called ("" if it has no name), the variables around it,
    and the author's files that all this depends on."""

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
    with own_imports(last.folder) as files, _process(last, main):
        for snippet in snippets:
            vars(main).pop("__file__", None)
            if snippet.file:  # else it has none, as in ``python -c``: inspect fails at None
                main.__file__ = snippet.file
            with code_of(snippet):
                if snippet.module and snippet.name:
                    main = import_module(snippet.module)
                else:
                    expression = _execute(snippet, vars(main))
        with code_of(last):
            chosen = _choose(last, expression, main)
    files.update(snippet.file for snippet in snippets if snippet.file)
    return chosen._replace(files=tuple(sorted(files)))


@contextmanager
def _process(snippet: Snippet, main: ModuleType) -> Iterator[None]:
    """Make the process what the code expects; nothing of this outlives the code."""
    folder = Path(snippet.folder).absolute()
    with (
        chdir(folder),
        redirect_stdout(io.StringIO()),
        process_state(snippet.file or INLINE, [], folder),
        registered(main.__name__, main),  # dataclasses and pickle look it up
    ):
        yield


@contextmanager
def code_of(snippet: Snippet) -> Iterator[None]:
    """Turn exceptions inside into errors of the author's code, with the line they came from.

    Raises:
        CodeFailed: something was raised; ending itself in good order is none.
    """
    try:
        with user_code(VizError):
            yield
    except ScriptExited as ending:
        raise CodeFailed(f"the code exited with {ending.code!r}") from None
    except ScriptFailed as failed:
        file, line = _place(failed.error, snippet.folder)
        reason = "".join(traceback.format_exception_only(failed.error)[-1:]).strip()
        if file == (snippet.file or INLINE):
            raise CodeFailed(reason, where=snippet.file, line=line + snippet.line - 1) from None
        raise CodeFailed(reason, where=f"{file}:{line}" if file else "") from None
    except ProgramError as error:
        raise CodeFailed(error.what, remedy=error.remedy) from None


def _place(error: BaseException, folder: str) -> tuple[str, int]:
    """Find the innermost line of the author's code."""
    if isinstance(error, SyntaxError):
        return error.filename or "", error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if f.filename == INLINE or is_of_project(f.filename, folder)]
    return (theirs[-1].filename, theirs[-1].lineno or 1) if theirs else ("", 0)


def _execute(snippet: Snippet, variables: dict[str, Any]) -> Any:
    """Run it; the value of the expression that it ends in, if it does."""
    if snippet.module:
        loaded, code = load_main(Target(snippet.module))
        variables.update(vars(loaded))
        exec(code, variables)
        return None
    file = snippet.file or INLINE
    tree = ast.parse(snippet.code, file)
    ending = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec", dont_inherit=True), variables)
    if not isinstance(ending, ast.Expr):
        return None
    return eval(compile(ast.Expression(ending.value), file, "eval", dont_inherit=True), variables)


def _choose(snippet: Snippet, expression: Any, main: ModuleType) -> Found:
    name, variables = snippet.name, vars(main)
    if name:
        title = snippet.module or Path(snippet.file).name or "the code"
        value = evaluate(attribute(main, name, title))
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
            remedy="end the code with the tensor to draw, or assign it to out",
        )
    ((label, value),) = scalars.items()
    return Found(value, label, variables)


def _is_drawable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(is_tensor, value))
    return is_tensor(value) or isinstance(value, Graph)
